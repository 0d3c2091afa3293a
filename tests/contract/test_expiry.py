"""Expired items are invisible to reads and deleted by sweeps."""

import pytest

from tests.support.designs.board import Game, GameLine, Move, Vote, board, game_line, games_with, moves_of, votes_of
from tests.support.designs.kifu import Analysis, kifu
from tests.support.manual_clock import ManualClock
from tests.support.store_reads import assert_query_returns, contents, drain, eventually, run_transaction
from zataku.table import ConditionFailed, Store, TransactionCancelled, path

pytestmark = pytest.mark.needs("ttl")

KEY = Game.key(game_id="g1")
turn = path(Game, lambda it: it.current_turn)
expires = path(Game, lambda it: it.expires_at)


@pytest.fixture
async def expiring(store: Store, clock: ManualClock) -> Game:
    """A game that expires in ten seconds."""
    return await store.put(Game(game_id="g1", note="old", expires_at=int(clock.now()) + 10))


async def test_an_item_is_readable_until_the_second_it_expires(store: Store, clock: ManualClock, expiring: Game):
    await clock.advance(9)
    assert await store.get(KEY, strong=True) == expiring
    await clock.advance(1)
    assert await store.get(KEY, strong=True) is None


async def test_an_expired_item_is_invisible_to_every_read(store: Store, clock: ManualClock, expiring: Game):
    move = await store.put(Move(game_id="g1", turn_number=1, expires_at=expiring.expires_at))
    await eventually(lambda: store.first(games_with("ACTIVE")), expiring)
    await clock.advance(10)
    assert await store.get(KEY) is None
    assert await store.get_many([KEY, Move.key(game_id="g1", turn_number=1)]) == [None, None]
    assert await store.snapshot(KEY, Move.key(game_id="g1", turn_number=1)) == [None, None]
    assert (await store.page(moves_of("g1"))).items == []
    assert [game async for game in store.each(games_with("ACTIVE"))] == []
    assert await store.first(moves_of("g1")) is None
    assert not await contents(store)
    assert move.expires_at


async def test_a_count_excludes_expired_items_that_are_not_swept_yet(store: Store, clock: ManualClock, expiring: Game):
    await store.write_many(put=[Move(game_id="g1", turn_number=at, expires_at=expiring.expires_at) for at in (1, 2)])
    await store.put(Move(game_id="g1", turn_number=3))
    await eventually(lambda: store.count(moves_of("g1")), 3)
    await clock.advance(10)
    await eventually(lambda: store.count(moves_of("g1")), 1)


async def test_a_view_of_an_expired_item_is_invisible(store: Store, clock: ManualClock, expiring: Game):
    await eventually(lambda: store.first(game_line("g1")), GameLine(game_id=expiring.game_id, status="ACTIVE"))
    await clock.advance(10)
    await eventually(lambda: store.first(game_line("g1")), None)


async def test_if_absent_replaces_an_expired_item(store: Store, clock: ManualClock, expiring: Game):
    with pytest.raises(ConditionFailed):
        await store.put(Game(game_id="g1"), if_absent=True)
    await clock.advance(10)
    new = await store.put(Game(game_id="g1", note="new"), if_absent=True)
    assert await store.get(KEY, strong=True) == new
    assert await store.sweep() == 0


async def test_an_expired_item_counts_as_absent_in_a_transaction(store: Store, clock: ManualClock, expiring: Game):
    await clock.advance(10)
    async with store.transact() as tx:
        tx.check_absent(KEY)
        tx.put(Game(game_id="g2"))
    with pytest.raises(TransactionCancelled):
        await run_transaction(store, lambda tx: tx.check(KEY), lambda tx: tx.put(Game(game_id="g3")))
    async with store.transact() as tx:
        tx.put(Game(game_id="g1", note="new"), if_absent=True)
    assert await contents(store) == {repr(Game(game_id="g2")): 1, repr(Game(game_id="g1", note="new")): 1}


async def test_an_expired_item_cannot_be_updated(store: Store, clock: ManualClock, expiring: Game):
    await clock.advance(10)
    with pytest.raises(ConditionFailed):
        await store.update(KEY, turn.add(1))
    with pytest.raises(TransactionCancelled):
        await run_transaction(store, lambda tx: tx.update(KEY, turn.add(1)))


async def test_the_expiry_of_an_item_can_be_postponed_or_removed(store: Store, clock: ManualClock, expiring: Game):
    await store.update(KEY, expires.add(100))
    await clock.advance(50)
    assert await store.sweep() == 0
    await store.update(KEY, expires.set(None))
    await clock.advance(500)
    assert await store.sweep() == 0
    assert await store.get(KEY, strong=True)


@pytest.mark.needs("sweeping")
async def test_a_sweep_deletes_expired_items_and_no_others(store: Store, clock: ManualClock):
    now = int(clock.now())
    moves = [Move(game_id="g1", turn_number=at, expires_at=now + at) for at in range(1, 41)]
    forever = Move(game_id="g1", turn_number=99)
    await store.write_many(put=[*moves, forever])
    await clock.advance(30)
    assert await store.sweep() == 30
    assert await store.sweep() == 0
    assert await store.count(moves_of("g1")) == 11
    await assert_query_returns(store, moves_of("g1"), *moves[30:], forever)


@pytest.mark.needs("sweeping")
async def test_a_sweep_stops_at_its_limit(store: Store, clock: ManualClock):
    await store.write_many(
        put=[Move(game_id="g1", turn_number=at, expires_at=int(clock.now()) + 1) for at in range(25)]
    )
    await clock.advance(1)
    assert [await store.sweep(limit=10) for _ in range(4)] == [10, 10, 5, 0]


@pytest.mark.needs("sweeping")
async def test_a_sweep_visits_every_table(open_store, clock: ManualClock):
    store = await open_store(board, kifu)
    soon = int(clock.now()) + 1
    await store.put(Game(game_id="g1", expires_at=soon))
    await store.put(Analysis(analysis_id="a", username="u", expired=soon))
    await clock.advance(1)
    assert await store.sweep() == 2


@pytest.mark.needs("sweeping")
async def test_a_sweep_removes_items_from_their_indexes(store: Store, clock: ManualClock):
    vote = Vote(game_id="g1", turn_number=1, user_id="ann", candidate_id="c", expires_at=int(clock.now()) + 1)
    await store.put(vote)
    await clock.advance(1)
    await store.sweep()
    await assert_query_returns(store, votes_of("ann"))
    await eventually(lambda: store.count(votes_of("ann")), 0)


@pytest.mark.needs("streams")
@pytest.mark.needs("sweeping")
async def test_the_stream_marks_a_swept_item_as_expired(store: Store, clock: ManualClock, expiring: Game):
    await store.put(Game(game_id="g2"))
    await clock.advance(10)
    await store.sweep()
    await store.delete(Game.key(game_id="g2"))
    changes = await drain(store.stream(board, "watcher"))
    assert [(change.kind, change.old and change.old.game_id, change.expired) for change in changes] == [
        ("INSERT", None, False),
        ("INSERT", None, False),
        ("REMOVE", "g1", True),
        ("REMOVE", "g2", False),
    ]
    assert changes[2].old == expiring
    assert changes[2].new is None
