"""Accounts, where they are signed in, and who is connected now."""

import pytest
from msgspec.structs import replace

from tests.platform.items import GUEST, HANA, a_session, hashed, numbered, stored_user
from tests.server.admin.conftest import ADMIN, AdminApp, Connected
from zataku.platform.design import account, session
from zataku.platform.identity import Identity
from zataku.server.admin.accounts import address_network

SESSIONS = f"accounts/{HANA.account_id}/sessions"


async def furnished(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store)
    mine = replace(a_session(HANA, 1), token_hash=ADMIN.session_hash or "")
    old = replace(a_session(HANA, 2), last_used_at=HANA.created_at - 1)
    void = replace(a_session(HANA, 3), generation=9, last_used_at=HANA.created_at - 2)
    await admin_app.store.write_many(put=[mine, old, void])


async def test_somebody_is_found_however_the_name_is_spelt(admin_app: AdminApp) -> None:
    await stored_user(admin_app.store, replace(HANA, name="Midori"))
    for name in ("Midori", "midori", "ＭＩＤＯＲＩ"):
        told = await admin_app.get("accounts", name=name)
        assert (told["accountId"], told["name"], told["role"]) == (HANA.account_id, "Midori", "user")
    assert "password" not in told


async def test_a_name_that_nobody_has_is_not_found(admin_app: AdminApp) -> None:
    for name in ("nobody", "\n", "a" * 60, "😀"):
        assert await admin_app.refusal("GET", "accounts", params={"name": name}) == (404, "no_such_account")
    for query in ("", "?name=", f"?name={'a' * 61}"):
        assert (await admin_app.refusal("GET", f"accounts{query}"))[0] == 400


async def test_sessions_are_listed_the_last_used_first(any_admin_app: AdminApp) -> None:
    await furnished(any_admin_app)
    told = await any_admin_app.get(SESSIONS)
    assert told["account"]["name"] == "はなこ"
    ids = [each["id"] for each in told["sessions"]]
    assert ids == [ADMIN.session_hash, hashed(2), hashed(3)]
    assert [each["mine"] for each in told["sessions"]] == [True, False, False]
    assert [each["counts"] for each in told["sessions"]] == [True, True, False]
    assert told["sessions"][0]["expiresAt"] > told["sessions"][0]["createdAt"] > 1_600_000_000_000


async def test_one_session_ends_and_its_sockets_with_it(any_admin_app: AdminApp) -> None:
    await furnished(any_admin_app)
    for _ in range(2):
        answer = await any_admin_app.http.delete(f"/api/admin/{SESSIONS}/{hashed(2)}")
        assert answer.status_code == 204
    assert await any_admin_app.store.get(session(HANA.account_id, hashed(2))) is None
    assert await any_admin_app.store.get(session(HANA.account_id, hashed(3))) is not None
    assert any_admin_app.ended == [(HANA.account_id, hashed(2))] * 2


async def test_somebody_is_signed_out_everywhere(any_admin_app: AdminApp) -> None:
    await furnished(any_admin_app)
    answer = await any_admin_app.http.post(f"/api/admin/accounts/{HANA.account_id}/sign-out")
    assert answer.status_code == 204
    told = await any_admin_app.get(SESSIONS)
    assert [each["counts"] for each in told["sessions"]] == [False, False, False]
    assert any_admin_app.ended == [(HANA.account_id, None)]


async def test_an_account_that_is_being_deleted_changes_no_more(admin_app: AdminApp) -> None:
    gone = replace(HANA, deleted_at=HANA.created_at)
    await stored_user(admin_app.store, gone)
    path = f"accounts/{HANA.account_id}/sign-out"
    assert await admin_app.refusal("POST", path) == (409, "deleted")
    assert await admin_app.store.get(account(HANA.account_id)) == gone
    assert (await admin_app.get("accounts", name="はなこ"))["deletedAt"] == HANA.created_at


async def test_an_account_that_is_not_there_is_not_found(admin_app: AdminApp) -> None:
    assert await admin_app.refusal("GET", SESSIONS) == (404, "not_found")
    assert await admin_app.refusal("POST", f"accounts/{HANA.account_id}/sign-out") == (404, "not_found")
    assert await admin_app.store.get(account(HANA.account_id)) is None


async def test_what_is_no_id_is_refused(admin_app: AdminApp) -> None:
    for id_ in ("1", "x" * 300, f"{HANA.account_id}%0A", "%2e%2e"):
        assert (await admin_app.refusal("GET", f"accounts/{id_}/sessions"))[0] == 400
        assert (await admin_app.refusal("POST", f"accounts/{id_}/sign-out"))[0] == 400
        assert (await admin_app.refusal("DELETE", f"accounts/{id_}/sessions/{hashed(1)}"))[0] == 400
        assert (await admin_app.refusal("DELETE", f"accounts/{HANA.account_id}/sessions/{id_}"))[0] == 400


async def test_sockets_are_told_by_whose_they_are(admin_app: AdminApp) -> None:
    hana = Identity(account_id=HANA.account_id, role="user", language="ja", name="はなこ")
    guest = Identity(account_id=GUEST.account_id, role="guest", language="ko")
    admin_app.sockets = [
        Connected(hana, "203.0.113.77", 200.0, ["live/b"]),
        Connected(guest, "2001:db8:1:2:3::4", 150.0, []),
        Connected(hana, "203.0.113.9", 100.5, ["live/a", "live/b"]),
    ]
    told = await admin_app.get("online")
    assert told["sockets"] == 3
    assert told["leftOut"] == 0
    first, second = told["people"]
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


async def test_a_crowd_is_counted_and_not_listed_whole(admin_app: AdminApp) -> None:
    admin_app.sockets = [
        Connected(replace(ADMIN, account_id=numbered(number)), "10.0.0.1", float(number), []) for number in range(600)
    ]
    told = await admin_app.get("online")
    assert (len(told["people"]), told["sockets"], told["leftOut"]) == (500, 600, 100)
    assert told["people"][0]["accountId"] == numbered(0)


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
def test_an_address_is_told_as_its_network(address: str, network: str) -> None:
    assert address_network(address) == network
