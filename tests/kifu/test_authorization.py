"""Authorisation of views, decided by base items alone."""

import pytest
from msgspec.structs import replace

from tests.kifu.records import FRIEND, ME, NOW, STRANGER, a_record, add_records, claim_of, create_users, kid
from tests.support.store_reads import eventually
from zataku.kifu.authorization import public_view, shared_record, visible_record
from zataku.kifu.errors import InvalidChange
from zataku.kifu.limits import ShareCode
from zataku.kifu.writes import (
    allow_library,
    allow_record,
    change_record,
    disallow_library,
    disallow_record,
    share_record,
    unshare_record,
)
from zataku.table import ConditionFailed, Store

CODE, NEXT = ShareCode("lkihofkwif4tF"), ShareCode("lkihofkwif4tG")


async def test_the_owner_sees_everything_and_others_nothing(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    assert await visible_record(store, ME, ME, kid(0)) == record
    assert await visible_record(store, FRIEND, ME, kid(0)) is None
    assert await visible_record(store, None, ME, kid(0)) is None
    assert await visible_record(store, ME, FRIEND, kid(0)) is None
    assert await visible_record(store, ME, ME, kid(9)) is None


async def test_everyone_sees_a_public_record_until_it_is_private(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    public = await store.write(change_record(replace(record, public=True), record, NOW))
    for viewer in (None, FRIEND):
        assert await visible_record(store, viewer, ME, kid(0)) == public_view(public)
    assert await visible_record(store, ME, ME, kid(0)) == public
    await store.write(change_record(replace(public, public=False), public, NOW))
    assert await visible_record(store, None, ME, kid(0)) is None


async def test_a_user_with_a_permission_for_a_record_sees_it(store: Store):
    await create_users(store)
    record, other = await add_records(store, a_record(0), a_record(1))
    claim = await claim_of(store, record)
    await store.write(allow_record(claim, FRIEND))
    assert await visible_record(store, FRIEND, ME, kid(0)) == public_view(record)
    assert await visible_record(store, FRIEND, ME, other.kifu_id) is None
    assert await visible_record(store, STRANGER, ME, kid(0)) is None
    await store.write(disallow_record(claim, FRIEND))
    assert await visible_record(store, FRIEND, ME, kid(0)) is None


async def test_a_user_with_a_permission_for_a_library_sees_all_records(store: Store):
    await create_users(store)
    records = await add_records(store, a_record(0), a_record(1))
    await store.write(allow_library(ME, FRIEND))
    for record in records:
        assert await visible_record(store, FRIEND, ME, record.kifu_id) == public_view(record)
        assert await visible_record(store, STRANGER, ME, record.kifu_id) is None
    await store.write(disallow_library(ME, FRIEND))
    assert await visible_record(store, FRIEND, ME, kid(0)) is None


async def test_a_code_opens_its_record_until_the_link_is_disabled(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    shared = await store.write(share_record(record, CODE))
    assert shared is not None
    await eventually(lambda: shared_record(store, CODE), public_view(shared))
    assert await visible_record(store, FRIEND, ME, kid(0)) is None
    await store.write(unshare_record(shared))
    assert await shared_record(store, CODE) is None


async def test_a_new_code_replaces_the_old_one(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    first = await store.write(share_record(record, CODE))
    assert first is not None
    second = await store.write(share_record(first, NEXT))
    assert second is not None
    assert await shared_record(store, CODE) is None
    await eventually(lambda: shared_record(store, NEXT), public_view(second))


def test_sharing_under_the_same_code_or_unsharing_an_unshared_record_is_refused():
    """The record may have been shared or unshared since it was read."""
    with pytest.raises(InvalidChange):
        unshare_record(a_record())
    with pytest.raises(InvalidChange):
        share_record(a_record(share=True, share_code=CODE), CODE)


async def test_a_removed_record_cannot_be_shared_or_unshared(store: Store):
    for plan in (share_record(a_record(), CODE), unshare_record(a_record(share=True, share_code=CODE))):
        with pytest.raises(ConditionFailed):
            await store.write(plan)


def test_others_do_not_see_slug_memo_and_code():
    view = public_view(a_record(memo="秘密", slug="秘密/研究", share=True, share_code=CODE))
    assert set(view.__struct_fields__) == {"username", "kifu_id", "kifu", "first_or_second", "result", "created"}
    assert "秘密" not in repr(view)
    assert CODE not in repr(view)
