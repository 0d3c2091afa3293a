"""What a removed record or tag leaves behind is taken away, whatever happens to the consumer."""

from tests.kifu.made import FRIEND, ME, NOW, STRANGER, a_record, a_tag, added, claim_of, kid, tagged, tid, welcomed
from zataku.kifu import design
from zataku.kifu.items import (
    KeptAnalysis,
    Position,
    PositionList,
    Record,
    RecordPermission,
    SlugClaim,
    Tagging,
    UserSettings,
)
from zataku.kifu.limits import AnalysisId
from zataku.kifu.table import kifu_table
from zataku.kifu.unlinking import CONSUMER, follow, unlink
from zataku.kifu.writes import remove_record, remove_tag, tag_record
from zataku.table import Entity, Store


async def up_to_date(store: Store) -> None:
    while await unlink(store, limit=1000):
        pass


async def left(store: Store, *keys: object) -> list[Entity]:
    return [it for it in await store.get_many(list(keys), strong=True) if it is not None]


async def test_a_removed_tag_loses_its_links_and_no_others(store: Store):
    await welcomed(store)
    records = [a_record(at) for at in range(120)]
    links = [Tagging(kifu_id=it.kifu_id, tag_id=tid(0)) for it in records]
    kept = [Tagging(kifu_id=it.kifu_id, tag_id=tid(1)) for it in records[:3]]
    gone, _ = await tagged(store, a_tag(0), a_tag(1))
    await store.write_many(put=[*records, *links, *kept])
    await store.write(remove_tag(gone))
    await up_to_date(store)
    assert await left(store, *(Tagging.key(kifu_id=it.kifu_id, tag_id=tid(0)) for it in records)) == []
    assert await left(store, *(Tagging.key(kifu_id=it.kifu_id, tag_id=tid(1)) for it in kept)) == kept


async def test_a_removed_record_loses_all_that_belongs_to_it(store: Store):
    await welcomed(store)
    gone, stays = await added(store, a_record(0), a_record(1))
    belongings: list[Entity] = []
    for record in (gone, stays):
        belongings += [
            RecordPermission(kifu_id=record.kifu_id, username=FRIEND),
            RecordPermission(kifu_id=record.kifu_id, username=STRANGER),
            KeptAnalysis(kifu_id=record.kifu_id, analysis_id=AnalysisId("fdjsklfadf"), response="{}", kept_at=NOW),
            Position(username=ME, position="0" * 16, kifu_id=record.kifu_id),
            PositionList(username=ME, kifu_id=record.kifu_id, part=0, positions=bytes(8)),
        ]
    await store.write_many(put=belongings)
    await store.write(remove_record(gone, await claim_of(store, gone), []))
    await up_to_date(store)
    for it in belongings:
        key = type(it).key(**{name: getattr(it, name) for name in _key_fields(it)})
        assert (await store.get(key, strong=True) is None) == (it.kifu_id == gone.kifu_id)


def _key_fields(entity: Entity) -> tuple[str, ...]:
    return {
        RecordPermission: ("kifu_id", "username"),
        KeptAnalysis: ("kifu_id", "analysis_id"),
        Position: ("username", "position", "kifu_id"),
        PositionList: ("username", "kifu_id", "part"),
    }[type(entity)]


async def test_a_consumer_that_dies_begins_again_and_finishes(store: Store):
    await welcomed(store)
    (mine,) = await added(store, a_record())
    (tag,) = await tagged(store, a_tag())
    await store.write(tag_record(await claim_of(store, mine), tag))
    await store.write(remove_tag(tag))
    stream = store.stream(kifu_table, CONSUMER)
    for change in await stream.read(1000):
        # The work is done, but the consumer dies before it says so.
        await follow(store, change)
    assert await left(store, Tagging.key(kifu_id=kid(0), tag_id=tag.tag_id)) == []
    await up_to_date(store)
    assert await left(store, design.record(ME, kid(0))) == [mine]
    assert [it async for it in store.each(design.tags_of_record(kid(0)))] == []


async def test_a_record_that_came_back_keeps_its_belongings(store: Store):
    await welcomed(store)
    (mine,) = await added(store, a_record())
    await store.write(remove_record(mine, await claim_of(store, mine), []))
    again = SlugClaim(username=ME, slug=mine.slug, kifu_id=mine.kifu_id)
    permission = RecordPermission(kifu_id=kid(0), username=FRIEND)
    await store.write_many(put=[mine, again, permission])
    await up_to_date(store)
    assert await left(store, design.record_permission(kid(0), FRIEND)) == [permission]


async def test_the_largest_library_loses_a_tag_for_a_read_unit_a_record(embedded: Store):
    count = 2000
    gone = a_tag()
    await embedded.write_many(put=[UserSettings(username=ME, tag_count=1), gone])
    records: list[Record] = [a_record(at) for at in range(count)]
    await embedded.write_many(put=records)
    await embedded.write_many(put=[Tagging(kifu_id=it.kifu_id, tag_id=gone.tag_id) for it in records])
    change = next(it for it in await _removal(embedded, gone) if it.kind == "REMOVE" and it.old == gone)
    with embedded.measured("unlinking") as bill:
        await follow(embedded, change)
    assert bill.writes == 2 * count
    # One for each link, one for the tag itself, the rest for the list of records.
    assert bill.reads == count + 50
    assert await embedded.count(design.records_with_tag(gone.tag_id)) == 0
    with embedded.measured("unlinking again") as again:
        await follow(embedded, change)
    assert again.writes == 0


async def _removal(store: Store, gone: object) -> list:
    await store.delete(design.tag(ME, gone.tag_id))
    return await store.stream(kifu_table, CONSUMER).read(10_000)
