"""Items of every revision are read in today's shape."""

from typing import Any

import pytest

from tests.support.store_reads import assert_query_returns, drain, eventually, read_page_by_page, run_transaction
from tests.table.migration.room_revisions import (
    NAME,
    Booking,
    Booking1,
    Room,
    Room1,
    Room2,
    RoomLine,
    RoomTitle,
    Visit,
    all_of,
    binding,
    first,
    longer_than,
    program,
    room_lines,
    rooms_in,
    rooms_once_of,
    second,
    third,
    title_of,
    title_where,
    titled,
)
from zataku.clock import ManualClock
from zataku.table import ConditionFailed, Entity, ItemUnreadable, Store, Table, TransactionCancelled, path
from zataku.table.backend.port import PutItem
from zataku.table.schema.revisions import Attributes

seats = path(Room, lambda room: room.seats)


def key(room_id: str):
    return Room.key(room_id=room_id)


async def three_rooms(store: Store) -> list[Room]:
    """A room of each revision, as today's program has to see them."""
    await program(store, first).put(Room1(room_id="a", name="Attic", host="ann@north", note="dusty"))
    await program(store, second).put(Room2(room_id="b", title="Bay", host="bob@south", notes=["wide", "bright"]))
    await store.put(Room(room_id="c", title="Cave", host="cid", place="north", access="members"))
    return [
        Room(room_id="a", title="Attic", host="ann", place="north", notes=["dusty"]),
        Room(room_id="b", title="Bay", host="bob", place="south", notes=["wide", "bright"]),
        Room(room_id="c", title="Cave", host="cid", place="north", access="members"),
    ]


async def test_a_chain_of_revisions_is_read_by_key(store: Store):
    rooms = await three_rooms(store)
    keys = [key("a"), key("b"), key("c"), key("nobody")]
    assert [await store.get(it, strong=True) for it in keys] == [*rooms, None]
    assert await store.get_many(keys, strong=True) == [*rooms, None]
    assert await store.snapshot(*keys) == [*rooms, None]
    second_program = program(store, second)
    assert await second_program.get(Room2.key(room_id="a"), strong=True) == Room2(
        room_id="a", title="Attic", host="ann@north", notes=["dusty"]
    )


async def test_reading_changes_nothing_on_disk(store: Store):
    await program(store, first).put(Room1(room_id="a", note="dusty"))
    before = await program(store, first).get(Room1.key(room_id="a"), strong=True)
    assert await store.get(key("a"), strong=True) == Room(room_id="a", notes=["dusty"])
    assert await program(store, first).get(Room1.key(room_id="a"), strong=True) == before


async def test_queries_and_scans_read_every_revision(store: Store):
    rooms = await three_rooms(store)
    await store.put(Visit(room_id="a", visitor="zoe"))
    await program(store, first).put(Booking1(room_id="a", number=7, hours="3"))
    booking = Booking(room_id="a", number=7, hours=3)
    await assert_query_returns(store, all_of("a"), booking, rooms[0], Visit(room_id="a", visitor="zoe"))
    assert await read_page_by_page(store, all_of("a"), 1) == [booking, rooms[0], Visit(room_id="a", visitor="zoe")]
    assert await store.first(all_of("b")) == rooms[1]
    assert await store.count(all_of("a")) == 3

    async def scanned() -> list[str]:
        return sorted([repr(entity) async for entity in store.scan(third)])

    await eventually(scanned, sorted(map(repr, [*rooms, booking, Visit(room_id="a", visitor="zoe")])))


async def test_an_index_has_old_items_under_their_old_keys(store: Store):
    rooms = await three_rooms(store)
    await assert_query_returns(store, rooms_in("north"), rooms[2])
    await assert_query_returns(store, rooms_once_of("ann@north"), rooms[0])
    await assert_query_returns(store, rooms_once_of("bob@south"), rooms[1])


async def test_an_expired_item_of_an_old_revision_is_invisible(store: Store, clock: ManualClock):
    await program(store, first).put(Room1(room_id="a", expires_at=int(clock.now()) - 1))
    assert await store.get(key("a"), strong=True) is None
    await assert_query_returns(store, all_of("a"))


async def test_a_filter_judges_old_items_by_today_s_attributes(store: Store):
    old = program(store, first)
    await old.put(Room1(room_id="a", name="Attic", seats=9))
    await old.put(Booking1(room_id="a", number=1, hours="3"))
    await store.put(Booking(room_id="a", number=2, hours=8))
    await program(store, first).put(Room1(room_id="b", name="Bay"))
    attic = Room(room_id="a", title="Attic", seats=9)
    await assert_query_returns(store, titled("a", "Attic"), attic)
    await assert_query_returns(store, titled("a", "Bay"))
    assert [await store.count(titled("a", name)) for name in ("Attic", "Bay")] == [1, 0]
    assert await read_page_by_page(store, titled("a", "Attic"), 1) == [attic]
    await assert_query_returns(
        store, longer_than("a", 2), Booking(room_id="a", number=1, hours=3), Booking(room_id="a", number=2, hours=8)
    )
    await assert_query_returns(store, longer_than("a", 3), Booking(room_id="a", number=2, hours=8))
    assert await store.count(longer_than("a", 3)) == 1
    await assert_query_returns(store, title_where("a", "Attic"), RoomTitle(title="Attic"))
    await assert_query_returns(store, title_where("a", "Bay"))


async def test_a_stream_tells_of_old_items_in_today_s_shape(store: Store):
    old, today = program(store, first), Room(room_id="a", seats=4)
    await old.put(Room1(room_id="a", seats=4))
    await old.put(Room1(room_id="a", seats=5))
    told = [(it.kind, it.old, it.new) for it in await drain(store.stream(third, "watcher"))]
    assert told == [
        ("INSERT", None, today),
        ("MODIFY", today, Room(room_id="a", seats=5)),
    ]


async def test_what_refused_a_write_is_shown_in_today_s_shape(store: Store):
    await program(store, first).put(Room1(room_id="a", note="dusty"))
    lying = Room(room_id="a", notes=["dusty"])
    with pytest.raises(ConditionFailed) as refused:
        await store.put(Room(room_id="a"), if_absent=True)
    assert refused.value.current == lying
    with pytest.raises(ConditionFailed) as refused:
        await store.update(key("a"), seats.add(1), when=seats.above(10))
    assert refused.value.current == lying
    with pytest.raises(TransactionCancelled) as cancelled:
        await run_transaction(
            store, lambda tx: tx.put(Visit(room_id="a", visitor="z")), lambda tx: tx.check(key("a"), seats.above(10))
        )
    assert [(it.code, it.current) for it in cancelled.value.reasons] == [(None, None), ("condition_failed", lying)]
    # A write that is refused for what the item says leaves it as it is.
    assert await program(store, first).get(Room1.key(room_id="a"), strong=True) == Room1(room_id="a", note="dusty")


# Views


async def test_a_view_of_an_index_that_holds_enough_is_upgraded(store: Store):
    await store.put(Room(room_id="c", host="cid", seats=6))
    await program(store, second).put(Room2(room_id="b", host="bob@south", seats=5))

    async def found() -> set[RoomLine]:
        return {line async for line in store.each(room_lines())}

    await eventually(found, {RoomLine(host="cid", seats=6), RoomLine(host="bob", seats=5)})


async def test_a_view_whose_upgrade_needs_more_says_to_migrate_first(store: Store):
    await program(store, first).put(Room1(room_id="a"))

    async def problem() -> str:
        try:
            return repr([line async for line in store.each(room_lines())])
        except ItemUnreadable as unreadable:
            return "migrate" if "zataku store migrate" in unreadable.message else unreadable.message

    await eventually(problem, "migrate")


async def test_a_view_of_the_table_itself_is_upgraded_from_the_whole_item(store: Store):
    await program(store, first).put(Room1(room_id="a", name="Attic"))
    await assert_query_returns(store, title_of("a"), RoomTitle(title="Attic"))


# What cannot be read


async def raw(store: Store, item: dict[str, Any]) -> None:
    """Write something that no program here would."""
    await store.calls(
        "raw", lambda consumed: store.backend.write(PutItem(store.schema(store.tables[0]), item), consumed)
    )


async def test_an_item_of_a_later_revision_says_to_update_the_program(store: Store):
    await store.put(Room(room_id="c"))
    old = program(store, second)
    for reading in (
        old.get(Room2.key(room_id="c"), strong=True),
        old.snapshot(Room2.key(room_id="c")),
        old.get_many([Room2.key(room_id="c")], strong=True),
    ):
        with pytest.raises(ItemUnreadable, match="Update the program"):
            await reading


@pytest.mark.parametrize("found", ["two", 0, -1, True])
async def test_a_revision_that_is_none_is_not_guessed_at(store: Store, found: object):
    item = binding(Room).encode(Room(room_id="a"))
    await raw(store, {**item, "_revision": found})
    with pytest.raises(ItemUnreadable, match="no revision"):
        await store.get(key("a"), strong=True)


async def test_a_step_that_fails_names_the_item_and_its_revision(store: Store):
    await raw(store, {"PK": "ROOM#a", "SK": "META", "kind": "ROOM", "host": "x", "roomId": "a", "seats": 1})
    with pytest.raises(ItemUnreadable, match=r"from revision 1 failed.*ROOM#a.*'name'"):
        await store.get(key("a"), strong=True)


def moves(room: Attributes) -> None:
    """Changes the field that the key is made of."""
    room["roomId"] += "!"


def rewrites(room: Attributes) -> None:
    """Changes the key itself."""
    room["PK"] += "!"


def loses(room: Attributes) -> None:
    """Takes away the key."""
    del room["SK"]


def breaks(room: Attributes) -> None:
    """Leaves what no table can hold."""
    room["seats"] = object()


def returns(room: Attributes) -> Any:
    """Gives back what it should have changed."""
    return {**room}


@pytest.mark.parametrize(
    ("step", "problem"),
    [(moves, "another key"), (rewrites, "another key"), (loses, "another key"), (breaks, "hold"), (returns, "nothing")],
)
async def test_a_step_that_does_what_it_must_not_is_refused(open_store, step, problem):
    table = Table(NAME, pk="PK", sk="SK")

    @table.entity(pk="ROOM#{room_id}", sk="META", revision=2, upgrades={1: step})
    class Moved(Entity, frozen=True, kw_only=True, rename="camel"):
        room_id: str
        seats: int

    store = await open_store(table)
    await raw(store, {"PK": "ROOM#a", "SK": "META", "roomId": "a", "seats": 1})
    with pytest.raises(ItemUnreadable, match=problem):
        await store.get(Moved.key(room_id="a"), strong=True)
    with pytest.raises(ItemUnreadable, match=problem):
        await store.update(Moved.key(room_id="a"), path(Moved, lambda it: it.seats).add(1))


async def test_a_step_cannot_spoil_the_item_it_was_given():
    table = Table("Nested", pk="PK")

    def deeper(room: Attributes) -> None:
        room["words"]["en"].append("blue")

    @table.entity(pk="{room_id}", revision=2, upgrades={1: deeper})
    class Worded(Entity, frozen=True, kw_only=True):
        room_id: str
        words: dict[str, list[str]]

    item = {"PK": "a", "room_id": "a", "words": {"en": ["sky"]}}
    assert binding(Worded).decode(item).words == {"en": ["sky", "blue"]}
    assert item == {"PK": "a", "room_id": "a", "words": {"en": ["sky"]}}
