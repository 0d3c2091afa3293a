"""Concurrent writes: none is lost, and none is carried out twice."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.support.designs.board import Candidate, Game, Vote, board
from zataku.table import ConditionFailed, Store, TransactionCancelled, path

KEY = Game.key(game_id="g1")
turn = path(Game, lambda it: it.current_turn)
note = path(Game, lambda it: it.note)
tags = path(Game, lambda it: it.tags)
votes = path(Candidate, lambda it: it.vote_count)


async def outcomes(*attempts) -> list[object]:
    """The results of concurrent attempts, failed conditions included; other errors are raised."""
    results = await asyncio.gather(*attempts, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, ConditionFailed | TransactionCancelled):
            raise result
    return results


def successes(results: list[object]) -> list[object]:
    return [result for result in results if not isinstance(result, BaseException)]


async def test_no_concurrent_increment_is_lost(store: Store):
    await store.put(Game(game_id="g1"))
    await asyncio.gather(*(store.update(KEY, turn.add(1)) for _ in range(60)))
    stored = await store.get(KEY, strong=True)
    assert stored is not None
    assert (stored.current_turn, stored.version) == (60, 60)


async def test_every_concurrent_increment_returns_a_different_state(store: Store):
    await store.put(Game(game_id="g1"))
    states = await asyncio.gather(*(store.update(KEY, turn.add(1)) for _ in range(40)))
    assert sorted(state.current_turn for state in states) == list(range(1, 41))


async def test_only_one_of_many_concurrent_if_absent_puts_succeeds(store: Store):
    claims = [store.put(Game(game_id="g1", note=f"claim {at}"), if_absent=True) for at in range(25)]
    won = successes(await outcomes(*claims))
    assert len(won) == 1
    assert await store.get(KEY, strong=True) == won[0]


async def test_two_people_racing_for_the_last_seat(store: Store):
    await store.put(Game(game_id="g1", current_turn=3))
    takes = [store.update(KEY, turn.add(1), when=turn.below(4)) for _ in range(2)]
    assert len(successes(await outcomes(*takes))) == 1


async def test_seats_are_never_oversold(store: Store):
    await store.put(Game(game_id="g1"))
    takes = [store.update(KEY, turn.add(1), tags.include(f"user{at}"), when=turn.below(7)) for at in range(30)]
    results = await outcomes(*takes)
    seated = await store.get(KEY, strong=True)
    assert seated is not None
    assert len(successes(results)) == seated.current_turn == len(seated.tags or ()) == 7


async def test_only_one_of_many_concurrent_deletes_returns_the_item(store: Store):
    written = await store.put(Game(game_id="g1"))
    deleted = await asyncio.gather(*(store.delete(KEY) for _ in range(20)))
    assert [game for game in deleted if game is not None] == [written]


async def test_only_one_of_many_saves_from_the_same_state_succeeds(store: Store):
    was = await store.put(Game(game_id="g1"))
    saves = [store.save(replace(was, note=f"save {at}"), was=was) for at in range(15)]
    won = successes(await outcomes(*saves))
    assert len(won) == 1
    assert await store.get(KEY, strong=True) == won[0]


async def test_every_save_succeeds_when_it_is_retried_from_the_current_state(store: Store):
    await store.put(Game(game_id="g1"))

    async def append(name: str) -> None:
        while True:
            was = await store.get(KEY, strong=True)
            assert was is not None
            try:
                await store.save(replace(was, moves=[*was.moves, name]), was=was)
            except ConditionFailed:
                continue
            return

    names = [f"m{at}" for at in range(12)]
    await asyncio.gather(*map(append, names))
    stored = await store.get(KEY, strong=True)
    assert stored is not None
    assert sorted(stored.moves) == sorted(names)
    assert stored.version == 12


@pytest.mark.needs("transactions")
async def test_each_user_votes_once_however_often_they_try(store: Store):
    key = Candidate.key(game_id="g1", turn_number=1, candidate_id="c")
    await store.put(Candidate(game_id="g1", turn_number=1, candidate_id="c", vote_count=0))

    async def cast(user: str) -> None:
        async with store.transact() as tx:
            tx.put(Vote(game_id="g1", turn_number=1, user_id=user, candidate_id="c"), if_absent=True)
            tx.update(key, votes.add(1))

    results = await outcomes(*(cast(f"user{at % 10}") for at in range(40)))
    assert len(successes(results)) == 10
    counted = await store.get(key, strong=True)
    assert counted is not None
    assert counted.vote_count == 10


@pytest.mark.needs("transactions")
async def test_every_snapshot_during_transfers_has_the_same_total(store: Store):
    names = ["a", "b", "c", "d"]
    await store.write_many(put=[Game(game_id=name, current_turn=50) for name in names])

    async def transfer(at: int) -> None:
        sender, receiver = names[at % 4], names[(at * 3 + 1) % 4]
        if sender == receiver:
            return
        async with store.transact() as tx:
            tx.update(Game.key(game_id=sender), turn.add(-9), when=turn.at_least(9))
            tx.update(Game.key(game_id=receiver), turn.add(9))

    async def total() -> int:
        games = await store.snapshot(*(Game.key(game_id=name) for name in names))
        return sum(game.current_turn for game in games if game)

    results = await outcomes(*(transfer(at) for at in range(60)), *(total() for _ in range(20)))
    assert {result for result in results if isinstance(result, int)} == {200}
    balances = [game.current_turn async for game in store.scan(board)]
    assert sum(balances) == 200
    assert min(balances) >= 0


async def test_concurrent_writes_of_different_items_all_succeed(store: Store):
    games = [Game(game_id=f"g{at}", note=str(at)) for at in range(120)]
    await asyncio.gather(*map(store.put, games))
    assert await store.get_many([Game.key(game_id=game.game_id) for game in games], strong=True) == games
