"""Everybody who comes is somebody: a guest at once, a user by session, a program by key; and nobody too often."""

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.conftest import MakeClient
from zataku.accounts.administration import CONTROL_FILE
from zataku.clock import AdvanceableClock
from zataku.errors import Unavailable
from zataku.realtime.topics import Topics
from zataku.server.app import Application
from zataku.server.endpoints.home import CHECK_INTERVAL
from zataku.server.http.request_timeout import RequestTimedOut, RequestTimeout

DEADLINE = 10.0
PASSWORD = "a long enough one"
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def signed_up(browser: httpx.AsyncClient, name: str) -> httpx.AsyncClient:
    made = await browser.post("/api/accounts", json={"name": name, "password": PASSWORD})
    assert made.status_code == 201, made.text
    return browser


async def test_whoever_comes_first_is_a_guest_and_stays_the_same(browser: httpx.AsyncClient) -> None:
    page = await browser.get("/")
    assert page.headers["set-cookie"].startswith("zataku_guest=")
    assert re.search("HttpOnly", page.headers["set-cookie"], re.IGNORECASE)
    first, second = [(await browser.get("/api/me")).json() for _ in range(2)]
    assert first["role"] == "guest"
    assert first["accountId"] == second["accountId"]
    assert first["language"] == "ja"


async def test_a_page_of_another_site_cannot_write_with_somebodys_cookies(browser: httpx.AsyncClient) -> None:
    await browser.get("/")
    refused = await browser.post("/api/live/rooms", json={"name": "x"}, headers={"origin": "https://evil.example.org"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "wrong_origin")
    assert (await browser.get("/api/live/rooms", headers={"origin": "https://evil.example.org"})).status_code == 200
    assert (await browser.get("/api/live/rooms")).json()["rooms"] == []


async def test_a_program_comes_with_its_key_and_a_bad_one_is_not_taken_for_a_guest(
    browser: httpx.AsyncClient, make_client: MakeClient
) -> None:
    user = await signed_up(browser, "Keymaker")
    made = await user.post(
        "/api/keys", json={"password": PASSWORD, "label": "robot", "scopes": ["live:read", "live:write"]}
    )
    assert made.status_code == 201, made.text
    robot = make_client(authorization=f"Bearer {made.json()['key']}")
    assert (await robot.get("/api/me")).json()["name"] == "Keymaker"
    assert (await robot.post("/api/live/rooms", json={"name": "by a robot"})).status_code == 201
    stranger = await make_client(authorization="Bearer zk_wrong").get("/api/me")
    assert (stranger.status_code, stranger.json()["error"]["code"]) == (401, "bad_key")
    assert stranger.headers["www-authenticate"] == "Bearer"
    assert "set-cookie" not in stranger.headers


async def test_whoever_writes_too_often_is_told_when_to_come_back(browser: httpx.AsyncClient) -> None:
    await browser.get("/")
    answers = [await browser.patch("/api/me", json={"language": "ko"}) for _ in range(31)]
    assert answers[29].status_code == 200
    assert (answers[30].status_code, answers[30].json()["error"]["code"]) == (429, "too_many_requests")
    assert int(answers[30].headers["retry-after"]) >= 1


async def test_dropping_ones_cookies_does_not_help_to_write_more_often(make_client: MakeClient) -> None:
    stranger = make_client("198.51.100.77")
    statuses: list[int] = []
    for _ in range(31):
        stranger.cookies.clear()
        statuses.append((await stranger.patch("/api/me", json={"language": "ko"})).status_code)
    assert statuses[29] == 200
    assert statuses[30] == 429
    assert (await make_client("198.51.100.78").patch("/api/me", json={"language": "ko"})).status_code == 200


async def test_figures_are_for_this_machine_for_the_token_and_for_nobody_else(make_client: MakeClient) -> None:
    near = await make_client("127.0.0.1", base="http://127.0.0.1:8000").get("/metrics")
    assert near.status_code == 200
    assert near.headers["content-type"].count("charset") == 1
    for figure in (
        'zataku_requests_total{method="GET",route="/api/me",status="200"}',
        "zataku_request_seconds_bucket",
        'zataku_table_calls_total{pattern="Zataku-Platform.',
        "zataku_sockets_open 0.0",
        "zataku_rooms_running",
        "zataku_jobs_runs_total",
        "zataku_loop_lag_seconds",
        "process_resident_memory_bytes",
    ):
        assert figure in near.text, figure
    assert (await make_client(authorization="Bearer prometheus").get("/metrics")).status_code == 200
    for stranger in (
        make_client(),
        make_client(authorization="Bearer guessed"),
        make_client("127.0.0.1", **{"x-forwarded-for": "8.8.8.8"}),
    ):
        assert (await stranger.get("/metrics")).json()["error"]["code"] == "forbidden"


async def test_an_invented_method_or_path_adds_no_figure_of_its_own(
    make_client: MakeClient, application: Application
) -> None:
    for number in range(3):
        await make_client().request(f"BREW{number}", f"/coffee/{number}")
    shown = (await make_client(authorization="Bearer prometheus").get("/metrics")).text
    assert "coffee" not in shown
    assert "BREW" not in shown
    assert 'method="other",route="unknown"' in shown


async def test_time_is_pushed_only_from_this_machine(make_client: MakeClient, application: Application) -> None:
    near = make_client("127.0.0.1", base="http://127.0.0.1:8000")
    before = application.services.context.clock.now()
    pushed = await near.post("/test/clock", json={"advance": 3600})
    assert pushed.status_code == 200
    assert application.services.context.clock.now() - before >= 3600
    assert (await make_client().post("/test/clock", json={"advance": 1})).status_code == 403
    for nonsense in ({"advance": -1}, {"advance": "soon"}, {}, {"advance": 1, "more": 2}):
        assert (await near.post("/test/clock", json=nonsense)).status_code == 400


async def test_orders_of_the_command_line_need_the_token_from_this_machine(
    browser: httpx.AsyncClient, make_client: MakeClient, application: Application
) -> None:
    await signed_up(browser, "Boss")
    file = Path(application.services.settings.data) / CONTROL_FILE
    assert file.stat().st_mode & 0o777 == 0o600
    token = application.services.control_token.reveal()
    assert token in file.read_text()
    order = {"name": "Boss"}
    for stranger in (
        make_client("127.0.0.1", base="http://127.0.0.1:8000", authorization="Control guessed"),
        make_client(authorization=f"Control {token}"),
    ):
        assert (await stranger.post("/control/accounts/grant-admin", json=order)).status_code == 403
    near = make_client("127.0.0.1", base="http://127.0.0.1:8000", authorization=f"Control {token}")
    assert (await near.post("/control/accounts/grant-admin", json=order)).status_code == 200
    assert (await browser.get("/api/me")).json()["role"] == "admin"
    assert (await browser.get("/metrics")).status_code == 200
    assert (await browser.get("/api/admin/overview")).status_code == 200


async def test_a_code_leads_to_our_own_pages_and_nowhere_else(make_client: MakeClient) -> None:
    drawn = await make_client().get("/qr.svg", params={"path": "/live/13a59d2d"})
    assert drawn.headers["content-type"].startswith("image/svg+xml")
    assert "#fff" in drawn.text.lower()
    for path in ("https://evil.example.org", "//evil.example.org", "/live/../x", "/x?y=1", "live", "/" + "x" * 300):
        assert (await make_client().get("/qr.svg", params={"path": path})).status_code == 400, path
    assert (await make_client().get("/qr.svg")).json()["error"]["code"] == "invalid"


async def test_the_home_page_has_all_five_whatever_becomes_of_one(browser: httpx.AsyncClient) -> None:
    shown = (await browser.get("/api/home")).json()
    assert list(shown) == ["drawing", "othello", "ranking", "live", "kifu"]
    assert shown["live"]["rooms"] >= 0


async def test_the_home_page_hears_when_a_room_comes_to_life(
    browser: httpx.AsyncClient, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = asyncio.Event()
    services = application.services
    assert isinstance(services.context.clock, AdvanceableClock)
    monkeypatch.setattr(Topics, "publish", lambda _, topic, event: told.set() if topic == "home" else None)
    room = (await browser.post("/api/live/rooms", json={"name": "News"})).json()["roomId"]
    said = await browser.post(f"/api/live/rooms/{room}/comments", json={"content": "hello"})
    assert said.status_code == 201, said.text
    async with asyncio.timeout(DEADLINE):
        while not told.is_set():
            await services.context.clock.advance(CHECK_INTERVAL)


async def test_every_operation_is_dewriterd_with_the_one_error(make_client: MakeClient) -> None:
    schema = (await make_client().get("/openapi.json")).json()
    assert schema["info"]["title"] == "Zataku"
    operations = [each for path in schema["paths"].values() for each in path.values()]
    names = [each["operationId"] for each in operations]
    assert len(names) > 20
    assert len(set(names)) == len(names)
    for each in operations:
        assert each["responses"]["default"] == {"$ref": "#/components/responses/Error"}
        assert [status for status in each["responses"] if status >= "400" and status != "default"] == []
        assert each["tags"]
        assert each.get("summary")
        # Who is calling comes from cookies and keys, and is nothing to be filled in.
        assert "identity" not in {parameter["name"] for parameter in each.get("parameters", [])}
    assert schema["components"]["securitySchemes"].keys() == {"session", "guest", "key"}


async def test_an_answer_that_never_begins_is_broken_off() -> None:
    async def endless(*_: object) -> None:
        await asyncio.Event().wait()

    with pytest.raises(Unavailable, match="too long"):
        await RequestTimeout(0.01).handle({}, endless, endless, endless)  # type: ignore[arg-type, typeddict-item]


async def test_a_body_that_does_not_come_is_the_callers_fault() -> None:
    async def endless(*_: object) -> Any:
        await asyncio.Event().wait()

    async def reading(_scope: object, receive: Any, _send: object) -> None:
        await receive()

    with pytest.raises(RequestTimedOut):
        await RequestTimeout(0.01).handle({}, endless, endless, reading)  # type: ignore[arg-type, typeddict-item]


async def test_an_answer_that_has_begun_may_take_its_time() -> None:
    told: list[object] = []

    async def slow(_scope: object, _receive: object, send: Any) -> None:
        await send({"type": "http.response.start"})
        await asyncio.sleep(0.05)
        await send({"type": "http.response.body"})

    async def send(message: object) -> None:
        told.append(message)

    await RequestTimeout(0.01).handle({}, send, send, slow)  # type: ignore[arg-type, typeddict-item]
    assert len(told) == 2
