"""Streams: the changes of a table, delivered to its consumers."""

import asyncio
from itertools import pairwise

import pytest
from msgspec.structs import replace

from tests.support.designs.board import Candidate, Game, Move, board
from tests.support.designs.connections import connections
from tests.support.manual_clock import ManualClock
from tests.support.store_reads import drain, read_changes, run_transaction
from zataku.table import Change, ConditionFailed, DesignError, Entity, Store, Table, TransactionCancelled, path

pytestmark = pytest.mark.needs("streams")

KEY = Game.key(game_id="g1")
turn = path(Game, lambda it: it.current_turn)
description = path(Candidate, lambda it: it.description)


def summarize(changes: list[Change]) -> list[tuple]:
    return [(change.kind, change.old, change.new) for change in changes]


async def test_each_kind_of_write_records_its_kind_of_change(store: Store):
    first = await store.put(Game(game_id="g1", note="first"))
    second = await store.put(Game(game_id="g1", note="second"))
    third = await store.update(KEY, turn.add(1))
    fourth = await store.save(replace(third, note=None), was=third)
    await store.delete(KEY)
    assert summarize(await drain(store.stream(board, "watcher"))) == [
        ("INSERT", None, first),
        ("MODIFY", first, second),
        ("MODIFY", second, third),
        ("MODIFY", third, fourth),
        ("REMOVE", fourth, None),
    ]


async def test_a_write_that_changes_nothing_records_no_change(store: Store):
    candidate = Candidate(game_id="g1", turn_number=1, candidate_id="c", description="d")
    key = Candidate.key(game_id="g1", turn_number=1, candidate_id="c")
    await store.put(candidate)
    await store.put(candidate)
    await store.update(key, description.set("d"))
    await store.write_many(put=[candidate])
    async with store.transact() as tx:
        tx.put(candidate)
    await store.delete(Game.key(game_id="absent"))
    await store.save(candidate, was=candidate)
    assert summarize(await drain(store.stream(board, "watcher"))) == [("INSERT", None, candidate)]


async def test_a_refused_write_records_no_change(store: Store):
    first = await store.put(Game(game_id="g1"))
    with pytest.raises(ConditionFailed):
        await store.put(Game(game_id="g1", note="x"), if_absent=True)
    with pytest.raises(TransactionCancelled):
        await run_transaction(store, lambda tx: tx.put(Game(game_id="g2")), lambda tx: tx.check_absent(KEY))
    assert summarize(await drain(store.stream(board, "watcher"))) == [("INSERT", None, first)]


async def test_batches_and_transactions_record_one_change_per_item(store: Store):
    await store.write_many(put=[Move(game_id="g1", turn_number=at) for at in range(30)])
    async with store.transact() as tx:
        for at in range(10):
            tx.delete(Move.key(game_id="g1", turn_number=at))
        tx.put(Game(game_id="g1"))
        tx.check(Move.key(game_id="g1", turn_number=20))
    changes = await drain(store.stream(board, "watcher"))
    kinds = [change.kind for change in changes]
    assert (kinds.count("INSERT"), kinds.count("REMOVE"), len(kinds)) == (31, 10, 41)


async def test_changes_of_one_item_are_delivered_in_order(store: Store):
    await store.write_many(put=[Game(game_id=name) for name in "abc"])
    await asyncio.gather(*(_increment(store, name) for name in "abc" for _ in range(4)))
    changes = await drain(store.stream(board, "watcher"))
    for name in "abc":
        turns = [change.new.current_turn for change in changes if change.new.game_id == name]
        assert turns == list(range(21))
        own = [change for change in changes if change.new.game_id == name]
        assert all(before.new == after.old for before, after in pairwise(own))


async def _increment(store: Store, name: str) -> None:
    for _ in range(5):
        await store.update(Game.key(game_id=name), turn.add(1))


async def test_a_keys_only_stream_delivers_the_key_of_the_changed_item(open_store):
    notices = Table("NoticesOfChanges", pk="PK", sk="SK", stream="KEYS_ONLY")

    @notices.entity(pk="BOARD#{name}", sk="NOTICE#{number:03d}")
    class Notice(Entity, frozen=True, kw_only=True):
        """A notice."""

        name: str
        number: int

    store = await open_store(notices)
    await store.put(Notice(name="b", number=7))
    (change,) = await drain(store.stream(notices, "watcher"))
    assert change.keys == {"PK": "BOARD#b", "SK": "NOTICE#007"}
    assert (change.kind, change.old, change.new) == ("INSERT", None, None)


async def test_replaying_the_stream_rebuilds_the_table(store: Store):
    for at in range(60):
        name = f"g{at * 7 % 11}"
        if at % 4 == 3:
            await store.delete(Game.key(game_id=name))
        else:
            await store.put(Game(game_id=name, current_turn=at))
    replayed: dict[str, Game] = {}
    for change in await drain(store.stream(board, "watcher")):
        if change.new is None:
            del replayed[change.old.game_id]
        else:
            assert replayed.get(change.new.game_id) == change.old
            replayed[change.new.game_id] = change.new
    assert sorted(map(repr, replayed.values())) == sorted([repr(game) async for game in store.scan(board)])


async def test_changes_are_delivered_again_until_they_are_acknowledged(store: Store):
    await store.write_many(put=[Game(game_id=name) for name in "abcd"])
    stream = store.stream(board, "watcher")
    first = await read_changes(stream, 2)
    assert await read_changes(stream, 2) == first
    assert len(await read_changes(stream, 100)) == 4
    await stream.acknowledge(first[-1])
    rest = await drain(stream)
    assert len([change for change in rest if change not in first]) == 2
    assert await stream.read() == []


async def test_an_acknowledgement_covers_everything_before_it(store: Store):
    await store.write_many(put=[Game(game_id=name) for name in "abcd"])
    stream = store.stream(board, "watcher")
    changes = await read_changes(stream)
    await stream.acknowledge(changes[2])
    assert [change for change in await drain(stream) if change not in changes[:3]] == changes[3:]


async def test_acknowledging_an_older_change_does_not_move_a_consumer_back(store: Store):
    await store.write_many(put=[Game(game_id=name) for name in "abcd"])
    stream = store.stream(board, "watcher")
    changes = await read_changes(stream)
    await stream.acknowledge(changes[-1])
    await stream.acknowledge(changes[0])
    assert await stream.read() == []


async def test_each_consumer_has_its_own_position(store: Store):
    await store.put(Game(game_id="a"))
    fast, slow = store.stream(board, "fast"), store.stream(board, "slow")
    assert len(await drain(fast)) == 1
    await store.put(Game(game_id="b"))
    assert len(await read_changes(slow)) == 2
    assert [change.new.game_id for change in await read_changes(fast) if change.new.game_id != "a"] == ["b"]


async def test_a_new_consumer_starts_at_the_oldest_change(store: Store):
    await store.put(Game(game_id="a"))
    await drain(store.stream(board, "early"))
    await store.put(Game(game_id="b"))
    assert [change.new.game_id for change in await drain(store.stream(board, "late"))] == ["a", "b"]


async def test_an_acknowledgement_survives_closing_and_opening(open_store):
    store = await open_store(board)
    await store.write_many(put=[Game(game_id=name) for name in "abcd"])
    changes = await read_changes(store.stream(board, "watcher"))
    await store.stream(board, "watcher").acknowledge(changes[1])
    await store.close()
    reopened = await open_store(board)
    assert [change.position for change in await read_changes(reopened.stream(board, "watcher"))] == [
        change.position for change in changes[2:]
    ]


async def test_a_forgotten_consumer_starts_again_at_the_oldest_change(store: Store):
    await store.write_many(put=[Game(game_id=name) for name in "ab"])
    stream = store.stream(board, "watcher")
    assert len(await drain(stream)) == 2
    await stream.forget()
    assert len(await drain(stream)) == 2
    await store.stream(board, "unknown").forget()


async def test_a_reader_waits_for_the_first_change(store: Store):
    stream = store.stream(board, "watcher")
    waiting = asyncio.create_task(stream.read(wait=30))
    await asyncio.sleep(0)
    await store.put(Game(game_id="a"))
    changes = await asyncio.wait_for(waiting, 20)
    assert [change.new.game_id for change in changes] == ["a"]


async def test_a_change_has_the_time_of_its_write(store: Store, clock: ManualClock):
    await store.put(Game(game_id="a"))
    before = clock.now()
    await clock.advance(3600)
    await store.put(Game(game_id="b"))
    first, second = await drain(store.stream(board, "watcher"))
    assert (first.at, second.at) == (before, before + 3600)


async def test_changes_are_kept_for_at_least_a_day(store: Store, clock: ManualClock):
    await store.put(Game(game_id="a"))
    await clock.advance(23 * 3600)
    await store.put(Game(game_id="b"))
    await store.sweep()
    assert [change.new.game_id for change in await drain(store.stream(board, "watcher"))] == ["a", "b"]


async def test_reading_the_stream_of_a_table_without_one_is_refused(open_store):
    store = await open_store(connections)
    with pytest.raises(DesignError, match="stream="):
        store.stream(connections, "watcher")
