"""Accounts over HTTP, as browsers and programs use them."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from litestar import Litestar

from tests.accounts.account_services import AccountHarness
from tests.accounts.browsers import AGENT, application, browser
from zataku.accounts.messages import ChangePassword, KeyCreated, KeyView, SignIn
from zataku.accounts.rate_limits import HOUR, RATE_LIMITS, RateLimit, RateLimits
from zataku.accounts.secrets import Secret
from zataku.clock import now_ms
from zataku.errors import Unavailable

HANA = {"name": "Hana", "password": "correct horse"}


@pytest.fixture
def app(harness: AccountHarness) -> Litestar:
    """The routes of accounts."""
    return application(harness)


@pytest.fixture
async def hana(app: Litestar) -> AsyncIterator[httpx.AsyncClient]:
    """The browser of a new guest, who may sign up as Hana."""
    async with browser(app) as client:
        yield client


async def good(response: httpx.Response) -> Any:
    assert response.status_code < 300, response.text
    return response.json() if response.content else None


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


async def me(client: httpx.AsyncClient) -> Any:
    return await good(await client.get("/api/me"))


async def test_a_new_caller_stays_the_same_guest(hana: httpx.AsyncClient) -> None:
    first = await me(hana)
    assert first == {
        "accountId": first["accountId"],
        "role": "guest",
        "name": None,
        "language": "en",
        "createdAt": None,
    }
    assert await me(hana) == first


async def test_signing_up_out_and_in_again_keeps_the_account(harness: AccountHarness, hana: httpx.AsyncClient) -> None:
    guest = await me(hana)
    signed_up = await hana.post("/api/accounts", json=HANA)
    assert signed_up.status_code == 201
    assert (await good(signed_up))["accountId"] == guest["accountId"]
    assert set(hana.cookies) == {"zataku_session", "zataku_language"}
    assert await me(hana) == await good(signed_up)
    assert (await me(hana))["createdAt"] == now_ms(harness.clock)
    await good(await hana.delete("/api/sessions/current"))
    assert (await me(hana))["role"] == "guest"
    await good(await hana.post("/api/sessions", json={**HANA, "name": "HANA"}))
    assert (await me(hana))["accountId"] == guest["accountId"]


async def test_signing_in_again_ends_the_previous_session_of_the_browser(hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    await good(await hana.post("/api/sessions", json=HANA))
    (session,) = await good(await hana.get("/api/sessions"))
    assert session["current"]
    assert session["userAgent"] == AGENT


async def test_a_user_can_end_a_session_in_another_browser(app: Litestar, hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    async with browser(app) as elsewhere:
        await good(await elsewhere.post("/api/sessions", json=HANA))
        (other,) = [session for session in await good(await hana.get("/api/sessions")) if not session["current"]]
        await good(await hana.delete(f"/api/sessions/{other['id']}"))
        await good(await hana.delete(f"/api/sessions/{other['id']}"))
        assert (await me(elsewhere))["role"] == "guest"
    assert (await me(hana))["role"] == "user"


async def test_a_user_cannot_end_the_sessions_of_others(app: Litestar, hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    (mine,) = await good(await hana.get("/api/sessions"))
    async with browser(app) as otto:
        await good(await otto.post("/api/accounts", json={**HANA, "name": "Otto"}))
        await good(await otto.delete(f"/api/sessions/{mine['id']}"))
    assert (await me(hana))["name"] == "Hana"


async def test_signing_out_everywhere_ends_every_session(app: Litestar, hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    async with browser(app) as elsewhere:
        await good(await elsewhere.post("/api/sessions", json=HANA))
        await good(await hana.delete("/api/sessions"))
        assert (await me(elsewhere))["role"] == (await me(hana))["role"] == "guest"


async def test_name_and_language_are_changed_alone_or_together(hana: httpx.AsyncClient) -> None:
    assert (await good(await hana.patch("/api/me", json={"language": "ko"})))["language"] == "ko"
    assert hana.cookies["zataku_language"] == "ko"
    assert (await me(hana))["language"] == "ko"
    assert code(await hana.patch("/api/me", json={"name": "Nana"})) == (403, "guest")
    await good(await hana.post("/api/accounts", json=HANA))
    changed = await good(await hana.patch("/api/me", json={"name": "Nana", "language": "ja"}))
    assert (changed["name"], changed["language"]) == ("Nana", "ja")
    refused = await hana.patch("/api/me", json={"name": "-", "language": "en"})
    assert code(refused) == (400, "bad_name")
    assert await good(await hana.patch("/api/me", json={})) == changed


async def test_changing_the_password_keeps_this_browser_signed_in(hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    wrong = await hana.post("/api/me/password", json={"old": "wrong horse", "new": "battery staple"})
    assert code(wrong) == (403, "wrong_password")
    await good(await hana.post("/api/me/password", json={"old": "correct horse", "new": "battery staple"}))
    assert (await me(hana))["name"] == "Hana"
    assert code(await hana.post("/api/sessions", json=HANA)) == (401, "wrong_credentials")


async def test_deleting_an_account_makes_the_browser_a_new_guest(hana: httpx.AsyncClient) -> None:
    before = await good(await hana.post("/api/accounts", json=HANA))
    assert code(await hana.request("DELETE", "/api/me", json={})) == (403, "wrong_password")
    await good(await hana.request("DELETE", "/api/me", json={"password": "correct horse"}))
    assert "zataku_session" not in hana.cookies
    after = await me(hana)
    assert after["role"] == "guest"
    assert after["accountId"] != before["accountId"]


async def test_a_key_is_shown_once_and_authenticates_a_program(app: Litestar, hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    new_key = {
        "password": "correct horse",
        "label": "ranking bot",
        "scopes": ["ranking:write", "ranking:read"],
        "days": 7,
    }
    created = await good(await hana.post("/api/keys", json=new_key))
    assert await good(await hana.get("/api/keys")) == [created["view"]]
    assert created["view"]["scopes"] == ["ranking:read", "ranking:write"]
    async with browser(app) as program:
        program.headers["Authorization"] = f"Bearer {created['key']}"
        assert (await me(program))["name"] == "Hana"
        assert not program.cookies
        for attempt in (
            program.get("/api/keys"),
            program.post("/api/keys", json=new_key),
            program.delete("/api/sessions"),
        ):
            assert code(await attempt) == (403, "not_for_keys")
        await good(await hana.delete(f"/api/keys/{created['view']['id']}"))
        assert code(await program.get("/api/me")) == (401, "bad_key")


async def test_the_cookie_of_an_ended_session_is_deleted(app: Litestar, hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    async with browser(app) as elsewhere:
        await good(await elsewhere.post("/api/sessions", json=HANA))
        await good(await elsewhere.delete("/api/sessions"))
    assert "zataku_session" in hana.cookies
    assert (await me(hana))["role"] == "guest"
    assert "zataku_session" not in hana.cookies


async def test_responses_about_accounts_are_not_cached(hana: httpx.AsyncClient) -> None:
    for response in (
        await hana.get("/api/me"),
        await hana.post("/api/accounts", json=HANA),
        await hana.get("/api/keys"),
    ):
        assert response.headers["Cache-Control"] == "no-store"


async def test_guests_have_no_sessions_and_no_keys(hana: httpx.AsyncClient) -> None:
    for attempt in (hana.get("/api/sessions"), hana.get("/api/keys"), hana.delete("/api/sessions")):
        assert code(await attempt) == (403, "guest")
    await good(await hana.delete("/api/sessions/current"))


INVALID_REQUESTS = [
    ("POST", "/api/accounts", {"name": "Hana"}),
    ("POST", "/api/accounts", {"name": "Hana", "password": "short"}),
    ("POST", "/api/accounts", {"name": "Hana", "password": "x" * 201}),
    ("POST", "/api/accounts", {"name": "x" * 61, "password": "correct horse"}),
    ("POST", "/api/accounts", {**HANA, "role": "admin"}),
    ("POST", "/api/accounts", []),
    ("POST", "/api/sessions", {"name": 1, "password": "correct horse"}),
    ("PATCH", "/api/me", {"language": "fr"}),
    ("PATCH", "/api/me", {"name": None}),
    ("POST", "/api/keys", {"password": "x", "label": "bot", "scopes": ["ranking:admin"]}),
    ("POST", "/api/keys", {"password": "x", "label": "", "scopes": []}),
    ("POST", "/api/keys", {"password": "x", "label": "bot", "scopes": [], "days": 0}),
    ("DELETE", "/api/keys/zzz", None),
    ("DELETE", f"/api/sessions/{'A' * 64}", None),
    ("DELETE", f"/api/keys/{'0' * 64}%0a", None),
]


@pytest.mark.parametrize(("method", "path", "body"), INVALID_REQUESTS)
async def test_invalid_requests_are_refused(hana: httpx.AsyncClient, method: str, path: str, body: Any) -> None:
    response = await hana.request(method, path, json=body)
    assert response.status_code == 400, response.text
    assert "correct horse" not in response.text


async def test_a_lone_surrogate_in_a_body_is_refused(hana: httpx.AsyncClient) -> None:
    raw = b'{"name": "Hana", "password": "\\ud800\\ud800\\ud800\\ud800 horse"}'
    response = await hana.post("/api/accounts", content=raw, headers={"Content-Type": "application/json"})
    assert response.status_code == 400


async def test_guessing_passwords_is_rate_limited(harness: AccountHarness) -> None:
    app = application(harness, RateLimits(harness.clock))
    async with browser(app) as owner, browser(app, "198.51.100.9") as thief, browser(app, "198.51.100.9") as second:
        await good(await owner.post("/api/accounts", json=HANA))
        guess = {"name": "hana", "password": "wrong horse"}
        responses = [await thief.post("/api/sessions", json=guess) for _ in range(5)]
        assert {response.status_code for response in responses} == {401}
        limited = await second.post("/api/sessions", json={**guess, "name": "ＨＡＮＡ"})
        assert code(limited) == (429, "too_many_requests")
        assert limited.headers["Retry-After"] == "12"
        await good(await owner.post("/api/sessions", json=HANA))
        other_names = [await thief.post("/api/sessions", json={**guess, "name": f"n{number}"}) for number in range(15)]
        assert [response.status_code for response in other_names] == [401] * 14 + [429]


async def test_password_guesses_of_a_signed_in_user_are_rate_limited(harness: AccountHarness) -> None:
    app = application(harness, RateLimits(harness.clock))
    async with browser(app) as hana:
        await good(await hana.post("/api/accounts", json=HANA))
        guess = {"old": "wrong horse", "new": "battery staple"}
        statuses = [(await hana.post("/api/me/password", json=guess)).status_code for _ in range(4)]
        statuses += [(await hana.request("DELETE", "/api/me", json={"password": "x"})).status_code for _ in range(2)]
        assert statuses == [403] * 5 + [429]


async def test_sign_ups_are_limited_per_network(harness: AccountHarness) -> None:
    app = application(harness, RateLimits(harness.clock, {**RATE_LIMITS, "sign_up_address": RateLimit(3, HOUR, 3)}))
    statuses: list[int] = []
    for number in range(4):
        async with browser(app, f"2001:db8::{number:x}") as client:
            statuses.append((await client.post("/api/accounts", json={**HANA, "name": f"Hana {number}"})).status_code)
    assert statuses == [201] * 3 + [429]


async def test_taken_names_do_not_count_as_sign_ups(harness: AccountHarness) -> None:
    app = application(harness, RateLimits(harness.clock))
    async with browser(app) as hana, browser(app) as otto:
        await good(await hana.post("/api/accounts", json=HANA))
        statuses = [(await otto.post("/api/accounts", json=HANA)).status_code for _ in range(12)]
        assert statuses == [409] * 12
        await good(await otto.post("/api/accounts", json={**HANA, "name": "Otto"}))


async def test_a_lost_race_for_a_name_counts_as_a_sign_up_and_a_busy_server_does_not(
    harness: AccountHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = application(harness, RateLimits(harness.clock, {**RATE_LIMITS, "sign_up_address": RateLimit(2, HOUR, 2)}))
    passwords, hash_password = harness.accounts.passwords, harness.accounts.passwords.hash

    async def refuse_as_busy(_: Secret) -> str:
        raise Unavailable("Too many people sign in right now.", code="busy")

    async def hash_after_another_sign_up(password: Secret) -> str:
        monkeypatch.setattr(passwords, "hash", hash_password)
        await harness.user("Otto")
        return await hash_password(password)

    async with browser(app) as hana:
        monkeypatch.setattr(passwords, "hash", refuse_as_busy)
        assert [(await hana.post("/api/accounts", json=HANA)).status_code for _ in range(3)] == [503] * 3
        monkeypatch.setattr(passwords, "hash", hash_after_another_sign_up)
        assert code(await hana.post("/api/accounts", json={**HANA, "name": "Otto"})) == (409, "name_taken")
        await good(await hana.post("/api/accounts", json=HANA))
        await hana.delete("/api/sessions")
        assert (await hana.post("/api/accounts", json={**HANA, "name": "Nana"})).status_code == 429


async def test_sign_ins_refused_by_a_busy_server_do_not_count_as_guesses(
    harness: AccountHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse_as_busy(*_: object) -> bool:
        raise Unavailable("Too many people sign in right now.", code="busy")

    app = application(harness, RateLimits(harness.clock))
    async with browser(app) as hana:
        await good(await hana.post("/api/accounts", json=HANA))
        with monkeypatch.context() as patch:
            patch.setattr(harness.accounts.passwords, "matches", refuse_as_busy)
            assert [(await hana.post("/api/sessions", json=HANA)).status_code for _ in range(25)] == [503] * 25
        await good(await hana.post("/api/sessions", json=HANA))


def test_the_openapi_schema_has_the_limits(app: Litestar) -> None:
    schemas = app.openapi_schema.to_schema()["components"]["schemas"]
    sign_up = schemas["SignUp"]["properties"]
    assert (sign_up["password"]["minLength"], sign_up["password"]["maxLength"]) == (8, 200)
    assert sign_up["name"]["maxLength"] == 60
    assert sorted(schemas["Me"]["required"]) == ["accountId", "createdAt", "language", "name", "role"]
    for operations in app.openapi_schema.to_schema()["paths"].values():
        for operation in operations.values():
            parameters = {parameter["name"] for parameter in operation.get("parameters", [])}
            assert parameters <= {"session_id", "key_id"}


def test_the_repr_of_bodies_hides_their_secrets() -> None:
    view = KeyView(id="0" * 64, label="bot", scopes=[], created_at=1, last_used_at=None, expires_at=None)
    bodies = [
        SignIn(name="Hana", password="correct horse"),
        ChangePassword(old="correct horse", new="battery staple"),
        KeyCreated(key="zk_secret", view=view),
    ]
    printed = repr(bodies)
    assert not any(secret in printed for secret in ("horse", "staple", "zk_secret"))
