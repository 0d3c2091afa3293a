"""Bringing what happens in a room to the sockets of this process, each to whom it is meant for."""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Raw

from zataku.platform.limits import AccountId
from zataku.realtime.messages import Events, Passing, ToBrowser
from zataku.realtime.rooms.behaviour import Event
from zataku.realtime.rooms.bus_messages import Happened, PassedBy
from zataku.realtime.sockets.hub import Hub

_encode = msgspec.json.Encoder().encode


def tell(hub: Hub, topic: str, word: Happened | PassedBy) -> None:
    """Tell everybody who hears the room in this process."""
    if all(event.recipients is None for event in word.events):
        _tell_all(hub, topic, word)
    else:
        _tell_each(hub, topic, word)


def told_to(account: AccountId, topic: str, word: Happened | PassedBy) -> ToBrowser | None:
    """The message that somebody gets of a word, None when it is not about anything that they may see."""
    return _message(topic, word, [event for event in word.events if _may_see(account, event)])


def _tell_all(hub: Hub, topic: str, word: Happened | PassedBy) -> None:
    message = _message(topic, word, word.events)
    if message is not None:
        hub.tell(topic, _encode(message))
    if isinstance(word, PassedBy):
        for payload in word.binary:
            hub.tell_binary(topic, payload)


def _tell_each(hub: Hub, topic: str, word: Happened | PassedBy) -> None:
    """Tell groups of people who may see the same, one message for each group."""
    present = {socket.identity.account_id for socket in hub.members(topic)}
    groups: dict[tuple[bool, ...], set[AccountId]] = {}
    for account in present:
        groups.setdefault(tuple(_may_see(account, event) for event in word.events), set()).add(account)
    for sees, accounts in groups.items():
        seen = [event for event, sees_it in zip(word.events, sees, strict=True) if sees_it]
        message = _message(topic, word, seen)
        if message is not None:
            hub.tell(topic, _encode(message), frozenset(accounts))
    if isinstance(word, PassedBy):
        for payload in word.binary:
            hub.tell_binary(topic, payload)


def _message(topic: str, word: Happened | PassedBy, seen: Sequence[Event]) -> ToBrowser | None:
    events = _raw(seen)
    if isinstance(word, Happened):
        # Also without any event that somebody may see, since it moves their place on.
        return Events(to=topic, epoch=word.epoch, after=word.after, seq=word.seq, events=events)
    return Passing(to=topic, events=events) if events else None


def _may_see(account: AccountId, event: Event) -> bool:
    return event.recipients is None or account in event.recipients


def _raw(events: Iterable[Event]) -> list[Raw]:
    return [Raw(event.body) for event in events]
