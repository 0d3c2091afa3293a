"""A context for the tests of systems, and what is left in it of somebody."""

from collections.abc import Sequence
from random import Random
from typing import Any, cast

import msgspec

from zataku.clock import Clock
from zataku.jobs.schedule import Schedule
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms import Rooms
from zataku.realtime.topics import Topics
from zataku.system import AppContext
from zataku.table import Store, Table


class NoRooms:
    """No room runs anywhere."""

    def running(self, _kind: str) -> dict[str, int]:
        """None."""
        return {}


def app_context(store: Store, clock: Clock, rooms: object = None) -> AppContext:
    """What a system is given, around a store of the test."""
    return AppContext(
        store=store,
        clock=clock,
        random=Random(20260221),
        schedule=Schedule(store, clock),
        rooms=cast("Rooms", rooms or NoRooms()),
        topics=cast("Topics", None),
        process="web-1",
        node="web-1",
        public_url="http://127.0.0.1:8000",
        keep=_kept,
    )


async def _kept(_who: Identity) -> None:
    """Everybody has an account here."""


class StoreFailed(Exception):
    """What a store raises that gives up."""


class FailingStore:
    """A store that gives up after so many writes."""

    def __init__(self, store: Store, writes: int) -> None:
        self._store = store
        self._left = writes

    def __getattr__(self, name: str) -> Any:
        self._left -= name == "write"
        if self._left < 0:
            raise StoreFailed
        return getattr(self._store, name)


def user_identity(account_id: str = "00000000-0000-4000-a000-000000000009", **given: Any) -> Identity:
    """A user who asks."""
    return Identity(**{"account_id": AccountId(account_id), "role": "user", "language": "en"} | given)


async def all_items(store: Store, tables: Sequence[Table]) -> list[str]:
    """Every item as text, in an order that is always the same."""
    found = [each for table in tables for each in [it async for it in store.scan(table)]]
    return sorted(f"{type(each).__name__} {msgspec.json.encode(each).decode()}" for each in found)


async def items_containing(store: Store, tables: Sequence[Table], *words: str) -> list[str]:
    """The items in which any of the words stands."""
    return [each for each in await all_items(store, tables) if any(word in each for word in words)]
