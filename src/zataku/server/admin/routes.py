"""The router of `/api/admin`, and the wiring of its services."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from litestar import Router
from litestar.di import Provide
from litestar.types import ControllerRouterHandler

from zataku.accounts.route_access import ADMINS
from zataku.accounts.service import Accounts
from zataku.clock import Clock
from zataku.jobs.administration import JobAdministration
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.server.admin import account_routes, backup_routes, server_routes
from zataku.server.admin.accounts import AccountDirectory, Connections
from zataku.server.admin.backups import BackupService, BackupStorage, RestoreListener
from zataku.server.admin.dependencies import AdminServices, admin_identity
from zataku.server.admin.dynamodb_backups import DynamoDBBackups
from zataku.server.admin.file_backups import FileBackups
from zataku.server.admin.history import History
from zataku.server.admin.jobs import JobList
from zataku.server.admin.messages import Prices
from zataku.server.admin.overview import OverviewReader, Process
from zataku.server.admin.tables.stats import TableStats
from zataku.table import Store, Table

PATH = "/api/admin"
HANDLERS = (*server_routes.HANDLERS, *backup_routes.HANDLERS, *account_routes.HANDLERS)


class AdminContext(TypedDict):
    """The services and settings of the admin page.

    `data` is the folder that holds the folder of backups. `systems` has the tables of every design by its name.
    `restored` is awaited when a backup has replaced everything: rooms and sockets must not continue with earlier state.
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
    restored: RestoreListener
    upload_limit: int
    prices: Prices


def admin_routes(**context: Unpack[AdminContext]) -> tuple[ControllerRouterHandler, ...]:
    """The routes, for an application that provides `identity`."""
    services = admin_services(**context)
    return admin_router(lambda: services)


def admin_router(services: Callable[[], AdminServices]) -> tuple[ControllerRouterHandler, ...]:
    """The routes to services that are looked up at each request."""
    dependencies = {"services": Provide(services, sync_to_thread=False), "admin": Provide(admin_identity)}
    return (Router(PATH, route_handlers=HANDLERS, dependencies=dependencies, tags=["admin"], opt=ADMINS.opt),)


def admin_services(**context: Unpack[AdminContext]) -> AdminServices:
    """The services behind the routes."""
    store, clock, process = context["store"], context["clock"], context["process"]
    tables = TableStats(store, clock, context["systems"], context["prices"], process.started)
    jobs = JobList(store, clock)
    connections = context["connections"]

    async def restored() -> None:
        tables.sizes.invalidate()
        await context["restored"]()

    return AdminServices(
        store=store,
        overview=OverviewReader(store, clock, process, context["rooms"], context["room_kinds"], connections, jobs),
        history=context["history"],
        tables=tables,
        backups=BackupService(_backup_storage(context), clock, restored),
        jobs=jobs,
        job_administration=JobAdministration(store, clock),
        accounts=AccountDirectory(store, context["accounts"], connections),
    )


def _backup_storage(context: AdminContext) -> BackupStorage:
    store, url = context["store"], context["process"].store_url
    if url.path is None:
        return DynamoDBBackups(store, context["clock"], url)
    return FileBackups(store, context["data"] / "backups", context["upload_limit"])
