"""Writes to items of an earlier or a later revision."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.manual_clock import ManualClock
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
    rooms_by_host,
    rooms_in,
    second,
    third,
)
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


async def stored_item(store: Store, pk: str = "ROOM#a", sk: str = "META") -> Item:
    """The item as it is stored."""
    row = await store.calls("read", lambda _: store.backend.get(GetItem(store.schema(third), (pk, sk), strong=True)))
    assert row is not None
    return unpack_row(row)


@pytest.fixture
async def old(store: Store) -> Store:
    """The first program, with one room that it wrote."""
    old = program(store, first)
    await old.put(Room1(room_id="a", name="Attic", host="ann@north", note="dusty"))
    return old


UPGRADED = Room(room_id="a", title="Attic", host="ann", place="north", notes=["dusty"])


@pytest.mark.usefixtures("old")
async def test_an_update_upgrades_an_old_item_and_edits_its_new_attributes(store: Store):
    updated = await store.update(KEY, seats.add(1), notes.append("quiet"), when=title.equals("Attic"))
    assert updated == replace(UPGRADED, seats=5, notes=["dusty", "quiet"])
    assert await store.get(KEY, strong=True) == updated
    assert await stored_item(store) == binding(Room).encode(updated)
    await assert_query_returns(store, rooms_in("north"), updated)
    await assert_query_returns(store, rooms_by_host("ann@north"))


@pytest.mark.usefixtures("old")
async def test_saving_an_entity_read_from_an_old_item_stores_the_current_revision(store: Store):
    was = await store.get(KEY, strong=True)
    assert was == UPGRADED
    saved = await store.save(replace(was, title="Aerie"), was=was)
    assert await stored_item(store) == binding(Room).encode(saved)
    with pytest.raises(ConditionFailed):
        await store.save(replace(was, title="Loft"), was=was)


async def test_saving_an_old_item_checks_and_increments_its_version(store: Store):
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
async def test_an_unconditional_put_replaces_an_old_item(store: Store):
    await store.put(Room(room_id="a", title="Cellar"))
    assert await stored_item(store) == binding(Room).encode(Room(room_id="a", title="Cellar"))


@pytest.mark.usefixtures("old")
async def test_a_conditional_put_compares_the_upgraded_attributes_of_an_old_item(store: Store):
    with pytest.raises(ConditionFailed) as raised:
        await store.put(Room(room_id="a"), when=title.equals("Bay"))
    assert raised.value.current == UPGRADED
    await store.put(Room(room_id="a", title="Cellar"), when=title.equals("Attic"))
    assert (await store.get(KEY, strong=True)) == Room(room_id="a", title="Cellar")


async def test_a_conditional_put_without_a_stored_item_checks_its_condition(store: Store):
    await store.put(Room(room_id="a"), when=~title.exists())
    with pytest.raises(ConditionFailed):
        await store.put(Room(room_id="a"), when=~title.exists())


@pytest.mark.usefixtures("old")
async def test_deleting_an_old_item_returns_it_in_the_current_revision(store: Store):
    with pytest.raises(ConditionFailed):
        await store.delete(KEY, when=title.equals("Bay"))
    assert await store.delete(KEY, when=title.equals("Attic")) == UPGRADED
    assert await store.delete(KEY) is None
    await program(store, first).put(Room1(room_id="a", name="Attic", note="dusty"))
    assert await store.delete(KEY) == UPGRADED


async def test_a_new_item_replaces_an_expired_one_of_an_old_revision(store: Store, clock: ManualClock):
    await program(store, first).put(Room1(room_id="a", expires_at=int(clock.now()) - 1))
    with pytest.raises(ConditionFailed):
        await store.update(KEY, seats.add(1))
    assert "_revision" not in await stored_item(store)
    await store.put(Room(room_id="a", title="Cellar"), if_absent=True)
    assert await store.get(KEY, strong=True) == Room(room_id="a", title="Cellar")


async def test_an_upgrade_keeps_undeclared_attributes(store: Store):
    old = program(store, first)
    await old.put(Room1(room_id="a"))
    foreign = UpdateItem(store.schema(third), ("ROOM#a", "META"), (ex.Assign(("sticker",), ex.Literally({"x": [1]})),))
    await store.calls("foreign", lambda consumed: store.backend.write(foreign, consumed))
    await store.update(KEY, seats.add(1))
    assert (await stored_item(store))["sticker"] == {"x": [1]}


async def test_a_transaction_upgrades_the_old_items_it_touches(store: Store, old: Store):
    await old.put(Booking1(room_id="a", number=1, hours="3"))
    await old.put(Room1(room_id="b"))
    async with store.transact() as tx:
        tx.put(Visit(room_id="a", visitor="zoe"), if_absent=True)
        tx.update(KEY, seats.add(-1), when=title.equals("Attic"))
        tx.check(Room.key(room_id="b"), seats.above(3))
        tx.delete(Booking.key(room_id="a", number=1), when=path(Booking, lambda it: it.hours).equals(3))
        tx.check_absent(Room.key(room_id="c"))
    assert await store.get(KEY, strong=True) == replace(UPGRADED, seats=3)
    assert await store.get(Visit.key(room_id="a", visitor="zoe"), strong=True) is not None
    assert await store.get(Booking.key(room_id="a", number=1), strong=True) is None


@pytest.mark.usefixtures("old")
async def test_a_transaction_retried_after_an_upgrade_keeps_its_token(store: Store):
    for _ in range(2):
        async with store.transact("the-token", at=store.clock.now()) as tx:
            tx.update(KEY, seats.add(1))
            tx.put(Visit(room_id="a", visitor="zoe"))
    assert await store.get(KEY, strong=True) == replace(UPGRADED, seats=5)


@pytest.mark.usefixtures("old")
async def test_a_cancelled_transaction_names_only_failed_conditions_and_upgrades_nothing(store: Store):
    with pytest.raises(TransactionCancelled) as cancelled:
        await run_transaction(
            store,
            lambda tx: tx.update(KEY, seats.add(1)),
            lambda tx: tx.check(Room.key(room_id="missing")),
        )
    assert [(reason.code, reason.current) for reason in cancelled.value.reasons] == [
        (None, None),
        ("condition_failed", None),
    ]
    assert "_revision" not in await stored_item(store)


@pytest.mark.parametrize(
    "operation", ["put", "put_if", "put_absent", "update", "save", "delete", "delete_if", "transact"]
)
async def test_an_older_program_cannot_change_an_item_of_a_later_revision(store: Store, operation: str):
    await store.put(UPGRADED)
    before, older, key = await stored_item(store), program(store, second), Room2.key(room_id="a")
    room, name = Room2(room_id="a", title="Attic", host="ann"), path(Room2, lambda it: it.title)
    calls: dict[str, Any] = {
        "put": lambda: older.put(room),
        "put_if": lambda: older.put(room, when=name.equals("Attic")),
        "put_absent": lambda: older.put(room, if_absent=True),
        "update": lambda: older.update(key, name.set("Bay")),
        "save": lambda: older.save(replace(room, seats=9), was=replace(room, seats=4)),
        "delete": lambda: older.delete(key),
        "delete_if": lambda: older.delete(key, when=name.equals("Attic")),
        "transact": lambda: run_transaction(older, lambda tx: tx.put(room)),
    }
    with pytest.raises(ItemUnreadable, match="Update the program") as refused:
        await calls[operation]()
    assert refused.value.unreadable is not None
    assert (refused.value.unreadable.key, refused.value.unreadable.item) == ({"PK": "ROOM#a", "SK": "META"}, before)
    assert await stored_item(store) == before


async def test_a_first_revision_program_cannot_write_items_of_the_second_revision(store: Store):
    old, key = program(store, first), Booking1.key(room_id="a", number=1)
    booking = await old.put(Booking1(room_id="a", number=1))
    await old.update(key, path(Booking1, lambda it: it.hours).set("2"))
    await store.update(Booking.key(room_id="a", number=1), path(Booking, lambda it: it.hours).add(1))
    for write in (old.put(booking), old.save(replace(booking, hours="9"), was=booking), old.delete(key)):
        with pytest.raises(ItemUnreadable, match="Update the program"):
            await write
    stored = await store.get(Booking.key(room_id="a", number=1), strong=True)
    assert stored == Booking(room_id="a", number=1, hours=3, version=3)


async def test_concurrent_updates_that_upgrade_one_item_all_apply(store: Store, old: Store):
    other = program(store, third)
    await asyncio.gather(*(handle.update(KEY, seats.add(1)) for handle in (store, other) * 5))
    assert await store.get(KEY, strong=True) == replace(UPGRADED, seats=14)


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (old_note.set("added"), {"notes": ["added"]}),
        (path(Room1, lambda room: room.name).set("Bay"), {"title": "Bay"}),
        (path(Room1, lambda room: room.expires_at).set(LATER), {"expires_at": LATER}),
    ],
    ids=["an absent attribute", "a renamed attribute", "an unchanged attribute"],
)
async def test_a_write_of_an_old_program_during_an_upgrade_is_not_lost(
    store: Store, edit: Edit[Room1], after: dict[str, Any]
):
    """The first program writes after the upgrade is computed and before it is stored."""
    old = program(store, first)
    await old.put(Room1(room_id="a"))
    upgraded = binding(Room).upgrade_of(await stored_item(store))
    assert upgraded is not None
    await old.update(Room1.key(room_id="a"), edit)
    stale = upgrade_request(store.schema(third), upgraded)
    with pytest.raises(ConditionFailed):
        await store.calls("stale", lambda consumed: store.backend.write(stale, consumed))
    await store.update(KEY, seats.add(1))
    assert await store.get(KEY, strong=True) == replace(Room(room_id="a", seats=5), **after)
    assert (await stored_item(store))["_revision"] == 3


async def test_concurrent_increments_of_old_and_new_programs_all_apply(store: Store, old: Store):
    """Programs without revisions may still edit attributes with the same name and meaning in every revision."""
    await asyncio.gather(
        *(old.update(Room1.key(room_id="a"), old_seats.add(1)) for _ in range(10)),
        *(store.update(KEY, seats.add(1)) for _ in range(10)),
    )
    assert await store.get(KEY, strong=True) == replace(UPGRADED, seats=24)


async def test_an_item_downgraded_after_every_upgrade_is_a_conflict(store: Store, old: Store, monkeypatch):
    """An old program puts its own revision back after every upgrade."""
    upgrade = store.upgrader.upgrade_all

    async def upgrade_and_undo(items: Any, attempts: int) -> None:
        await upgrade(items, attempts)
        await old.put(Room1(room_id="a", seats=attempts))

    monkeypatch.setattr(store.upgrader, "upgrade_all", upgrade_and_undo)
    with pytest.raises(Conflict, match="two revisions"):
        await store.update(KEY, seats.add(1))


@pytest.mark.usefixtures("old")
async def test_an_upgrade_appears_in_the_stream_as_a_change_with_equal_images(store: Store):
    await store.update(KEY, seats.add(1))
    changes = [(change.kind, change.old, change.new) for change in await drain(store.stream(third, "watcher"))]
    after = replace(UPGRADED, seats=5)
    assert changes == [("INSERT", None, UPGRADED), ("MODIFY", UPGRADED, UPGRADED), ("MODIFY", UPGRADED, after)]


async def test_a_batch_writes_the_current_revision(store: Store, old: Store):
    await store.write_many(put=[Room(room_id="a"), Room(room_id="b")], delete=[Room.key(room_id="c")])
    assert (await stored_item(store))["_revision"] == 3
    rows: list[Row] = [await stored_item(store, "ROOM#b")]
    assert binding(Room).decode_all(rows) == [Room(room_id="b")]
