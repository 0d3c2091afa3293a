"""Every route, handshake and topic of sockets, called by every kind of caller: a table of who may do what.

A route without a row fails, and so does a row without a route.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from litestar import Litestar, get
from litestar.routes import HTTPRoute
from msgspec import Raw

from tests.realtime.sockets.memory_connection import MemoryConnection
from tests.server.conftest import PASSWORD
from tests.server.http.callers import Callers, Outcomes, Row
from tests.server.http.gate_process import GateProcess
from zataku.accounts.route_access import PUBLIC as PUBLIC_ACCESS
from zataku.accounts.route_access import RouteAccess
from zataku.accounts.secrets import Secret
from zataku.errors import RequestError
from zataku.platform.design import Account
from zataku.realtime.messages import CommandMessage, Join
from zataku.server.app import Application
from zataku.server.http.authentication import Authentication, check_declarations, route_access
from zataku.server.http.origins import Origins
from zataku.server.http.routes import build_litestar
from zataku.server.http.startup_gate import HEALTH_CHECKS, StartupGate
from zataku.server.sockets.socket_app import PATH as SOCKET_PATH

pytestmark = pytest.mark.asyncio(loop_scope="module")


EVERYONE = Outcomes()
SCOPED = Outcomes(key_without_scope="scope_missing")
HOST = Outcomes(*["not_the_host"] * 3, "scope_missing", "not_the_host", "ok")
"""The admin is the host of the room."""
NO_KEYS = Outcomes(key_without_scope="not_for_keys", key_with_scope="not_for_keys")
USERS = Outcomes("guest", "guest", "ok", "not_for_keys", "not_for_keys", "ok")
ADMINS = Outcomes(*["forbidden"] * 5, "ok")
NOBODY = Outcomes(*["forbidden"] * 6)
"""Only for this machine, or with a token of its own."""


def everyone_gets(code: str) -> Outcomes:
    return Outcomes(*[code] * 6)


def admins_get(code: str) -> Outcomes:
    return ADMINS._replace(admin=code)


PATH_VALUES = {
    "session_id": "0" * 64,
    "session": "0" * 64,
    "key_id": "0" * 64,
    "comment_id": "00000000-0000-4000-8000-000000000000",
    "account_id": "00000000-0000-4000-8000-000000000000",
    "code": "999999",
    "name": "nothing.db",
    "action": "grant-admin",
}
"""The values of path parameters; `room_id` is that of an open room."""
JOB = {"system": "live", "kind": "nothing", "subject": "none"}

ROUTES: dict[str, Row] = {
    "GET /healthz": Row(EVERYONE),
    "GET /readyz": Row(EVERYONE),
    "GET /api/home": Row(EVERYONE),
    "GET /qr.svg": Row(EVERYONE, query={"path": "/live"}),
    # Accounts
    "GET /api/me": Row(EVERYONE),
    "PATCH /api/me": Row(NO_KEYS, {"language": "en"}),
    "DELETE /api/me": Row(
        Outcomes("ok", "ok", "wrong_password", "not_for_keys", "not_for_keys", "wrong_password"),
        {"password": "not the one"},
    ),
    "POST /api/me/password": Row(
        USERS._replace(user="wrong_password", admin="wrong_password"), {"old": "not the one", "new": "another long one"}
    ),
    "POST /api/accounts": Row(
        Outcomes("name_taken", "name_taken", "signed_in", "not_for_keys", "not_for_keys", "signed_in"),
        {"name": "Taken", "password": PASSWORD},
    ),
    "GET /api/sessions": Row(USERS),
    "POST /api/sessions": Row(
        NO_KEYS._replace(**dict.fromkeys(("anonymous", "guest", "user", "admin"), "wrong_credentials")),
        {"name": "Nobody", "password": PASSWORD},
    ),
    "DELETE /api/sessions": Row(USERS),
    "DELETE /api/sessions/current": Row(NO_KEYS),
    "DELETE /api/sessions/{session_id}": Row(USERS),
    "GET /api/keys": Row(USERS),
    "POST /api/keys": Row(
        USERS._replace(user="wrong_password", admin="wrong_password"),
        {"password": "not the one", "label": "robot", "scopes": ["live:read"]},
    ),
    "DELETE /api/keys/{key_id}": Row(USERS),
    # Live rooms
    "GET /api/live/rooms": Row(SCOPED),
    "POST /api/live/rooms": Row(SCOPED, {"name": "Talk"}),
    "GET /api/live/codes/{code}": Row(Outcomes(*["no_such_code"] * 3, "scope_missing", *["no_such_code"] * 2)),
    "GET /api/live/rooms/{room_id}": Row(SCOPED),
    "GET /api/live/rooms/{room_id}/standing": Row(SCOPED),
    "GET /api/live/rooms/{room_id}/comments": Row(SCOPED),
    "POST /api/live/rooms/{room_id}/comments": Row(SCOPED, {"content": "hello"}),
    "DELETE /api/live/rooms/{room_id}/comments/{comment_id}": Row(
        Outcomes(*["no_such_comment"] * 3, "scope_missing", *["no_such_comment"] * 2)
    ),
    "POST /api/live/rooms/{room_id}/comments/{comment_id}/upvote": Row(
        Outcomes(*["no_such_comment"] * 3, "scope_missing", *["no_such_comment"] * 2)
    ),
    "DELETE /api/live/rooms/{room_id}/comments/{comment_id}/upvote": Row(
        Outcomes(*["no_such_comment"] * 3, "scope_missing", *["no_such_comment"] * 2)
    ),
    "GET /api/live/rooms/{room_id}/timeline": Row(SCOPED),
    "GET /api/live/rooms/{room_id}/questions": Row(SCOPED),
    "GET /api/live/rooms/{room_id}/search": Row(SCOPED, query={"q": "hello"}),
    "GET /api/live/rooms/{room_id}/export.csv": Row(SCOPED),
    "GET /api/live/rooms/{room_id}/export.json": Row(SCOPED),
    "GET /api/live/rooms/{room_id}/moderation": Row(HOST),
    "POST /api/live/rooms/{room_id}/acts": Row(HOST, {"k": "pause", "on": True}),
    "POST /api/live/rooms/{room_id}/close": Row(HOST),
    # Admin
    "GET /api/admin/overview": Row(ADMINS),
    "GET /api/admin/history": Row(ADMINS),
    "GET /api/admin/tables": Row(ADMINS),
    "GET /api/admin/tables/{name}": Row(admins_get("not_found")),
    "GET /api/admin/tables/{name}/items": Row(admins_get("not_found")),
    "GET /api/admin/backups": Row(ADMINS),
    "POST /api/admin/backups": Row(ADMINS),
    "POST /api/admin/backups/upload": Row(admins_get("not_a_backup"), query={"name": "nothing.db"}),
    "GET /api/admin/backups/{name}/file": Row(admins_get("not_found")),
    "POST /api/admin/backups/{name}/restore": Row(admins_get("not_found"), {"confirm": "nothing.db"}),
    "DELETE /api/admin/backups/{name}": Row(admins_get("not_found")),
    "GET /api/admin/jobs": Row(ADMINS),
    "POST /api/admin/jobs/retry": Row(admins_get("no_such_job"), JOB),
    "POST /api/admin/jobs/cancel": Row(admins_get("no_such_job"), JOB),
    "GET /api/admin/accounts": Row(ADMINS, query={"name": "Taken"}),
    "GET /api/admin/accounts/{account_id}/sessions": Row(admins_get("not_found")),
    "POST /api/admin/accounts/{account_id}/sign-out": Row(admins_get("not_found")),
    "DELETE /api/admin/accounts/{account_id}/sessions/{session}": Row(ADMINS),
    "GET /api/admin/online": Row(ADMINS),
    # For programs on the server's own machine
    "GET /metrics": Row(ADMINS),
    "POST /control/accounts/{action}": Row(NOBODY, {"name": "Nobody"}),
    "POST /test/clock": Row(NOBODY, {"advance": 1}),
    # Documents and files
    "GET /openapi.json": Row(EVERYONE),
    **{
        f"GET {path}": Row(EVERYONE)
        for path in ("/", "/sign-in", "/sign-up", "/profile", "/styleguide", "/docs", "/admin")
    },
    **{f"GET {path}": Row(EVERYONE) for path in ("/drawing", "/othello", "/ranking", "/live", "/kifu")},
    **{f"GET {path}": Row(EVERYONE) for path in ("/live/{room_id}", "/live/{room_id}/overlay", "/l/{code}")},
    **{f"GET {path}": Row(EVERYONE) for path in ("/robots.txt", "/favicon.svg", "/manifest.webmanifest")},
    **{f"GET /{folder}/{{name}}": Row(everyone_gets("not_found")) for folder in ("assets", "icons", "static")},
}

HANDSHAKES = {
    SOCKET_PATH: EVERYONE,
    "/": everyone_gets("not_found"),
    "/api/live/rooms": everyone_gets("not_found"),
}
"""The outcomes of opening a socket at a path. What a socket may join and send is decided for each topic."""

TOPICS: dict[str, tuple[Outcomes, Outcomes]] = {
    "home": (EVERYONE, everyone_gets("not_found")),
    "live/{room_id}": (SCOPED, SCOPED),
}
"""For each kind of topic the outcomes of joining it, and of sending a command to it."""


def routes_of(app: Litestar) -> set[str]:
    """Method and path of every route, with its parameters in braces. HEAD and OPTIONS follow from the others."""
    routes: set[str] = set()
    for route in app.routes:
        assert isinstance(route, HTTPRoute), route.path
        path = route.path_format.replace(":str", "")
        methods = {str(method) for handler in route.route_handlers for method in handler.http_methods}
        routes |= {f"{method} {path}" for method in methods - {"HEAD", "OPTIONS"}}
    return routes


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gate(application: Application) -> AsyncIterator[StartupGate]:
    """The gate in front of the application, which is open."""

    @asynccontextmanager
    async def open_application() -> AsyncIterator[Application]:
        yield application

    process = GateProcess(StartupGate(open_application))
    await process.start()
    yield process.gate
    await process.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def callers(gate: StartupGate, application: Application) -> Callers:
    accounts = application.services.accounts
    users: list[Account] = []
    for name in ("Taken", "Chief"):
        guest, _ = accounts.authenticator.new_guest("en")
        user, _ = await accounts.accounts.sign_up(guest, name, Secret(PASSWORD), "")
        users.append(user)
    await accounts.accounts.grant_admin(users[1], admin=True)
    return Callers(gate, application.services, users[0])


@pytest_asyncio.fixture(loop_scope="module")
async def room_id(callers: Callers) -> str:
    """An open room, whose host is the admin."""
    return (await callers.request("admin", "POST", "/api/live/rooms", {"name": "Talk"})).json()["roomId"]


async def test_every_route_has_a_row_and_every_row_a_route(application: Application) -> None:
    accounts = application.services.accounts
    authentication = Authentication(accounts.authenticator, accounts.rate_limits, Origins(""))
    health_checks = {f"GET {path}" for path in HEALTH_CHECKS}
    assert routes_of(build_litestar(application.services, authentication)) | health_checks == ROUTES.keys()


@pytest.mark.parametrize("route", ROUTES)
async def test_every_caller_gets_what_the_table_says(callers: Callers, room_id: str, route: str) -> None:
    method, template = route.split(" ")
    path = template.format(**PATH_VALUES, room_id=room_id)
    row = ROUTES[route]
    outcomes = Outcomes(*[await callers.call(caller, method, path, row) for caller in Outcomes._fields])
    assert outcomes == row.outcomes


@pytest.mark.parametrize("path", HANDSHAKES)
async def test_every_caller_opens_a_socket_where_the_table_says(callers: Callers, path: str) -> None:
    outcomes = Outcomes(*[await callers.connect(caller, path) for caller in Outcomes._fields])
    assert outcomes == HANDSHAKES[path]


@pytest.mark.parametrize(
    ("headers", "code"),
    [({"authorization": "Bearer zk_unknown"}, "bad_key"), ({"origin": "http://elsewhere.example"}, "wrong_origin")],
)
async def test_a_socket_with_a_wrong_key_or_of_another_site_is_refused(
    callers: Callers, headers: Mapping[str, str], code: str
) -> None:
    assert await callers.connect("guest", SOCKET_PATH, headers) == code


async def test_every_kind_of_topic_has_a_row(application: Application) -> None:
    services = application.services
    rooms = {plugin.room.kind for plugin in services.plugins.values() if plugin.room is not None}
    topics = services.realtime.topics._kinds.keys()
    assert rooms | topics == {topic.partition("/")[0] for topic in TOPICS}


@pytest.mark.parametrize("topic", TOPICS)
async def test_every_caller_joins_and_commands_what_the_table_says(
    application: Application, callers: Callers, room_id: str, topic: str
) -> None:
    hub, router = application.services.realtime.hub, application.services.realtime.router
    name = topic.format(room_id=room_id)
    command = Raw(b'{"k":"comment","content":"hello"}')

    async def outcome(awaitable: Any) -> str:
        try:
            await awaitable
        except RequestError as error:
            return error.code
        return "ok"

    joins: list[str] = []
    commands: list[str] = []
    for caller in Outcomes._fields:
        socket = hub.open(MemoryConnection(), await callers.identity(caller), "198.51.100.1")
        joins.append(await outcome(router.join(socket, Join(id=1, to=name))))
        commands.append(await outcome(router.execute(socket, CommandMessage(id=2, to=name, what=command))))
        router.disconnected(socket)
        hub.forget(socket)
    assert (Outcomes(*joins), Outcomes(*commands)) == TOPICS[topic]


async def test_a_route_without_declared_access_stops_the_server_from_starting() -> None:
    @get("/api/secret")
    async def undeclared() -> None:
        return

    @get("/api/open", opt=PUBLIC_ACCESS.opt)
    async def declared() -> None:
        return

    check_declarations(Litestar([declared], openapi_config=None))
    app = Litestar([undeclared, declared], openapi_config=None)
    with pytest.raises(LookupError, match=r"^/api/secret: .* does not declare who may call it"):
        check_declarations(app)
    route = next(route for route in app.routes if route.path == "/api/secret")
    assert isinstance(route, HTTPRoute)
    handlers = [handler for handler in route.route_handlers if handler.http_methods == {"GET"}]
    with pytest.raises(LookupError, match="does not declare"):
        route_access(*handlers)


async def test_a_route_of_a_system_is_under_its_own_path() -> None:
    @get("/api/other", opt=RouteAccess(system="live").opt)
    async def misplaced() -> None:
        return

    with pytest.raises(LookupError, match="must begin with /api/live"):
        check_declarations(Litestar([misplaced], openapi_config=None))
