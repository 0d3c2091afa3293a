"""Accounts over HTTP, as browsers and programs use them."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from litestar import Litestar

from tests.accounts.account_services import AccountHarness
from tests.accounts.browsers import AGENT, application, browser
from zataku.accounts.messages import ChangePassword, KeyMade, KeyView, SignIn
from zataku.accounts.rate_limits import HOUR, RATE_LIMITS, RateLimit, RateLimits
from zataku.accounts.secrets import Secret
from zataku.errors import Unavailable

HANA = {"name": "Hana", "password": "correct horse"}


@pytest.fixture
def app(harness: AccountHarness) -> Litestar:
    """The routes of accounts."""
    return application(harness)


@pytest.fixture
async def hana(app: Litestar) -> AsyncIterator[httpx.AsyncClient]:
    """A browser."""
    async with browser(app) as made:
        yield made


async def good(answer: httpx.Response) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def me(client: httpx.AsyncClient) -> Any:
    return await good(await client.get("/api/me"))


async def test_somebody_who_comes_is_a_guest_and_stays_the_same(hana: httpx.AsyncClient) -> None:
    first = await me(hana)
    assert first == {
        "accountId": first["accountId"],
        "role": "guest",
        "name": None,
        "language": "en",
        "createdAt": None,
    }
    assert await me(hana) == first


async def test_from_signing_up_to_signing_in_again(harness: AccountHarness, hana: httpx.AsyncClient) -> None:
    guest = await me(hana)
    signed_up = await hana.post("/api/accounts", json=HANA)
    assert signed_up.status_code == 201
    assert (await good(signed_up))["accountId"] == guest["accountId"]
    assert set(hana.cookies) == {"zataku_session", "zataku_language"}
    assert await me(hana) == await good(signed_up)
    assert (await me(hana))["createdAt"] == int(harness.clock.now() * 1000)
    await good(await hana.delete("/api/sessions/current"))
    assert (await me(hana))["role"] == "guest"
    await good(await hana.post("/api/sessions", json={**HANA, "name": "HANA"}))
    assert (await me(hana))["accountId"] == guest["accountId"]


async def test_signing_in_anew_ends_the_session_before(hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    await good(await hana.post("/api/sessions", json=HANA))
    (only,) = await good(await hana.get("/api/sessions"))
    assert only["current"]
    assert only["userAgent"] == AGENT


async def test_another_browser_is_signed_out_from_here(app: Litestar, hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    async with browser(app) as elsewhere:
        await good(await elsewhere.post("/api/sessions", json=HANA))
        (other,) = [each for each in await good(await hana.get("/api/sessions")) if not each["current"]]
        await good(await hana.delete(f"/api/sessions/{other['id']}"))
        await good(await hana.delete(f"/api/sessions/{other['id']}"))
        assert (await me(elsewhere))["role"] == "guest"
    assert (await me(hana))["role"] == "user"


async def test_nobody_ends_the_sessions_of_others(app: Litestar, hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    (mine,) = await good(await hana.get("/api/sessions"))
    async with browser(app) as otto:
        await good(await otto.post("/api/accounts", json={**HANA, "name": "Otto"}))
        await good(await otto.delete(f"/api/sessions/{mine['id']}"))
    assert (await me(hana))["name"] == "Hana"


async def test_signing_out_everywhere(app: Litestar, hana: httpx.AsyncClient) -> None:
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


async def test_a_new_password_leaves_this_browser_signed_in(hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    wrong = await hana.post("/api/me/password", json={"old": "wrong horse", "new": "battery staple"})
    assert code(wrong) == (403, "wrong_password")
    await good(await hana.post("/api/me/password", json={"old": "correct horse", "new": "battery staple"}))
    assert (await me(hana))["name"] == "Hana"
    assert code(await hana.post("/api/sessions", json=HANA)) == (401, "wrong_credentials")


async def test_somebody_leaves_and_is_a_new_guest(hana: httpx.AsyncClient) -> None:
    before = await good(await hana.post("/api/accounts", json=HANA))
    assert code(await hana.request("DELETE", "/api/me", json={})) == (403, "wrong_password")
    await good(await hana.request("DELETE", "/api/me", json={"password": "correct horse"}))
    assert "zataku_session" not in hana.cookies
    after = await me(hana)
    assert after["role"] == "guest"
    assert after["accountId"] != before["accountId"]


async def test_a_key_is_shown_once_and_works_for_a_program(app: Litestar, hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    asked = {
        "password": "correct horse",
        "label": "ranking bot",
        "scopes": ["ranking:write", "ranking:read"],
        "days": 7,
    }
    made = await good(await hana.post("/api/keys", json=asked))
    assert await good(await hana.get("/api/keys")) == [made["view"]]
    assert made["view"]["scopes"] == ["ranking:read", "ranking:write"]
    async with browser(app) as program:
        program.headers["Authorization"] = f"Bearer {made['key']}"
        assert (await me(program))["name"] == "Hana"
        assert not program.cookies
        for attempt in (
            program.get("/api/keys"),
            program.post("/api/keys", json=asked),
            program.delete("/api/sessions"),
        ):
            assert code(await attempt) == (403, "not_for_keys")
        await good(await hana.delete(f"/api/keys/{made['view']['id']}"))
        assert code(await program.get("/api/me")) == (401, "bad_key")


async def test_the_cookie_of_a_session_that_has_ended_is_taken_back(app: Litestar, hana: httpx.AsyncClient) -> None:
    await good(await hana.post("/api/accounts", json=HANA))
    async with browser(app) as elsewhere:
        await good(await elsewhere.post("/api/sessions", json=HANA))
        await good(await elsewhere.delete("/api/sessions"))
    assert "zataku_session" in hana.cookies
    assert (await me(hana))["role"] == "guest"
    assert "zataku_session" not in hana.cookies


async def test_nothing_about_accounts_is_kept_on_the_way(hana: httpx.AsyncClient) -> None:
    for answer in (await hana.get("/api/me"), await hana.post("/api/accounts", json=HANA), await hana.get("/api/keys")):
        assert answer.headers["Cache-Control"] == "no-store"


async def test_guests_have_no_sessions_and_no_keys(hana: httpx.AsyncClient) -> None:
    for attempt in (hana.get("/api/sessions"), hana.get("/api/keys"), hana.delete("/api/sessions")):
        assert code(await attempt) == (403, "guest")
    await good(await hana.delete("/api/sessions/current"))


BAD = [
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


@pytest.mark.parametrize(("method", "path", "body"), BAD)
async def test_what_makes_no_sense_is_refused(hana: httpx.AsyncClient, method: str, path: str, body: Any) -> None:
    answer = await hana.request(method, path, json=body)
    assert answer.status_code == 400, answer.text
    assert "correct horse" not in answer.text


async def test_half_a_character_is_refused_and_breaks_nothing(hana: httpx.AsyncClient) -> None:
    raw = b'{"name": "Hana", "password": "\\ud800\\ud800\\ud800\\ud800 horse"}'
    answer = await hana.post("/api/accounts", content=raw, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


async def test_guessing_passwords_is_slowed_down(harness: AccountHarness) -> None:
    app = application(harness, RateLimits(harness.clock))
    async with browser(app) as owner, browser(app, "198.51.100.9") as thief, browser(app, "198.51.100.9") as second:
        await good(await owner.post("/api/accounts", json=HANA))
        guess = {"name": "hana", "password": "wrong horse"}
        answers = [await thief.post("/api/sessions", json=guess) for _ in range(5)]
        assert {each.status_code for each in answers} == {401}
        slowed = await second.post("/api/sessions", json={**guess, "name": "ＨＡＮＡ"})
        assert code(slowed) == (429, "too_many_requests")
        assert slowed.headers["Retry-After"] == "12"
        await good(await owner.post("/api/sessions", json=HANA))
        names = [await thief.post("/api/sessions", json={**guess, "name": f"n{number}"}) for number in range(15)]
        assert [each.status_code for each in names] == [401] * 14 + [429]


async def test_passwords_are_guessed_no_faster_by_who_is_signed_in(harness: AccountHarness) -> None:
    app = application(harness, RateLimits(harness.clock))
    async with browser(app) as hana:
        await good(await hana.post("/api/accounts", json=HANA))
        guess = {"old": "wrong horse", "new": "battery staple"}
        answers = [(await hana.post("/api/me/password", json=guess)).status_code for _ in range(4)]
        answers += [(await hana.request("DELETE", "/api/me", json={"password": "x"})).status_code for _ in range(2)]
        assert answers == [403] * 5 + [429]


async def test_one_address_signs_up_so_many_times_and_no_more(harness: AccountHarness) -> None:
    app = application(harness, RateLimits(harness.clock, {**RATE_LIMITS, "sign_up_address": RateLimit(3, HOUR, 3)}))
    statuses: list[int] = []
    for number in range(4):
        async with browser(app, f"2001:db8::{number:x}") as client:
            statuses.append((await client.post("/api/accounts", json={**HANA, "name": f"Hana {number}"})).status_code)
    assert statuses == [201] * 3 + [429]


async def test_looking_for_a_free_name_does_not_use_the_sign_ups_of_a_household_up(harness: AccountHarness) -> None:
    app = application(harness, RateLimits(harness.clock))
    async with browser(app) as hana, browser(app) as otto:
        await good(await hana.post("/api/accounts", json=HANA))
        statuses = [(await otto.post("/api/accounts", json=HANA)).status_code for _ in range(12)]
        assert statuses == [409] * 12
        await good(await otto.post("/api/accounts", json={**HANA, "name": "Otto"}))


async def test_who_loses_the_race_for_a_name_has_used_a_sign_up_and_who_was_sent_away_has_not(
    harness: AccountHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = application(harness, RateLimits(harness.clock, {**RATE_LIMITS, "sign_up_address": RateLimit(2, HOUR, 2)}))
    passwords, hash_password = harness.accounts.passwords, harness.accounts.passwords.hash

    async def crowded(_: Secret) -> str:
        raise Unavailable("Too many people sign in right now.", code="busy")

    async def overtaken(password: Secret) -> str:
        monkeypatch.setattr(passwords, "hash", hash_password)
        await harness.user("Otto")
        return await hash_password(password)

    async with browser(app) as hana:
        monkeypatch.setattr(passwords, "hash", crowded)
        assert [(await hana.post("/api/accounts", json=HANA)).status_code for _ in range(3)] == [503] * 3
        monkeypatch.setattr(passwords, "hash", overtaken)
        assert code(await hana.post("/api/accounts", json={**HANA, "name": "Otto"})) == (409, "name_taken")
        await good(await hana.post("/api/accounts", json=HANA))
        await hana.delete("/api/sessions")
        assert (await hana.post("/api/accounts", json={**HANA, "name": "Nana"})).status_code == 429


async def test_who_could_not_be_heard_has_not_guessed(harness: AccountHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    async def crowded(*_: object) -> bool:
        raise Unavailable("Too many people sign in right now.", code="busy")

    app = application(harness, RateLimits(harness.clock))
    async with browser(app) as hana:
        await good(await hana.post("/api/accounts", json=HANA))
        with monkeypatch.context() as patch:
            patch.setattr(harness.accounts.passwords, "matches", crowded)
            assert [(await hana.post("/api/sessions", json=HANA)).status_code for _ in range(25)] == [503] * 25
        await good(await hana.post("/api/sessions", json=HANA))


def test_the_description_of_the_api_has_the_limits(app: Litestar) -> None:
    schemas = app.openapi_schema.to_schema()["components"]["schemas"]
    asked = schemas["SignUp"]["properties"]
    assert (asked["password"]["minLength"], asked["password"]["maxLength"]) == (8, 200)
    assert asked["name"]["maxLength"] == 60
    assert sorted(schemas["Me"]["required"]) == ["accountId", "createdAt", "language", "name", "role"]
    for operations in app.openapi_schema.to_schema()["paths"].values():
        for operation in operations.values():
            named = {each["name"] for each in operation.get("parameters", [])}
            assert named <= {"session_id", "key_id"}


def test_no_body_shows_what_it_holds_where_it_is_printed() -> None:
    view = KeyView(id="0" * 64, label="bot", scopes=[], created_at=1, last_used_at=None, expires_at=None)
    bodies = [
        SignIn(name="Hana", password="correct horse"),
        ChangePassword(old="correct horse", new="battery staple"),
        KeyMade(key="zk_secret", view=view),
    ]
    printed = repr(bodies)
    assert not any(secret in printed for secret in ("horse", "staple", "zk_secret"))
