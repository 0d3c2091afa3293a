"""The interface between the server and the systems that are plugged into it.

Every system has a module `system` with one value, `SYSTEM`: what is known of it before a store is open, and the
function that wires it. `zataku.server.systems` lists these values, and nothing else in the server names a system.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import msgspec
from litestar.types import ControllerRouterHandler

from zataku.clock import Clock
from zataku.jobs.definitions import DailyJob, DeadlineJob, StreamConsumer
from zataku.jobs.schedule import Schedule
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId, Scope
from zataku.realtime.rooms.behaviour import RoomBehaviour
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.realtime.topics import Topics
from zataku.table import Store, Table


class AppContext(msgspec.Struct, frozen=True, kw_only=True):
    """The services of the server that every system may use."""

    store: Store
    clock: Clock
    random: Random
    schedule: Schedule
    rooms: RoomRegistry
    topics: Topics
    process: str
    """The name of this process, different at each start."""
    node: str
    """The name of this process that stays the same over restarts; no two running processes share one."""
    public_url: str
    """The address of the server for its users, without a slash at its end."""
    ensure_account: Callable[[Identity], Awaitable[object]]
    """Creates the account of a guest who has none yet, before something of theirs is stored. A no-op for others."""


Home: TypeAlias = Callable[[Identity], Awaitable[msgspec.Struct]]
"""Returns the home card of a system: its state as the caller sees it on the home page."""
Remove: TypeAlias = Callable[[AccountId], Awaitable[None]]
"""Deletes everything that an account owns in a system. It may run twice, and again after it was interrupted."""
Demo: TypeAlias = Callable[[], Awaitable[None]]
"""Fills an empty store with examples."""
PageTitle: TypeAlias = Callable[[str], Awaitable[str | None]]
"""Returns the title of the page of one object, given the id in its path; None when there is no such object."""
Lifespan: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A page with an HTML template and a script of its own, apart from the web app.

    The template is filled with the system's texts, the values of the path, `language`, `title`, `public_url`,
    `needs_javascript` and `links`, the tags that load the script and its styles.
    """

    template: Path
    entry: str
    """The module of the script, as the web build names it: `src/overlay/main.ts`."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """An address of a system that a browser opens."""

    path: str
    """With its parameters in braces: `/live/{room_id}`."""
    component: str
    """The folder in `web/src/pages` that has its component."""
    is_room: bool = False
    """True where people are together on the page, which then hides the navigation."""
    title_from: str | None = None
    """The parameter of the path that `Plugin.page_title` takes; None for a page with the title of its system."""
    document: Document | None = None
    """None for a page of the web app."""


class Plugin(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a system that need the server's services.

    - `routes`: Litestar handlers, controllers and routers under `/api/NAME`. Reading them needs the scope `NAME:read`,
      writing `NAME:write`.
    - `room`: the behaviour of its rooms; their topics are `NAME/ID`.
    - `lifespan`: entered when rooms can run, left after rooms and jobs are handed over. The store is open throughout.
    """

    home: Home
    remove: Remove
    routes: tuple[ControllerRouterHandler, ...] = ()
    room: RoomBehaviour[Any] | None = None
    deadline_jobs: tuple[DeadlineJob, ...] = ()
    daily_jobs: tuple[DailyJob, ...] = ()
    stream_consumers: tuple[StreamConsumer, ...] = ()
    lifespan: Lifespan | None = None
    page_title: PageTitle | None = None
    demo: Demo | None = None


class System(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the server knows of a system.

    - `name`: the first part of its paths, topics and scopes.
    - `about`: one line for the API documentation, the description of its OpenAPI tag.
    - `texts`: a TOML file with a table for each language: `title`, `about`, and what its documents need.
    - `home_card`: the struct that its `home` returns.
    - `messages`: unions and structs that cross a socket, by name, for the types of the web pages.
    - `plug`: wires it.
    """

    name: str
    about: str
    tables: tuple[Table, ...]
    texts: Path
    home_card: type[msgspec.Struct]
    plug: Callable[[AppContext], Plugin]
    pages: tuple[Page, ...] = ()
    messages: Mapping[str, Any] = {}

    @property
    def scopes(self) -> tuple[Scope, Scope]:
        """The scopes of API keys for this system: reading and writing."""
        return f"{self.name}:read", f"{self.name}:write"

    @property
    def package(self) -> str:
        """The Python package of the system."""
        return self.plug.__module__.rpartition(".")[0]
