"""What is worked out from a whole room, once for all who ask in the same moments."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

import msgspec

from zataku.clock import Clock
from zataku.live.design import Room
from zataku.live.limits import RoomId
from zataku.table import InstantMs

KEPT = 64
"""Of so many rooms, the latest that somebody asked for."""
KEPT_SECONDS = 10.0
"""At the end of a talk everybody in the hall looks at the same; nobody waits longer than this to see it change."""

T = TypeVar("T")


class _Kept(msgspec.Struct, Generic[T], frozen=True):
    """What was made for a while, of a room that its host has not changed since."""

    made: T
    until: float
    of: InstantMs


class RoomCache(Generic[T]):
    """Makes something of a room and keeps it for some seconds. Whoever asks while it is being made waits for it."""

    def __init__(self, clock: Clock, make: Callable[[Room], Awaitable[T]]) -> None:
        self._clock = clock
        self._make = make
        self._kept: OrderedDict[RoomId, _Kept[T]] = OrderedDict()
        self._locks: WeakValueDictionary[RoomId, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, room: Room) -> T:
        """The same for everybody, a few seconds old at most, and never older than what the host did to the room."""
        lock = self._locks.setdefault(room.room_id, asyncio.Lock())
        async with lock:
            kept = self._kept.get(room.room_id)
            if kept is None or kept.until <= self._clock.now() or kept.of != room.updated_at:
                made = await self._make(room)
                kept = _Kept(made, self._clock.now() + KEPT_SECONDS, room.updated_at)
                self._kept[room.room_id] = kept
            self._kept.move_to_end(room.room_id)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return kept.made
