"""Writes that meet items of an earlier or a later revision."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.store_reads import assert_query_returns, drain, run_transaction
from tests.table.migration.room_revisions import (
    Booking,
    Booking1,
    Room,
    Room1,
    Room2,
    Visit,
    binding,
    first,
    program,
    rooms_in,
    rooms_once_of,
    second,
    third,
)
from zataku.clock import ManualClock
from zataku.table import ConditionFailed, Conflict, Edit, ItemUnreadable, Store, TransactionCancelled, path
from zataku.table.backend import expression as ex
from zataku.table.backend.port import GetItem, Row, UpdateItem
from zataku.table.backend.values import Item, unpack_row
from zataku.table.store.item_upgrade import upgrade_request

KEY = Room.key(room_id="a")
seats = path(Room, lambda room: room.seats)
title = path(Room, lambda room: room.title)
notes = path(Room, lambda room: room.notes)
old_seats = path(Room1, lambda room: room.seats)
LATER = 9_000_000_000
old_note = path(Room1, lambda room: room.note)


async def lying(store: Store, pk: str = "ROOM#a", sk: str = "META") -> Item:
    """The item as it is on disk."""
    row = await store.calls("look", lambda _: store.backend.get(GetItem(store.schema(third), (pk, sk), strong=True)))
    assert row is not None
    return unpack_row(row)


@pytest.fixture
async def old(store: Store) -> Store:
    """The first program, with one room that it wrote."""
    made = program(store, first)
    await made.put(Room1(room_id="a", name="Attic", host="ann@north", note="dusty"))
    return made


TODAY = Room(room_id="a", title="Attic", host="ann", place="north", notes=["dusty"])


@pytest.mark.usefixtures("old")
async def test_an_update_edits_today_s_attributes_of_an_old_item(store: Store):
    updated = await store.update(KEY, seats.add(1), notes.append("quiet"), when=title.equals("Attic"))
    assert updated == replace(TODAY, seats=5, notes=["dusty", "quiet"])
    assert await store.get(KEY, strong=True) == updated
    assert await lying(store) == binding(Room).encode(updated)
    await assert_query_returns(store, rooms_in("north"), updated)
    await assert_query_returns(store, rooms_once_of("ann@north"))


@pytest.mark.usefixtures("old")
async def test_a_save_of_what_was_read_from_an_old_item(store: Store):
    was = await store.get(KEY, strong=True)
    assert was == TODAY
    saved = await store.save(replace(was, title="Aerie"), was=was)
    assert await lying(store) == binding(Room).encode(saved)
    with pytest.raises(ConditionFailed):
        await store.save(replace(was, title="Loft"), was=was)


async def test_a_save_with_a_version_of_an_old_item(store: Store):
    await program(store, first).put(Booking1(room_id="a", number=1, hours="3", version=5))
    key = Booking.key(room_id="a", number=1)
    was = await store.get(key, strong=True)
    assert was == Booking(room_id="a", number=1, hours=3, version=5)
    saved = await store.save(replace(was, hours=4), was=was)
    assert saved.version == 6
    assert await store.get(key, strong=True) == saved
    with pytest.raises(ConditionFailed):
        await store.save(replace(was, hours=5), was=was)


@pytest.mark.usefixtures("old")
async def test_an_unconditional_put_replaces_an_old_item_whole(store: Store):
    await store.put(Room(room_id="a", title="Cellar"))
    assert await lying(store) == binding(Room).encode(Room(room_id="a", title="Cellar"))


@pytest.mark.usefixtures("old")
async def test_a_conditional_put_judges_an_old_item_by_today_s_attributes(store: Store):
    with pytest.raises(ConditionFailed) as refused:
        await store.put(Room(room_id="a"), when=title.equals("Bay"))
    assert refused.value.current == TODAY
    await store.put(Room(room_id="a", title="Cellar"), when=title.equals("Attic"))
    assert (await store.get(KEY, strong=True)) == Room(room_id="a", title="Cellar")


async def test_a_conditional_put_where_nothing_lies(store: Store):
    await store.put(Room(room_id="a"), when=~title.exists())
    with pytest.raises(ConditionFailed):
        await store.put(Room(room_id="a"), when=~title.exists())


@pytest.mark.usefixtures("old")
async def test_deleting_an_old_item_gives_it_back_in_today_s_shape(store: Store):
    with pytest.raises(ConditionFailed):
        await store.delete(KEY, when=title.equals("Bay"))
    assert await store.delete(KEY, when=title.equals("Attic")) == TODAY
    assert await store.delete(KEY) is None
    await program(store, first).put(Room1(room_id="a", name="Attic", note="dusty"))
    assert await store.delete(KEY) == TODAY


async def test_a_new_item_takes_the_place_of_an_old_one_whose_time_has_passed(store: Store, clock: ManualClock):
    await program(store, first).put(Room1(room_id="a", expires_at=int(clock.now()) - 1))
    with pytest.raises(ConditionFailed):
        await store.update(KEY, seats.add(1))
    assert "_revision" not in await lying(store)
    await store.put(Room(room_id="a", title="Cellar"), if_absent=True)
    assert await store.get(KEY, strong=True) == Room(room_id="a", title="Cellar")


async def test_attributes_that_no_shape_knows_stay(store: Store):
    old = program(store, first)
    await old.put(Room1(room_id="a"))
    foreign = UpdateItem(store.schema(third), ("ROOM#a", "META"), (ex.Assign(("sticker",), ex.Literally({"x": [1]})),))
    await store.calls("foreign", lambda consumed: store.backend.write(foreign, consumed))
    await store.update(KEY, seats.add(1))
    assert (await lying(store))["sticker"] == {"x": [1]}


# Transactions


async def test_a_transaction_with_old_items_among_others(store: Store, old: Store):
    await old.put(Booking1(room_id="a", number=1, hours="3"))
    await old.put(Room1(room_id="b"))
    async with store.transact() as tx:
        tx.put(Visit(room_id="a", visitor="zoe"), if_absent=True)
        tx.update(KEY, seats.add(-1), when=title.equals("Attic"))
        tx.check(Room.key(room_id="b"), seats.above(3))
        tx.delete(Booking.key(room_id="a", number=1), when=path(Booking, lambda it: it.hours).equals(3))
        tx.check_absent(Room.key(room_id="c"))
    assert await store.get(KEY, strong=True) == replace(TODAY, seats=3)
    assert await store.get(Visit.key(room_id="a", visitor="zoe"), strong=True) is not None
    assert await store.get(Booking.key(room_id="a", number=1), strong=True) is None


@pytest.mark.usefixtures("old")
async def test_a_transaction_that_an_old_item_delayed_keeps_its_token(store: Store):
    for _ in range(2):
        async with store.transact("the-token", at=store.clock.now()) as tx:
            tx.update(KEY, seats.add(1))
            tx.put(Visit(room_id="a", visitor="zoe"))
    assert await store.get(KEY, strong=True) == replace(TODAY, seats=5)


@pytest.mark.usefixtures("old")
async def test_only_what_truly_refused_a_transaction_is_named(store: Store):
    with pytest.raises(TransactionCancelled) as cancelled:
        await run_transaction(
            store,
            lambda tx: tx.update(KEY, seats.add(1)),
            lambda tx: tx.check(Room.key(room_id="nobody")),
        )
    assert [(it.code, it.current) for it in cancelled.value.reasons] == [(None, None), ("condition_failed", None)]
    assert "_revision" not in await lying(store)


# Later revisions


@pytest.mark.parametrize("verb", ["put", "put_if", "put_absent", "update", "save", "delete", "delete_if", "transact"])
async def test_a_program_never_overwrites_what_a_later_one_wrote(store: Store, verb: str):
    await store.put(TODAY)
    before, behind, key = await lying(store), program(store, second), Room2.key(room_id="a")
    room, name = Room2(room_id="a", title="Attic", host="ann"), path(Room2, lambda it: it.title)
    calls: dict[str, Any] = {
        "put": lambda: behind.put(room),
        "put_if": lambda: behind.put(room, when=name.equals("Attic")),
        "put_absent": lambda: behind.put(room, if_absent=True),
        "update": lambda: behind.update(key, name.set("Bay")),
        "save": lambda: behind.save(replace(room, seats=9), was=replace(room, seats=4)),
        "delete": lambda: behind.delete(key),
        "delete_if": lambda: behind.delete(key, when=name.equals("Attic")),
        "transact": lambda: run_transaction(behind, lambda tx: tx.put(room)),
    }
    with pytest.raises(ItemUnreadable, match="Update the program"):
        await calls[verb]()
    assert await lying(store) == before


async def test_a_program_that_counts_from_one_gives_way_to_the_second_revision(store: Store):
    old, key = program(store, first), Booking1.key(room_id="a", number=1)
    booking = await old.put(Booking1(room_id="a", number=1))
    await old.update(key, path(Booking1, lambda it: it.hours).set("2"))
    await store.update(Booking.key(room_id="a", number=1), path(Booking, lambda it: it.hours).add(1))
    for writing in (old.put(booking), old.save(replace(booking, hours="9"), was=booking), old.delete(key)):
        with pytest.raises(ItemUnreadable, match="Update the program"):
            await writing
    found = await store.get(Booking.key(room_id="a", number=1), strong=True)
    assert found == Booking(room_id="a", number=1, hours=3, version=3)


# Races


async def test_two_programs_that_upgrade_one_item_at_once(store: Store, old: Store):
    other = program(store, third)
    await asyncio.gather(*(it.update(KEY, seats.add(1)) for it in (store, other) * 5))
    assert await store.get(KEY, strong=True) == replace(TODAY, seats=14)


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (old_note.set("added"), {"notes": ["added"]}),
        (path(Room1, lambda room: room.name).set("Bay"), {"title": "Bay"}),
        (path(Room1, lambda room: room.expires_at).set(LATER), {"expires_at": LATER}),
    ],
    ids=["what was absent", "what has another name now", "what today's shape has too"],
)
async def test_what_an_old_program_writes_meanwhile_is_not_lost(store: Store, edit: Edit[Room1], after: dict[str, Any]):
    """The first program writes after the upgrade has been worked out, and before it is written."""
    old = program(store, first)
    await old.put(Room1(room_id="a"))
    upgraded = binding(Room).upgrade_of(await lying(store))
    assert upgraded is not None
    await old.update(Room1.key(room_id="a"), edit)
    stale = upgrade_request(store.schema(third), upgraded)
    with pytest.raises(ConditionFailed):
        await store.calls("stale", lambda consumed: store.backend.write(stale, consumed))
    await store.update(KEY, seats.add(1))
    assert await store.get(KEY, strong=True) == replace(Room(room_id="a", seats=5), **after)
    assert (await lying(store))["_revision"] == 3


async def test_old_and_new_programs_count_the_same_seats(store: Store, old: Store):
    """Old programs that know no revisions may still edit what has the same name and meaning in every revision."""
    await asyncio.gather(
        *(old.update(Room1.key(room_id="a"), old_seats.add(1)) for _ in range(10)),
        *(store.update(KEY, seats.add(1)) for _ in range(10)),
    )
    assert await store.get(KEY, strong=True) == replace(TODAY, seats=24)


async def test_an_item_that_never_comes_to_rest_is_a_conflict(store: Store, old: Store, monkeypatch):
    """An old program puts its shape back after every upgrade."""
    upgrade = store.upgrader.upgrade_all

    async def undone(items: Any, tries: int) -> None:
        await upgrade(items, tries)
        await old.put(Room1(room_id="a", seats=tries))

    monkeypatch.setattr(store.upgrader, "upgrade_all", undone)
    with pytest.raises(Conflict, match="two revisions"):
        await store.update(KEY, seats.add(1))


@pytest.mark.usefixtures("old")
async def test_an_upgrade_in_place_is_told_as_a_change_of_nothing(store: Store):
    await store.update(KEY, seats.add(1))
    told = [(it.kind, it.old, it.new) for it in await drain(store.stream(third, "watcher"))]
    after = replace(TODAY, seats=5)
    assert told == [("INSERT", None, TODAY), ("MODIFY", TODAY, TODAY), ("MODIFY", TODAY, after)]


async def test_a_batch_writes_today_s_shape(store: Store, old: Store):
    await store.write_many(put=[Room(room_id="a"), Room(room_id="b")], delete=[Room.key(room_id="c")])
    assert (await lying(store))["_revision"] == 3
    rows: list[Row] = [await lying(store, "ROOM#b")]
    assert binding(Room).decode_all(rows) == [Room(room_id="b")]
