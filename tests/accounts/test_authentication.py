"""Who is calling, by what they carry: sessions, keys and the marks of guests."""

import pytest
from msgspec.structs import replace

from tests.accounts.account_services import PASSWORD, AccountHarness
from zataku.accounts.secrets import Token
from zataku.errors import Unauthorized
from zataku.platform.design import Account, Session, account, api_key, session
from zataku.platform.identity import Identity
from zataku.platform.limits import DAY, MINUTE, SECOND
from zataku.table import Store


async def stored(store: Store, identity: Identity | Account) -> Account | None:
    return await store.get(account(identity.account_id))


def guest_cookies(harness: AccountHarness, guest: Identity) -> dict[str, str]:
    cookies = harness.authenticator.cookies
    return {cookies.guest_name: cookies.guest(guest.account_id, int(harness.clock.now() * SECOND)).value or ""}


async def test_a_caller_with_nothing_is_nobody(harness: AccountHarness) -> None:
    assert await harness.authenticator.authenticate({}) is None
    assert (
        await harness.authenticator.authenticate({"zataku_guest": "x", "zataku_session": "y"}, "Basic dXNlcg==") is None
    )


async def test_a_new_guest_is_known_again_and_nothing_is_stored(harness: AccountHarness) -> None:
    guest, cookie = harness.authenticator.new_guest("ko")
    assert not guest.is_stored
    found = await harness.authenticator.authenticate({cookie.key: cookie.value or ""}, None, "ko")
    assert found == guest
    assert await stored(harness.store, guest) is None


async def test_a_guest_reads_the_language_that_the_browser_remembers(harness: AccountHarness) -> None:
    guest, cookie = harness.authenticator.new_guest("ko")
    found = await harness.authenticator.authenticate({cookie.key: cookie.value or "", "zataku_language": "ja"})
    assert found == replace(guest, language="ja")


async def test_a_guest_whose_account_is_kept_is_known_by_the_same_cookie(harness: AccountHarness) -> None:
    guest = harness.guest()
    kept = await harness.authenticator.ensure_account(guest)
    assert kept.is_stored
    assert await harness.authenticator.authenticate(guest_cookies(harness, guest)) == kept


async def test_keeping_somebody_twice_changes_nothing(harness: AccountHarness) -> None:
    guest = harness.guest()
    kept = await harness.authenticator.ensure_account(guest)
    before = await stored(harness.store, guest)
    assert await harness.authenticator.ensure_account(guest) == kept
    assert await harness.authenticator.ensure_account(kept) is kept
    assert await stored(harness.store, guest) == before


async def test_the_mark_of_a_guest_who_has_signed_up_is_void(harness: AccountHarness) -> None:
    guest = harness.guest()
    await harness.user(guest=guest)
    assert await harness.authenticator.authenticate(guest_cookies(harness, guest)) is None
    with pytest.raises(Unauthorized):
        await harness.authenticator.ensure_account(guest)


async def test_the_mark_of_a_guest_who_has_left_is_void(harness: AccountHarness) -> None:
    guest = await harness.authenticator.ensure_account(harness.guest())
    await harness.accounts.delete_account(guest, None)
    assert await harness.authenticator.authenticate(guest_cookies(harness, guest)) is None
    with pytest.raises(Unauthorized):
        await harness.authenticator.ensure_account(replace(guest, is_stored=False))


async def test_a_session_says_who_somebody_is(harness: AccountHarness) -> None:
    user, token = await harness.user()
    found = await harness.known(token)
    assert (found.account_id, found.role, found.name, found.language) == (user.account_id, "user", "Hana", "ja")
    assert found.session_hash == token.secret.digest()
    assert found.scopes is None


async def test_a_session_counts_more_than_the_mark_of_a_guest(harness: AccountHarness) -> None:
    user, token = await harness.user()
    cookies = {
        harness.authenticator.cookies.session_name: token.as_session(),
        **guest_cookies(harness, harness.guest()),
    }
    found = await harness.authenticator.authenticate(cookies)
    assert found is not None
    assert found.account_id == user.account_id


async def test_who_is_signed_out_is_the_guest_from_before(harness: AccountHarness) -> None:
    _, token = await harness.user()
    guest = harness.guest()
    await harness.accounts.sign_out(await harness.known(token))
    cookies = {harness.authenticator.cookies.session_name: token.as_session(), **guest_cookies(harness, guest)}
    found = await harness.authenticator.authenticate(cookies, None, "ja")
    assert found == guest


async def test_another_secret_for_the_same_account_is_nobody(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    assert await harness.with_session(Token.generate(user.account_id)) is None


async def test_the_secret_of_one_does_not_open_the_account_of_another(harness: AccountHarness) -> None:
    _, token = await harness.user()
    other, _ = await harness.user("Otto")
    assert await harness.with_session(replace(token, account_id=other.account_id)) is None


async def test_a_session_of_an_earlier_generation_is_void(harness: AccountHarness) -> None:
    user, token = await harness.user()
    _, second = await harness.accounts.sign_in("Hana", PASSWORD, "")
    await harness.accounts.sign_out_everywhere(await harness.known(token))
    assert await harness.with_session(token) is None
    assert await harness.with_session(second) is None
    assert await harness.store.get(session(user.account_id, token.secret.digest())) is not None
    _, third = await harness.accounts.sign_in("Hana", PASSWORD, "")
    assert await harness.with_session(third) is not None


async def test_a_session_ends_30_days_after_its_last_use(harness: AccountHarness) -> None:
    _, token = await harness.user()
    await harness.clock.advance(20 * DAY / SECOND)
    assert await harness.with_session(token) is not None
    await harness.authenticator.drain()
    await harness.clock.advance(29 * DAY / SECOND)
    assert await harness.with_session(token) is not None
    await harness.authenticator.drain()
    await harness.clock.advance(30 * DAY / SECOND)
    assert await harness.with_session(token) is None


async def test_use_is_noted_every_ten_minutes_and_visits_once_a_day(harness: AccountHarness) -> None:
    user, token = await harness.user()
    began = int(harness.clock.now() * SECOND)

    async def noted() -> tuple[int, int]:
        await harness.known(token)
        await harness.authenticator.drain()
        used = await harness.store.get(session(user.account_id, token.secret.digest()))
        seen = await stored(harness.store, user)
        assert isinstance(used, Session)
        assert seen is not None
        return used.last_used_at - began, seen.last_seen_at - began

    await harness.clock.advance(9 * 60)
    assert await noted() == (0, 0)
    await harness.clock.advance(60)
    assert await noted() == (10 * MINUTE, 0)
    await harness.clock.advance(DAY / SECOND)
    assert await noted() == (DAY + 10 * MINUTE, DAY + 10 * MINUTE)


async def test_many_requests_at_once_note_one_visit(harness: AccountHarness) -> None:
    guest = await harness.authenticator.ensure_account(harness.guest())
    await harness.clock.advance(2 * DAY / SECOND)
    cookies = guest_cookies(harness, guest)
    with harness.store.measured("visits") as consumed:
        for _ in range(20):
            assert await harness.authenticator.authenticate(cookies) is not None
        await harness.authenticator.drain()
    assert consumed.writes <= 2
    found = await stored(harness.store, guest)
    assert found is not None
    assert found.last_seen_at == int(harness.clock.now() * SECOND)


async def test_a_store_that_takes_no_notes_stops_nobody(harness: AccountHarness) -> None:
    _, token = await harness.user()
    await harness.clock.advance(2 * DAY / SECOND)
    found = await harness.with_session(token)
    assert found is not None
    await harness.store.close()
    await harness.authenticator.drain()


async def test_a_program_acts_for_its_user_within_its_scopes(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    token, made = await harness.accounts.keys.create(user.account_id, "bot", frozenset({"ranking:read"}))
    found = await harness.with_key(token)
    assert found is not None
    assert (found.account_id, found.name, found.key_hash) == (user.account_id, "Hana", made.key_hash)
    assert found.may("ranking:read")
    assert not found.may("ranking:write")
    await harness.authenticator.drain()
    used = await harness.store.get(api_key(user.account_id, made.key_hash))
    assert used is not None
    assert used.last_used_at == int(harness.clock.now() * SECOND)


async def test_the_key_of_an_admin_is_no_admin(harness: AccountHarness) -> None:
    user, session_of = await harness.user()
    await harness.accounts.grant_admin(user, admin=True)
    token, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset())
    found = await harness.with_key(token)
    assert found is not None
    assert not found.is_admin
    assert (await harness.known(session_of)).is_admin
    assert harness.ends[1:] == [(user.account_id, None)]


async def test_a_bad_key_is_refused_even_beside_a_good_session(harness: AccountHarness) -> None:
    user, token = await harness.user()
    cookies = {harness.authenticator.cookies.session_name: token.as_session()}
    for text in ("zk_nonsense", Token.generate(user.account_id).as_key(), "x"):
        with pytest.raises(Unauthorized) as refused:
            await harness.authenticator.authenticate(cookies, f"Bearer {text}")
        assert refused.value.code == "bad_key"
        assert text not in str(refused.value)


async def test_a_key_ends_when_it_is_revoked_or_its_days_are_over(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    first, made = await harness.accounts.keys.create(user.account_id, "one", frozenset())
    second, _ = await harness.accounts.keys.create(user.account_id, "two", frozenset(), days=3)
    await harness.accounts.keys.revoke(user.account_id, made.key_hash)
    with pytest.raises(Unauthorized):
        await harness.with_key(first)
    await harness.clock.advance(3 * DAY / SECOND - 1)
    assert await harness.with_key(second) is not None
    await harness.clock.advance(1)
    with pytest.raises(Unauthorized):
        await harness.with_key(second)


async def test_nobody_is_known_by_an_account_that_is_deleted(harness: AccountHarness) -> None:
    user, token = await harness.user()
    key, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset())
    await harness.accounts.delete_account(await harness.known(token), PASSWORD)
    assert await harness.with_session(token) is None
    with pytest.raises(Unauthorized):
        await harness.with_key(key)


async def test_a_cookie_is_renewed_only_for_whoever_came_with_it(harness: AccountHarness) -> None:
    authenticator = harness.authenticator
    guest = harness.guest()
    assert authenticator.renewed_cookies(guest, {}) == []
    assert [each.key for each in authenticator.renewed_cookies(guest, guest_cookies(harness, guest))] == [
        "zataku_guest"
    ]
    assert authenticator.renewed_cookies(harness.guest(), guest_cookies(harness, guest)) == []
    user, token = await harness.user()
    cookies = {authenticator.cookies.session_name: token.as_session()}
    (renewed,) = authenticator.renewed_cookies(await harness.known(token), cookies)
    assert renewed.value == token.as_session()
    key, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset())
    program = await harness.with_key(key)
    assert program is not None
    assert authenticator.renewed_cookies(program, cookies) == []
    _, another = await harness.accounts.sign_in("Hana", PASSWORD, "")
    # Of two cookies with one name, the one that nobody was known by.
    assert authenticator.renewed_cookies(await harness.known(another), cookies) == []


async def test_who_was_let_in_holds_while_what_they_came_with_does(harness: AccountHarness) -> None:
    guest, holds = harness.guest(), harness.authenticator.is_still_valid
    assert await holds(guest)
    user, token = await harness.user(guest=guest)
    assert not await holds(guest)
    key, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset(), days=1)
    person, program = await harness.known(token), await harness.with_key(key)
    assert program is not None
    assert await holds(person)
    assert await holds(program)
    await harness.clock.advance(DAY / SECOND)
    assert not await holds(program)
    assert await holds(person)
    await harness.accounts.grant_admin(user, admin=True)
    assert not await holds(person)
    assert await holds(await harness.known(token))


async def test_looking_whether_somebody_holds_is_no_visit(harness: AccountHarness) -> None:
    _, token = await harness.user()
    person = await harness.known(token)
    for _ in range(29):
        await harness.clock.advance(DAY / SECOND)
        assert await harness.authenticator.is_still_valid(person)
        await harness.authenticator.drain()
    await harness.clock.advance(DAY / SECOND)
    assert not await harness.authenticator.is_still_valid(person)


async def test_sessions_of_before_a_moment_do_not_count(harness: AccountHarness) -> None:
    user, token = await harness.user()
    await harness.clock.advance(1)
    harness.authenticator.sessions_from = int(harness.clock.now() * SECOND)
    assert await harness.with_session(token) is None
    _, later = await harness.accounts.sign_in("Hana", PASSWORD, "")
    assert await harness.with_session(later) is not None
    assert [harness.authenticator.is_current(each) for each in await harness.accounts.sessions.of(user)] == [
        True,
        False,
    ]
