"""A migration upgrades every old item of a table."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.contract.stores import EmbeddedLocation
from tests.support.store_reads import assert_query_returns
from tests.table.migration.room_revisions import (
    Booking,
    Booking1,
    Room,
    Room1,
    Room2,
    RoomLine,
    Visit,
    binding,
    first,
    program,
    room_lines,
    rooms_in,
    second,
    third,
)
from zataku.clock import ManualClock
from zataku.table import BadInput, Entity, Span, Store, Table, Throttled, path
from zataku.table.backend.port import PutItem, ScanItems
from zataku.table.backend.values import Item, unpack_row
from zataku.table.migration.table_migration import MigrationCounts, MigrationProgress, migrate
from zataku.table.schema.entity import binding_of
from zataku.table.schema.revisions import Attributes
from zataku.table.strict.strict_backend import Faults

seats = path(Room, lambda room: room.seats)


async def everything(store: Store) -> list[Item]:
    """Every item as it is stored, in the order of keys."""
    rows, start = [], None
    while True:
        read = ScanItems(store.schema(store.tables[0]), start=start, strong=True)
        page = await store.calls("look", lambda consumed, read=read: store.backend.scan(read, consumed))
        rows += [unpack_row(row) for row in page.rows]
        start = page.resume
        if start is None:
            return sorted(rows, key=lambda item: (item["PK"], item["SK"]))


async def fill(store: Store, count: int) -> list[Entity]:
    """Rooms of every revision, and other things, as today's program has to see them."""
    today: list[Entity] = []
    old, later = program(store, first), program(store, second)
    await old.write_many(put=[Room1(room_id=f"a{at:04}", seats=at, host=f"h{at}@north") for at in range(count)])
    await later.write_many(put=[Room2(room_id=f"b{at:04}", seats=at, host=f"h{at}@south") for at in range(count)])
    await store.write_many(put=[Room(room_id=f"c{at:04}", seats=at) for at in range(count)])
    await store.write_many(put=[Visit(room_id="v", visitor=str(at)) for at in range(count)])
    today += [Room(room_id=f"a{at:04}", seats=at, host=f"h{at}", place="north") for at in range(count)]
    today += [Room(room_id=f"b{at:04}", seats=at, host=f"h{at}", place="south") for at in range(count)]
    today += [Room(room_id=f"c{at:04}", seats=at) for at in range(count)]
    today += [Visit(room_id="v", visitor=str(at)) for at in range(count)]
    return today


def on_disk(entities: list[Entity]) -> list[Item]:
    """The entities as they have to lie after a migration."""
    items = [binding_of(type(entity)).encode(entity) for entity in entities]
    return sorted(items, key=lambda item: (item["PK"], item["SK"]))


async def test_every_old_item_is_upgraded_and_everything_is_counted(store: Store):
    today = await fill(store, 30)
    done = await migrate(store)
    assert done.entities == {"Room": MigrationCounts(upgraded=60, current=30), "Visit": MigrationCounts(current=30)}
    assert (done.upgraded, done.skipped, done.resume) == (60, [], None)
    assert await everything(store) == on_disk(today)
    again = await migrate(store)
    assert again.entities == {"Room": MigrationCounts(current=90), "Visit": MigrationCounts(current=30)}


async def test_indexes_and_their_views_know_all_items_afterwards(store: Store):
    await program(store, first).put(Room1(room_id="a", name="Attic", host="ann@north", seats=3))
    await migrate(store)
    await assert_query_returns(
        store, rooms_in("north"), Room(room_id="a", title="Attic", host="ann", place="north", seats=3)
    )
    await assert_query_returns(store, room_lines(), RoomLine(host="ann", seats=3))


async def test_a_dry_run_writes_nothing(store: Store):
    await fill(store, 5)
    before = await everything(store)
    done = await migrate(store, dry_run=True)
    assert done.entities["Room"] == MigrationCounts(upgraded=10, current=5)
    assert await everything(store) == before


async def test_progress_ends_at_the_number_of_items(store: Store):
    await fill(store, 60)
    seen: list[MigrationProgress] = []
    await migrate(store, progress=seen.append, segments=3)
    assert seen[-1].done == 240
    assert all(earlier.done <= later.done <= later.total for earlier, later in pairwise(seen))


@pytest.mark.parametrize("segments", [1, 3])
async def test_a_walk_goes_on_where_it_stopped(store: Store, segments: int):
    today, looked_at, upgraded, resume = await fill(store, 20), 0, 0, None
    for _ in range(100):
        done = await migrate(store, limit=7, segments=segments, resume=resume)
        step = sum(tally.upgraded + tally.current for tally in done.entities.values())
        assert step <= 7
        looked_at, upgraded, resume = looked_at + step, upgraded + done.upgraded, done.resume
        if resume is None:
            break
    assert (looked_at, upgraded) == (80, 40)
    assert await everything(store) == on_disk(today)


async def test_a_walk_that_was_broken_off_can_start_from_its_last_progress_or_anew(store: Store):
    today = await fill(store, 150)
    seen: list[MigrationProgress] = []

    def stop(now: MigrationProgress) -> None:
        seen.append(now)
        if now.done > 200:
            raise Throttled("Enough for today.")

    with pytest.raises(Throttled):
        await migrate(store, progress=stop, segments=2)
    done = await migrate(store, resume=seen[-1].resume, progress=seen.append)
    assert seen[-1].done == 600
    assert 0 < sum(tally.upgraded + tally.current for tally in done.entities.values()) < 600
    assert (await migrate(store)).upgraded == 0
    assert await everything(store) == on_disk(today)


@pytest.mark.parametrize("token", ["", "x", "!!!", "eyJhIjoxfQ", "gA"])
async def test_a_place_that_no_walk_stopped_at_is_refused(store: Store, token: str):
    with pytest.raises(BadInput, match="from the beginning"):
        await migrate(store, resume=token)


@pytest.mark.parametrize("wrong", [{"segments": 0}, {"limit": 0}])
async def test_a_walk_needs_something_to_walk(store: Store, wrong: dict[str, int]):
    with pytest.raises(BadInput):
        await migrate(store, **wrong)


async def test_items_that_cannot_be_upgraded_are_told_and_left(store: Store):
    await fill(store, 3)
    later, pieces = Room(room_id="later"), binding(Room)
    strange = [
        {"PK": "ROOM#x", "SK": "META", "kind": "ROOM", "roomId": "x"},
        {"PK": "elsewhere", "SK": "META"},
        {**pieces.encode(later), "_revision": 9},
        # Its place is empty, which cannot be a part of an index key.
        binding_item(Room1(room_id="y", host="ann")),
    ]
    for item in strange:
        write = PutItem(store.schema(third), item)
        await store.calls("raw", lambda consumed, write=write: store.backend.write(write, consumed))
    done = await migrate(store)
    assert done.upgraded == 6
    told = {left.key["PK"]: (left.table, left.entity, left.problem) for left in done.skipped}
    assert {pk: entity for pk, (_, entity, _) in told.items()} == {
        "ROOM#x": "Room",
        "elsewhere": None,
        "ROOM#later": "Room",
        "ROOM#y": "Room",
    }
    assert {table for table, _, _ in told.values()} == {store.schema(third).name}
    assert "'name'" in told["ROOM#x"][2]
    assert "Update the program" in told["ROOM#later"][2]
    assert "place is empty" in told["ROOM#y"][2]
    lying = await everything(store)
    assert all(item in lying for item in strange)


def binding_item(room: Room1) -> Item:
    """A room of the first program as it lies."""
    return binding_of(Room1).encode(room)


async def test_a_walk_beside_programs_of_both_revisions_loses_nothing(store: Store):
    await fill(store, 30)
    old = program(store, first)
    bookings = [Booking1(room_id="a", number=at, hours="1") for at in range(30)]
    for booking in bookings:
        await old.put(booking)

    async def add(at: int) -> None:
        await store.update(Room.key(room_id=f"a{at:04}"), seats.add(100))
        await old.update(Room1.key(room_id=f"a{at:04}"), path(Room1, lambda it: it.seats).add(1000))
        await store.update(Booking.key(room_id="a", number=at), path(Booking, lambda it: it.hours).add(5))

    walks = [migrate(store, segments=2), migrate(program(store, third), segments=3)]
    first_walk, second_walk, *_ = await asyncio.gather(*walks, *(add(at) for at in range(30)))
    assert first_walk.skipped == second_walk.skipped == []
    for at in range(30):
        room = await store.get(Room.key(room_id=f"a{at:04}"), strong=True)
        assert room == Room(room_id=f"a{at:04}", host=f"h{at}", seats=at + 1100)
        booking = await store.get(Booking.key(room_id="a", number=at), strong=True)
        assert booking == Booking(room_id="a", number=at, hours=6, version=2)
    assert {item.get("_revision") for item in await everything(store)} == {None, 2, 3}


async def test_only_tables_with_upgrades_are_walked_unless_others_are_named(open_store):
    still = Table("StillUnchanged", pk="PK", sk="SK")

    @still.entity(pk="{name}", sk="META")
    class Quiet(Entity, frozen=True, kw_only=True):
        name: str

    store = await open_store(third, still)
    await store.put(Quiet(name="a"))
    assert (await migrate(store)).entities == {}
    assert (await migrate(store, [still])).entities == {"Quiet": MigrationCounts(current=1)}


async def test_a_later_revision_brings_an_index_of_its_own(open_store):
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
    for _ in range(600):
        if all(state.status == "active" for state in await store.index_states()):
            break
        await asyncio.sleep(0.05)
    assert [found async for found in store.each(offices_on(0))] == []
    assert (await migrate(store)).upgraded == 1
    await assert_query_returns(store, offices_on(0), Office(name="Kyoto", floor=0))


async def test_lost_replies_upgrade_nothing_twice_and_forget_nothing(tmp_path: Path):
    store = await EmbeddedLocation(tmp_path, Faults.none()).open((third,), ManualClock())
    async with store:
        today = await fill(store, 40)
        backend = store.backend
        backend.faults = replace(Faults.rough(), lost_reply=0.4)
        done = await migrate(store)
        injected = backend.injected["lost_reply"]
        backend.faults = Faults.none()
        assert injected > 10
        assert done.skipped == []
        tally = done.entities["Room"]
        assert tally.upgraded + tally.current == 120
        assert tally.raced <= tally.current - 40
        assert await everything(store) == on_disk(today)
