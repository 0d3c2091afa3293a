"""Items that depended on a removed record or tag are deleted, even if the consumer fails."""

import pytest
from msgspec.structs import replace

from tests.kifu.records import (
    FRIEND,
    ME,
    NOW,
    STRANGER,
    a_record,
    a_tag,
    add_records,
    add_tags,
    claim_of,
    create_users,
    kid,
    tid,
)
from zataku.kifu import design
from zataku.kifu.cleanup import CONSUMER, clean_up, clean_up_after, clean_up_user
from zataku.kifu.entities import (
    KeptAnalysis,
    Position,
    PositionList,
    Record,
    RecordPermission,
    RemovedRecord,
    RemovedTag,
    SlugClaim,
    Tagging,
    TagNameClaim,
    UserSettings,
    kifu_table,
)
from zataku.kifu.limits import AnalysisId
from zataku.kifu.writes import allow_record, change_moves, keep_positions, remove_record, remove_tag, tag_record
from zataku.table import Entity, Store
from zataku.table.schema.entity import binding_of


async def run_cleanup(store: Store) -> None:
    """Process all changes of the stream as the consumer does."""
    stream = store.stream(kifu_table, CONSUMER)
    while changes := await stream.read(1000):
        for change in changes:
            await clean_up_after(store, change)
        await stream.acknowledge(changes[-1])


async def cleanup_markers(store: Store) -> list[Entity]:
    return [marker async for marker in store.each(design.cleanup_markers_of(ME))]


async def remaining_items(store: Store, *keys: object) -> list[Entity]:
    return [item for item in await store.get_many(list(keys), strong=True) if item is not None]


async def test_only_the_links_of_a_removed_tag_are_deleted(store: Store):
    await create_users(store)
    records = [a_record(at) for at in range(101)]
    links = [Tagging(kifu_id=record.kifu_id, tag_id=tid(0)) for record in records]
    other_links = [Tagging(kifu_id=record.kifu_id, tag_id=tid(1)) for record in records[:3]]
    removed, _ = await add_tags(store, a_tag(0), a_tag(1))
    await store.write_many(put=[*records, *links, *other_links])
    await store.write(remove_tag(removed))
    await run_cleanup(store)
    assert (
        await remaining_items(store, *(Tagging.key(kifu_id=record.kifu_id, tag_id=tid(0)) for record in records)) == []
    )
    assert (
        await remaining_items(store, *(Tagging.key(kifu_id=link.kifu_id, tag_id=tid(1)) for link in other_links))
        == other_links
    )


async def test_all_items_of_a_removed_record_are_deleted(store: Store):
    await create_users(store)
    removed, remaining = await add_records(store, a_record(0), a_record(1))
    dependents: list[Entity] = []
    for record in (removed, remaining):
        dependents += [
            RecordPermission(kifu_id=record.kifu_id, username=FRIEND),
            RecordPermission(kifu_id=record.kifu_id, username=STRANGER),
            KeptAnalysis(kifu_id=record.kifu_id, analysis_id=AnalysisId("fdjsklfadf"), response="{}", kept_at=NOW),
            Tagging(kifu_id=record.kifu_id, tag_id=tid(1)),
            Tagging(kifu_id=record.kifu_id, tag_id=tid(2)),
            Position(username=ME, position="0" * 16, kifu_id=record.kifu_id, text=0),
            PositionList(username=ME, kifu_id=record.kifu_id, text=0, part=0, positions=bytes(8)),
            Position(username=ME, position="1" * 16, kifu_id=record.kifu_id, text=3),
            PositionList(username=ME, kifu_id=record.kifu_id, text=3, part=999, positions=bytes.fromhex("1" * 16)),
        ]
    await store.write_many(put=dependents)
    await store.write(remove_record(await claim_of(store, removed)))
    await run_cleanup(store)
    for item in dependents:
        key = binding_of(type(item)).key_of(item)
        assert (await store.get(key, strong=True) is None) == (item.kifu_id == removed.kifu_id)
    assert await cleanup_markers(store) == []


async def test_a_consumer_that_crashes_starts_again_and_finishes(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    (tag,) = await add_tags(store, a_tag())
    await store.write(tag_record(await claim_of(store, record), tag))
    await store.write(remove_tag(tag))
    stream = store.stream(kifu_table, CONSUMER)
    for change in await stream.read(1000):
        # The work is done, but the consumer crashes before it acknowledges.
        await clean_up_after(store, change)
    assert await remaining_items(store, Tagging.key(kifu_id=kid(0), tag_id=tag.tag_id)) == []
    await run_cleanup(store)
    assert await remaining_items(store, design.record(ME, kid(0))) == [record]
    assert [link async for link in store.each(design.tags_of_record(kid(0)))] == []


async def test_a_restored_record_keeps_its_items(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    await store.write(remove_record(await claim_of(store, record)))
    restored_claim = SlugClaim(username=ME, slug=record.slug, kifu_id=record.kifu_id)
    permission = RecordPermission(kifu_id=kid(0), username=FRIEND)
    await store.write_many(put=[record, restored_claim, permission])
    await run_cleanup(store)
    assert await remaining_items(store, design.record_permission(kid(0), FRIEND)) == [permission]


async def test_cleanup_of_a_tag_costs_a_read_unit_for_each_record_of_the_largest_library(embedded: Store):
    count = 2000
    removed = a_tag()
    await embedded.write_many(put=[UserSettings(username=ME, tag_count=1), removed])
    records: list[Record] = [a_record(at) for at in range(count)]
    await embedded.write_many(put=records)
    await embedded.write_many(put=[Tagging(kifu_id=record.kifu_id, tag_id=removed.tag_id) for record in records])
    await embedded.write_many(put=[TagNameClaim(username=ME, name=removed.name, tag_id=removed.tag_id)])
    await embedded.write(remove_tag(removed))
    marker = RemovedTag(username=ME, tag_id=removed.tag_id)
    with embedded.measured("unlinking") as consumed:
        await clean_up(embedded, marker)
    assert consumed.writes == 2 * count + 2
    # One for each link, two for the marker and the tag itself, the rest for the list of records.
    assert consumed.reads == count + 51
    assert await embedded.count(design.records_with_tag(removed.tag_id)) == 0
    with embedded.measured("unlinking again") as second_run:
        await clean_up(embedded, marker)
    assert (second_run.reads, second_run.writes) == (1, 0)


async def test_after_a_long_outage_a_user_is_cleaned_up_without_the_stream(store: Store):
    await create_users(store, ME, FRIEND)
    removed, changed, theirs = await add_records(store, a_record(0), a_record(1), a_record(2, username=FRIEND))
    (tag,) = await add_tags(store, a_tag())
    for record in (removed, changed):
        claim = await claim_of(store, record)
        await store.write(tag_record(claim, tag))
        await store.write(allow_record(claim, FRIEND))
        await store.write(keep_positions(claim, 0, ["0" * 16]))
    await store.write(allow_record(await claim_of(store, theirs), ME))
    await store.write(remove_tag(tag))
    await store.write(remove_record(await claim_of(store, removed)))
    new = replace(changed, kifu="x")
    await store.write(change_moves(new, changed, await claim_of(store, changed), NOW))
    assert await clean_up_user(store, FRIEND) == 0
    assert await clean_up_user(store, ME) == 3
    assert await clean_up_user(store, ME) == 0
    for record, allowed in ((removed, []), (changed, [FRIEND]), (theirs, [ME])):
        assert [
            permission.username async for permission in store.each(design.record_viewers(record.kifu_id))
        ] == allowed
        assert [link async for link in store.each(design.tags_of_record(record.kifu_id))] == []
        assert [position_list async for position_list in store.each(design.positions_of(ME, record.kifu_id))] == []
    # The changes that are still in the stream are already processed.
    await run_cleanup(store)
    assert await remaining_items(store, design.record(ME, kid(1))) == [new]


async def test_an_interrupted_cleanup_leaves_the_marker(embedded: Store, monkeypatch: pytest.MonkeyPatch):
    await create_users(embedded)
    (record,) = await add_records(embedded, a_record())
    claim = await claim_of(embedded, record)
    await embedded.write(allow_record(claim, FRIEND))
    await embedded.write(keep_positions(claim, 0, ["0" * 16]))
    await embedded.write(remove_record(claim))
    with monkeypatch.context() as patched:
        patched.setattr("zataku.kifu.cleanup.delete_positions", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            await clean_up_user(embedded, ME)
    assert await remaining_items(embedded, design.record_permission(kid(0), FRIEND)) == []
    assert await cleanup_markers(embedded) == [RemovedRecord(username=ME, kifu_id=kid(0))]
    assert await clean_up_user(embedded, ME) == 1
    assert [position_list async for position_list in embedded.each(design.positions_of(ME, kid(0)))] == []


async def test_a_record_with_more_links_than_fit_in_a_transaction_is_removed(embedded: Store):
    """They may be links of removed tags that are not cleaned up yet."""
    await create_users(embedded)
    (record,) = await add_records(embedded, a_record())
    links = [Tagging(kifu_id=kid(0), tag_id=tid(at)) for at in range(130)]
    await embedded.write_many(put=links)
    await embedded.write(remove_record(await claim_of(embedded, record)))
    await clean_up_user(embedded, ME)
    assert [link async for link in embedded.each(design.tags_of_record(kid(0)))] == []
