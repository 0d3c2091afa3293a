"""Callers are identified as guests, users or programs, and limited in how often they call."""

import re

import httpx
import pytest

from tests.server.conftest import MakeClient, create_key, sign_up

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_new_caller_becomes_a_guest_and_stays_the_same(browser: httpx.AsyncClient) -> None:
    page = await browser.get("/")
    assert page.headers["set-cookie"].startswith("zataku_guest=")
    assert re.search("HttpOnly", page.headers["set-cookie"], re.IGNORECASE)
    first, second = [(await browser.get("/api/me")).json() for _ in range(2)]
    assert first["role"] == "guest"
    assert first["accountId"] == second["accountId"]
    assert first["language"] == "ja"


async def test_a_page_of_another_site_cannot_write_with_the_cookies_of_a_user(browser: httpx.AsyncClient) -> None:
    await browser.get("/")
    refused = await browser.post("/api/live/rooms", json={"name": "x"}, headers={"origin": "https://evil.example.org"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "wrong_origin")
    assert (await browser.get("/api/live/rooms", headers={"origin": "https://evil.example.org"})).status_code == 200
    assert (await browser.get("/api/live/rooms")).json()["rooms"] == []


async def test_a_key_authenticates_a_program_and_a_bad_one_does_not_make_a_guest(
    browser: httpx.AsyncClient, make_client: MakeClient
) -> None:
    await sign_up(browser, "Keymaker")
    created = await create_key(browser, "live:read", "live:write")
    assert created.status_code == 201, created.text
    robot = make_client(authorization=f"Bearer {created.json()['key']}")
    assert (await robot.get("/api/me")).json()["name"] == "Keymaker"
    assert (await robot.post("/api/live/rooms", json={"name": "by a robot"})).status_code == 201
    stranger = await make_client(authorization="Bearer zk_wrong").get("/api/me")
    assert (stranger.status_code, stranger.json()["error"]["code"]) == (401, "bad_key")
    assert stranger.headers["www-authenticate"] == "Bearer"
    assert "set-cookie" not in stranger.headers


async def test_the_write_limit_says_when_to_retry(browser: httpx.AsyncClient) -> None:
    await browser.get("/")
    responses = [await browser.patch("/api/me", json={"language": "ko"}) for _ in range(31)]
    assert responses[29].status_code == 200
    assert (responses[30].status_code, responses[30].json()["error"]["code"]) == (429, "too_many_requests")
    assert int(responses[30].headers["retry-after"]) >= 1


async def test_dropping_cookies_does_not_evade_the_write_limit(make_client: MakeClient) -> None:
    stranger = make_client("198.51.100.77")
    statuses: list[int] = []
    for _ in range(31):
        stranger.cookies.clear()
        statuses.append((await stranger.patch("/api/me", json={"language": "ko"})).status_code)
    assert statuses[29] == 200
    assert statuses[30] == 429
    assert (await make_client("198.51.100.78").patch("/api/me", json={"language": "ko"})).status_code == 200


async def test_the_scopes_of_a_key_are_checked_before_its_body_is_read(
    browser: httpx.AsyncClient, make_client: MakeClient
) -> None:
    await sign_up(browser, "Scoper")
    new_key = {"label": "robot", "scopes": ["live:read"]}
    wrong = await browser.post("/api/keys", json={"password": "a wrong one", **new_key})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (403, "wrong_password")
    created = await create_key(browser, "live:read")
    robot = make_client(authorization=f"Bearer {created.json()['key']}")
    refused = await robot.post("/api/live/rooms", content=b"nonsense")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "scope_missing")
    assert (await robot.get("/api/live/rooms")).status_code == 200
    assert (await robot.get("/api/me")).status_code == 200


async def test_a_body_nested_too_deeply_is_a_bad_request(make_client: MakeClient) -> None:
    refused = await make_client().post(
        "/api/sessions", content=b"[" * 100_000, headers={"content-type": "application/json"}
    )
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_request")
