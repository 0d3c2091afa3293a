"""What a system brings to the server, and what the server gives it.

Each of the five packages has a module `system` with one function, `plug(context) -> System`. The server calls it once
at the start; nothing else of a system is known to it.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from random import Random
from typing import Any, TypeAlias

import msgspec
from litestar.types import ControllerRouterHandler

from zataku.clock import Clock
from zataku.jobs.definitions import DailyJob, DeadlineJob, StreamConsumer
from zataku.jobs.schedule import Schedule
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import RoomBehaviour
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.realtime.topics import Topics
from zataku.table import Store, Table


class AppContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the server has for every system."""

    store: Store
    clock: Clock
    random: Random
    schedule: Schedule
    rooms: RoomRegistry
    topics: Topics
    process: str
    """The name of this process, another one at each start."""
    node: str
    """The name of this process that stays the same when it is started again; no two running ones share it."""
    public_url: str
    """Where people reach the server, without a slash at its end."""
    ensure_account: Callable[[Identity], Awaitable[None]]
    """Gives a guest an account in the table, when something of theirs is to be kept. Nothing for others."""


Home: TypeAlias = Callable[[Identity], Awaitable[msgspec.Struct]]
Remove: TypeAlias = Callable[[AccountId], Awaitable[None]]
Demo: TypeAlias = Callable[[], Awaitable[None]]
Title: TypeAlias = Callable[[str], Awaitable[str | None]]
Life: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]


class System(msgspec.Struct, frozen=True, kw_only=True):
    """One of the five, plugged in.

    - `routes`: Litestar handlers, controllers and routers under `/api/NAME`.
    - `behaviour`: how its rooms behave, if it has rooms; their topics are `NAME/ID`.
    - `deadline_jobs`, `daily_jobs`, `stream_consumers`: its background work.
    - `life`: goes on beside all that while the server is open. It begins when rooms can run, and ends when everybody
      was sent home and rooms and jobs are handed over; the store is open all the while.
    - `messages`: unions and structs that cross a socket, by name, for the types of the web pages.
    - `home`: what its object on the home page shows to somebody.
    - `remove`: takes away everything that an account owns here. It may run twice, and again after it was interrupted.
    - `demo`: fills an empty store with something to look at.
    - `title`: what the page `/NAME/REST` is called, given its rest, for links to it; None where there is none.
    """

    name: str
    tables: tuple[Table, ...]
    routes: tuple[ControllerRouterHandler, ...] = ()
    behaviour: RoomBehaviour[Any] | None = None
    deadline_jobs: tuple[DeadlineJob, ...] = ()
    daily_jobs: tuple[DailyJob, ...] = ()
    stream_consumers: tuple[StreamConsumer, ...] = ()
    life: Life | None = None
    messages: Mapping[str, Any] = {}
    home: Home
    remove: Remove
    demo: Demo | None = None
    title: Title | None = None
