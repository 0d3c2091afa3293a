"""Signing up, in and out, changing oneself, and leaving."""

import pytest

from tests.accounts.account_services import OTHER, PASSWORD, AccountHarness, quick
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


async def test_a_guest_who_signs_up_keeps_the_id(harness: AccountHarness) -> None:
    guest = harness.guest()
    user, _ = await harness.user(guest=guest)
    assert user.account_id == guest.account_id
    assert (user.role, user.name, user.language) == ("user", "Hana", "ja")


async def test_a_guest_with_an_account_keeps_it_when_signing_up(harness: AccountHarness) -> None:
    guest = await harness.authenticator.ensure_account(harness.guest())
    await harness.clock.advance(60)
    user, token = await harness.user(guest=guest)
    assert user.created_at == user.last_seen_at - 60_000
    assert user.expires_at is None
    assert (await harness.known(token)).account_id == guest.account_id


@pytest.mark.parametrize("typed", ["Hana", "hana", "ＨＡＮＡ", " hana "])
async def test_a_name_that_somebody_has_is_refused_in_any_spelling(harness: AccountHarness, typed: str) -> None:
    await harness.user("Hana")
    with pytest.raises(Conflict) as refused:
        await harness.user(typed)
    assert refused.value.code == "name_taken"


@pytest.mark.parametrize("typed", ["", "x", "x" * 21, "a  b", "-ab", "a\u200bb", "😀😀", "ab\n", "\ud800\ud800"])
async def test_a_name_that_others_could_not_read_is_refused(harness: AccountHarness, typed: str) -> None:
    if typed == "ab\n":
        user, _ = await harness.user(typed)
        assert user.name == "ab"
        return
    with pytest.raises(InvalidRequest) as refused:
        await harness.user(typed)
    assert refused.value.code == "bad_name"


async def test_a_bad_password_leaves_the_name_free(harness: AccountHarness) -> None:
    with pytest.raises(InvalidRequest):
        await harness.accounts.sign_up(harness.guest(), "Hana", Secret("short"), "")
    assert await harness.store.get(owner_of_name("Hana")) is None


async def test_who_is_signed_in_signs_up_no_second_time(harness: AccountHarness) -> None:
    _, token = await harness.user()
    with pytest.raises(Conflict) as refused:
        await harness.accounts.sign_up(await harness.known(token), "Other", PASSWORD, "")
    assert refused.value.code == "signed_in"


async def test_a_guest_signs_up_once(harness: AccountHarness) -> None:
    guest = harness.guest()
    await harness.user(guest=guest)
    with pytest.raises(Conflict) as refused:
        await harness.user("Other", guest)
    assert refused.value.code == "not_this_guest"
    assert await harness.store.get(owner_of_name("Other")) is None


@pytest.mark.parametrize(
    ("name", "password"), [("Hana", OTHER), ("Nobody", PASSWORD), ("", PASSWORD), ("\ud800", OTHER)]
)
async def test_a_wrong_name_and_a_wrong_password_are_told_alike(
    harness: AccountHarness, name: str, password: Secret
) -> None:
    await harness.user()
    with pytest.raises(Unauthorized) as refused:
        await harness.accounts.sign_in(name, password, "")
    assert refused.value.code == "wrong_credentials"
    assert str(refused.value) == "That name and password don't match."


async def test_somebody_signs_in_with_any_spelling_of_the_name(harness: AccountHarness) -> None:
    user, _ = await harness.user("Hana")
    found, token = await harness.accounts.sign_in("ｈＡＮＡ", PASSWORD, "Firefox")
    assert found.account_id == user.account_id
    assert (await harness.known(token)).name == "Hana"


async def test_what_is_open_in_the_browser_of_a_guest_ends_when_they_sign_up(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    assert harness.ends == [(user.account_id, None)]


async def test_an_account_does_not_show_its_password_where_it_is_printed(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    assert "argon2" not in repr(user)
    assert user.account_id in repr(user)


async def test_of_more_than_20_sessions_the_one_longest_unused_ends(harness: AccountHarness) -> None:
    user, first = await harness.user()
    tokens = []
    for _ in range(MAX_SESSIONS - 1):
        await harness.clock.advance(1)
        tokens.append((await harness.accounts.sign_in("Hana", PASSWORD, ""))[1])
    assert await harness.with_session(first) is not None
    await harness.clock.advance(1)
    _, last = await harness.accounts.sign_in("Hana", PASSWORD, "")
    assert await harness.with_session(first) is None
    assert await harness.with_session(tokens[0]) is not None
    assert await harness.with_session(last) is not None
    assert await held(harness.store, user.account_id) == MAX_SESSIONS
    assert harness.ends[1:] == [(user.account_id, first.secret.digest())]


async def test_sessions_are_listed_with_the_latest_used_first(harness: AccountHarness) -> None:
    user, first = await harness.user()
    await harness.clock.advance(1)
    _, second = await harness.accounts.sign_in("Hana", PASSWORD, "Fire\nfox é" + "x" * 300)
    listed = await harness.accounts.sessions.of(user)
    assert [each.token_hash for each in listed] == [second.secret.digest(), first.secret.digest()]
    assert listed[0].user_agent == ("Firefox " + "x" * 300)[:200]


async def test_signing_out_ends_one_session_and_nothing_else(harness: AccountHarness) -> None:
    user, first = await harness.user()
    _, second = await harness.accounts.sign_in("Hana", PASSWORD, "")
    await harness.accounts.sign_out(await harness.known(first))
    assert await harness.with_session(first) is None
    assert await harness.with_session(second) is not None
    assert harness.ends[1:] == [(user.account_id, first.secret.digest())]
    await harness.accounts.sign_out(harness.guest())


async def test_a_user_takes_another_name_and_the_old_one_is_free(harness: AccountHarness) -> None:
    _, token = await harness.user("Hana")
    renamed = await harness.accounts.rename(await harness.known(token), " Ｎana ")
    assert renamed.name == "Nana"
    assert (await harness.user("Hana"))[0].name == "Hana"
    with pytest.raises(Conflict):
        await harness.user("nana")


async def test_another_spelling_of_the_own_name_is_no_conflict(harness: AccountHarness) -> None:
    _, token = await harness.user("Hana")
    assert (await harness.accounts.rename(await harness.known(token), "HANA")).name == "HANA"


async def test_a_name_is_taken_from_nobody(harness: AccountHarness) -> None:
    await harness.user("Otto")
    _, token = await harness.user("Hana")
    with pytest.raises(Conflict) as refused:
        await harness.accounts.rename(await harness.known(token), "otto")
    assert refused.value.code == "name_taken"
    assert (await harness.known(token)).name == "Hana"


async def test_a_language_is_remembered_for_users_and_for_guests_of_whom_something_is_kept(
    harness: AccountHarness,
) -> None:
    _, token = await harness.user()
    kept, fresh = await harness.authenticator.ensure_account(harness.guest()), harness.guest()
    for identity in (await harness.known(token), kept, fresh):
        assert (await harness.accounts.choose_language(identity, "ko")).language == "ko"
    assert (await harness.known(token)).language == "ko"
    found = await harness.store.get(account(kept.account_id))
    assert found is not None
    assert found.language == "ko"
    assert await harness.store.get(account(fresh.account_id)) is None


async def test_a_new_password_ends_all_sessions_but_the_new_one(harness: AccountHarness) -> None:
    user, first = await harness.user()
    _, second = await harness.accounts.sign_in("Hana", PASSWORD, "")
    token = await harness.accounts.change_password(await harness.known(first), PASSWORD, OTHER, "")
    assert [await harness.with_session(each) is not None for each in (first, second, token)] == [False, False, True]
    with pytest.raises(Unauthorized):
        await harness.accounts.sign_in("Hana", PASSWORD, "")
    await harness.accounts.sign_in("Hana", OTHER, "")
    assert (user.account_id, None) in harness.ends


async def test_a_wrong_old_password_changes_nothing(harness: AccountHarness) -> None:
    _, token = await harness.user()
    with pytest.raises(Forbidden) as refused:
        await harness.accounts.change_password(await harness.known(token), OTHER, Secret("something else"), "")
    assert refused.value.code == "wrong_password"
    await harness.accounts.sign_in("Hana", PASSWORD, "")
    assert await harness.with_session(token) is not None


async def test_a_password_kept_with_earlier_parameters_is_kept_anew_at_the_next_sign_in(
    harness: AccountHarness,
) -> None:
    user, token = await harness.user()
    stronger = Passwords(quick(passes=2))
    try:
        later = Accounts(harness.store, harness.clock, stronger)
        await harness.clock.advance(60)
        changed, _ = await later.sign_in("Hana", PASSWORD, "")
        assert changed.password is not None
        assert not stronger.is_outdated(changed.password)
        assert changed.password_changed_at == user.password_changed_at
        assert (await later.sign_in("Hana", PASSWORD, ""))[0] == changed
    finally:
        stronger.close()
    assert await harness.with_session(token) is not None


async def test_the_host_gives_somebody_another_password(harness: AccountHarness) -> None:
    user, token = await harness.user()
    key, _ = await harness.accounts.keys.create(user.account_id, "somebody else's", frozenset())
    await harness.accounts.reset_password(user, OTHER)
    assert await harness.with_session(token) is None
    with pytest.raises(Unauthorized):
        await harness.with_key(key)
    await harness.accounts.sign_in("Hana", OTHER, "")


async def test_a_key_is_made_only_with_the_password_and_outlives_it(harness: AccountHarness) -> None:
    _, token = await harness.user()
    with pytest.raises(Forbidden) as refused:
        await harness.accounts.create_key(await harness.known(token), OTHER, "bot", frozenset(), None)
    assert refused.value.code == "wrong_password"
    key, _ = await harness.accounts.create_key(await harness.known(token), PASSWORD, "bot", frozenset(), None)
    await harness.accounts.change_password(await harness.known(token), PASSWORD, OTHER, "")
    assert await harness.with_key(key) is not None


async def test_a_user_leaves_only_with_the_password(harness: AccountHarness) -> None:
    user, token = await harness.user()
    identity = await harness.known(token)
    for wrong in (None, OTHER):
        with pytest.raises(Forbidden):
            await harness.accounts.delete_account(identity, wrong)
    assert await harness.with_session(token) is not None
    await harness.accounts.delete_account(identity, PASSWORD)
    assert await harness.store.get(job("platform", "remove_account", user.account_id)) is not None
    with pytest.raises(Unauthorized):
        await harness.accounts.sign_in("Hana", PASSWORD, "")
    with pytest.raises(Conflict):
        await harness.user("Hana")
    await harness.accounts.delete_account(identity, PASSWORD)


async def test_a_guest_of_whom_nothing_is_kept_leaves_nothing_to_remove(harness: AccountHarness) -> None:
    guest = harness.guest()
    await harness.accounts.delete_account(guest, None)
    assert harness.ends == [(guest.account_id, None)]
    assert await harness.store.get(job("platform", "remove_account", guest.account_id)) is None


async def test_a_user_has_at_most_ten_keys(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    for number in range(10):
        await harness.accounts.keys.create(user.account_id, f"bot {number}", frozenset())
        await harness.clock.advance(1)
    with pytest.raises(Conflict) as refused:
        await harness.accounts.keys.create(user.account_id, "one more", frozenset())
    assert refused.value.code == "too_many_keys"
    newest, *_ = await harness.accounts.keys.of(user.account_id)
    assert newest.label == "bot 9"
    await harness.accounts.keys.revoke(user.account_id, newest.key_hash)
    await harness.accounts.keys.create(user.account_id, "one more", frozenset())
    assert await harness.store.count(keys_of(user.account_id)) == 10


async def test_programs_and_guests_look_after_no_account(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    token, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset())
    program = await harness.with_key(token)
    assert program is not None
    for identity, code in ((program, "not_for_keys"), (harness.guest(), "guest")):
        for attempt in (
            harness.accounts.user(identity),
            harness.accounts.rename(identity, "Nana"),
            harness.accounts.sign_out_everywhere(identity),
            harness.accounts.change_password(identity, PASSWORD, OTHER, ""),
        ):
            with pytest.raises(RequestError) as refused:
                await attempt
            assert refused.value.code == code
    for attempt in (
        harness.accounts.delete_account(program, PASSWORD),
        harness.accounts.choose_language(program, "ko"),
    ):
        with pytest.raises(Forbidden):
            await attempt
