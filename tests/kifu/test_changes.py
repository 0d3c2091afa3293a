"""Changes of a record by its owner: what is refused, and which times are stored."""

import pytest
from msgspec.structs import replace

from tests.kifu.records import ME, NOW, a_record, a_tag, add_records, add_tags, claim_of, create_users, kid
from zataku.kifu import design
from zataku.kifu.entities import ReplacedText, SlugClaim
from zataku.kifu.errors import InvalidChange
from zataku.kifu.writes import change_moves, change_record, move_record, rename_tag
from zataku.table import ConditionFailed, Store, TransactionCancelled, add_seconds


async def test_a_change_sets_its_time_and_is_refused_on_an_older_state(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    changed = await store.write(change_record(replace(record, memo="序盤"), record, add_seconds(NOW, 5)))
    assert changed == replace(record, memo="序盤", latest_update=add_seconds(NOW, 5))
    for late in (replace(record, memo="終盤"), replace(record, result="jishogi")):
        with pytest.raises(ConditionFailed):
            await store.write(change_record(late, record, add_seconds(NOW, 6)))
    assert await store.get(design.record(ME, kid(0))) == changed


async def test_changes_of_different_fields_in_one_second_both_stay(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    await store.write(change_record(replace(record, memo="序盤"), record, NOW))
    await store.write(change_record(replace(record, result="jishogi"), record, NOW))
    with pytest.raises(ConditionFailed):
        await store.write(change_record(replace(record, memo="終盤"), record, NOW))
    assert await store.get(design.record(ME, kid(0))) == replace(record, memo="序盤", result="jishogi")


async def test_an_earlier_clock_does_not_set_the_update_time_back(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    (tag,) = await add_tags(store, a_tag())
    early = "1999-12-31T23:59:59Z"
    record = await store.write(change_record(replace(record, memo="x", latest_update=early), record, early))
    record = await store.write(change_moves(replace(record, kifu="x"), record, await claim_of(store, record), early))
    record = await store.write(move_record(record, await claim_of(store, record), "x", early))
    assert record.latest_update == NOW
    assert (await store.write(rename_tag(tag, "x", early))).latest_update == NOW


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"latest_update": add_seconds(NOW, 1)},
        {"kifu": "▲２六歩"},
        {"slug": "b"},
        {"share": True, "share_code": "lkihofkwif4tF"},
        {"created": add_seconds(NOW, 1)},
        {"latest_access": add_seconds(NOW, 1)},
    ],
)
def test_a_change_that_needs_another_write_is_refused(change: dict[str, object]):
    with pytest.raises(InvalidChange):
        change_record(replace(a_record(), **change), a_record(), NOW)


async def test_new_moves_get_a_new_text_number(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    claim = await claim_of(store, record)
    changed = await store.write(change_moves(replace(record, kifu="x", memo="y"), record, claim, add_seconds(NOW, 1)))
    assert changed == replace(record, kifu="x", memo="y", latest_update=add_seconds(NOW, 1))
    assert await store.get(design.record(ME, kid(0))) == changed
    assert await claim_of(store, record) == replace(claim, text=1)
    assert [marker async for marker in store.each(design.cleanup_markers_of(ME))] == [
        ReplacedText(username=ME, kifu_id=kid(0), text=0)
    ]
    with pytest.raises(TransactionCancelled):
        await store.write(change_moves(replace(changed, kifu="z"), changed, claim, add_seconds(NOW, 2)))


def test_invalid_changes_of_moves_are_refused():
    record = a_record()
    new, claim = (
        replace(record, kifu="x"),
        SlugClaim(username=ME, slug=record.slug, kifu_id=record.kifu_id),
    )
    change_moves(new, record, replace(claim, text=999_998), NOW)
    for changed, claim_read in (
        (replace(record, memo="x"), claim),
        (replace(new, slug="b"), claim),
        (replace(new, created=add_seconds(NOW, 1)), claim),
        (new, replace(claim, kifu_id=kid(1))),
        (new, replace(claim, text=999_999)),
    ):
        with pytest.raises(InvalidChange):
            change_moves(changed, record, claim_read, NOW)


async def test_a_new_slug_is_refused_after_new_moves(store: Store):
    """The claim of the new slug would have the number of the old text."""
    await create_users(store)
    (record,) = await add_records(store, a_record())
    claim = await claim_of(store, record)
    await store.write(change_moves(replace(record, kifu="x"), record, claim, NOW))
    with pytest.raises(TransactionCancelled):
        await store.write(move_record(record, claim, "b", NOW))
    assert (await claim_of(store, record)).text == 1
