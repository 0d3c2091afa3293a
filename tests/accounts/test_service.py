"""Signing up, in and out, changing oneself, and leaving."""

import pytest

from tests.accounts.people import OTHER, PASSWORD, Household, quick
from zataku.accounts.passwords import Passwords
from zataku.accounts.secrets import Secret
from zataku.accounts.service import Accounts
from zataku.accounts.sessions import MAX_SESSIONS
from zataku.errors import Conflict, Forbidden, InvalidRequest, RequestError, Unauthorized
from zataku.platform.design import account, job, keys_of, owner_of_name, sessions_of
from zataku.platform.limits import AccountId
from zataku.table import Store


async def held(store: Store, account_id: AccountId) -> int:
    return await store.count(sessions_of(account_id))


async def test_a_guest_who_signs_up_keeps_the_id(house: Household) -> None:
    guest = house.guest()
    user, _ = await house.user(guest=guest)
    assert user.account_id == guest.account_id
    assert (user.role, user.name, user.language) == ("user", "Hana", "ja")


async def test_a_guest_with_an_account_keeps_it_when_signing_up(house: Household) -> None:
    guest = await house.authenticator.ensure_account(house.guest())
    await house.clock.advance(60)
    user, token = await house.user(guest=guest)
    assert user.created_at == user.last_seen_at - 60_000
    assert user.expires_at is None
    assert (await house.known(token)).account_id == guest.account_id


@pytest.mark.parametrize("typed", ["Hana", "hana", "ＨＡＮＡ", " hana "])
async def test_a_name_that_somebody_has_is_refused_in_any_spelling(house: Household, typed: str) -> None:
    await house.user("Hana")
    with pytest.raises(Conflict) as refused:
        await house.user(typed)
    assert refused.value.code == "name_taken"


@pytest.mark.parametrize("typed", ["", "x", "x" * 21, "a  b", "-ab", "a\u200bb", "😀😀", "ab\n", "\ud800\ud800"])
async def test_a_name_that_others_could_not_read_is_refused(house: Household, typed: str) -> None:
    if typed == "ab\n":
        user, _ = await house.user(typed)
        assert user.name == "ab"
        return
    with pytest.raises(InvalidRequest) as refused:
        await house.user(typed)
    assert refused.value.code == "bad_name"


async def test_a_bad_password_leaves_the_name_free(house: Household) -> None:
    with pytest.raises(InvalidRequest):
        await house.accounts.sign_up(house.guest(), "Hana", Secret("short"), "")
    assert await house.store.get(owner_of_name("Hana")) is None


async def test_who_is_signed_in_signs_up_no_second_time(house: Household) -> None:
    _, token = await house.user()
    with pytest.raises(Conflict) as refused:
        await house.accounts.sign_up(await house.known(token), "Other", PASSWORD, "")
    assert refused.value.code == "signed_in"


async def test_a_guest_signs_up_once(house: Household) -> None:
    guest = house.guest()
    await house.user(guest=guest)
    with pytest.raises(Conflict) as refused:
        await house.user("Other", guest)
    assert refused.value.code == "not_this_guest"
    assert await house.store.get(owner_of_name("Other")) is None


@pytest.mark.parametrize(
    ("name", "password"), [("Hana", OTHER), ("Nobody", PASSWORD), ("", PASSWORD), ("\ud800", OTHER)]
)
async def test_a_wrong_name_and_a_wrong_password_are_told_alike(house: Household, name: str, password: Secret) -> None:
    await house.user()
    with pytest.raises(Unauthorized) as refused:
        await house.accounts.sign_in(name, password, "")
    assert refused.value.code == "wrong_credentials"
    assert str(refused.value) == "That name and password don't match."


async def test_somebody_signs_in_with_any_spelling_of_the_name(house: Household) -> None:
    user, _ = await house.user("Hana")
    found, token = await house.accounts.sign_in("ｈＡＮＡ", PASSWORD, "Firefox")
    assert found.account_id == user.account_id
    assert (await house.known(token)).name == "Hana"


async def test_what_is_open_in_the_browser_of_a_guest_ends_when_they_sign_up(house: Household) -> None:
    user, _ = await house.user()
    assert house.ends == [(user.account_id, None)]


async def test_an_account_does_not_show_its_password_where_it_is_printed(house: Household) -> None:
    user, _ = await house.user()
    assert "argon2" not in repr(user)
    assert user.account_id in repr(user)


async def test_of_more_than_20_sessions_the_one_longest_unused_ends(house: Household) -> None:
    user, first = await house.user()
    tokens = []
    for _ in range(MAX_SESSIONS - 1):
        await house.clock.advance(1)
        tokens.append((await house.accounts.sign_in("Hana", PASSWORD, ""))[1])
    assert await house.with_session(first) is not None
    await house.clock.advance(1)
    _, last = await house.accounts.sign_in("Hana", PASSWORD, "")
    assert await house.with_session(first) is None
    assert await house.with_session(tokens[0]) is not None
    assert await house.with_session(last) is not None
    assert await held(house.store, user.account_id) == MAX_SESSIONS
    assert house.ends[1:] == [(user.account_id, first.secret.digest())]


async def test_sessions_are_listed_with_the_latest_used_first(house: Household) -> None:
    user, first = await house.user()
    await house.clock.advance(1)
    _, second = await house.accounts.sign_in("Hana", PASSWORD, "Fire\nfox é" + "x" * 300)
    listed = await house.accounts.sessions.of(user)
    assert [each.token_hash for each in listed] == [second.secret.digest(), first.secret.digest()]
    assert listed[0].user_agent == ("Firefox " + "x" * 300)[:200]


async def test_signing_out_ends_one_session_and_nothing_else(house: Household) -> None:
    user, first = await house.user()
    _, second = await house.accounts.sign_in("Hana", PASSWORD, "")
    await house.accounts.sign_out(await house.known(first))
    assert await house.with_session(first) is None
    assert await house.with_session(second) is not None
    assert house.ends[1:] == [(user.account_id, first.secret.digest())]
    await house.accounts.sign_out(house.guest())


async def test_a_user_takes_another_name_and_the_old_one_is_free(house: Household) -> None:
    _, token = await house.user("Hana")
    renamed = await house.accounts.rename(await house.known(token), " Ｎana ")
    assert renamed.name == "Nana"
    assert (await house.user("Hana"))[0].name == "Hana"
    with pytest.raises(Conflict):
        await house.user("nana")


async def test_another_spelling_of_the_own_name_is_no_conflict(house: Household) -> None:
    _, token = await house.user("Hana")
    assert (await house.accounts.rename(await house.known(token), "HANA")).name == "HANA"


async def test_a_name_is_taken_from_nobody(house: Household) -> None:
    await house.user("Otto")
    _, token = await house.user("Hana")
    with pytest.raises(Conflict) as refused:
        await house.accounts.rename(await house.known(token), "otto")
    assert refused.value.code == "name_taken"
    assert (await house.known(token)).name == "Hana"


async def test_a_language_is_remembered_for_users_and_for_guests_of_whom_something_is_kept(house: Household) -> None:
    _, token = await house.user()
    kept, fresh = await house.authenticator.ensure_account(house.guest()), house.guest()
    for identity in (await house.known(token), kept, fresh):
        assert (await house.accounts.choose_language(identity, "ko")).language == "ko"
    assert (await house.known(token)).language == "ko"
    found = await house.store.get(account(kept.account_id))
    assert found is not None
    assert found.language == "ko"
    assert await house.store.get(account(fresh.account_id)) is None


async def test_a_new_password_ends_all_sessions_but_the_new_one(house: Household) -> None:
    user, first = await house.user()
    _, second = await house.accounts.sign_in("Hana", PASSWORD, "")
    token = await house.accounts.change_password(await house.known(first), PASSWORD, OTHER, "")
    assert [await house.with_session(each) is not None for each in (first, second, token)] == [False, False, True]
    with pytest.raises(Unauthorized):
        await house.accounts.sign_in("Hana", PASSWORD, "")
    await house.accounts.sign_in("Hana", OTHER, "")
    assert (user.account_id, None) in house.ends


async def test_a_wrong_old_password_changes_nothing(house: Household) -> None:
    _, token = await house.user()
    with pytest.raises(Forbidden) as refused:
        await house.accounts.change_password(await house.known(token), OTHER, Secret("something else"), "")
    assert refused.value.code == "wrong_password"
    await house.accounts.sign_in("Hana", PASSWORD, "")
    assert await house.with_session(token) is not None


async def test_a_password_kept_with_earlier_parameters_is_kept_anew_at_the_next_sign_in(house: Household) -> None:
    user, token = await house.user()
    stronger = Passwords(quick(passes=2))
    try:
        later = Accounts(house.store, house.clock, stronger)
        await house.clock.advance(60)
        changed, _ = await later.sign_in("Hana", PASSWORD, "")
        assert changed.password is not None
        assert not stronger.is_outdated(changed.password)
        assert changed.password_changed_at == user.password_changed_at
        assert (await later.sign_in("Hana", PASSWORD, ""))[0] == changed
    finally:
        stronger.close()
    assert await house.with_session(token) is not None


async def test_the_host_gives_somebody_another_password(house: Household) -> None:
    user, token = await house.user()
    key, _ = await house.accounts.keys.create(user.account_id, "somebody else's", frozenset())
    await house.accounts.reset_password(user, OTHER)
    assert await house.with_session(token) is None
    with pytest.raises(Unauthorized):
        await house.with_key(key)
    await house.accounts.sign_in("Hana", OTHER, "")


async def test_a_key_is_made_only_with_the_password_and_outlives_it(house: Household) -> None:
    _, token = await house.user()
    with pytest.raises(Forbidden) as refused:
        await house.accounts.create_key(await house.known(token), OTHER, "bot", frozenset(), None)
    assert refused.value.code == "wrong_password"
    key, _ = await house.accounts.create_key(await house.known(token), PASSWORD, "bot", frozenset(), None)
    await house.accounts.change_password(await house.known(token), PASSWORD, OTHER, "")
    assert await house.with_key(key) is not None


async def test_a_user_leaves_only_with_the_password(house: Household) -> None:
    user, token = await house.user()
    identity = await house.known(token)
    for wrong in (None, OTHER):
        with pytest.raises(Forbidden):
            await house.accounts.delete_account(identity, wrong)
    assert await house.with_session(token) is not None
    await house.accounts.delete_account(identity, PASSWORD)
    assert await house.store.get(job("platform", "remove_account", user.account_id)) is not None
    with pytest.raises(Unauthorized):
        await house.accounts.sign_in("Hana", PASSWORD, "")
    with pytest.raises(Conflict):
        await house.user("Hana")
    await house.accounts.delete_account(identity, PASSWORD)


async def test_a_guest_of_whom_nothing_is_kept_leaves_nothing_to_remove(house: Household) -> None:
    guest = house.guest()
    await house.accounts.delete_account(guest, None)
    assert house.ends == [(guest.account_id, None)]
    assert await house.store.get(job("platform", "remove_account", guest.account_id)) is None


async def test_a_user_has_at_most_ten_keys(house: Household) -> None:
    user, _ = await house.user()
    for number in range(10):
        await house.accounts.keys.create(user.account_id, f"bot {number}", frozenset())
        await house.clock.advance(1)
    with pytest.raises(Conflict) as refused:
        await house.accounts.keys.create(user.account_id, "one more", frozenset())
    assert refused.value.code == "too_many_keys"
    newest, *_ = await house.accounts.keys.of(user.account_id)
    assert newest.label == "bot 9"
    await house.accounts.keys.revoke(user.account_id, newest.key_hash)
    await house.accounts.keys.create(user.account_id, "one more", frozenset())
    assert await house.store.count(keys_of(user.account_id)) == 10


async def test_programs_and_guests_look_after_no_account(house: Household) -> None:
    user, _ = await house.user()
    token, _ = await house.accounts.keys.create(user.account_id, "bot", frozenset())
    program = await house.with_key(token)
    assert program is not None
    for identity, code in ((program, "not_for_keys"), (house.guest(), "guest")):
        for attempt in (
            house.accounts.user(identity),
            house.accounts.rename(identity, "Nana"),
            house.accounts.sign_out_everywhere(identity),
            house.accounts.change_password(identity, PASSWORD, OTHER, ""),
        ):
            with pytest.raises(RequestError) as refused:
                await attempt
            assert refused.value.code == code
    for attempt in (house.accounts.delete_account(program, PASSWORD), house.accounts.choose_language(program, "ko")):
        with pytest.raises(Forbidden):
            await attempt
