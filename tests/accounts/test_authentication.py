"""Authentication of callers by session, API key and guest token."""

import pytest
from msgspec.structs import replace

from tests.accounts.account_services import PASSWORD, AccountHarness
from zataku.accounts.secrets import Token
from zataku.clock import now_ms
from zataku.errors import Unauthorized
from zataku.platform.design import Account, Session, account, api_key, session
from zataku.platform.identity import Identity
from zataku.platform.limits import DAY, MINUTE, SECOND
from zataku.table import Store


async def stored_account(store: Store, identity: Identity | Account) -> Account | None:
    return await store.get(account(identity.account_id))


def guest_cookies(harness: AccountHarness, guest: Identity) -> dict[str, str]:
    cookies = harness.authenticator.cookies
    return {cookies.guest_name: cookies.guest(guest.account_id, now_ms(harness.clock)).value or ""}


async def test_a_caller_without_valid_credentials_is_not_authenticated(harness: AccountHarness) -> None:
    assert await harness.authenticator.authenticate({}) is None
    assert (
        await harness.authenticator.authenticate({"zataku_guest": "x", "zataku_session": "y"}, "Basic dXNlcg==") is None
    )


async def test_a_new_guest_is_recognized_by_the_cookie_without_a_stored_account(harness: AccountHarness) -> None:
    guest, cookie = harness.authenticator.new_guest("ko")
    assert not guest.is_stored
    identity = await harness.authenticator.authenticate({cookie.key: cookie.value or ""}, None, "ko")
    assert identity == guest
    assert await stored_account(harness.store, guest) is None


async def test_the_language_of_a_guest_comes_from_the_language_cookie(harness: AccountHarness) -> None:
    guest, cookie = harness.authenticator.new_guest("ko")
    identity = await harness.authenticator.authenticate({cookie.key: cookie.value or "", "zataku_language": "ja"})
    assert identity == replace(guest, language="ja")


async def test_a_guest_with_a_stored_account_keeps_their_cookie(harness: AccountHarness) -> None:
    guest = harness.guest()
    stored = await harness.authenticator.ensure_account(guest)
    assert stored.is_stored
    assert await harness.authenticator.authenticate(guest_cookies(harness, guest)) == stored


async def test_ensuring_an_account_twice_changes_nothing(harness: AccountHarness) -> None:
    guest = harness.guest()
    stored = await harness.authenticator.ensure_account(guest)
    before = await stored_account(harness.store, guest)
    assert await harness.authenticator.ensure_account(guest) == stored
    assert await harness.authenticator.ensure_account(stored) is stored
    assert await stored_account(harness.store, guest) == before


async def test_signing_up_invalidates_the_guest_token(harness: AccountHarness) -> None:
    guest = harness.guest()
    await harness.user(guest=guest)
    assert await harness.authenticator.authenticate(guest_cookies(harness, guest)) is None
    with pytest.raises(Unauthorized):
        await harness.authenticator.ensure_account(guest)


async def test_deleting_a_guest_invalidates_the_guest_token(harness: AccountHarness) -> None:
    guest = await harness.authenticator.ensure_account(harness.guest())
    await harness.accounts.delete_account(guest, None)
    assert await harness.authenticator.authenticate(guest_cookies(harness, guest)) is None
    with pytest.raises(Unauthorized):
        await harness.authenticator.ensure_account(replace(guest, is_stored=False))


async def test_a_session_authenticates_its_user(harness: AccountHarness) -> None:
    user, token = await harness.user()
    identity = await harness.identity_of(token)
    assert (identity.account_id, identity.role, identity.name, identity.language) == (
        user.account_id,
        "user",
        "Hana",
        "ja",
    )
    assert identity.session_hash == token.secret.digest()
    assert identity.scopes is None


async def test_a_session_takes_precedence_over_a_guest_token(harness: AccountHarness) -> None:
    user, token = await harness.user()
    cookies = {
        harness.authenticator.cookies.session_name: token.as_session(),
        **guest_cookies(harness, harness.guest()),
    }
    identity = await harness.authenticator.authenticate(cookies)
    assert identity is not None
    assert identity.account_id == user.account_id


async def test_a_signed_out_user_is_the_guest_of_the_cookie(harness: AccountHarness) -> None:
    _, token = await harness.user()
    guest = harness.guest()
    await harness.accounts.sign_out(await harness.identity_of(token))
    cookies = {harness.authenticator.cookies.session_name: token.as_session(), **guest_cookies(harness, guest)}
    identity = await harness.authenticator.authenticate(cookies, None, "ja")
    assert identity == guest


async def test_a_session_with_a_wrong_secret_is_not_authenticated(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    assert await harness.authenticate_session(Token.generate(user.account_id)) is None


async def test_a_session_secret_is_valid_for_its_own_account_only(harness: AccountHarness) -> None:
    _, token = await harness.user()
    other, _ = await harness.user("Otto")
    assert await harness.authenticate_session(replace(token, account_id=other.account_id)) is None


async def test_signing_out_everywhere_invalidates_sessions_of_earlier_generations(harness: AccountHarness) -> None:
    user, token = await harness.user()
    _, second = await harness.accounts.sign_in("Hana", PASSWORD, "")
    await harness.accounts.sign_out_everywhere(await harness.identity_of(token))
    assert await harness.authenticate_session(token) is None
    assert await harness.authenticate_session(second) is None
    assert await harness.store.get(session(user.account_id, token.secret.digest())) is not None
    _, third = await harness.accounts.sign_in("Hana", PASSWORD, "")
    assert await harness.authenticate_session(third) is not None


async def test_a_session_expires_30_days_after_its_last_use(harness: AccountHarness) -> None:
    _, token = await harness.user()
    await harness.clock.advance(20 * DAY / SECOND)
    assert await harness.authenticate_session(token) is not None
    await harness.authenticator.drain()
    await harness.clock.advance(29 * DAY / SECOND)
    assert await harness.authenticate_session(token) is not None
    await harness.authenticator.drain()
    await harness.clock.advance(30 * DAY / SECOND)
    assert await harness.authenticate_session(token) is None


async def test_session_use_is_stored_every_ten_minutes_and_visits_once_a_day(harness: AccountHarness) -> None:
    user, token = await harness.user()
    started_at = now_ms(harness.clock)

    async def stored_times() -> tuple[int, int]:
        await harness.identity_of(token)
        await harness.authenticator.drain()
        used_session = await harness.store.get(session(user.account_id, token.secret.digest()))
        seen_account = await stored_account(harness.store, user)
        assert isinstance(used_session, Session)
        assert seen_account is not None
        return used_session.last_used_at - started_at, seen_account.last_seen_at - started_at

    await harness.clock.advance(9 * 60)
    assert await stored_times() == (0, 0)
    await harness.clock.advance(60)
    assert await stored_times() == (10 * MINUTE, 0)
    await harness.clock.advance(DAY / SECOND)
    assert await stored_times() == (DAY + 10 * MINUTE, DAY + 10 * MINUTE)


async def test_many_requests_store_one_visit(harness: AccountHarness) -> None:
    guest = await harness.authenticator.ensure_account(harness.guest())
    await harness.clock.advance(2 * DAY / SECOND)
    cookies = guest_cookies(harness, guest)
    with harness.store.measured("visits") as consumed:
        for _ in range(20):
            assert await harness.authenticator.authenticate(cookies) is not None
        await harness.authenticator.drain()
    assert consumed.writes <= 2
    visitor = await stored_account(harness.store, guest)
    assert visitor is not None
    assert visitor.last_seen_at == now_ms(harness.clock)


async def test_a_failure_to_store_a_visit_does_not_fail_the_request(harness: AccountHarness) -> None:
    _, token = await harness.user()
    await harness.clock.advance(2 * DAY / SECOND)
    identity = await harness.authenticate_session(token)
    assert identity is not None
    await harness.store.close()
    await harness.authenticator.drain()


async def test_an_api_key_acts_for_its_user_within_its_scopes(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    token, key = await harness.accounts.keys.create(user.account_id, "bot", frozenset({"ranking:read"}))
    identity = await harness.authenticate_key(token)
    assert identity is not None
    assert (identity.account_id, identity.name, identity.key_hash) == (user.account_id, "Hana", key.key_hash)
    assert identity.may("ranking:read")
    assert not identity.may("ranking:write")
    await harness.authenticator.drain()
    used = await harness.store.get(api_key(user.account_id, key.key_hash))
    assert used is not None
    assert used.last_used_at == now_ms(harness.clock)


async def test_the_api_key_of_an_admin_has_no_admin_rights(harness: AccountHarness) -> None:
    user, session_token = await harness.user()
    await harness.accounts.grant_admin(user, admin=True)
    token, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset())
    identity = await harness.authenticate_key(token)
    assert identity is not None
    assert not identity.is_admin
    assert (await harness.identity_of(session_token)).is_admin
    assert harness.ended_credentials[1:] == [(user.account_id, None)]


async def test_an_invalid_key_is_refused_despite_a_valid_session(harness: AccountHarness) -> None:
    user, token = await harness.user()
    cookies = {harness.authenticator.cookies.session_name: token.as_session()}
    for text in ("zk_nonsense", Token.generate(user.account_id).as_key(), "x"):
        with pytest.raises(Unauthorized) as error:
            await harness.authenticator.authenticate(cookies, f"Bearer {text}")
        assert error.value.code == "bad_key"
        assert text not in str(error.value)


async def test_a_key_is_invalid_once_it_is_revoked_or_has_expired(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    first, first_key = await harness.accounts.keys.create(user.account_id, "one", frozenset())
    second, _ = await harness.accounts.keys.create(user.account_id, "two", frozenset(), days=3)
    await harness.accounts.keys.revoke(user.account_id, first_key.key_hash)
    with pytest.raises(Unauthorized):
        await harness.authenticate_key(first)
    await harness.clock.advance(3 * DAY / SECOND - 1)
    assert await harness.authenticate_key(second) is not None
    await harness.clock.advance(1)
    with pytest.raises(Unauthorized):
        await harness.authenticate_key(second)


async def test_deleting_an_account_invalidates_its_sessions_and_keys(harness: AccountHarness) -> None:
    user, token = await harness.user()
    key, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset())
    await harness.accounts.delete_account(await harness.identity_of(token), PASSWORD)
    assert await harness.authenticate_session(token) is None
    with pytest.raises(Unauthorized):
        await harness.authenticate_key(key)


async def test_only_the_cookie_that_authenticated_the_caller_is_renewed(harness: AccountHarness) -> None:
    authenticator = harness.authenticator
    guest = harness.guest()
    assert authenticator.renewed_cookies(guest, {}) == []
    assert [cookie.key for cookie in authenticator.renewed_cookies(guest, guest_cookies(harness, guest))] == [
        "zataku_guest"
    ]
    assert authenticator.renewed_cookies(harness.guest(), guest_cookies(harness, guest)) == []
    user, token = await harness.user()
    cookies = {authenticator.cookies.session_name: token.as_session()}
    (renewed,) = authenticator.renewed_cookies(await harness.identity_of(token), cookies)
    assert renewed.value == token.as_session()
    key, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset())
    program = await harness.authenticate_key(key)
    assert program is not None
    assert authenticator.renewed_cookies(program, cookies) == []
    _, another = await harness.accounts.sign_in("Hana", PASSWORD, "")
    # The cookie of another session than the one that authenticated the caller.
    assert authenticator.renewed_cookies(await harness.identity_of(another), cookies) == []


async def test_an_identity_is_valid_as_long_as_its_credential(harness: AccountHarness) -> None:
    guest, is_valid = harness.guest(), harness.authenticator.is_still_valid
    assert await is_valid(guest)
    user, token = await harness.user(guest=guest)
    assert not await is_valid(guest)
    key, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset(), days=1)
    person, program = await harness.identity_of(token), await harness.authenticate_key(key)
    assert program is not None
    assert await is_valid(person)
    assert await is_valid(program)
    await harness.clock.advance(DAY / SECOND)
    assert not await is_valid(program)
    assert await is_valid(person)
    await harness.accounts.grant_admin(user, admin=True)
    assert not await is_valid(person)
    assert await is_valid(await harness.identity_of(token))


async def test_checking_an_identity_does_not_extend_its_session(harness: AccountHarness) -> None:
    _, token = await harness.user()
    person = await harness.identity_of(token)
    for _ in range(29):
        await harness.clock.advance(DAY / SECOND)
        assert await harness.authenticator.is_still_valid(person)
        await harness.authenticator.drain()
    await harness.clock.advance(DAY / SECOND)
    assert not await harness.authenticator.is_still_valid(person)


async def test_guests_keep_their_identity_when_the_clock_is_set_back(harness: AccountHarness) -> None:
    authenticator = harness.authenticator
    guest, cookie = authenticator.new_guest("ja")
    await authenticator.ensure_account(guest)
    cookies = {cookie.key: str(cookie.value)}
    harness.clock.set_back(2 * DAY / SECOND)
    returned = await authenticator.authenticate(cookies)
    assert returned is not None
    assert (returned.account_id, returned.role, returned.is_stored) == (guest.account_id, "guest", True)
    # The cookie is issued again by the clock as it is now.
    (renewed,) = authenticator.renewed_cookies(returned, cookies)
    issued = authenticator.cookies.guest_in({renewed.key: str(renewed.value)}, now_ms(harness.clock))
    assert issued is not None
    assert issued.issued_at == now_ms(harness.clock)


async def test_guests_keep_their_identity_when_a_clock_that_lost_its_date_is_set_right(harness: AccountHarness) -> None:
    authenticator = harness.authenticator
    guest, cookie = authenticator.new_guest("ja")
    await authenticator.ensure_account(guest)
    forty_years = 40 * 365 * DAY / SECOND
    harness.clock.set_back(forty_years)
    returned = await authenticator.authenticate({cookie.key: str(cookie.value)})
    assert returned is not None
    (renewed,) = authenticator.renewed_cookies(returned, {cookie.key: str(cookie.value)})
    await harness.clock.advance(forty_years)
    again = await authenticator.authenticate({renewed.key: str(renewed.value)})
    assert again is not None
    assert again.account_id == guest.account_id


async def test_users_stay_signed_in_when_the_clock_is_set_back(harness: AccountHarness) -> None:
    user, token = await harness.user()
    harness.clock.set_back(2 * DAY / SECOND)
    assert (await harness.identity_of(token)).account_id == user.account_id


async def test_users_can_sign_in_when_the_clock_is_set_back_after_a_restore(harness: AccountHarness) -> None:
    await harness.user()
    harness.authenticator.cutoff.at = now_ms(harness.clock)
    harness.clock.set_back(2 * DAY / SECOND)
    _, token = await harness.accounts.sign_in("Hana", PASSWORD, "")
    assert await harness.authenticate_session(token) is not None


async def test_sessions_created_before_the_cutoff_are_invalid(harness: AccountHarness) -> None:
    user, token = await harness.user()
    await harness.clock.advance(1)
    harness.authenticator.cutoff.at = now_ms(harness.clock)
    assert await harness.authenticate_session(token) is None
    _, later = await harness.accounts.sign_in("Hana", PASSWORD, "")
    assert await harness.authenticate_session(later) is not None
    assert [harness.authenticator.is_current(session) for session in await harness.accounts.sessions.of(user)] == [
        True,
        False,
    ]
