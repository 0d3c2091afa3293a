"""Conditions of writes: no account, session, key or name is overwritten, and no deleted account changes."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.platform.conftest import NOW
from tests.platform.items import GUEST, HANA, PASSWORD, a_job, a_session, nth_account_id, nth_hash, stored_user
from zataku.platform import writes
from zataku.platform.design import Account, ApiKey, NameClaim, api_key, job, owner_of_name, session
from zataku.platform.limits import DAY
from zataku.table import ConditionFailed, Entity, Plan, Store, TransactionCancelled
from zataku.table.schema.entity import binding_of

ME = HANA.account_id
DELETED = replace(HANA, deleted_at=NOW)
DELETED_GUEST = replace(GUEST, account_id=ME, deleted_at=NOW)


async def assert_refused(store: Store, plan: Plan[Any], *stored: Entity) -> None:
    """Assert that a write is refused and the stored items are unchanged."""
    await store.write_many(put=stored)
    with pytest.raises((ConditionFailed, TransactionCancelled)) as refused:
        await store.write(plan)
    assert isinstance(refused.value, ConditionFailed) or not refused.value.conflict
    items = await store.get_many([binding_of(type(item)).key_of(item) for item in stored], strong=True)
    assert items == list(stored)


async def test_creating_a_guest_does_not_replace_an_account(store: Store):
    for stored in (HANA, GUEST, DELETED):
        await assert_refused(store, writes.create_guest(stored.account_id, "en", NOW + 1), stored)


async def test_signing_up_with_an_existing_id_does_not_replace_the_account(store: Store):
    for stored in (HANA, GUEST, DELETED):
        await assert_refused(store, writes.sign_up(stored.account_id, "nana", PASSWORD, "en", NOW + 1), stored)
    assert await store.get(owner_of_name("nana")) is None


@pytest.mark.parametrize("deleted", [DELETED, DELETED_GUEST], ids=["user", "guest"])
async def test_an_account_marked_as_deleted_cannot_change(deleted: Account, store: Store):
    for plan in (
        writes.choose_language(ME, "ko"),
        writes.grant_role(ME, admin=True),
        writes.record_visit(HANA, NOW + 2 * DAY),
        writes.record_visit(replace(GUEST, account_id=ME), NOW + 2 * DAY),
        writes.sign_out_everywhere(ME),
        writes.mark_deleted(ME, NOW + 1),
        writes.add_key(ME, nth_hash(1), "bot", frozenset(), NOW),
    ):
        await assert_refused(store, plan, deleted)
    assert await store.get(job("platform", "remove_account", ME)) is None
    assert await store.get(api_key(ME, nth_hash(1))) is None


async def test_a_removal_that_has_started_is_not_scheduled_again(store: Store):
    removal = a_job(system="platform", kind="remove_account", subject=ME, attempts=3)
    await assert_refused(store, writes.mark_deleted(ME, NOW + 1), HANA, removal)


async def test_a_key_is_not_replaced_by_another_of_the_same_hash(store: Store):
    key = ApiKey(account_id=ME, key_hash=nth_hash(1), label="bot", created_at=NOW)
    await assert_refused(store, writes.add_key(ME, nth_hash(1), "robot", frozenset({"live:write"}), NOW), HANA, key)


async def test_a_session_is_not_replaced_by_another_of_the_same_hash(store: Store):
    await assert_refused(store, writes.sign_in(HANA, nth_hash(1), "Chrome", NOW + 1), HANA, a_session(HANA, 1))
    assert await store.get(session(ME, nth_hash(1))) == a_session(HANA, 1)


async def test_a_name_claimed_by_another_account_is_not_released(store: Store):
    await stored_user(store, replace(HANA, account_id=nth_account_id(7)))
    await assert_refused(store, writes.rename(HANA, "nana", NOW), HANA)
    await assert_refused(store, writes.remove_account(DELETED, NOW), DELETED)
    claim = await store.get(owner_of_name("はなこ"))
    assert claim == NameClaim(folded_name="はなこ", account_id=nth_account_id(7), claimed_at=NOW)


def test_a_key_that_expires_before_its_creation_is_refused():
    for expires_at in (NOW // 1000, 1):
        with pytest.raises(ValueError, match="expires after"):
            writes.add_key(ME, nth_hash(1), "bot", frozenset(), NOW, expires_at=expires_at)


async def test_an_invalid_name_has_no_owner(store: Store):
    await stored_user(store)
    for text in ("", "x", " ", "-", "x" * 61, "\ufdfa" * 20, "\ud800", "\x00", "#", "ha\u202ena"):
        assert await store.get(owner_of_name(text)) is None, text
