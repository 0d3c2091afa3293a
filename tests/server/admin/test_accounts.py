"""Accounts on the admin page: lookup, sessions and open connections."""

import pytest
from msgspec.structs import replace

from tests.platform.items import GUEST, HANA, a_session, nth_account_id, nth_hash, stored_user
from tests.server.admin.conftest import ADMIN, AdminApp, FakeConnection
from zataku.platform.design import account, session
from zataku.platform.identity import Identity
from zataku.server.admin.accounts import address_network

SESSIONS = f"accounts/{HANA.account_id}/sessions"


async def fill_store(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store)
    own = replace(a_session(HANA, 1), token_hash=ADMIN.session_hash or "")
    old = replace(a_session(HANA, 2), last_used_at=HANA.created_at - 1)
    invalid = replace(a_session(HANA, 3), generation=9, last_used_at=HANA.created_at - 2)
    await admin_app.store.write_many(put=[own, old, invalid])


async def test_an_account_is_found_by_any_spelling_of_its_name(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store, replace(HANA, name="Midori"))
    for name in ("Midori", "midori", "ＭＩＤＯＲＩ"):
        body = await admin_app.get("accounts", name=name)
        assert (body["accountId"], body["name"], body["role"]) == (HANA.account_id, "Midori", "user")
    assert "password" not in body


async def test_an_unknown_name_is_reported_as_not_found(admin_app: AdminApp) -> None:
    for name in ("nobody", "\n", "a" * 60, "😀"):
        assert await admin_app.refusal("GET", "accounts", params={"name": name}) == (404, "no_such_account")
    for query in ("", "?name=", f"?name={'a' * 61}"):
        assert (await admin_app.refusal("GET", f"accounts{query}"))[0] == 400


async def test_sessions_are_listed_by_last_use(any_admin_app: AdminApp) -> None:
    await fill_store(any_admin_app)
    body = await any_admin_app.get(SESSIONS)
    assert body["account"]["name"] == "はなこ"
    ids = [session["id"] for session in body["sessions"]]
    assert ids == [ADMIN.session_hash, nth_hash(2), nth_hash(3)]
    assert [session["mine"] for session in body["sessions"]] == [True, False, False]
    assert [session["counts"] for session in body["sessions"]] == [True, True, False]
    assert body["sessions"][0]["expiresAt"] > body["sessions"][0]["createdAt"] > 1_600_000_000_000


async def test_ending_a_session_closes_its_sockets(any_admin_app: AdminApp) -> None:
    await fill_store(any_admin_app)
    for _ in range(2):
        response = await any_admin_app.http.delete(f"/api/admin/{SESSIONS}/{nth_hash(2)}")
        assert response.status_code == 204
    assert await any_admin_app.store.get(session(HANA.account_id, nth_hash(2))) is None
    assert await any_admin_app.store.get(session(HANA.account_id, nth_hash(3))) is not None
    assert any_admin_app.ended == [(HANA.account_id, nth_hash(2))] * 2


async def test_signing_an_account_out_ends_all_its_sessions(any_admin_app: AdminApp) -> None:
    await fill_store(any_admin_app)
    response = await any_admin_app.http.post(f"/api/admin/accounts/{HANA.account_id}/sign-out")
    assert response.status_code == 204
    body = await any_admin_app.get(SESSIONS)
    assert [session["counts"] for session in body["sessions"]] == [False, False, False]
    assert any_admin_app.ended == [(HANA.account_id, None)]


async def test_an_account_that_is_being_deleted_cannot_be_changed(admin_app: AdminApp) -> None:
    deleted = replace(HANA, deleted_at=HANA.created_at)
    await stored_user(admin_app.store, deleted)
    path = f"accounts/{HANA.account_id}/sign-out"
    assert await admin_app.refusal("POST", path) == (409, "deleted")
    assert await admin_app.store.get(account(HANA.account_id)) == deleted
    assert (await admin_app.get("accounts", name="はなこ"))["deletedAt"] == HANA.created_at


async def test_a_missing_account_is_reported_as_not_found(admin_app: AdminApp) -> None:
    assert await admin_app.refusal("GET", SESSIONS) == (404, "not_found")
    assert await admin_app.refusal("POST", f"accounts/{HANA.account_id}/sign-out") == (404, "not_found")
    assert await admin_app.store.get(account(HANA.account_id)) is None


async def test_malformed_ids_are_refused(admin_app: AdminApp) -> None:
    for id_ in ("1", "x" * 300, f"{HANA.account_id}%0A", "%2e%2e"):
        assert (await admin_app.refusal("GET", f"accounts/{id_}/sessions"))[0] == 400
        assert (await admin_app.refusal("POST", f"accounts/{id_}/sign-out"))[0] == 400
        assert (await admin_app.refusal("DELETE", f"accounts/{id_}/sessions/{nth_hash(1)}"))[0] == 400
        assert (await admin_app.refusal("DELETE", f"accounts/{HANA.account_id}/sessions/{id_}"))[0] == 400


async def test_connected_people_are_listed_with_their_sockets(admin_app: AdminApp) -> None:
    hana = Identity(account_id=HANA.account_id, role="user", language="ja", name="はなこ")
    guest = Identity(account_id=GUEST.account_id, role="guest", language="ko")
    admin_app.sockets = [
        FakeConnection(hana, "203.0.113.77", 200.0, ["live/b"]),
        FakeConnection(guest, "2001:db8:1:2:3::4", 150.0, []),
        FakeConnection(hana, "203.0.113.9", 100.5, ["live/a", "live/b"]),
    ]
    body = await admin_app.get("online")
    assert body["sockets"] == 3
    assert body["leftOut"] == 0
    first, second = body["people"]
    assert first == {
        "accountId": HANA.account_id,
        "name": "はなこ",
        "role": "user",
        "addresses": ["203.0.113.0/24"],
        "since": 100_500,
        "sockets": 2,
        "topics": ["live/a", "live/b"],
    }
    assert (second["name"], second["role"], second["addresses"]) == (None, "guest", ["2001:db8:1::/48"])


async def test_the_list_of_connected_people_is_limited(admin_app: AdminApp) -> None:
    admin_app.sockets = [
        FakeConnection(replace(ADMIN, account_id=nth_account_id(number)), "10.0.0.1", float(number), [])
        for number in range(600)
    ]
    body = await admin_app.get("online")
    assert (len(body["people"]), body["sockets"], body["leftOut"]) == (500, 600, 100)
    assert body["people"][0]["accountId"] == nth_account_id(0)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("::ffff:192.0.2.7", "192.0.2.0/24"),
        ("fe80::1%eth0", "fe80::/48"),
        ("127.0.0.1", "127.0.0.0/24"),
        ("", "unknown"),
        ("testclient", "unknown"),
    ],
)
def test_an_address_is_shown_as_its_network(address: str, network: str) -> None:
    assert address_network(address) == network
