"""A cache of values that are computed from a whole room, shared by all callers within some seconds."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

import msgspec

from zataku.clock import Clock, has_passed
from zataku.live.design import Room
from zataku.live.limits import RoomId
from zataku.table import InstantMs

MAX_ENTRIES = 64
MAX_CONCURRENT_LOADS = 2
"""Rooms that are read at the same time for all callers: each may have tens of thousands of comments."""
MAX_AGE_SECONDS = 10.0
"""At the end of a talk the whole audience opens the same page; a change shows up after this time at the latest."""

T = TypeVar("T")


class _Entry(msgspec.Struct, Generic[T], frozen=True):
    """A value, when it was computed, and `updated_at` of the room it was computed from."""

    value: T
    computed_at: float
    updated_at: InstantMs


class RoomCache(Generic[T]):
    """Computes a value of a room once and keeps it for some seconds. The least recently used are evicted."""

    def __init__(self, clock: Clock, load: Callable[[Room], Awaitable[T]]) -> None:
        self._clock = clock
        self._load = load
        self._entries: OrderedDict[RoomId, _Entry[T]] = OrderedDict()
        self._load_slots = asyncio.Semaphore(MAX_CONCURRENT_LOADS)
        self._locks: WeakValueDictionary[RoomId, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, room: Room) -> T:
        """The value of a room, never older than the host's last change of it. Concurrent callers share one load."""
        lock = self._locks.setdefault(room.room_id, asyncio.Lock())
        async with lock:
            entry = self._entries.get(room.room_id)
            if entry is None or self._is_old(entry) or entry.updated_at != room.updated_at:
                async with self._load_slots:
                    value = await self._load(room)
                entry = _Entry(value, self._clock.now(), room.updated_at)
                self._entries[room.room_id] = entry
            self._entries.move_to_end(room.room_id)
            while len(self._entries) > MAX_ENTRIES:
                self._entries.popitem(last=False)
            return entry.value

    def _is_old(self, entry: _Entry[T]) -> bool:
        return has_passed(entry.computed_at, self._clock.now(), MAX_AGE_SECONDS)
