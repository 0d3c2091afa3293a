"""A store with items of all revisions answers every call as one that was migrated first."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.contract.stores import EmbeddedLocation
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
from tests.table.migration.test_table_migration import everything
from zataku.clock import ManualClock
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
words = st.sampled_from(["Attic", "Bay"])
few = st.integers(0, 3)


def items(now: int) -> st.SearchStrategy[list[Entity]]:
    """What lies in the store at first."""
    until = ends.map(lambda end: None if end is None else now + end)
    note = st.none() | st.just("dusty")
    kinds = st.one_of(
        st.builds(Room1, room_id=room_ids, name=words, host=hosts, seats=few, note=note, expires_at=until),
        st.builds(Room2, room_id=room_ids, title=words, host=hosts, seats=few, expires_at=until),
        st.builds(Room, room_id=room_ids, title=words, seats=few, expires_at=until),
        st.builds(Booking1, room_id=room_ids, number=few, hours=few.map(str), version=few),
        st.builds(Booking, room_id=room_ids, number=few, hours=few, version=few),
    )
    return st.lists(kinds, max_size=8)


conditions = st.one_of(
    st.none(),
    st.builds(title.equals, words),
    st.builds(seats.above, few),
    st.just(notes.size().above(0)),
    st.just(access.exists()),
    st.just(~access.exists()),
)
edits = st.lists(
    st.sampled_from([seats.add(1), notes.append("new"), access.set("members")]), min_size=1, max_size=3, unique=True
)
rooms = st.builds(Room, room_id=room_ids, title=words, seats=few)
one = st.one_of(
    st.tuples(st.just("put"), rooms, conditions, st.booleans()),
    st.tuples(st.just("update"), room_ids, edits, conditions),
    st.tuples(st.just("delete"), room_ids, conditions),
)
inside = st.one_of(
    one,
    st.tuples(st.just("check"), room_ids, conditions),
    st.tuples(st.just("check_absent"), room_ids),
    st.tuples(st.just("book"), room_ids, few),
    st.tuples(st.just("visit"), room_ids),
)
calls = st.one_of(
    one,
    st.tuples(st.just("get"), room_ids),
    st.tuples(st.just("snapshot")),
    st.tuples(st.just("save"), room_ids, words, few),
    st.tuples(st.just("save_booking"), room_ids, few),
    st.tuples(st.just("transact"), st.lists(inside, min_size=1, max_size=4, unique_by=repr)),
)


def collected(tx: Transaction, step: tuple[Any, ...]) -> None:
    """One write of a transaction."""
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
        case ("book", room_id, number):
            tx.update(Booking.key(room_id=room_id, number=number), hours.add(2), when=hours.above(0))
        case ("visit", room_id):
            tx.put(Visit(room_id=room_id, visitor="zoe"), if_absent=True)


async def carried_out(store: Store, call: tuple[Any, ...]) -> object:
    """What one call gives."""
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
        case ("save", room_id, word, number):
            was = await store.get(Room.key(room_id=room_id), strong=True)
            return was and await store.save(replace(was, title=word, seats=number), was=was)
        case ("save_booking", room_id, number):
            booking = await store.get(Booking.key(room_id=room_id, number=number), strong=True)
            return booking and await store.save(replace(booking, hours=booking.hours + 1), was=booking)
        case ("transact", steps):
            async with store.transact() as tx:
                for step in steps:
                    collected(tx, step)
            return "done"
    raise AssertionError(call)


async def answer(store: Store, call: tuple[Any, ...]) -> object:
    """What one call gives, or how it is refused."""
    try:
        return await carried_out(store, call)
    except TableError as problem:
        reasons = [(it.code, it.current) for it in getattr(problem, "reasons", ())]
        return type(problem), getattr(problem, "current", None), reasons


async def compare(lying: list[Entity], wanted: list[tuple[Any, ...]], clock: ManualClock) -> None:
    """Do the same on both stores."""
    programs = {Room1: first, Booking1: first, Room2: second}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        mixed = await EmbeddedLocation(Path(folder)).open((third,), clock)
        tidy = await EmbeddedLocation(Path(other)).open((third,), clock)
        async with mixed, tidy:
            for store in (mixed, tidy):
                for entity in lying:
                    await program(store, programs.get(type(entity), third)).write_many(put=[entity])
            await migrate(tidy)
            for call in wanted:
                assert await answer(mixed, call) == await answer(tidy, call), call
            await migrate(mixed)
            assert await everything(mixed) == await everything(tidy)


NOW = int(ManualClock().now())


@given(lying=items(NOW), wanted=st.lists(calls, min_size=1, max_size=8))
def test_any_calls_on_a_mixed_store_are_as_on_a_migrated_one(lying, wanted):
    asyncio.run(compare(lying, wanted, ManualClock()))
