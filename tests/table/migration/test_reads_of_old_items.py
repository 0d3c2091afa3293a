"""Items of every revision are read in the current revision."""

from typing import Any

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.store_reads import assert_query_returns, drain, eventually, read_page_by_page, run_transaction
from tests.table.migration.room_revisions import (
    NAME,
    Booking,
    Booking1,
    Room,
    Room1,
    Room2,
    RoomSummary,
    RoomTitle,
    Visit,
    binding,
    bookings_longer_than,
    contents_with_title,
    first,
    program,
    room_contents,
    room_summaries,
    rooms_by_host,
    rooms_in,
    second,
    third,
    title_of,
    title_where,
)
from zataku.table import ConditionFailed, Entity, ItemUnreadable, Store, Table, TransactionCancelled, path
from zataku.table.backend.port import PutItem
from zataku.table.schema.revisions import Attributes

seats = path(Room, lambda room: room.seats)


def key(room_id: str):
    return Room.key(room_id=room_id)


async def three_rooms(store: Store) -> list[Room]:
    """Store a room of each revision, and return them as the current program reads them."""
    await program(store, first).put(Room1(room_id="a", name="Attic", host="ann@north", note="dusty"))
    await program(store, second).put(Room2(room_id="b", title="Bay", host="bob@south", notes=["wide", "bright"]))
    await store.put(Room(room_id="c", title="Cave", host="cid", place="north", access="members"))
    return [
        Room(room_id="a", title="Attic", host="ann", place="north", notes=["dusty"]),
        Room(room_id="b", title="Bay", host="bob", place="south", notes=["wide", "bright"]),
        Room(room_id="c", title="Cave", host="cid", place="north", access="members"),
    ]


async def test_items_of_every_revision_are_read_by_key(store: Store):
    rooms = await three_rooms(store)
    keys = [key("a"), key("b"), key("c"), key("missing")]
    assert [await store.get(room, strong=True) for room in keys] == [*rooms, None]
    assert await store.get_many(keys, strong=True) == [*rooms, None]
    assert await store.snapshot(*keys) == [*rooms, None]
    second_program = program(store, second)
    assert await second_program.get(Room2.key(room_id="a"), strong=True) == Room2(
        room_id="a", title="Attic", host="ann@north", notes=["dusty"]
    )


async def test_reading_an_old_item_leaves_it_as_stored(store: Store):
    await program(store, first).put(Room1(room_id="a", note="dusty"))
    before = await program(store, first).get(Room1.key(room_id="a"), strong=True)
    assert await store.get(key("a"), strong=True) == Room(room_id="a", notes=["dusty"])
    assert await program(store, first).get(Room1.key(room_id="a"), strong=True) == before


async def test_queries_and_scans_read_every_revision(store: Store):
    rooms = await three_rooms(store)
    await store.put(Visit(room_id="a", visitor="zoe"))
    await program(store, first).put(Booking1(room_id="a", number=7, hours="3"))
    booking = Booking(room_id="a", number=7, hours=3)
    await assert_query_returns(store, room_contents("a"), booking, rooms[0], Visit(room_id="a", visitor="zoe"))
    assert await read_page_by_page(store, room_contents("a"), 1) == [
        booking,
        rooms[0],
        Visit(room_id="a", visitor="zoe"),
    ]
    assert await store.first(room_contents("b")) == rooms[1]
    assert await store.count(room_contents("a")) == 3

    async def scanned() -> list[str]:
        return sorted([repr(entity) async for entity in store.scan(third)])

    await eventually(scanned, sorted(map(repr, [*rooms, booking, Visit(room_id="a", visitor="zoe")])))


async def test_an_index_holds_old_items_under_their_old_keys(store: Store):
    rooms = await three_rooms(store)
    await assert_query_returns(store, rooms_in("north"), rooms[2])
    await assert_query_returns(store, rooms_by_host("ann@north"), rooms[0])
    await assert_query_returns(store, rooms_by_host("bob@south"), rooms[1])


async def test_an_expired_item_of_an_old_revision_is_invisible(store: Store, clock: ManualClock):
    await program(store, first).put(Room1(room_id="a", expires_at=int(clock.now()) - 1))
    assert await store.get(key("a"), strong=True) is None
    await assert_query_returns(store, room_contents("a"))


async def test_a_filter_compares_the_upgraded_attributes_of_old_items(store: Store):
    old = program(store, first)
    await old.put(Room1(room_id="a", name="Attic", seats=9))
    await old.put(Booking1(room_id="a", number=1, hours="3"))
    await store.put(Booking(room_id="a", number=2, hours=8))
    await program(store, first).put(Room1(room_id="b", name="Bay"))
    attic = Room(room_id="a", title="Attic", seats=9)
    await assert_query_returns(store, contents_with_title("a", "Attic"), attic)
    await assert_query_returns(store, contents_with_title("a", "Bay"))
    assert [await store.count(contents_with_title("a", name)) for name in ("Attic", "Bay")] == [1, 0]
    assert await read_page_by_page(store, contents_with_title("a", "Attic"), 1) == [attic]
    await assert_query_returns(
        store,
        bookings_longer_than("a", 2),
        Booking(room_id="a", number=1, hours=3),
        Booking(room_id="a", number=2, hours=8),
    )
    await assert_query_returns(store, bookings_longer_than("a", 3), Booking(room_id="a", number=2, hours=8))
    assert await store.count(bookings_longer_than("a", 3)) == 1
    await assert_query_returns(store, title_where("a", "Attic"), RoomTitle(title="Attic"))
    await assert_query_returns(store, title_where("a", "Bay"))


async def test_a_stream_carries_old_items_in_the_current_revision(store: Store):
    old, upgraded = program(store, first), Room(room_id="a", seats=4)
    await old.put(Room1(room_id="a", seats=4))
    await old.put(Room1(room_id="a", seats=5))
    changes = [(change.kind, change.old, change.new) for change in await drain(store.stream(third, "watcher"))]
    assert changes == [
        ("INSERT", None, upgraded),
        ("MODIFY", upgraded, Room(room_id="a", seats=5)),
    ]


async def test_a_failed_condition_returns_the_old_item_in_the_current_revision(store: Store):
    await program(store, first).put(Room1(room_id="a", note="dusty"))
    upgraded = Room(room_id="a", notes=["dusty"])
    with pytest.raises(ConditionFailed) as raised:
        await store.put(Room(room_id="a"), if_absent=True)
    assert raised.value.current == upgraded
    with pytest.raises(ConditionFailed) as raised:
        await store.update(key("a"), seats.add(1), when=seats.above(10))
    assert raised.value.current == upgraded
    with pytest.raises(TransactionCancelled) as cancelled:
        await run_transaction(
            store, lambda tx: tx.put(Visit(room_id="a", visitor="z")), lambda tx: tx.check(key("a"), seats.above(10))
        )
    assert [(reason.code, reason.current) for reason in cancelled.value.reasons] == [
        (None, None),
        ("condition_failed", upgraded),
    ]
    # A write whose condition fails does not upgrade the stored item.
    assert await program(store, first).get(Room1.key(room_id="a"), strong=True) == Room1(room_id="a", note="dusty")


async def test_a_view_of_an_index_is_upgraded_from_the_projected_attributes(store: Store):
    await store.put(Room(room_id="c", host="cid", seats=6))
    await program(store, second).put(Room2(room_id="b", host="bob@south", seats=5))

    async def summaries() -> set[RoomSummary]:
        return {summary async for summary in store.each(room_summaries())}

    await eventually(summaries, {RoomSummary(host="cid", seats=6), RoomSummary(host="bob", seats=5)})


async def test_a_view_whose_upgrade_needs_unprojected_attributes_says_to_migrate_first(store: Store):
    await program(store, first).put(Room1(room_id="a"))

    async def problem() -> str:
        try:
            return repr([summary async for summary in store.each(room_summaries())])
        except ItemUnreadable as unreadable:
            return "migrate" if "zataku store migrate" in unreadable.message else unreadable.message

    await eventually(problem, "migrate")


async def test_a_view_of_the_table_is_upgraded_from_the_whole_item(store: Store):
    await program(store, first).put(Room1(room_id="a", name="Attic"))
    await assert_query_returns(store, title_of("a"), RoomTitle(title="Attic"))


async def put_raw(store: Store, item: dict[str, Any]) -> None:
    """Write an item that none of the programs would write."""
    await store.calls(
        "raw", lambda consumed: store.backend.write(PutItem(store.schema(store.tables[0]), item), consumed)
    )


async def test_an_item_of_a_later_revision_says_to_update_the_program(store: Store):
    await store.put(Room(room_id="c"))
    old = program(store, second)
    for read in (
        old.get(Room2.key(room_id="c"), strong=True),
        old.snapshot(Room2.key(room_id="c")),
        old.get_many([Room2.key(room_id="c")], strong=True),
    ):
        with pytest.raises(ItemUnreadable, match="Update the program"):
            await read


@pytest.mark.parametrize("revision", ["two", 0, -1, True])
async def test_an_item_with_an_invalid_revision_is_unreadable(store: Store, revision: object):
    item = binding(Room).encode(Room(room_id="a"))
    await put_raw(store, {**item, "_revision": revision})
    with pytest.raises(ItemUnreadable, match="not a revision number"):
        await store.get(key("a"), strong=True)


async def test_a_failed_upgrade_names_the_item_and_its_revision(store: Store):
    await put_raw(store, {"PK": "ROOM#a", "SK": "META", "kind": "ROOM", "host": "x", "roomId": "a", "seats": 1})
    with pytest.raises(ItemUnreadable, match=r"from revision 1 failed.*ROOM#a.*'name'") as refused:
        await store.get(key("a"), strong=True)
    assert refused.value.reason == "The upgrade of Room from revision 1 failed: KeyError('name')."


def change_key_field(room: Attributes) -> None:
    """Change the field that the key is built from."""
    room["roomId"] += "!"


def change_key(room: Attributes) -> None:
    """Change the key itself."""
    room["PK"] += "!"


def delete_key(room: Attributes) -> None:
    """Delete the key."""
    del room["SK"]


def set_unsupported_value(room: Attributes) -> None:
    """Set a value that no table can hold."""
    room["seats"] = object()


def return_a_copy(room: Attributes) -> Any:
    """Return a copy instead of changing the attributes in place."""
    return {**room}


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (change_key_field, "another key"),
        (change_key, "another key"),
        (delete_key, "another key"),
        (set_unsupported_value, "hold"),
        (return_a_copy, "nothing"),
    ],
)
async def test_an_upgrade_that_breaks_the_rules_makes_the_item_unreadable(open_store, step, problem):
    table = Table(NAME, pk="PK", sk="SK")

    @table.entity(pk="ROOM#{room_id}", sk="META", revision=2, upgrades={1: step})
    class Moved(Entity, frozen=True, kw_only=True, rename="camel"):
        room_id: str
        seats: int

    store = await open_store(table)
    await put_raw(store, {"PK": "ROOM#a", "SK": "META", "roomId": "a", "seats": 1})
    with pytest.raises(ItemUnreadable, match=problem) as refused:
        await store.get(Moved.key(room_id="a"), strong=True)
    assert "ROOM#a" not in refused.value.reason
    with pytest.raises(ItemUnreadable, match=problem):
        await store.update(Moved.key(room_id="a"), path(Moved, lambda it: it.seats).add(1))


async def test_an_upgrade_changes_a_deep_copy_of_the_item():
    table = Table("Nested", pk="PK")

    def append_word(room: Attributes) -> None:
        room["words"]["en"].append("blue")

    @table.entity(pk="{room_id}", revision=2, upgrades={1: append_word})
    class Worded(Entity, frozen=True, kw_only=True):
        room_id: str
        words: dict[str, list[str]]

    item = {"PK": "a", "room_id": "a", "words": {"en": ["sky"]}}
    assert binding(Worded).decode(item).words == {"en": ["sky", "blue"]}
    assert item == {"PK": "a", "room_id": "a", "words": {"en": ["sky"]}}
