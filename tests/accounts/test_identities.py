"""Who is calling, by what they carry: sessions, keys and the marks of guests."""

import pytest
from msgspec.structs import replace

from tests.accounts.people import PASSWORD, Household
from zataku.accounts.secrets import Token
from zataku.errors import Unauthorized
from zataku.platform.design import Account, Session, account, api_key, session
from zataku.platform.identity import Identity
from zataku.platform.limits import DAY, MINUTE, SECOND
from zataku.table import Store


async def stored(store: Store, identity: Identity | Account) -> Account | None:
    return await store.get(account(identity.account_id))


def guest_cookies(house: Household, guest: Identity) -> dict[str, str]:
    cookies = house.authenticator.cookies
    return {cookies.guest_name: cookies.guest(guest.account_id, int(house.clock.now() * SECOND)).value or ""}


async def test_a_caller_with_nothing_is_nobody(house: Household) -> None:
    assert await house.authenticator.authenticate({}) is None
    assert (
        await house.authenticator.authenticate({"zataku_guest": "x", "zataku_session": "y"}, "Basic dXNlcg==") is None
    )


async def test_a_new_guest_is_known_again_and_nothing_is_stored(house: Household) -> None:
    guest, cookie = house.authenticator.new_guest("ko")
    assert not guest.is_stored
    found = await house.authenticator.authenticate({cookie.key: cookie.value or ""}, None, "ko")
    assert found == guest
    assert await stored(house.store, guest) is None


async def test_a_guest_reads_the_language_that_the_browser_remembers(house: Household) -> None:
    guest, cookie = house.authenticator.new_guest("ko")
    found = await house.authenticator.authenticate({cookie.key: cookie.value or "", "zataku_language": "ja"})
    assert found == replace(guest, language="ja")


async def test_a_guest_whose_account_is_kept_is_known_by_the_same_cookie(house: Household) -> None:
    guest = house.guest()
    kept = await house.authenticator.ensure_account(guest)
    assert kept.is_stored
    assert await house.authenticator.authenticate(guest_cookies(house, guest)) == kept


async def test_keeping_somebody_twice_changes_nothing(house: Household) -> None:
    guest = house.guest()
    kept = await house.authenticator.ensure_account(guest)
    before = await stored(house.store, guest)
    assert await house.authenticator.ensure_account(guest) == kept
    assert await house.authenticator.ensure_account(kept) is kept
    assert await stored(house.store, guest) == before


async def test_the_mark_of_a_guest_who_has_signed_up_is_void(house: Household) -> None:
    guest = house.guest()
    await house.user(guest=guest)
    assert await house.authenticator.authenticate(guest_cookies(house, guest)) is None
    with pytest.raises(Unauthorized):
        await house.authenticator.ensure_account(guest)


async def test_the_mark_of_a_guest_who_has_left_is_void(house: Household) -> None:
    guest = await house.authenticator.ensure_account(house.guest())
    await house.accounts.delete_account(guest, None)
    assert await house.authenticator.authenticate(guest_cookies(house, guest)) is None
    with pytest.raises(Unauthorized):
        await house.authenticator.ensure_account(replace(guest, is_stored=False))


async def test_a_session_says_who_somebody_is(house: Household) -> None:
    user, token = await house.user()
    found = await house.known(token)
    assert (found.account_id, found.role, found.name, found.language) == (user.account_id, "user", "Hana", "ja")
    assert found.session_hash == token.secret.digest()
    assert found.scopes is None


async def test_a_session_counts_more_than_the_mark_of_a_guest(house: Household) -> None:
    user, token = await house.user()
    cookies = {house.authenticator.cookies.session_name: token.as_session(), **guest_cookies(house, house.guest())}
    found = await house.authenticator.authenticate(cookies)
    assert found is not None
    assert found.account_id == user.account_id


async def test_who_is_signed_out_is_the_guest_from_before(house: Household) -> None:
    _, token = await house.user()
    guest = house.guest()
    await house.accounts.sign_out(await house.known(token))
    cookies = {house.authenticator.cookies.session_name: token.as_session(), **guest_cookies(house, guest)}
    found = await house.authenticator.authenticate(cookies, None, "ja")
    assert found == guest


async def test_another_secret_for_the_same_account_is_nobody(house: Household) -> None:
    user, _ = await house.user()
    assert await house.with_session(Token.generate(user.account_id)) is None


async def test_the_secret_of_one_does_not_open_the_account_of_another(house: Household) -> None:
    _, token = await house.user()
    other, _ = await house.user("Otto")
    assert await house.with_session(replace(token, account_id=other.account_id)) is None


async def test_a_session_of_an_earlier_generation_is_void(house: Household) -> None:
    user, token = await house.user()
    _, second = await house.accounts.sign_in("Hana", PASSWORD, "")
    await house.accounts.sign_out_everywhere(await house.known(token))
    assert await house.with_session(token) is None
    assert await house.with_session(second) is None
    assert await house.store.get(session(user.account_id, token.secret.digest())) is not None
    _, third = await house.accounts.sign_in("Hana", PASSWORD, "")
    assert await house.with_session(third) is not None


async def test_a_session_ends_30_days_after_its_last_use(house: Household) -> None:
    _, token = await house.user()
    await house.clock.advance(20 * DAY / SECOND)
    assert await house.with_session(token) is not None
    await house.authenticator.drain()
    await house.clock.advance(29 * DAY / SECOND)
    assert await house.with_session(token) is not None
    await house.authenticator.drain()
    await house.clock.advance(30 * DAY / SECOND)
    assert await house.with_session(token) is None


async def test_use_is_noted_every_ten_minutes_and_visits_once_a_day(house: Household) -> None:
    user, token = await house.user()
    began = int(house.clock.now() * SECOND)

    async def noted() -> tuple[int, int]:
        await house.known(token)
        await house.authenticator.drain()
        used = await house.store.get(session(user.account_id, token.secret.digest()))
        seen = await stored(house.store, user)
        assert isinstance(used, Session)
        assert seen is not None
        return used.last_used_at - began, seen.last_seen_at - began

    await house.clock.advance(9 * 60)
    assert await noted() == (0, 0)
    await house.clock.advance(60)
    assert await noted() == (10 * MINUTE, 0)
    await house.clock.advance(DAY / SECOND)
    assert await noted() == (DAY + 10 * MINUTE, DAY + 10 * MINUTE)


async def test_many_requests_at_once_note_one_visit(house: Household) -> None:
    guest = await house.authenticator.ensure_account(house.guest())
    await house.clock.advance(2 * DAY / SECOND)
    cookies = guest_cookies(house, guest)
    with house.store.measured("visits") as consumed:
        for _ in range(20):
            assert await house.authenticator.authenticate(cookies) is not None
        await house.authenticator.drain()
    assert consumed.writes <= 2
    found = await stored(house.store, guest)
    assert found is not None
    assert found.last_seen_at == int(house.clock.now() * SECOND)


async def test_a_store_that_takes_no_notes_stops_nobody(house: Household) -> None:
    _, token = await house.user()
    await house.clock.advance(2 * DAY / SECOND)
    found = await house.with_session(token)
    assert found is not None
    await house.store.close()
    await house.authenticator.drain()


async def test_a_program_acts_for_its_user_within_its_scopes(house: Household) -> None:
    user, _ = await house.user()
    token, made = await house.accounts.keys.create(user.account_id, "bot", frozenset({"ranking:read"}))
    found = await house.with_key(token)
    assert found is not None
    assert (found.account_id, found.name, found.key_hash) == (user.account_id, "Hana", made.key_hash)
    assert found.may("ranking:read")
    assert not found.may("ranking:write")
    await house.authenticator.drain()
    used = await house.store.get(api_key(user.account_id, made.key_hash))
    assert used is not None
    assert used.last_used_at == int(house.clock.now() * SECOND)


async def test_the_key_of_an_admin_is_no_admin(house: Household) -> None:
    user, session_of = await house.user()
    await house.accounts.grant_admin(user, admin=True)
    token, _ = await house.accounts.keys.create(user.account_id, "bot", frozenset())
    found = await house.with_key(token)
    assert found is not None
    assert not found.is_admin
    assert (await house.known(session_of)).is_admin
    assert house.ends[1:] == [(user.account_id, None)]


async def test_a_bad_key_is_refused_even_beside_a_good_session(house: Household) -> None:
    user, token = await house.user()
    cookies = {house.authenticator.cookies.session_name: token.as_session()}
    for text in ("zk_nonsense", Token.generate(user.account_id).as_key(), "x"):
        with pytest.raises(Unauthorized) as refused:
            await house.authenticator.authenticate(cookies, f"Bearer {text}")
        assert refused.value.code == "bad_key"
        assert text not in str(refused.value)


async def test_a_key_ends_when_it_is_revoked_or_its_days_are_over(house: Household) -> None:
    user, _ = await house.user()
    first, made = await house.accounts.keys.create(user.account_id, "one", frozenset())
    second, _ = await house.accounts.keys.create(user.account_id, "two", frozenset(), days=3)
    await house.accounts.keys.revoke(user.account_id, made.key_hash)
    with pytest.raises(Unauthorized):
        await house.with_key(first)
    await house.clock.advance(3 * DAY / SECOND - 1)
    assert await house.with_key(second) is not None
    await house.clock.advance(1)
    with pytest.raises(Unauthorized):
        await house.with_key(second)


async def test_nobody_is_known_by_an_account_that_is_deleted(house: Household) -> None:
    user, token = await house.user()
    key, _ = await house.accounts.keys.create(user.account_id, "bot", frozenset())
    await house.accounts.delete_account(await house.known(token), PASSWORD)
    assert await house.with_session(token) is None
    with pytest.raises(Unauthorized):
        await house.with_key(key)


async def test_a_cookie_is_renewed_only_for_whoever_came_with_it(house: Household) -> None:
    authenticator = house.authenticator
    guest = house.guest()
    assert authenticator.renewed_cookies(guest, {}) == []
    assert [each.key for each in authenticator.renewed_cookies(guest, guest_cookies(house, guest))] == ["zataku_guest"]
    assert authenticator.renewed_cookies(house.guest(), guest_cookies(house, guest)) == []
    user, token = await house.user()
    cookies = {authenticator.cookies.session_name: token.as_session()}
    (renewed,) = authenticator.renewed_cookies(await house.known(token), cookies)
    assert renewed.value == token.as_session()
    key, _ = await house.accounts.keys.create(user.account_id, "bot", frozenset())
    program = await house.with_key(key)
    assert program is not None
    assert authenticator.renewed_cookies(program, cookies) == []
    _, another = await house.accounts.sign_in("Hana", PASSWORD, "")
    # Of two cookies with one name, the one that nobody was known by.
    assert authenticator.renewed_cookies(await house.known(another), cookies) == []


async def test_who_was_let_in_holds_while_what_they_came_with_does(house: Household) -> None:
    guest, holds = house.guest(), house.authenticator.is_still_valid
    assert await holds(guest)
    user, token = await house.user(guest=guest)
    assert not await holds(guest)
    key, _ = await house.accounts.keys.create(user.account_id, "bot", frozenset(), days=1)
    person, program = await house.known(token), await house.with_key(key)
    assert program is not None
    assert await holds(person)
    assert await holds(program)
    await house.clock.advance(DAY / SECOND)
    assert not await holds(program)
    assert await holds(person)
    await house.accounts.grant_admin(user, admin=True)
    assert not await holds(person)
    assert await holds(await house.known(token))


async def test_looking_whether_somebody_holds_is_no_visit(house: Household) -> None:
    _, token = await house.user()
    person = await house.known(token)
    for _ in range(29):
        await house.clock.advance(DAY / SECOND)
        assert await house.authenticator.is_still_valid(person)
        await house.authenticator.drain()
    await house.clock.advance(DAY / SECOND)
    assert not await house.authenticator.is_still_valid(person)


async def test_sessions_of_before_a_moment_do_not_count(house: Household) -> None:
    user, token = await house.user()
    await house.clock.advance(1)
    house.authenticator.sessions_from = int(house.clock.now() * SECOND)
    assert await house.with_session(token) is None
    _, later = await house.accounts.sign_in("Hana", PASSWORD, "")
    assert await house.with_session(later) is not None
    assert [house.authenticator.is_current(each) for each in await house.accounts.sessions.of(user)] == [True, False]
