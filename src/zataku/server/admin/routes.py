"""Everything under `/api/admin`, for whoever looks after the server and nobody else."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from litestar import Router
from litestar.di import Provide
from litestar.types import ControllerRouterHandler

from zataku.accounts.service import Accounts
from zataku.clock import Clock
from zataku.jobs.administration import JobAdministration
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.server.admin import backup_routes, job_routes, read_routes
from zataku.server.admin.accounts import Connections, People
from zataku.server.admin.backups import Copies, Restored
from zataku.server.admin.dependencies import Desk, only_admins
from zataku.server.admin.dynamodb_backups import ServiceCopies
from zataku.server.admin.file_copies import FileCopies
from zataku.server.admin.history import History
from zataku.server.admin.jobs import JobList
from zataku.server.admin.messages import Prices
from zataku.server.admin.overview import Glance, Process
from zataku.server.admin.tables.stats import Figures
from zataku.table import Store, Table

PATH = "/api/admin"
HANDLERS = (*read_routes.HANDLERS, *backup_routes.HANDLERS, *job_routes.HANDLERS)


class Given(TypedDict):
    """What the server gives the admin page.

    `data` is the folder in which backups are kept. `systems` has the tables of every design by its name. `restored` is
    awaited when a backup has replaced everything: rooms and sockets of before must not go on.
    """

    store: Store
    clock: Clock
    process: Process
    data: Path
    systems: Mapping[str, Sequence[Table]]
    accounts: Accounts
    rooms: RoomRegistry
    room_kinds: Iterable[str]
    connections: Connections
    history: History
    restored: Restored
    upload_limit: int
    prices: Prices


def admin_routes(**given: Unpack[Given]) -> tuple[ControllerRouterHandler, ...]:
    """The routes, for an application that provides `identity`."""
    desk = admin_desk(**given)
    return desk_routes(lambda: desk)


def desk_routes(the_desk: Callable[[], Desk]) -> tuple[ControllerRouterHandler, ...]:
    """The routes to a desk, which is asked for at each request."""
    dependencies = {"desk": Provide(the_desk, sync_to_thread=False), "admin": Provide(only_admins)}
    return (Router(PATH, route_handlers=HANDLERS, dependencies=dependencies, tags=["admin"]),)


def admin_desk(**given: Unpack[Given]) -> Desk:
    """What the routes work with."""
    store, clock, process = given["store"], given["clock"], given["process"]
    figures = Figures(store, clock, given["systems"], given["prices"], process.started)
    jobs = JobList(store, clock)
    connections = given["connections"]
    return Desk(
        store=store,
        glance=Glance(store, clock, process, given["rooms"], given["room_kinds"], connections, jobs),
        history=given["history"],
        figures=figures,
        copies=_copies(given, figures),
        jobs=jobs,
        job_administration=JobAdministration(store, clock),
        people=People(store, given["accounts"], connections),
    )


def _copies(given: Given, figures: Figures) -> Copies:
    store, clock, place = given["store"], given["clock"], given["process"].place
    if place.path is None:
        return ServiceCopies(store, clock, place)

    async def replaced() -> None:
        figures.sizes.forget()
        await given["restored"]()

    return FileCopies(store, clock, given["data"] / "backups", given["upload_limit"], replaced)
