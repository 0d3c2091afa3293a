"""What each write refuses, so that no account, session, key or name of somebody is overwritten or brought back."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.platform.conftest import NOW
from tests.platform.items import GUEST, HANA, PASSWORD, a_job, a_session, hashed, numbered, stored_user
from zataku.platform import writes
from zataku.platform.design import Account, ApiKey, NameClaim, api_key, job, owner_of_name, session
from zataku.platform.limits import DAY
from zataku.table import ConditionFailed, Entity, Plan, Store, TransactionCancelled
from zataku.table.schema.entity import binding_of

ME = HANA.account_id
GONE = replace(HANA, deleted_at=NOW)
GONE_GUEST = replace(GUEST, account_id=ME, deleted_at=NOW)


async def refuses(store: Store, plan: Plan[Any], *there: Entity) -> None:
    """The write is refused, and what is there stays as it is."""
    await store.write_many(put=there)
    with pytest.raises((ConditionFailed, TransactionCancelled)) as refused:
        await store.write(plan)
    assert getattr(refused.value, "conflict", False) is False
    found = await store.get_many([binding_of(type(each)).key_of(each) for each in there], strong=True)
    assert found == list(there)


async def test_an_account_is_not_replaced_by_that_of_a_guest(store: Store):
    for there in (HANA, GUEST, GONE):
        await refuses(store, writes.create_guest(there.account_id, "en", NOW + 1), there)


async def test_an_account_is_not_replaced_by_somebody_who_signs_up_with_its_id(store: Store):
    for there in (HANA, GUEST, GONE):
        await refuses(store, writes.sign_up(there.account_id, "nana", PASSWORD, "en", NOW + 1), there)
    assert await store.get(owner_of_name("nana")) is None


@pytest.mark.parametrize("gone", [GONE, GONE_GUEST], ids=["user", "guest"])
async def test_an_account_marked_as_deleted_changes_no_more(gone: Account, store: Store):
    for plan in (
        writes.choose_language(ME, "ko"),
        writes.grant_role(ME, admin=True),
        writes.record_visit(HANA, NOW + 2 * DAY),
        writes.record_visit(replace(GUEST, account_id=ME), NOW + 2 * DAY),
        writes.sign_out_everywhere(ME),
        writes.mark_deleted(ME, NOW + 1),
        writes.add_key(ME, hashed(1), "bot", frozenset(), NOW),
    ):
        await refuses(store, plan, gone)
    assert await store.get(job("platform", "remove_account", ME)) is None
    assert await store.get(api_key(ME, hashed(1))) is None


async def test_a_removal_that_is_under_way_is_not_begun_anew(store: Store):
    removal = a_job(system="platform", kind="remove_account", subject=ME, attempts=3)
    await refuses(store, writes.mark_deleted(ME, NOW + 1), HANA, removal)


async def test_a_key_is_not_replaced_by_another_of_the_same_hash(store: Store):
    key = ApiKey(account_id=ME, key_hash=hashed(1), label="bot", created_at=NOW)
    await refuses(store, writes.add_key(ME, hashed(1), "robot", frozenset({"live:write"}), NOW), HANA, key)


async def test_a_session_is_not_replaced_by_another_of_the_same_hash(store: Store):
    await refuses(store, writes.sign_in(HANA, hashed(1), "Chrome", NOW + 1), HANA, a_session(HANA, 1))
    assert await store.get(session(ME, hashed(1))) == a_session(HANA, 1)


async def test_a_name_that_somebody_else_has_is_not_set_free(store: Store):
    await stored_user(store, replace(HANA, account_id=numbered(7)))
    await refuses(store, writes.rename(HANA, "nana", NOW), HANA)
    await refuses(store, writes.remove_account(GONE, NOW), GONE)
    claim = await store.get(owner_of_name("はなこ"))
    assert claim == NameClaim(folded_name="はなこ", account_id=numbered(7), claimed_at=NOW)


def test_a_key_ends_after_it_is_made():
    for end in (NOW // 1000, 1):
        with pytest.raises(ValueError, match="expires after"):
            writes.add_key(ME, hashed(1), "bot", frozenset(), NOW, expires_at=end)


async def test_nobody_has_what_can_be_no_name(store: Store):
    await stored_user(store)
    for text in ("", "x", " ", "-", "x" * 61, "\ufdfa" * 20, "\ud800", "\x00", "#", "ha\u202ena"):
        assert await store.get(owner_of_name(text)) is None, text
