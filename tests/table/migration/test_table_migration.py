"""A migration upgrades every old item of a table."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.contract.stores import EmbeddedLocation
from tests.support.manual_clock import ManualClock
from tests.support.store_reads import assert_query_returns, wait_for_indexes
from tests.table.migration.room_revisions import (
    Booking,
    Booking1,
    Room,
    Room1,
    Room2,
    RoomSummary,
    Visit,
    binding,
    first,
    program,
    room_summaries,
    rooms_in,
    second,
    third,
)
from zataku.table import BadInput, Entity, Span, Store, Table, Throttled, path
from zataku.table.backend.port import PutItem, ScanItems
from zataku.table.backend.values import Item, unpack_row
from zataku.table.migration.table_migration import MigrationCounts, MigrationProgress, migrate
from zataku.table.schema.entity import binding_of
from zataku.table.schema.revisions import Attributes
from zataku.table.strict.strict_backend import Faults

seats = path(Room, lambda room: room.seats)


async def all_items(store: Store) -> list[Item]:
    """Every item as it is stored, sorted by key."""
    rows, start = [], None
    while True:
        read = ScanItems(store.schema(store.tables[0]), start=start, strong=True)
        page = await store.calls("read", lambda consumed, read=read: store.backend.scan(read, consumed))
        rows += [unpack_row(row) for row in page.rows]
        start = page.resume
        if start is None:
            return sorted(rows, key=lambda item: (item["PK"], item["SK"]))


async def fill(store: Store, count: int) -> list[Entity]:
    """Store rooms of every revision and visits, and return them as the current program reads them."""
    current: list[Entity] = []
    old, later = program(store, first), program(store, second)
    await old.write_many(put=[Room1(room_id=f"a{at:04}", seats=at, host=f"h{at}@north") for at in range(count)])
    await later.write_many(put=[Room2(room_id=f"b{at:04}", seats=at, host=f"h{at}@south") for at in range(count)])
    await store.write_many(put=[Room(room_id=f"c{at:04}", seats=at) for at in range(count)])
    await store.write_many(put=[Visit(room_id="v", visitor=str(at)) for at in range(count)])
    current += [Room(room_id=f"a{at:04}", seats=at, host=f"h{at}", place="north") for at in range(count)]
    current += [Room(room_id=f"b{at:04}", seats=at, host=f"h{at}", place="south") for at in range(count)]
    current += [Room(room_id=f"c{at:04}", seats=at) for at in range(count)]
    current += [Visit(room_id="v", visitor=str(at)) for at in range(count)]
    return current


def migrated_items(entities: list[Entity]) -> list[Item]:
    """The items of the entities as a migration must leave them."""
    items = [binding_of(type(entity)).encode(entity) for entity in entities]
    return sorted(items, key=lambda item: (item["PK"], item["SK"]))


async def test_every_old_item_is_upgraded_and_everything_is_counted(store: Store):
    current = await fill(store, 30)
    report = await migrate(store)
    assert report.entities == {"Room": MigrationCounts(upgraded=60, current=30), "Visit": MigrationCounts(current=30)}
    assert (report.upgraded, report.skipped, report.resume) == (60, [], None)
    assert await all_items(store) == migrated_items(current)
    second_report = await migrate(store)
    assert second_report.entities == {"Room": MigrationCounts(current=90), "Visit": MigrationCounts(current=30)}


async def test_indexes_hold_all_items_in_the_current_revision_afterwards(store: Store):
    await program(store, first).put(Room1(room_id="a", name="Attic", host="ann@north", seats=3))
    await migrate(store)
    await assert_query_returns(
        store, rooms_in("north"), Room(room_id="a", title="Attic", host="ann", place="north", seats=3)
    )
    await assert_query_returns(store, room_summaries(), RoomSummary(host="ann", seats=3))


async def test_a_dry_run_writes_nothing(store: Store):
    await fill(store, 5)
    before = await all_items(store)
    report = await migrate(store, dry_run=True)
    assert report.entities["Room"] == MigrationCounts(upgraded=10, current=5)
    assert await all_items(store) == before


async def test_progress_ends_at_the_number_of_items(store: Store):
    await fill(store, 60)
    seen: list[MigrationProgress] = []
    await migrate(store, progress=seen.append, segments=3)
    assert seen[-1].done == 240
    assert all(earlier.done <= later.done <= later.total for earlier, later in pairwise(seen))


@pytest.mark.parametrize("segments", [1, 3])
async def test_a_migration_resumes_where_it_stopped(store: Store, segments: int):
    current, migrated, upgraded, resume = await fill(store, 20), 0, 0, None
    for _ in range(100):
        report = await migrate(store, limit=7, segments=segments, resume=resume)
        step = sum(counts.upgraded + counts.current for counts in report.entities.values())
        assert step <= 7
        migrated, upgraded, resume = migrated + step, upgraded + report.upgraded, report.resume
        if resume is None:
            break
    assert (migrated, upgraded) == (80, 40)
    assert await all_items(store) == migrated_items(current)


async def test_an_interrupted_migration_resumes_from_its_last_progress_or_starts_over(store: Store):
    current = await fill(store, 150)
    seen: list[MigrationProgress] = []

    def stop(now: MigrationProgress) -> None:
        seen.append(now)
        if now.done > 200:
            raise Throttled("Stopped by the test.")

    with pytest.raises(Throttled):
        await migrate(store, progress=stop, segments=2)
    report = await migrate(store, resume=seen[-1].resume, progress=seen.append)
    assert seen[-1].done == 600
    assert 0 < sum(counts.upgraded + counts.current for counts in report.entities.values()) < 600
    assert (await migrate(store)).upgraded == 0
    assert await all_items(store) == migrated_items(current)


@pytest.mark.parametrize("token", ["", "x", "!!!", "eyJhIjoxfQ", "gA"])
async def test_an_invalid_resume_token_is_refused(store: Store, token: str):
    with pytest.raises(BadInput, match="from the beginning"):
        await migrate(store, resume=token)


@pytest.mark.parametrize("options", [{"segments": 0}, {"limit": 0}])
async def test_a_migration_without_segments_or_items_is_refused(store: Store, options: dict[str, int]):
    with pytest.raises(BadInput):
        await migrate(store, **options)


async def test_items_that_cannot_be_upgraded_are_reported_and_not_changed(store: Store):
    await fill(store, 3)
    invalid = [
        {"PK": "ROOM#x", "SK": "META", "kind": "ROOM", "roomId": "x"},
        {"PK": "elsewhere", "SK": "META"},
        {**binding(Room).encode(Room(room_id="later")), "_revision": 9},
        # Its place is empty, and an index key cannot be built from an empty value.
        first_revision_item(Room1(room_id="y", host="ann")),
    ]
    for item in invalid:
        write = PutItem(store.schema(third), item)
        await store.calls("raw", lambda consumed, write=write: store.backend.write(write, consumed))
    report = await migrate(store)
    assert report.upgraded == 6
    skipped = {item.key["PK"]: (item.table, item.entity, item.problem) for item in report.skipped}
    assert {pk: entity for pk, (_, entity, _) in skipped.items()} == {
        "ROOM#x": "Room",
        "elsewhere": None,
        "ROOM#later": "Room",
        "ROOM#y": "Room",
    }
    assert {table for table, _, _ in skipped.values()} == {store.schema(third).name}
    assert "'name'" in skipped["ROOM#x"][2]
    assert "Update the program" in skipped["ROOM#later"][2]
    assert "place is empty" in skipped["ROOM#y"][2]
    stored = await all_items(store)
    assert all(item in stored for item in invalid)


def first_revision_item(room: Room1) -> Item:
    """A room of the first program as it is stored."""
    return binding_of(Room1).encode(room)


async def test_a_migration_loses_no_concurrent_write_of_either_revision(store: Store):
    await fill(store, 30)
    old = program(store, first)
    bookings = [Booking1(room_id="a", number=at, hours="1") for at in range(30)]
    for booking in bookings:
        await old.put(booking)

    async def add(at: int) -> None:
        await store.update(Room.key(room_id=f"a{at:04}"), seats.add(100))
        await old.update(Room1.key(room_id=f"a{at:04}"), path(Room1, lambda it: it.seats).add(1000))
        await store.update(Booking.key(room_id="a", number=at), path(Booking, lambda it: it.hours).add(5))

    migrations = [migrate(store, segments=2), migrate(program(store, third), segments=3)]
    first_report, second_report, *_ = await asyncio.gather(*migrations, *(add(at) for at in range(30)))
    assert first_report.skipped == second_report.skipped == []
    for at in range(30):
        room = await store.get(Room.key(room_id=f"a{at:04}"), strong=True)
        assert room == Room(room_id=f"a{at:04}", host=f"h{at}", seats=at + 1100)
        booking = await store.get(Booking.key(room_id="a", number=at), strong=True)
        assert booking == Booking(room_id="a", number=at, hours=6, version=2)
    assert {item.get("_revision") for item in await all_items(store)} == {None, 2, 3}


async def test_only_tables_with_upgrades_are_migrated_unless_others_are_named(open_store):
    unchanged = Table("StillUnchanged", pk="PK", sk="SK")

    @unchanged.entity(pk="{name}", sk="META")
    class Unchanged(Entity, frozen=True, kw_only=True):
        name: str

    store = await open_store(third, unchanged)
    await store.put(Unchanged(name="a"))
    assert (await migrate(store)).entities == {}
    assert (await migrate(store, [unchanged])).entities == {"Unchanged": MigrationCounts(current=1)}


async def test_a_migration_fills_an_index_added_by_a_later_revision(open_store):
    before = Table("BranchOffices", pk="PK")

    @before.entity(pk="{name}")
    class Office1(Entity, frozen=True, kw_only=True):
        name: str

    after = Table("BranchOffices", pk="PK")
    by_floor = after.index("ByFloor", pk="floorKey")

    def ground_floor(office: Attributes) -> None:
        office["floor"] = 0

    @after.entity(pk="{name}", index={"floorKey": "FLOOR#{floor:02d}"}, revision=2, upgrades={1: ground_floor})
    class Office(Entity, frozen=True, kw_only=True):
        name: str
        floor: int

    @after.query(returns=Office)
    def offices_on(floor: int) -> Span:
        """The offices of a floor."""
        return by_floor.partition(f"FLOOR#{floor:02d}")

    store = await open_store(before)
    await store.put(Office1(name="Kyoto"))
    await store.close()
    store = await open_store(after)
    await wait_for_indexes(store)
    assert [office async for office in store.each(offices_on(0))] == []
    assert (await migrate(store)).upgraded == 1
    await assert_query_returns(store, offices_on(0), Office(name="Kyoto", floor=0))


async def test_a_migration_with_lost_replies_upgrades_every_item_once(tmp_path: Path):
    store = await EmbeddedLocation(tmp_path, Faults.none()).open((third,), ManualClock())
    async with store:
        current = await fill(store, 40)
        backend = store.backend
        backend.faults = replace(Faults.rough(), lost_reply=0.4)
        report = await migrate(store)
        injected = backend.injected["lost_reply"]
        backend.faults = Faults.none()
        assert injected > 10
        assert report.skipped == []
        counts = report.entities["Room"]
        assert counts.upgraded + counts.current == 120
        assert counts.raced <= counts.current - 40
        assert await all_items(store) == migrated_items(current)
