"""Access patterns and writes of accounts, sessions and keys, without concurrent writers."""

import pytest
from msgspec.structs import replace

from tests.platform.conftest import NOW
from tests.platform.items import GUEST, HANA, PASSWORD, a_session, nth_account_id, nth_hash, stored_user
from tests.support.manual_clock import ManualClock
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


async def stored_account(store: Store, number: int = 1) -> Account:
    stored = await store.get(account(nth_account_id(number)))
    assert stored is not None
    return stored


async def is_signed_in(store: Store, account_id: str, token_hash: str) -> bool:
    """Decide as the server does: read session and account by their keys, strongly, in one call."""
    stored, owner = await store.get_many([session(nth_account_id(1), token_hash), account(nth_account_id(1))])
    assert owner is None or owner.account_id == account_id
    return stored is not None and owner is not None and not owner.deleted_at and stored.generation == owner.generation


async def test_a_user_signs_up_and_is_found_under_every_spelling_of_the_name(store: Store):
    await store.write(writes.sign_up(nth_account_id(1), "Hana", PASSWORD, "ja", NOW))
    for spelling in ("Hana", "hana", "ＨＡＮＡ"):
        claim = await store.get(owner_of_name(spelling))
        assert claim is not None
        assert claim.account_id == nth_account_id(1)
    assert (await stored_account(store)).name == "Hana"
    assert await store.get(owner_of_name("unclaimed")) is None


async def test_signing_up_with_a_taken_name_creates_no_account(store: Store):
    await stored_user(store)
    with pytest.raises(TransactionCancelled):
        await store.write(writes.sign_up(nth_account_id(3), "はなこ", PASSWORD, "ja", NOW))
    assert await store.get(account(nth_account_id(3))) is None


async def test_a_guest_is_kept_for_ninety_days_after_the_last_visit(store: Store, clock: ManualClock):
    await store.write(writes.create_guest(nth_account_id(1), "ko", NOW))
    with pytest.raises(ConditionFailed):
        await store.write(writes.record_visit(await stored_account(store), NOW + DAY - 1))
    await store.write(writes.record_visit(await stored_account(store), NOW + DAY))
    await clock.advance((GUEST_TTL + DAY) / 1000 - 1)
    assert (await stored_account(store)).last_seen_at == NOW + DAY
    await clock.advance(1)
    assert await store.get(account(nth_account_id(1))) is None


async def test_a_guest_who_signs_up_keeps_the_id_and_does_not_expire(store: Store, clock: ManualClock):
    await store.write_many(put=[GUEST])
    await store.write(writes.become_user(GUEST, "하나", PASSWORD, NOW + 1))
    await clock.advance(GUEST_TTL)
    user = await stored_account(store, 2)
    assert (user.role, user.name, user.created_at, user.expires_at) == ("user", "하나", NOW, None)
    claim = await store.get(owner_of_name("하나"))
    assert claim is not None
    assert claim.account_id == GUEST.account_id


async def test_a_late_visit_of_a_guest_who_has_signed_up_sets_no_expiry(store: Store):
    await store.write_many(put=[GUEST])
    await store.write(writes.become_user(GUEST, "하나", PASSWORD, NOW))
    with pytest.raises(ConditionFailed):
        await store.write(writes.record_visit(GUEST, NOW + 2 * DAY))
    await store.write(writes.record_visit(await stored_account(store, 2), NOW + 2 * DAY))
    assert (await stored_account(store, 2)).expires_at is None


async def test_renaming_releases_the_old_name(store: Store):
    hana = await stored_user(store)
    await store.write(writes.rename(hana, "Nana", NOW))
    assert (await stored_account(store)).name == "Nana"
    assert await store.get(owner_of_name("はなこ")) is None
    assert await store.get(owner_of_name("nana")) is not None


async def test_renaming_to_another_spelling_keeps_the_claim(store: Store):
    nana = await stored_user(store, replace(HANA, name="Nana"))
    await store.write(writes.rename(nana, "NANA", NOW))
    assert (await stored_account(store)).name == "NANA"
    assert await store.get(owner_of_name("nana")) is not None


async def test_a_new_password_ends_all_sessions_unless_sign_out_is_false(store: Store):
    hana = await stored_user(store)
    await store.write_many(put=[a_session(hana, 1)])
    await store.write(writes.change_password(hana, NEW_PASSWORD, NOW + 1, sign_out=False))
    assert await is_signed_in(store, hana.account_id, nth_hash(1))
    changed = await stored_account(store)
    assert (changed.password, changed.password_changed_at) == (NEW_PASSWORD, NOW + 1)
    await store.write(writes.change_password(changed, PASSWORD, NOW + 2))
    assert not await is_signed_in(store, hana.account_id, nth_hash(1))


async def test_a_session_expires_thirty_days_after_its_last_recorded_use(store: Store, clock: ManualClock):
    hana = await stored_user(store)
    await store.write(writes.sign_in(hana, nth_hash(1), "Firefox", NOW))
    with pytest.raises(ConditionFailed):
        await store.write(writes.touch_session(hana.account_id, nth_hash(1), NOW + 10 * MINUTE - 1))
    await store.write(writes.touch_session(hana.account_id, nth_hash(1), NOW + 10 * MINUTE))
    await clock.advance(30 * 24 * 60 * 60 + 599)
    assert await is_signed_in(store, hana.account_id, nth_hash(1))
    await clock.advance(1)
    assert not await is_signed_in(store, hana.account_id, nth_hash(1))
    with pytest.raises(ConditionFailed):
        await store.write(writes.touch_session(hana.account_id, nth_hash(1), NOW + 31 * DAY))


async def test_signing_out_ends_one_session_and_signing_out_everywhere_ends_all(store: Store):
    hana = await stored_user(store)
    await store.write_many(put=[a_session(hana, number) for number in range(3)])
    await store.write(writes.sign_out(hana.account_id, nth_hash(0)))
    await store.write(writes.sign_out(hana.account_id, nth_hash(0)))
    assert [await is_signed_in(store, hana.account_id, nth_hash(number)) for number in range(3)] == [False, True, True]
    await store.write(writes.sign_out_everywhere(hana.account_id))
    assert [await is_signed_in(store, hana.account_id, nth_hash(number)) for number in range(3)] == [False] * 3


async def test_a_session_is_not_found_under_another_account(store: Store):
    hana = await stored_user(store)
    await store.write_many(put=[a_session(hana, 1)])
    assert await store.get(session(nth_account_id(9), nth_hash(1))) is None


async def test_the_sessions_and_keys_of_an_account_are_listed_separately_and_together(store: Store):
    hana = await stored_user(store)
    sessions = [a_session(hana, number) for number in range(3)]
    keys = [ApiKey(account_id=hana.account_id, key_hash=nth_hash(n), label="bot", created_at=NOW) for n in range(2)]
    await store.write_many(put=[*sessions, *keys, a_session(GUEST, 7)])
    assert [item async for item in store.each(sessions_of(hana.account_id))] == sessions
    assert [item async for item in store.each(keys_of(hana.account_id))] == keys
    everything = [item async for item in store.each(everything_of(hana.account_id))]
    assert everything == [hana, *keys, *sessions]


async def test_a_key_is_created_its_use_recorded_once_a_day_and_revoked(store: Store):
    hana = await stored_user(store)
    scopes = frozenset({"ranking:write"})
    key = await store.write(writes.add_key(hana.account_id, nth_hash(1), "夜間取込み", scopes, NOW))
    assert await store.get(api_key(hana.account_id, nth_hash(1))) == key
    await store.write(writes.touch_key(hana.account_id, nth_hash(1), NOW))
    with pytest.raises(ConditionFailed):
        await store.write(writes.touch_key(hana.account_id, nth_hash(1), NOW + DAY - 1))
    await store.write(writes.touch_key(hana.account_id, nth_hash(1), NOW + DAY))
    await store.write(writes.revoke_key(hana.account_id, nth_hash(1)))
    assert await store.get(api_key(hana.account_id, nth_hash(1))) is None


async def test_a_key_can_expire(store: Store, clock: ManualClock):
    hana = await stored_user(store)
    expires_at = NOW // 1000 + 60
    await store.write(writes.add_key(hana.account_id, nth_hash(1), "bot", frozenset(), NOW, expires_at=expires_at))
    await clock.advance(60)
    assert await store.get(api_key(hana.account_id, nth_hash(1))) is None


async def test_guests_and_deleted_accounts_cannot_create_keys(store: Store):
    await store.write_many(put=[GUEST, replace(HANA, deleted_at=NOW)])
    for account_id in (GUEST.account_id, HANA.account_id, nth_account_id(9)):
        with pytest.raises(TransactionCancelled):
            await store.write(writes.add_key(account_id, nth_hash(1), "bot", frozenset(), NOW))
        assert await store.get(api_key(account_id, nth_hash(1))) is None


async def test_only_users_can_become_admins(store: Store):
    hana = await stored_user(store)
    await store.write_many(put=[GUEST])
    await store.write(writes.grant_role(hana.account_id, admin=True))
    assert (await stored_account(store)).role == "admin"
    await store.write(writes.grant_role(hana.account_id, admin=False))
    assert (await stored_account(store)).role == "user"
    with pytest.raises(ConditionFailed):
        await store.write(writes.grant_role(GUEST.account_id, admin=True))


async def test_choosing_a_language_stores_it(store: Store):
    hana = await stored_user(store)
    await store.write(writes.choose_language(hana.account_id, "en"))
    assert (await stored_account(store)).language == "en"


async def test_a_deleted_account_is_signed_out_at_once_and_its_removal_is_scheduled(store: Store):
    hana = await stored_user(store)
    await store.write_many(put=[a_session(hana, 1)])
    await store.write(writes.mark_deleted(hana.account_id, NOW))
    assert not await is_signed_in(store, hana.account_id, nth_hash(1))
    removal = await store.get(job("platform", "remove_account", hana.account_id))
    assert removal is not None
    assert (removal.due_at, removal.state) == (NOW, "waiting")
    assert await store.get(owner_of_name("はなこ")) is not None
    with pytest.raises(TransactionCancelled):
        await store.write(writes.mark_deleted(hana.account_id, NOW))


async def test_a_removed_account_keeps_no_personal_fields_and_expires_after_ninety_days(
    store: Store, clock: ManualClock
):
    await stored_user(store)
    await store.write(writes.mark_deleted(HANA.account_id, NOW))
    await store.write(writes.remove_account(await stored_account(store), NOW))
    remaining = await stored_account(store)
    assert (remaining.role, remaining.name, remaining.password, remaining.deleted_at) == ("guest", None, None, NOW)
    assert await store.get(owner_of_name("はなこ")) is None
    with pytest.raises(AccountDeleted):
        writes.become_user(remaining, "はなこ", PASSWORD, NOW)
    await clock.advance(GUEST_TTL / 1000)
    assert await store.get(account(HANA.account_id)) is None


def test_a_write_that_the_loaded_account_does_not_allow_raises():
    deleted = replace(HANA, deleted_at=NOW)
    with pytest.raises(NotAGuest):
        writes.become_user(HANA, "nana", PASSWORD, NOW)
    for attempt in (
        lambda: writes.rename(GUEST, "nana", NOW),
        lambda: writes.change_password(GUEST, PASSWORD, NOW),
        lambda: writes.sign_in(GUEST, nth_hash(1), "", NOW),
    ):
        with pytest.raises(NotAUser):
            attempt()
    for attempt in (
        lambda: writes.rename(deleted, "nana", NOW),
        lambda: writes.change_password(deleted, PASSWORD, NOW),
        lambda: writes.sign_in(deleted, nth_hash(1), "", NOW),
    ):
        with pytest.raises(AccountDeleted):
            attempt()
    with pytest.raises(NotDeleted):
        writes.remove_account(HANA, NOW)
    with pytest.raises(ValueError, match="U\\+202E"):
        writes.rename(HANA, "ha\u202ena", NOW)
