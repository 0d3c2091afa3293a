"""Signing up, in and out, changing an account, and deleting it."""

import pytest

from tests.accounts.account_services import OTHER_PASSWORD, PASSWORD, AccountHarness, fast_hasher
from zataku.accounts.passwords import Passwords
from zataku.accounts.secrets import Secret
from zataku.accounts.service import Accounts
from zataku.accounts.sessions import MAX_SESSIONS
from zataku.errors import Conflict, Forbidden, InvalidRequest, RequestError, Unauthorized
from zataku.platform.design import account, job, keys_of, owner_of_name, sessions_of
from zataku.platform.limits import AccountId
from zataku.table import Store


async def session_count(store: Store, account_id: AccountId) -> int:
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
    assert (await harness.identity_of(token)).account_id == guest.account_id


@pytest.mark.parametrize("typed", ["Hana", "hana", "ＨＡＮＡ", " hana "])
async def test_a_taken_name_is_refused_in_any_spelling(harness: AccountHarness, typed: str) -> None:
    await harness.user("Hana")
    with pytest.raises(Conflict) as error:
        await harness.user(typed)
    assert error.value.code == "name_taken"


async def test_a_name_is_trimmed(harness: AccountHarness) -> None:
    user, _ = await harness.user(" ab\n")
    assert user.name == "ab"


@pytest.mark.parametrize("typed", ["", "x", " x\n", "x" * 21, "a  b", "-ab", "a\u200bb", "😀😀", "\ud800\ud800"])
async def test_an_invalid_name_is_refused_after_it_is_trimmed(harness: AccountHarness, typed: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        await harness.user(typed)
    assert error.value.code == "bad_name"


async def test_a_bad_password_leaves_the_name_free(harness: AccountHarness) -> None:
    with pytest.raises(InvalidRequest):
        await harness.accounts.sign_up(harness.guest(), "Hana", Secret("short"), "")
    assert await harness.store.get(owner_of_name("Hana")) is None


async def test_a_signed_in_user_cannot_sign_up_again(harness: AccountHarness) -> None:
    _, token = await harness.user()
    with pytest.raises(Conflict) as error:
        await harness.accounts.sign_up(await harness.identity_of(token), "Other", PASSWORD, "")
    assert error.value.code == "signed_in"


async def test_a_guest_can_sign_up_only_once(harness: AccountHarness) -> None:
    guest = harness.guest()
    await harness.user(guest=guest)
    with pytest.raises(Conflict) as error:
        await harness.user("Other", guest)
    assert error.value.code == "not_this_guest"
    assert await harness.store.get(owner_of_name("Other")) is None


@pytest.mark.parametrize(
    ("name", "password"), [("Hana", OTHER_PASSWORD), ("Nobody", PASSWORD), ("", PASSWORD), ("\ud800", OTHER_PASSWORD)]
)
async def test_a_wrong_name_and_a_wrong_password_get_the_same_error(
    harness: AccountHarness, name: str, password: Secret
) -> None:
    await harness.user()
    with pytest.raises(Unauthorized) as error:
        await harness.accounts.sign_in(name, password, "")
    assert error.value.code == "wrong_credentials"
    assert str(error.value) == "That name and password don't match."


async def test_any_spelling_of_the_name_signs_in(harness: AccountHarness) -> None:
    user, _ = await harness.user("Hana")
    signed_in, token = await harness.accounts.sign_in("ｈＡＮＡ", PASSWORD, "Firefox")
    assert signed_in.account_id == user.account_id
    assert (await harness.identity_of(token)).name == "Hana"


async def test_signing_up_closes_the_sockets_of_the_guest(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    assert harness.ended_credentials == [(user.account_id, None)]


async def test_the_repr_of_an_account_hides_its_password(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    assert "argon2" not in repr(user)
    assert user.account_id in repr(user)


async def test_the_21st_session_ends_the_least_recently_used_one(harness: AccountHarness) -> None:
    user, first = await harness.user()
    tokens = []
    for _ in range(MAX_SESSIONS - 1):
        await harness.clock.advance(1)
        tokens.append((await harness.accounts.sign_in("Hana", PASSWORD, ""))[1])
    assert await harness.authenticate_session(first) is not None
    await harness.clock.advance(1)
    _, last = await harness.accounts.sign_in("Hana", PASSWORD, "")
    assert await harness.authenticate_session(first) is None
    assert await harness.authenticate_session(tokens[0]) is not None
    assert await harness.authenticate_session(last) is not None
    assert await session_count(harness.store, user.account_id) == MAX_SESSIONS
    assert harness.ended_credentials[1:] == [(user.account_id, first.secret.digest())]


async def test_sessions_are_listed_by_last_use(harness: AccountHarness) -> None:
    user, first = await harness.user()
    await harness.clock.advance(1)
    _, second = await harness.accounts.sign_in("Hana", PASSWORD, "Fire\nfox é" + "x" * 300)
    listed = await harness.accounts.sessions.of(user)
    assert [session.token_hash for session in listed] == [second.secret.digest(), first.secret.digest()]
    assert listed[0].user_agent == ("Firefox " + "x" * 300)[:200]


async def test_signing_out_ends_only_one_session(harness: AccountHarness) -> None:
    user, first = await harness.user()
    _, second = await harness.accounts.sign_in("Hana", PASSWORD, "")
    await harness.accounts.sign_out(await harness.identity_of(first))
    assert await harness.authenticate_session(first) is None
    assert await harness.authenticate_session(second) is not None
    assert harness.ended_credentials[1:] == [(user.account_id, first.secret.digest())]
    await harness.accounts.sign_out(harness.guest())


async def test_renaming_frees_the_old_name(harness: AccountHarness) -> None:
    _, token = await harness.user("Hana")
    renamed = await harness.accounts.rename(await harness.identity_of(token), " Ｎana ")
    assert renamed.name == "Nana"
    assert (await harness.user("Hana"))[0].name == "Hana"
    with pytest.raises(Conflict):
        await harness.user("nana")


async def test_a_user_can_change_the_spelling_of_their_name(harness: AccountHarness) -> None:
    _, token = await harness.user("Hana")
    assert (await harness.accounts.rename(await harness.identity_of(token), "HANA")).name == "HANA"


async def test_a_user_cannot_take_the_name_of_another(harness: AccountHarness) -> None:
    await harness.user("Otto")
    _, token = await harness.user("Hana")
    with pytest.raises(Conflict) as error:
        await harness.accounts.rename(await harness.identity_of(token), "otto")
    assert error.value.code == "name_taken"
    assert (await harness.identity_of(token)).name == "Hana"


async def test_the_language_is_stored_for_users_and_for_guests_with_an_account(
    harness: AccountHarness,
) -> None:
    _, token = await harness.user()
    stored, fresh = await harness.authenticator.ensure_account(harness.guest()), harness.guest()
    for identity in (await harness.identity_of(token), stored, fresh):
        assert (await harness.accounts.choose_language(identity, "ko")).language == "ko"
    assert (await harness.identity_of(token)).language == "ko"
    guest_account = await harness.store.get(account(stored.account_id))
    assert guest_account is not None
    assert guest_account.language == "ko"
    assert await harness.store.get(account(fresh.account_id)) is None


async def test_changing_the_password_ends_all_earlier_sessions(harness: AccountHarness) -> None:
    user, first = await harness.user()
    _, second = await harness.accounts.sign_in("Hana", PASSWORD, "")
    token = await harness.accounts.change_password(await harness.identity_of(first), PASSWORD, OTHER_PASSWORD, "")
    assert [await harness.authenticate_session(session) is not None for session in (first, second, token)] == [
        False,
        False,
        True,
    ]
    with pytest.raises(Unauthorized):
        await harness.accounts.sign_in("Hana", PASSWORD, "")
    await harness.accounts.sign_in("Hana", OTHER_PASSWORD, "")
    assert (user.account_id, None) in harness.ended_credentials


async def test_a_wrong_old_password_changes_nothing(harness: AccountHarness) -> None:
    _, token = await harness.user()
    with pytest.raises(Forbidden) as error:
        await harness.accounts.change_password(
            await harness.identity_of(token), OTHER_PASSWORD, Secret("something else"), ""
        )
    assert error.value.code == "wrong_password"
    await harness.accounts.sign_in("Hana", PASSWORD, "")
    assert await harness.authenticate_session(token) is not None


async def test_signing_in_replaces_a_hash_with_outdated_parameters(
    harness: AccountHarness,
) -> None:
    user, token = await harness.user()
    stronger = Passwords(fast_hasher(passes=2))
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
    assert await harness.authenticate_session(token) is not None


async def test_resetting_a_password_ends_all_sessions_and_keys(harness: AccountHarness) -> None:
    user, token = await harness.user()
    key, _ = await harness.accounts.keys.create(user.account_id, "lost key", frozenset())
    await harness.accounts.reset_password(user, OTHER_PASSWORD)
    assert await harness.authenticate_session(token) is None
    with pytest.raises(Unauthorized):
        await harness.authenticate_key(key)
    await harness.accounts.sign_in("Hana", OTHER_PASSWORD, "")


async def test_creating_a_key_needs_the_password_and_changing_it_keeps_the_key(harness: AccountHarness) -> None:
    _, token = await harness.user()
    with pytest.raises(Forbidden) as error:
        await harness.accounts.create_key(await harness.identity_of(token), OTHER_PASSWORD, "bot", frozenset(), None)
    assert error.value.code == "wrong_password"
    key, _ = await harness.accounts.create_key(await harness.identity_of(token), PASSWORD, "bot", frozenset(), None)
    await harness.accounts.change_password(await harness.identity_of(token), PASSWORD, OTHER_PASSWORD, "")
    assert await harness.authenticate_key(key) is not None


async def test_deleting_an_account_needs_the_password(harness: AccountHarness) -> None:
    user, token = await harness.user()
    identity = await harness.identity_of(token)
    for wrong in (None, OTHER_PASSWORD):
        with pytest.raises(Forbidden):
            await harness.accounts.delete_account(identity, wrong)
    assert await harness.authenticate_session(token) is not None
    await harness.accounts.delete_account(identity, PASSWORD)
    assert await harness.store.get(job("platform", "remove_account", user.account_id)) is not None
    with pytest.raises(Unauthorized):
        await harness.accounts.sign_in("Hana", PASSWORD, "")
    with pytest.raises(Conflict):
        await harness.user("Hana")
    await harness.accounts.delete_account(identity, PASSWORD)


async def test_deleting_a_guest_without_an_account_schedules_no_removal(harness: AccountHarness) -> None:
    guest = harness.guest()
    await harness.accounts.delete_account(guest, None)
    assert harness.ended_credentials == [(guest.account_id, None)]
    assert await harness.store.get(job("platform", "remove_account", guest.account_id)) is None


async def test_a_user_has_at_most_ten_keys(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    for number in range(10):
        await harness.accounts.keys.create(user.account_id, f"bot {number}", frozenset())
        await harness.clock.advance(1)
    with pytest.raises(Conflict) as error:
        await harness.accounts.keys.create(user.account_id, "one more", frozenset())
    assert error.value.code == "too_many_keys"
    newest, *_ = await harness.accounts.keys.of(user.account_id)
    assert newest.label == "bot 9"
    await harness.accounts.keys.revoke(user.account_id, newest.key_hash)
    await harness.accounts.keys.create(user.account_id, "one more", frozenset())
    assert await harness.store.count(keys_of(user.account_id)) == 10


async def test_api_keys_and_guests_cannot_change_an_account(harness: AccountHarness) -> None:
    user, _ = await harness.user()
    token, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset())
    program = await harness.authenticate_key(token)
    assert program is not None
    for identity, code in ((program, "not_for_keys"), (harness.guest(), "guest")):
        for attempt in (
            harness.accounts.user(identity),
            harness.accounts.rename(identity, "Nana"),
            harness.accounts.sign_out_everywhere(identity),
            harness.accounts.change_password(identity, PASSWORD, OTHER_PASSWORD, ""),
        ):
            with pytest.raises(RequestError) as error:
                await attempt
            assert error.value.code == code
    for attempt in (
        harness.accounts.delete_account(program, PASSWORD),
        harness.accounts.choose_language(program, "ko"),
    ):
        with pytest.raises(Forbidden):
            await attempt


async def test_a_session_or_key_that_cannot_be_read_hides_no_other_and_authenticates_nobody(
    harness: AccountHarness,
) -> None:
    user, token = await harness.user()
    (damaged_session,) = await harness.accounts.sessions.of(user)
    key_token, damaged_key = await harness.accounts.keys.create(user.account_id, "bot", frozenset())
    await harness.damage(damaged_session)
    await harness.damage(damaged_key)
    assert await harness.authenticate_session(token) is None
    with pytest.raises(Unauthorized, match="The API key is not valid"):
        await harness.authenticate_key(key_token)
    signed_in, _ = await harness.accounts.sign_in("Hana", PASSWORD, "")
    _, created = await harness.accounts.keys.create(user.account_id, "other", frozenset())
    assert len(await harness.accounts.sessions.of(signed_in)) == 1
    assert await harness.accounts.keys.of(user.account_id) == [created]
