"""Every door of the house at once: sockets and requests are held against the same keys, counts and sessions."""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any, cast

import httpx
import pytest
from litestar import Litestar
from msgspec import Raw
from msgspec.structs import replace

from tests.platform.people import numbered
from tests.realtime.sockets.memory_connection import MemoryConnection, YieldingClock
from tests.server.conftest import PUBLIC, MakeClient
from zataku.accounts.rate_limits import RATE_LIMITS, RateLimitName
from zataku.clock import ManualClock
from zataku.errors import Forbidden
from zataku.platform.identity import Identity
from zataku.realtime.messages import Do, Join, Pass
from zataku.realtime.sockets.limits import SocketLimits
from zataku.server.app import Application
from zataku.server.endpoints.metrics_route import metrics_route
from zataku.server.http.asgi import App
from zataku.server.http.errors import HANDLERS
from zataku.server.http.request_context import RequestContextReader
from zataku.server.http.request_log import RequestLog
from zataku.server.metrics import Metrics
from zataku.server.process.data_folder import read_session_cutoff
from zataku.server.sockets.connections import CHECK_INTERVAL, ConnectionHub, close_expired_connections
from zataku.table import Throttled

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEADLINE = 10.0
PASSWORD = "a long enough one"
PROGRAM = Identity(account_id=numbered(1), role="user", language="en", key_hash="b" * 64)


UseUp = Callable[[RateLimitName, str], None]


@pytest.fixture
def use_up(application: Application, monkeypatch: pytest.MonkeyPatch) -> UseUp:
    """Lets an address have asked as often as it may, in a moment that does not pass."""
    rate_limits = application.services.accounts.rate_limits
    monkeypatch.setattr(rate_limits, "_clock", ManualClock(application.services.context.clock.now()))

    def use_up(occasion: RateLimitName, address: str) -> None:
        for _ in range(RATE_LIMITS[occasion].burst):
            rate_limits.consume(occasion, address)

    return use_up


async def test_a_key_hears_and_does_on_a_socket_what_its_scopes_allow(
    application: Application, browser: httpx.AsyncClient
) -> None:
    room = "live/" + (await browser.post("/api/live/rooms", json={"name": "Talk"})).json()["roomId"]
    hub, doorway = application.services.realtime.hub, application.services.realtime.router
    say = Do(id=2, to=room, what=Raw(b'{"k":"comment","content":"hello"}'))
    stranger, reader, writer = (
        hub.open(MemoryConnection(), replace(PROGRAM, scopes=frozenset(scopes)), "198.51.100.1")
        for scopes in (["drawing:read"], ["live:read"], ["live:write"])
    )
    await doorway.join(stranger, Join(id=1, to="home"))
    await doorway.join(reader, Join(id=1, to=room))
    await doorway.execute(writer, say)
    for refused in (
        doorway.join(stranger, Join(id=1, to=room)),
        doorway.execute(stranger, say),
        doorway.execute(reader, say),
    ):
        with pytest.raises(Forbidden) as missing:
            await refused
        assert missing.value.code == "scope_missing"
    with pytest.raises(Forbidden):
        doorway.handle_transient(reader, Pass(to=room, what=Raw(b"{}")))
    with pytest.raises(Forbidden):
        doorway.handle_binary(reader, room, b"x")
    for socket in (stranger, reader, writer):
        doorway.disconnected(socket)
        hub.forget(socket)


async def test_a_key_is_held_against_its_scopes_before_anything_it_sends_is_read(
    browser: httpx.AsyncClient, make_client: MakeClient
) -> None:
    await browser.post("/api/accounts", json={"name": "Scoper", "password": PASSWORD})
    asked = {"label": "robot", "scopes": ["live:read"]}
    wrong = await browser.post("/api/keys", json={"password": "a wrong one", **asked})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (403, "wrong_password")
    made = await browser.post("/api/keys", json={"password": PASSWORD, **asked})
    robot = make_client(authorization=f"Bearer {made.json()['key']}")
    refused = await robot.post("/api/live/rooms", content=b"nonsense")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "scope_missing")
    assert (await robot.get("/api/live/rooms")).status_code == 200
    assert (await robot.get("/api/me")).status_code == 200


async def test_whatever_is_asked_counts_for_the_address_it_comes_from(make_client: MakeClient, use_up: UseUp) -> None:
    use_up("read_address", "198.51.100.8")
    hall = make_client("198.51.100.8")
    for path in ("/nowhere", "/api/me", "/metrics"):
        refused = await hall.get(path)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_requests"), path
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.headers["x-content-type-options"] == "nosniff"
        assert refused.headers["x-request-id"]
    # A hall that opens a page needs all of its files, and browsers ask for more than there are.
    assert (await hall.get("/assets/main-1.js")).status_code == 200
    for path, status in (("/favicon.svg", 200), ("/robots.txt", 200), ("/favicon.ico", 404)):
        assert (await hall.get(path)).status_code == status


async def test_a_hall_looks_at_one_code_but_nobody_has_new_ones_drawn_without_end(
    make_client: MakeClient, use_up: UseUp
) -> None:
    hall = make_client("198.51.100.60")
    assert (await make_client().get("/qr.svg", params={"path": "/live/hall"})).status_code == 200
    use_up("code_address", "198.51.100.60")
    assert (await hall.get("/qr.svg", params={"path": "/live/other"})).status_code == 429
    assert (await hall.get("/qr.svg", params={"path": "/live/hall"})).status_code == 200


async def test_a_body_of_endless_levels_is_a_bad_request(make_client: MakeClient) -> None:
    refused = await make_client().post(
        "/api/sessions", content=b"[" * 100_000, headers={"content-type": "application/json"}
    )
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_request")


async def test_a_name_longer_than_any_file_has_is_not_there(make_client: MakeClient) -> None:
    for folder in ("static", "assets"):
        assert (await make_client().get(f"/{folder}/{'a' * 300}")).status_code == 404


async def test_no_page_can_push_the_clock(make_client: MakeClient) -> None:
    near = make_client("127.0.0.1", base="http://127.0.0.1:8000")
    for header in ({"origin": "https://evil.example.org"}, {"sec-fetch-site": "cross-site"}):
        assert (await near.post("/test/clock", json={"advance": 1}, headers=header)).status_code == 403


async def test_behind_a_public_address_nobody_is_taken_for_this_machine(application: Application) -> None:
    authenticator, figures = application.services.accounts.authenticator, Metrics()
    for public, status in ((False, 200), (True, 403)):
        shown = metrics_route(figures, authenticator, "", is_public=public)
        app = Litestar([shown], exception_handlers=HANDLERS, logging_config=None, openapi_config=None)
        watched: Any = RequestLog(
            cast("App", app), RequestContextReader(()), application.services.accounts.rate_limits, figures
        )
        transport = httpx.ASGITransport(app=watched, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as silent_proxy:
            assert (await silent_proxy.get("/metrics")).status_code == status


async def test_sockets_end_with_what_they_came_with_though_nobody_tells() -> None:
    clock = YieldingClock(0.0)
    hub = ConnectionHub(clock, Random(1), SocketLimits())
    stays, goes = MemoryConnection(), MemoryConnection()
    hub.open(stays, PROGRAM, "198.51.100.1")
    hub.open(goes, replace(PROGRAM, key_hash="c" * 64), "198.51.100.1")
    answers: list[Any] = [Throttled("The table is busy.")]

    async def holds(identity: Identity) -> bool:
        if answers:
            raise answers.pop()
        return identity == PROGRAM

    looking = asyncio.create_task(close_expired_connections(hub, holds))
    await clock.advance(CHECK_INTERVAL)
    assert (stays.code, goes.code, answers) == (None, None, [])
    await clock.advance(CHECK_INTERVAL)
    assert (stays.code, goes.code) == (None, 4001)
    looking.cancel()


async def test_a_restored_backup_brings_no_session_back_to_life(
    browser: httpx.AsyncClient, make_client: MakeClient, application: Application
) -> None:
    accounts, folder = application.services.accounts.accounts, application.services.settings.folder
    await browser.post("/api/accounts", json={"name": "Keeper", "password": PASSWORD})
    keeper = await accounts.find("Keeper")
    assert keeper is not None
    await accounts.grant_admin(keeper, admin=True)
    stolen = make_client(cookie=f"zataku_session={browser.cookies['zataku_session']}", origin=PUBLIC)
    name = (await browser.post("/api/admin/backups")).json()["name"]
    await until(browser, lambda listed: [each["state"] for each in listed["backups"]] == ["ready"])
    await browser.delete("/api/sessions")
    assert (await stolen.get("/api/me")).json()["role"] == "guest"
    await browser.post("/api/sessions", json={"name": "Keeper", "password": PASSWORD})
    begun = await browser.post(f"/api/admin/backups/{name}/restore", json={"confirm": name})
    assert begun.status_code == 202, begun.text
    async with asyncio.timeout(DEADLINE):
        while not read_session_cutoff(folder):
            await asyncio.sleep(0.02)
    assert (await stolen.get("/api/me")).json()["role"] == "guest"
    assert (await browser.post("/api/sessions", json={"name": "Keeper", "password": PASSWORD})).status_code == 201
    assert (await browser.get("/api/me")).json()["role"] == "admin"


async def until(browser: httpx.AsyncClient, wanted: Any) -> None:
    async with asyncio.timeout(DEADLINE):
        while not wanted((await browser.get("/api/admin/backups")).json()):
            await asyncio.sleep(0.02)
