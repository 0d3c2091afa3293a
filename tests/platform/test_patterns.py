"""Every access pattern of the platform, and what each write does when nobody is in its way."""

import pytest
from msgspec.structs import replace

from tests.platform.conftest import NOW
from tests.platform.items import GUEST, HANA, PASSWORD, a_session, hashed, numbered, stored_user
from zataku.clock import ManualClock
from zataku.platform import writes
from zataku.platform.design import (
    Account,
    ApiKey,
    account,
    api_key,
    everything_of,
    job,
    keys_of,
    owner_of_name,
    session,
    sessions_of,
)
from zataku.platform.errors import AccountDeleted, NotAGuest, NotAUser, NotDeleted
from zataku.platform.limits import DAY, GUEST_TTL, MINUTE
from zataku.table import ConditionFailed, Store, TransactionCancelled

NEW_PASSWORD = PASSWORD.replace("aGFz", "bGFz")


async def who(store: Store, number: int = 1) -> Account:
    found = await store.get(account(numbered(number)))
    assert found is not None
    return found


async def signed_in(store: Store, account_id: str, token_hash: str) -> bool:
    """As the server decides it: both items by their keys, strongly, in one call."""
    found, owner = await store.get_many([session(numbered(1), token_hash), account(numbered(1))])
    assert owner is None or owner.account_id == account_id
    return found is not None and owner is not None and not owner.deleted_at and found.generation == owner.generation


async def test_a_user_signs_up_and_is_found_under_every_spelling_of_the_name(store: Store):
    await store.write(writes.sign_up(numbered(1), "Hana", PASSWORD, "ja", NOW))
    for spelling in ("Hana", "hana", "ＨＡＮＡ"):
        claim = await store.get(owner_of_name(spelling))
        assert claim is not None
        assert claim.account_id == numbered(1)
    assert (await who(store)).name == "Hana"
    assert await store.get(owner_of_name("nobody")) is None


async def test_a_taken_name_leaves_no_account_behind(store: Store):
    await stored_user(store)
    with pytest.raises(TransactionCancelled):
        await store.write(writes.sign_up(numbered(3), "はなこ", PASSWORD, "ja", NOW))
    assert await store.get(account(numbered(3))) is None


async def test_a_guest_is_kept_for_ninety_days_after_the_last_visit(store: Store, clock: ManualClock):
    await store.write(writes.create_guest(numbered(1), "ko", NOW))
    with pytest.raises(ConditionFailed):
        await store.write(writes.record_visit(await who(store), NOW + DAY - 1))
    await store.write(writes.record_visit(await who(store), NOW + DAY))
    await clock.advance((GUEST_TTL + DAY) / 1000 - 1)
    assert (await who(store)).last_seen_at == NOW + DAY
    await clock.advance(1)
    assert await store.get(account(numbered(1))) is None


async def test_a_guest_who_signs_up_keeps_the_id_and_stays(store: Store, clock: ManualClock):
    await store.write_many(put=[GUEST])
    await store.write(writes.become_user(GUEST, "하나", PASSWORD, NOW + 1))
    await clock.advance(GUEST_TTL)
    user = await who(store, 2)
    assert (user.role, user.name, user.created_at, user.expires_at) == ("user", "하나", NOW, None)
    claim = await store.get(owner_of_name("하나"))
    assert claim is not None
    assert claim.account_id == GUEST.account_id


async def test_a_guest_who_signed_up_meanwhile_does_not_expire_by_a_late_visit(store: Store):
    await store.write_many(put=[GUEST])
    await store.write(writes.become_user(GUEST, "하나", PASSWORD, NOW))
    with pytest.raises(ConditionFailed):
        await store.write(writes.record_visit(GUEST, NOW + 2 * DAY))
    await store.write(writes.record_visit(await who(store, 2), NOW + 2 * DAY))
    assert (await who(store, 2)).expires_at is None


async def test_a_new_name_frees_the_old_one(store: Store):
    hana = await stored_user(store)
    await store.write(writes.rename(hana, "Nana", NOW))
    assert (await who(store)).name == "Nana"
    assert await store.get(owner_of_name("はなこ")) is None
    assert await store.get(owner_of_name("nana")) is not None


async def test_another_spelling_of_a_name_stays_claimed(store: Store):
    nana = await stored_user(store, replace(HANA, name="Nana"))
    await store.write(writes.rename(nana, "NANA", NOW))
    assert (await who(store)).name == "NANA"
    assert await store.get(owner_of_name("nana")) is not None


async def test_a_new_password_ends_the_sessions_unless_told_otherwise(store: Store):
    hana = await stored_user(store)
    await store.write_many(put=[a_session(hana, 1)])
    await store.write(writes.change_password(hana, NEW_PASSWORD, NOW + 1, sign_out=False))
    assert await signed_in(store, hana.account_id, hashed(1))
    changed = await who(store)
    assert (changed.password, changed.password_changed_at) == (NEW_PASSWORD, NOW + 1)
    await store.write(writes.change_password(changed, PASSWORD, NOW + 2))
    assert not await signed_in(store, hana.account_id, hashed(1))


async def test_a_session_lasts_thirty_days_after_a_use_noted_every_ten_minutes(store: Store, clock: ManualClock):
    hana = await stored_user(store)
    await store.write(writes.sign_in(hana, hashed(1), "Firefox", NOW))
    with pytest.raises(ConditionFailed):
        await store.write(writes.touch_session(hana.account_id, hashed(1), NOW + 10 * MINUTE - 1))
    await store.write(writes.touch_session(hana.account_id, hashed(1), NOW + 10 * MINUTE))
    await clock.advance(30 * 24 * 60 * 60 + 599)
    assert await signed_in(store, hana.account_id, hashed(1))
    await clock.advance(1)
    assert not await signed_in(store, hana.account_id, hashed(1))
    with pytest.raises(ConditionFailed):
        await store.write(writes.touch_session(hana.account_id, hashed(1), NOW + 31 * DAY))


async def test_signing_out_ends_one_session_and_everywhere_all_of_them(store: Store):
    hana = await stored_user(store)
    await store.write_many(put=[a_session(hana, number) for number in range(3)])
    await store.write(writes.sign_out(hana.account_id, hashed(0)))
    await store.write(writes.sign_out(hana.account_id, hashed(0)))
    assert [await signed_in(store, hana.account_id, hashed(number)) for number in range(3)] == [False, True, True]
    await store.write(writes.sign_out_everywhere(hana.account_id))
    assert [await signed_in(store, hana.account_id, hashed(number)) for number in range(3)] == [False] * 3


async def test_a_session_is_not_found_under_another_account(store: Store):
    hana = await stored_user(store)
    await store.write_many(put=[a_session(hana, 1)])
    assert await store.get(session(numbered(9), hashed(1))) is None


async def test_the_sessions_and_keys_of_an_account_are_listed_apart_and_together(store: Store):
    hana = await stored_user(store)
    sessions = [a_session(hana, number) for number in range(3)]
    keys = [ApiKey(account_id=hana.account_id, key_hash=hashed(n), label="bot", created_at=NOW) for n in range(2)]
    await store.write_many(put=[*sessions, *keys, a_session(GUEST, 7)])
    assert [found async for found in store.each(sessions_of(hana.account_id))] == sessions
    assert [found async for found in store.each(keys_of(hana.account_id))] == keys
    together = [found async for found in store.each(everything_of(hana.account_id))]
    assert together == [hana, *keys, *sessions]


async def test_a_key_is_made_used_once_a_day_and_revoked(store: Store):
    hana = await stored_user(store)
    scopes = frozenset({"ranking:write"})
    made = await store.write(writes.add_key(hana.account_id, hashed(1), "夜間取込み", scopes, NOW))
    assert await store.get(api_key(hana.account_id, hashed(1))) == made
    await store.write(writes.touch_key(hana.account_id, hashed(1), NOW))
    with pytest.raises(ConditionFailed):
        await store.write(writes.touch_key(hana.account_id, hashed(1), NOW + DAY - 1))
    await store.write(writes.touch_key(hana.account_id, hashed(1), NOW + DAY))
    await store.write(writes.revoke_key(hana.account_id, hashed(1)))
    assert await store.get(api_key(hana.account_id, hashed(1))) is None


async def test_a_key_may_have_an_end(store: Store, clock: ManualClock):
    hana = await stored_user(store)
    end = NOW // 1000 + 60
    await store.write(writes.add_key(hana.account_id, hashed(1), "bot", frozenset(), NOW, expires_at=end))
    await clock.advance(60)
    assert await store.get(api_key(hana.account_id, hashed(1))) is None


async def test_neither_guests_nor_deleted_accounts_make_keys(store: Store):
    await store.write_many(put=[GUEST, replace(HANA, deleted_at=NOW)])
    for account_id in (GUEST.account_id, HANA.account_id, numbered(9)):
        with pytest.raises(TransactionCancelled):
            await store.write(writes.add_key(account_id, hashed(1), "bot", frozenset(), NOW))
        assert await store.get(api_key(account_id, hashed(1))) is None


async def test_only_users_become_admins(store: Store):
    hana = await stored_user(store)
    await store.write_many(put=[GUEST])
    await store.write(writes.grant_role(hana.account_id, admin=True))
    assert (await who(store)).role == "admin"
    await store.write(writes.grant_role(hana.account_id, admin=False))
    assert (await who(store)).role == "user"
    with pytest.raises(ConditionFailed):
        await store.write(writes.grant_role(GUEST.account_id, admin=True))


async def test_a_language_is_chosen(store: Store):
    hana = await stored_user(store)
    await store.write(writes.choose_language(hana.account_id, "en"))
    assert (await who(store)).language == "en"


async def test_a_deleted_account_is_void_at_once_and_removed_by_a_job_that_is_due(store: Store):
    hana = await stored_user(store)
    await store.write_many(put=[a_session(hana, 1)])
    await store.write(writes.mark_deleted(hana.account_id, NOW))
    assert not await signed_in(store, hana.account_id, hashed(1))
    removal = await store.get(job("platform", "remove_account", hana.account_id))
    assert removal is not None
    assert (removal.due_at, removal.state) == (NOW, "waiting")
    assert await store.get(owner_of_name("はなこ")) is not None
    with pytest.raises(TransactionCancelled):
        await store.write(writes.mark_deleted(hana.account_id, NOW))


async def test_what_is_left_of_a_removed_account_says_nothing_and_goes_after_ninety_days(
    store: Store, clock: ManualClock
):
    await stored_user(store)
    await store.write(writes.mark_deleted(HANA.account_id, NOW))
    await store.write(writes.remove_account(await who(store), NOW))
    left = await who(store)
    assert (left.role, left.name, left.password, left.deleted_at) == ("guest", None, None, NOW)
    assert await store.get(owner_of_name("はなこ")) is None
    with pytest.raises(AccountDeleted):
        writes.become_user(left, "はなこ", PASSWORD, NOW)
    await clock.advance(GUEST_TTL / 1000)
    assert await store.get(account(HANA.account_id)) is None


def test_what_the_loaded_account_does_not_allow_is_not_tried():
    gone = replace(HANA, deleted_at=NOW)
    with pytest.raises(NotAGuest):
        writes.become_user(HANA, "nana", PASSWORD, NOW)
    for attempt in (
        lambda: writes.rename(GUEST, "nana", NOW),
        lambda: writes.change_password(GUEST, PASSWORD, NOW),
        lambda: writes.sign_in(GUEST, hashed(1), "", NOW),
    ):
        with pytest.raises(NotAUser):
            attempt()
    for attempt in (
        lambda: writes.rename(gone, "nana", NOW),
        lambda: writes.change_password(gone, PASSWORD, NOW),
        lambda: writes.sign_in(gone, hashed(1), "", NOW),
    ):
        with pytest.raises(AccountDeleted):
            attempt()
    with pytest.raises(NotDeleted):
        writes.remove_account(HANA, NOW)
    with pytest.raises(ValueError, match="U\\+202E"):
        writes.rename(HANA, "ha\u202ena", NOW)
