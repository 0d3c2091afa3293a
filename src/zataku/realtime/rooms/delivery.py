"""Delivery of a room's updates to the sockets of this process, each event only to its recipients."""

from collections.abc import Sequence

import msgspec
from msgspec import Raw

from zataku.platform.limits import AccountId
from zataku.realtime.messages import Events, Passing, ToBrowser
from zataku.realtime.rooms.behaviour import Event
from zataku.realtime.rooms.bus_messages import DurableEvents, EventUpdate, TransientEvents
from zataku.realtime.sockets.hub import Hub

_encode = msgspec.json.Encoder().encode


def deliver(hub: Hub, topic: str, update: EventUpdate) -> None:
    """Send an update to all subscribers of the room in this process."""
    if all(event.recipients is None for event in update.events):
        message = _message(topic, update, update.events)
        if message is not None:
            hub.broadcast(topic, _encode(message))
    else:
        _deliver_by_group(hub, topic, update)
    if isinstance(update, TransientEvents):
        for payload in update.binary:
            hub.broadcast_binary(topic, payload)


def message_for(account: AccountId, topic: str, update: EventUpdate) -> ToBrowser | None:
    """The message in which an account gets an update; None when it may see nothing of it."""
    return _message(topic, update, [event for event in update.events if _may_see(account, event)])


def _deliver_by_group(hub: Hub, topic: str, update: EventUpdate) -> None:
    """Send one message to each group of accounts that may see the same events."""
    accounts = {socket.identity.account_id for socket in hub.members(topic)}
    groups: dict[tuple[bool, ...], set[AccountId]] = {}
    for account in accounts:
        groups.setdefault(tuple(_may_see(account, event) for event in update.events), set()).add(account)
    for visibility, recipients in groups.items():
        visible = [event for event, is_visible in zip(update.events, visibility, strict=True) if is_visible]
        message = _message(topic, update, visible)
        if message is not None:
            hub.broadcast(topic, _encode(message), frozenset(recipients))


def _message(topic: str, update: EventUpdate, visible: Sequence[Event]) -> ToBrowser | None:
    events = [Raw(event.body) for event in visible]
    if isinstance(update, DurableEvents):
        # Sent even without a visible event, since it advances the client's position.
        return Events(to=topic, epoch=update.epoch, after=update.after, seq=update.seq, events=events)
    return Passing(to=topic, events=events) if events else None


def _may_see(account: AccountId, event: Event) -> bool:
    return event.recipients is None or account in event.recipients
