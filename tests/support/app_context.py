"""An AppContext around a test's store, a store that fails, and searches of all items."""

from collections.abc import Sequence
from random import Random
from typing import Any, cast

import msgspec

from zataku.clock import Clock
from zataku.jobs.schedule import Schedule
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.realtime.topics import Topics
from zataku.system import AppContext
from zataku.table import Store, Table


class NoRooms:
    """The room registry of a process without rooms."""

    def running(self, _kind: str) -> dict[str, int]:
        """No room of any kind."""
        return {}


def app_context(store: Store, clock: Clock, rooms: object = None) -> AppContext:
    """The context that the server passes to a system, around the test's store."""
    return AppContext(
        store=store,
        clock=clock,
        random=Random(20260221),
        schedule=Schedule(store, clock),
        rooms=cast("RoomRegistry", rooms or NoRooms()),
        topics=cast("Topics", None),
        process="web-1",
        node="web-1",
        public_url="http://127.0.0.1:8000",
        ensure_account=_has_account,
    )


async def _has_account(_identity: Identity) -> None:
    """Every caller has an account already."""


class StoreFailed(Exception):
    """Raised by a FailingStore after its last write."""


class FailingStore:
    """A store that raises StoreFailed after a number of writes by the named methods."""

    def __init__(self, store: Store, writes: int, methods: Sequence[str] = ("write",)) -> None:
        self._store = store
        self._left = writes
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        self._left -= name in self._methods
        if self._left < 0:
            raise StoreFailed
        return getattr(self._store, name)


def user_identity(account_id: str = "00000000-0000-4000-a000-000000000009", **fields: Any) -> Identity:
    """The identity of a signed-in user; `fields` overrides its fields."""
    return Identity(**{"account_id": AccountId(account_id), "role": "user", "language": "en"} | fields)


async def all_items(store: Store, tables: Sequence[Table]) -> list[str]:
    """Every item of the tables as text, sorted."""
    items = [item for table in tables for item in [entity async for entity in store.scan(table)]]
    return sorted(f"{type(item).__name__} {msgspec.json.encode(item).decode()}" for item in items)


async def items_containing(store: Store, tables: Sequence[Table], *words: str) -> list[str]:
    """The items, as text, that contain any of the words."""
    return [item for item in await all_items(store, tables) if any(word in item for word in words)]
