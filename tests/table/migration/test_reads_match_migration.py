"""A store with items of all revisions returns the same results as one that was migrated first."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.contract.stores import EmbeddedLocation
from tests.support.manual_clock import ManualClock
from tests.table.migration.room_revisions import (
    Booking,
    Booking1,
    Room,
    Room1,
    Room2,
    Visit,
    first,
    program,
    second,
    third,
)
from tests.table.migration.test_table_migration import all_items
from zataku.table import Entity, Store, TableError, Transaction, path
from zataku.table.migration.table_migration import migrate

ROOMS = ("a", "b", "c")
seats = path(Room, lambda room: room.seats)
title = path(Room, lambda room: room.title)
notes = path(Room, lambda room: room.notes)
access = path(Room, lambda room: room.access)
hours = path(Booking, lambda booking: booking.hours)

room_ids = st.sampled_from(ROOMS)
hosts = st.sampled_from(["ann@north", "bob@south"])
ends = st.sampled_from([None, None, -10, 10])
titles = st.sampled_from(["Attic", "Bay"])
small_numbers = st.integers(0, 3)


def items(now: int) -> st.SearchStrategy[list[Entity]]:
    """The items that are in the stores at first."""
    until = ends.map(lambda end: None if end is None else now + end)
    note = st.none() | st.just("dusty")
    kinds = st.one_of(
        st.builds(Room1, room_id=room_ids, name=titles, host=hosts, seats=small_numbers, note=note, expires_at=until),
        st.builds(Room2, room_id=room_ids, title=titles, host=hosts, seats=small_numbers, expires_at=until),
        st.builds(Room, room_id=room_ids, title=titles, seats=small_numbers, expires_at=until),
        st.builds(
            Booking1, room_id=room_ids, number=small_numbers, hours=small_numbers.map(str), version=small_numbers
        ),
        st.builds(Booking, room_id=room_ids, number=small_numbers, hours=small_numbers, version=small_numbers),
    )
    return st.lists(kinds, max_size=8)


conditions = st.one_of(
    st.none(),
    st.builds(title.equals, titles),
    st.builds(seats.above, small_numbers),
    st.just(notes.size().above(0)),
    st.just(access.exists()),
    st.just(~access.exists()),
)
edits = st.lists(
    st.sampled_from([seats.add(1), notes.append("new"), access.set("members")]), min_size=1, max_size=3, unique=True
)
rooms = st.builds(Room, room_id=room_ids, title=titles, seats=small_numbers)
single_writes = st.one_of(
    st.tuples(st.just("put"), rooms, conditions, st.booleans()),
    st.tuples(st.just("update"), room_ids, edits, conditions),
    st.tuples(st.just("delete"), room_ids, conditions),
)
transaction_writes = st.one_of(
    single_writes,
    st.tuples(st.just("check"), room_ids, conditions),
    st.tuples(st.just("check_absent"), room_ids),
    st.tuples(st.just("update_booking"), room_ids, small_numbers),
    st.tuples(st.just("visit"), room_ids),
)
calls = st.one_of(
    single_writes,
    st.tuples(st.just("get"), room_ids),
    st.tuples(st.just("snapshot")),
    st.tuples(st.just("save"), room_ids, titles, small_numbers),
    st.tuples(st.just("save_booking"), room_ids, small_numbers),
    st.tuples(st.just("transact"), st.lists(transaction_writes, min_size=1, max_size=4, unique_by=repr)),
)


def add_write(tx: Transaction, step: tuple[Any, ...]) -> None:
    """Add one write to a transaction."""
    match step:
        case ("put", room, when, if_absent):
            tx.put(room, when=when, if_absent=if_absent)
        case ("update", room_id, changes, when):
            tx.update(Room.key(room_id=room_id), *changes, when=when)
        case ("delete", room_id, when):
            tx.delete(Room.key(room_id=room_id), when=when)
        case ("check", room_id, when):
            tx.check(Room.key(room_id=room_id), when)
        case ("check_absent", room_id):
            tx.check_absent(Room.key(room_id=room_id))
        case ("update_booking", room_id, number):
            tx.update(Booking.key(room_id=room_id, number=number), hours.add(2), when=hours.above(0))
        case ("visit", room_id):
            tx.put(Visit(room_id=room_id, visitor="zoe"), if_absent=True)


async def execute(store: Store, call: tuple[Any, ...]) -> object:
    """Run one call and return its result."""
    match call:
        case ("get", room_id):
            return await store.get(Room.key(room_id=room_id), strong=True)
        case ("snapshot",):
            return await store.snapshot(*(Room.key(room_id=room_id) for room_id in ROOMS))
        case ("put", room, when, if_absent):
            return await store.put(room, when=when, if_absent=if_absent)
        case ("update", room_id, changes, when):
            return await store.update(Room.key(room_id=room_id), *changes, when=when)
        case ("delete", room_id, when):
            return await store.delete(Room.key(room_id=room_id), when=when)
        case ("save", room_id, new_title, number):
            room = await store.get(Room.key(room_id=room_id), strong=True)
            return room and await store.save(replace(room, title=new_title, seats=number), was=room)
        case ("save_booking", room_id, number):
            booking = await store.get(Booking.key(room_id=room_id, number=number), strong=True)
            return booking and await store.save(replace(booking, hours=booking.hours + 1), was=booking)
        case ("transact", steps):
            async with store.transact() as tx:
                for step in steps:
                    add_write(tx, step)
            return "done"
    raise AssertionError(call)


async def result_of(store: Store, call: tuple[Any, ...]) -> object:
    """The result of one call, or the error it raises with the current items."""
    try:
        return await execute(store, call)
    except TableError as error:
        reasons = [(reason.code, reason.current) for reason in getattr(error, "reasons", ())]
        return type(error), getattr(error, "current", None), reasons


async def compare(stored: list[Entity], calls: list[tuple[Any, ...]], clock: ManualClock) -> None:
    """Run the same calls on a store with all revisions and on a migrated one, and compare results and items."""
    programs = {Room1: first, Booking1: first, Room2: second}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        mixed = await EmbeddedLocation(Path(folder)).open((third,), clock)
        migrated = await EmbeddedLocation(Path(other)).open((third,), clock)
        async with mixed, migrated:
            for store in (mixed, migrated):
                for entity in stored:
                    await program(store, programs.get(type(entity), third)).write_many(put=[entity])
            await migrate(migrated)
            for call in calls:
                assert await result_of(mixed, call) == await result_of(migrated, call), call
            await migrate(mixed)
            assert await all_items(mixed) == await all_items(migrated)


NOW = int(ManualClock().now())


@given(stored=items(NOW), script=st.lists(calls, min_size=1, max_size=8))
def test_calls_on_a_store_of_mixed_revisions_return_what_a_migrated_store_returns(stored, script):
    asyncio.run(compare(stored, script, ManualClock()))
