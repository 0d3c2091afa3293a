"""The messages in which clients get a room's updates, each event only for its recipients."""

from collections.abc import Collection, Sequence
from typing import TypeAlias

from msgspec import Raw

from zataku.platform.limits import AccountId
from zataku.realtime.messages import Events, ServerMessage, TransientBroadcast
from zataku.realtime.rooms.behaviour import Event
from zataku.realtime.rooms.bus_messages import DurableEvents, EventUpdate

Addressed: TypeAlias = tuple[ServerMessage, frozenset[AccountId] | None]
"""A message and the accounts that it is for; None for all."""


def messages_for_all(topic: str, update: EventUpdate, accounts: Collection[AccountId]) -> list[Addressed]:
    """The messages of an update to these accounts: one for all, or one for each group that may see the same events."""
    if all(event.recipients is None for event in update.events):
        message = _message(topic, update, update.events)
        return [] if message is None else [(message, None)]
    groups: dict[tuple[bool, ...], set[AccountId]] = {}
    for account in accounts:
        groups.setdefault(tuple(_may_see(account, event) for event in update.events), set()).add(account)
    addressed: list[Addressed] = []
    for visibility, recipients in groups.items():
        visible = [event for event, is_visible in zip(update.events, visibility, strict=True) if is_visible]
        message = _message(topic, update, visible)
        if message is not None:
            addressed.append((message, frozenset(recipients)))
    return addressed


def message_for(account: AccountId, topic: str, update: EventUpdate) -> ServerMessage | None:
    """The message in which an account gets an update; None when it may see nothing of it."""
    return _message(topic, update, [event for event in update.events if _may_see(account, event)])


def _message(topic: str, update: EventUpdate, visible: Sequence[Event]) -> ServerMessage | None:
    events = [Raw(event.body) for event in visible]
    if isinstance(update, DurableEvents):
        # Sent even without a visible event, since it advances the client's position.
        return Events(to=topic, epoch=update.epoch, after=update.after, seq=update.seq, events=events)
    return TransientBroadcast(to=topic, events=events) if events else None


def _may_see(account: AccountId, event: Event) -> bool:
    return event.recipients is None or account in event.recipients
