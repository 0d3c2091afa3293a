"""An application with only the admin routes, on a store with the tables of the platform and of live rooms."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any

import httpx
import msgspec
import pytest
from litestar import Litestar, Request
from litestar.di import Provide
from litestar.exceptions import HTTPException
from msgspec.structs import replace

from tests.platform.items import nth_account_id
from tests.support.dynamodb_servers import ServerName, shared_server
from tests.support.manual_clock import ManualClock
from tests.support.stores import START, StoreName, temporary_store
from zataku.accounts.passwords import Passwords
from zataku.accounts.service import Accounts
from zataku.errors import RequestError
from zataku.live.design import TABLES as LIVE
from zataku.platform.design import TABLES as PLATFORM
from zataku.platform.design import platform
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.server.admin.backups import BackupService
from zataku.server.admin.dependencies import AdminServices
from zataku.server.admin.history import Gauges, History
from zataku.server.admin.overview import Process
from zataku.server.admin.request_counters import RequestCounters
from zataku.server.admin.routes import admin_router, admin_services
from zataku.server.admin.tables.prices import PRICES
from zataku.server.http.errors import answer_http_exception, answer_request_error, answer_table_error
from zataku.table import Store, StoreUrl, TableError, open_store

ADMIN = Identity(account_id=nth_account_id(9), role="admin", language="ja", name="host", session_hash="a" * 64)
UPLOAD_LIMIT = 4_000_000
SYSTEMS = {"platform": PLATFORM, "live": LIVE}
CALLERS = {
    "admin": ADMIN,
    "user": replace(ADMIN, role="user"),
    "guest": replace(ADMIN, role="guest", name=None, session_hash=None),
    "key": replace(ADMIN, key_hash="b" * 64, session_hash=None, scopes=frozenset({"live:write"})),
}


class FakeConnection(msgspec.Struct):
    """An open socket in the list of connections."""

    identity: Identity
    address: str
    since: float
    topics: list[str]


class RunningRooms(RoomRegistry):
    """A registry with a fixed number of running rooms."""

    def __init__(self) -> None:
        pass

    def running(self, kind: str) -> dict[str, int]:
        return {"live/a": 3, "live/b": 4} if kind == "live" else {}


class AdminApp:
    """The application with its parts, and a client of an admin."""

    def __init__(self, store: Store, clock: ManualClock, folder: Path, store_url: StoreUrl) -> None:
        self.store = store
        self.clock = clock
        self.folder = folder
        self.sockets: list[FakeConnection] = []
        self.ended: list[tuple[AccountId, str | None]] = []
        self.restored = 0
        self.restore_problem: RequestError | None = None
        self.counters = RequestCounters()
        gauges = Gauges(
            sockets=lambda: float(len(self.sockets)),
            rooms=lambda: 2.0,
            loop_lag_ms=lambda: 1.5,
            memory_mb=lambda: 80.0,
        )
        self.history = History(clock, store.meter, self.counters, gauges)
        accounts = Accounts(
            store, clock, Passwords(), lambda account_id, credential: self.ended.append((account_id, credential))
        )
        self.services = admin_services(
            store=store,
            clock=clock,
            process=Process(name="web-1", env="test", bus="memory", store_url=store_url, started=clock.now()),
            data=folder,
            systems=SYSTEMS,
            accounts=accounts,
            rooms=RunningRooms(),
            room_kinds=["live", "drawing"],
            connections=lambda: self.sockets,
            history=self.history,
            restored=self._restored,
            upload_limit=UPLOAD_LIMIT,
            prices=PRICES,
        )
        _services["current"] = self.services
        self.http = httpx.AsyncClient(
            transport=httpx.ASGITransport(app()), base_url="http://table", headers={"caller": "admin"}
        )

    async def _restored(self) -> None:
        self.restored += 1
        if self.restore_problem is not None:
            raise self.restore_problem

    @property
    def platform(self) -> str:
        """The name of the platform table in this store."""
        return self.store.schema(platform).name

    @property
    def backups(self) -> BackupService:
        """The backup service behind the routes."""
        return self.services.backups

    async def get(self, path: str, **query: Any) -> Any:
        """The body of a successful response."""
        response = await self.http.get(f"/api/admin/{path}", params=query)
        assert response.status_code == 200, response.text
        return response.json()

    async def refusal(self, method: str, path: str, **options: Any) -> tuple[int, str]:
        """The status and the code of a refused request."""
        response = await self.http.request(method, f"/api/admin/{path}", **options)
        assert response.status_code >= 400, response.text
        error = response.json()["error"]
        assert set(error) == {"code", "message", "details"}
        return response.status_code, error["code"]


# One application serves all tests, since building it takes longer than most of them.
_services: dict[str, AdminServices] = {}


@cache
def app() -> Litestar:
    """The application with only the admin routes."""
    return Litestar(
        route_handlers=admin_router(lambda: _services["current"]),
        dependencies={"identity": Provide(_caller)},
        exception_handlers={
            RequestError: answer_request_error,
            TableError: answer_table_error,
            HTTPException: answer_http_exception,
        },
        logging_config=None,
    )


async def _caller(request: Request[Any, Any, Any]) -> Identity:
    return CALLERS[request.headers["caller"]]


async def _admin_app(name: StoreName, clock: ManualClock, folder: Path) -> AsyncIterator[AdminApp]:
    store_url = StoreUrl.parse("dynamodb://eu-west-1" if name == "dynoxide" else str(folder / "zataku.db"))
    async with temporary_store(name, folder, (*PLATFORM, *LIVE), clock) as store:
        admin_app = AdminApp(store, clock, folder, store_url)
        async with admin_app.http:
            yield admin_app
            await admin_app.backups.wait_until_idle()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
async def admin_app(clock: ManualClock, tmp_path: Path) -> AsyncIterator[AdminApp]:
    async for admin_app in _admin_app("embedded", clock, tmp_path):
        yield admin_app


@pytest.fixture(params=["strict", "dynoxide"])
async def any_admin_app(request: pytest.FixtureRequest, clock: ManualClock, tmp_path: Path) -> AsyncIterator[AdminApp]:
    async for admin_app in _admin_app(request.param, clock, tmp_path):
        yield admin_app


@asynccontextmanager
async def admin_app_on(implementation: ServerName, clock: ManualClock, folder: Path) -> AsyncIterator[AdminApp]:
    """An application whose store is a service with DynamoDB's protocol, opened by its URL."""
    store_url = StoreUrl.parse(f"dynamodb+{shared_server(implementation).endpoint}")
    async with await open_store(store_url, (*PLATFORM, *LIVE), env=token_hex(4), clock=clock) as store:
        admin_app = AdminApp(store, clock, folder, store_url)
        async with admin_app.http:
            yield admin_app
            await admin_app.backups.wait_until_idle()
