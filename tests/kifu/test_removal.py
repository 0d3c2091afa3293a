"""Deleting an account removes its whole library and leaves those of other users unchanged."""

from random import Random

import pytest
from msgspec.structs import replace

from tests.kifu.records import FRIEND, NOW, a_record, a_tag, add_records, claim_of, create_users, settings
from tests.support.app_context import FailingStore, StoreFailed, all_items, app_context, items_containing, user_identity
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.kifu.design import kifu_table
from zataku.kifu.ids import library_of_account, new_analysis_id, new_share_code
from zataku.kifu.limits import PositionHash, UserName
from zataku.kifu.removal import removal
from zataku.kifu.writes import (
    add_tag,
    allow_library,
    allow_record,
    change_moves,
    keep_positions,
    request_analysis,
    share_record,
    tag_record,
)
from zataku.table import Store

ACCOUNT = user_identity().account_id
ME = library_of_account(ACCOUNT)
TABLES = [kifu_table]


async def fill_library(store: Store, owner: UserName, other: UserName, number: int) -> list[str]:
    """Fill a library with items of every entity, shared with another user; returns the ids in it."""
    random = Random(number)
    records = await add_records(store, *(a_record(number + at, username=owner) for at in range(3)))
    tags = [a_tag(number + at, username=owner) for at in range(2)]
    for tag in tags:
        await store.write(add_tag(tag, await settings(store, owner)), token=f"tag-{tag.tag_id}")
    claim = await claim_of(store, records[0])
    await store.write(keep_positions(claim, 0, [PositionHash(f"{number:016x}")]), token=f"positions-{number}")
    changed = replace(records[0], kifu="手合割：香落ち")
    await store.write(change_moves(changed, records[0], claim, NOW), token=f"moves-{number}")
    for step, tag in enumerate(tags):
        await store.write(tag_record(claim, tag), token=f"tagging-{number}-{step}")
    await store.write(allow_record(claim, other), token=f"allow-{number}")
    await store.write(allow_library(owner, other), token=f"library-{number}")
    await store.write(share_record(records[1], new_share_code(random)))
    analysis_id = new_analysis_id(random, int(START) * 1000)
    await store.write(request_analysis(analysis_id, owner, NOW, kifu_id=records[0].kifu_id))
    return [owner, analysis_id, *(record.kifu_id for record in records), *(tag.tag_id for tag in tags)]


@pytest.fixture
async def library_ids(strict: Store) -> list[str]:
    """The ids of the account's library; another user's library exists, and both may see each other's."""
    await create_users(strict, ME, FRIEND)
    ids = await fill_library(strict, ME, FRIEND, 100)
    await fill_library(strict, FRIEND, ME, 500)
    return ids


async def remove_account(store: Store, clock: ManualClock) -> None:
    # An index may be stale, so the removal is repeated.
    for _ in range(2):
        await removal(app_context(store, clock))(ACCOUNT)


def test_an_account_id_makes_a_valid_user_name():
    assert UserName("0000000000004000a000000000000009") == ME
    assert len(ME) == 32


async def test_removing_an_account_deletes_its_whole_library(strict: Store, clock: ManualClock, library_ids: list[str]):
    assert len(await items_containing(strict, TABLES, *library_ids)) > 15
    await remove_account(strict, clock)
    assert await items_containing(strict, TABLES, *library_ids) == []


async def test_removing_an_account_leaves_other_libraries_unchanged(
    strict: Store, clock: ManualClock, library_ids: list[str]
):
    before = set(await all_items(strict, TABLES)) - set(await items_containing(strict, TABLES, *library_ids))
    await remove_account(strict, clock)
    assert set(await all_items(strict, TABLES)) == before


async def test_an_interrupted_removal_is_continued(strict: Store, clock: ManualClock, library_ids: list[str]):
    for max_writes in (1, 3, 5):
        interrupted = FailingStore(strict, max_writes, ("write", "delete", "write_many"))
        with pytest.raises(StoreFailed):
            await remove_account(interrupted, clock)  # type: ignore[arg-type]  delegates to a store
    await remove_account(strict, clock)
    assert await items_containing(strict, TABLES, *library_ids) == []


async def test_removing_an_account_without_a_library_succeeds(strict: Store, clock: ManualClock):
    await remove_account(strict, clock)
    assert await all_items(strict, TABLES) == []
