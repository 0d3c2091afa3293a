"""Many at once: one vote each, counts that equal votes, turns that are played once."""

import asyncio
from collections.abc import Awaitable
from itertools import count
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from tests.othello.games import (
    AFTER,
    C3,
    C5,
    DEADLINE,
    E3,
    GAME,
    NOW,
    SOON,
    TOMORROW,
    TURN,
    closed_game,
    counts,
    full_game,
    new_game,
    tally,
    user_id_of,
    user_named,
    vote,
    voted_game,
)
from tests.support.concurrency import Race, race
from tests.support.stores import START
from zataku.othello.design import Candidate, Move, Vote, ballot_of, game, moves_of, user, vote_of
from zataku.othello.limits import CandidateId
from zataku.othello.writes import (
    Proposal,
    add_commentary,
    advance,
    cast_vote,
    change_profile,
    change_vote,
    close_turn,
    finish,
    open_candidates,
    play_turn,
    propose,
    register_user,
    reopen_turn,
)
from zataku.othello.writes.paths import candidate_status
from zataku.table import Plan, Query, Store, format_instant, update
from zataku.table.schema.entity import binding_of

T = TypeVar("T")
CANDIDATES = (C3, E3, C5)
IDS = tuple(it.candidate_id for it in CANDIDATES)
_tokens = count()


def write_until_known(store: Store, plan: Plan[Any]) -> Awaitable[Any]:
    """Carry out a transaction with a token, so that its outcome is known even when replies are lost."""
    return store.write(plan, token=f"race-{next(_tokens)}")


async def assert_consistent(store: Store) -> dict[CandidateId, int]:
    """The counts, which equal the votes."""
    found = await counts(store)
    assert found == await tally(store)
    return found


async def snapshots(store: Store, voters: int, while_: "asyncio.Future[Any]") -> int:
    """Look at counts and votes of one moment again and again; gives how often."""
    keys: list[Any] = [binding_of(Candidate).key_of(it) for it in CANDIDATES]
    keys += [vote_of(GAME, TURN, user_id_of(at)) for at in range(voters)]
    looks = 0
    while not while_.done() or looks == 0:
        found: list[Any] = await store.snapshot(*keys)
        votes = [it.candidate_id for it in found[3:] if it]
        assert [it.vote_count for it in found[:3]] == [votes.count(it) for it in IDS]
        looks += 1
        await asyncio.sleep(0)
    return looks


async def race_with_readers(store: Store, voters: int, racing: Awaitable[Race[T]]) -> Race[T]:
    """A race during which counts equal votes at every moment that somebody looks."""
    running = asyncio.ensure_future(racing)
    looking = asyncio.ensure_future(snapshots(store, voters, running))
    ended = await running
    assert await looking >= 1
    return ended


async def test_one_user_voting_many_times_at_once_has_one_vote(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    ended = await race(
        *(write_until_known(contested, cast_vote(GAME, TURN, user_id_of(1), IDS[at % 3], NOW)) for at in range(9))
    )
    assert len(ended.won) == 1
    assert len(ended.refused) == 8
    assert await assert_consistent(contested) == {ended.won[0].candidate_id: 1}


async def test_a_vote_without_a_token_counts_at_most_once(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    ended = await race(*(contested.write(cast_vote(GAME, TURN, user_id_of(1), IDS[at % 3], NOW)) for at in range(9)))
    counted = sum((await assert_consistent(contested)).values())
    assert counted <= 1
    assert ended.allows(counted)


async def test_many_users_vote_at_once_and_every_vote_is_counted(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    votes = (write_until_known(contested, cast_vote(GAME, TURN, user_id_of(at), IDS[at % 3], NOW)) for at in range(24))
    ended = await race_with_readers(contested, 24, race(*votes))
    assert len(ended.won) == 24
    assert await assert_consistent(contested) == dict.fromkeys(IDS, 8)


async def test_one_user_changing_the_vote_many_times_at_once_moves_it_once(contested: Store):
    mine = vote(0, C3.candidate_id)
    others = [vote(at, C3.candidate_id) for at in range(1, 10)]
    await contested.write_many(put=[voted_game, mine, *others, replace(C3, vote_count=10), E3, C5])
    changes = (write_until_known(contested, change_vote(mine, IDS[1 + at % 2], SOON)) for at in range(8))
    ended = await race_with_readers(contested, 10, race(*changes))
    assert len(ended.won) == 1
    found = await assert_consistent(contested)
    assert sorted(found.values()) == [1, 9]
    assert found[C3.candidate_id] == 9


async def test_many_users_change_their_votes_at_once(contested: Store):
    votes = [vote(at, IDS[at % 3]) for at in range(12)]
    await contested.write_many(put=[voted_game, *votes, *(replace(it, vote_count=4) for it in CANDIDATES)])
    changes = (write_until_known(contested, change_vote(it, IDS[(at + 1) % 3], SOON)) for at, it in enumerate(votes))
    ended = await race_with_readers(contested, 12, race(*changes))
    assert len(ended.won) == 12
    assert await assert_consistent(contested) == dict.fromkeys(IDS, 4)


async def close_current_turn(store: Store) -> None:
    """Close the turn, whatever becomes of the replies."""
    ended = await race(store.write(close_turn(GAME, TURN, DEADLINE)))
    found = await store.get(game(GAME), strong=True)
    assert found is not None
    if found.closed_turn != TURN:
        assert ended.unknown
        await close_current_turn(store)


async def test_no_vote_lands_after_the_turn_was_closed_and_none_before_is_lost(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES, vote(99, C3.candidate_id)])
    await contested.put(replace(C3, vote_count=1))
    # A clock that runs late: these votes believe that the deadline is still ahead.
    early = format_instant(0)
    won: list[Vote] = []

    async def voting(at: int) -> Vote:
        for _ in range(at % 5):
            await asyncio.sleep(0)
        made = await write_until_known(contested, cast_vote(GAME, TURN, user_id_of(at), IDS[at % 3], early))
        won.append(made)
        return made

    async def closing() -> dict[CandidateId, int]:
        while len(won) < 5:
            await asyncio.sleep(0)
        await close_current_turn(contested)
        return await counts(contested)

    frozen = asyncio.ensure_future(closing())
    changing = race(write_until_known(contested, change_vote(vote(99, C3.candidate_id), E3.candidate_id, early)))
    ended, changed = await asyncio.gather(race(*map(voting, range(16))), changing)
    at_the_close = await frozen
    assert await assert_consistent(contested) == at_the_close
    assert sum(at_the_close.values()) == len(ended.won) + 1
    assert len(changed.won) + len(changed.refused) == 1
    late = await race(
        *(
            write_until_known(contested, cast_vote(GAME, TURN, user_id_of(at), C3.candidate_id, early))
            for at in range(50, 54)
        )
    )
    assert len(late.refused) == 4


async def test_a_square_is_proposed_once_whoever_is_first(contested: Store):
    await contested.put(voted_game)
    users = (
        write_until_known(contested, propose(voted_game, Proposal("C3", "角を守る。"), user_id_of(at), NOW))
        for at in range(7)
    )
    engine = write_until_known(
        contested, open_candidates(voted_game, [Proposal("C3", "堅実。"), Proposal("E3", "攻め。")], NOW)
    )
    ended = await race(engine, *users)
    assert len(ended.won) == 1
    found = [it async for it in contested.each(ballot_of(GAME, TURN))]
    assert ended.won[0] in found
    assert {it.position for it in found} == ({"C3", "E3"} if ended.won[0].created_by == "AI" else {"C3"})


async def test_nothing_is_proposed_after_the_deadline_by_anyone(contested: Store):
    await contested.put(voted_game)
    ended = await race(
        *(
            write_until_known(contested, propose(voted_game, Proposal("C3", "間に合う？"), user_id_of(at), DEADLINE))
            for at in range(4)
        )
    )
    assert len(ended.refused) == 4
    assert [it async for it in contested.each(ballot_of(GAME, TURN))] == []


async def test_many_close_the_turn_and_it_is_closed_once(contested: Store):
    await contested.put(voted_game)
    ended = await race(*(contested.write(close_turn(GAME, TURN, DEADLINE)) for _ in range(6)))
    found = await contested.get(game(GAME), strong=True)
    happened = found is not None and found.closed_turn == TURN
    assert happened or ended.unknown
    assert ended.allows(int(happened))


async def test_many_advance_the_game_and_it_moves_by_one_turn(contested: Store):
    candidates = [C3, replace(E3, vote_count=3), C5]
    await contested.write_many(put=[closed_game, *candidates])
    jobs = (write_until_known(contested, advance(closed_game, candidates, format_instant(at))) for at in range(6))
    ended = await race(*jobs)
    assert len(ended.won) == 1
    found = await contested.get(game(GAME), strong=True)
    assert found is not None
    assert found.current_turn == TURN + 1
    moves = [it async for it in contested.each(_strong_moves())]
    assert moves == ended.won
    decided = [it async for it in contested.each(ballot_of(GAME, TURN))]
    assert [it.position for it in decided if it.status == "ADOPTED"] == ["E3"]
    assert {it.status for it in decided} == {"ADOPTED", "CLOSED"}


async def test_a_turn_is_never_played_on_counts_from_before_the_close(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    read_too_early = advance(closed_game, CANDIDATES, AFTER)
    refusals: list[Any] = []

    async def advancing(voting: "asyncio.Future[Any]") -> None:
        while not voting.done():
            refusals.extend((await race(write_until_known(contested, read_too_early))).refused)
        await close_current_turn(contested)
        refusals.extend((await race(*(write_until_known(contested, read_too_early) for _ in range(3)))).refused)

    votes = race(
        *(write_until_known(contested, cast_vote(GAME, TURN, user_id_of(at), IDS[at % 3], NOW)) for at in range(6))
    )
    voting = asyncio.ensure_future(votes)
    await advancing(voting)
    assert len((await voting).won) == 6
    assert len(refusals) >= 3
    assert await assert_consistent(contested) == dict.fromkeys(IDS, 2)
    assert [it async for it in contested.each(_strong_moves())] == []


async def test_no_turn_is_played_while_it_is_open(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    jobs = [write_until_known(contested, advance(closed_game, CANDIDATES, AFTER)) for _ in range(4)]
    votes = [write_until_known(contested, cast_vote(GAME, TURN, user_id_of(at), IDS[at % 3], NOW)) for at in range(6)]
    ended = await race(*jobs, *votes)
    assert (len(ended.won), len(ended.refused)) == (6, 4)
    assert await contested.get(game(GAME), strong=True) == voted_game


async def test_a_turn_is_never_played_without_a_candidate_that_came_in(contested: Store):
    await contested.write_many(put=[voted_game, C3])

    async def job() -> Any:
        # What an eventually consistent read may have given: the candidates of a moment ago.
        await close_current_turn(contested)
        return await write_until_known(contested, advance(closed_game, [C3], AFTER))

    proposals = [
        write_until_known(contested, propose(voted_game, Proposal(it, "こちら。"), user_id_of(1), NOW))
        for it in ("E3", "C5")
    ]
    proposed, play_move = await asyncio.gather(race(*proposals), race(job()))
    found = [it async for it in contested.each(ballot_of(GAME, TURN))]
    assert len(found) == 1 + len(proposed.won)
    assert len(play_move.won) == int(not proposed.won)


async def test_a_candidate_that_is_decided_takes_no_vote_any_more(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    won: list[Vote] = []

    async def voting(at: int) -> Vote:
        for _ in range(at % 5):
            await asyncio.sleep(0)
        won.append(await write_until_known(contested, cast_vote(GAME, TURN, user_id_of(at), C3.candidate_id, NOW)))
        return won[-1]

    async def deciding() -> dict[CandidateId, int]:
        while len(won) < 3:
            await asyncio.sleep(0)
        key = binding_of(Candidate).key_of(C3)
        await write_until_known(contested, Plan(update(key, candidate_status.set("CLOSED"))))
        return await counts(contested)

    ended, decided = await asyncio.gather(race(*map(voting, range(12))), deciding())
    late = await race(write_until_known(contested, cast_vote(GAME, TURN, user_id_of(50), C3.candidate_id, NOW)))
    assert len(late.refused) == 1
    assert await assert_consistent(contested) == decided == {C3.candidate_id: len(ended.won)}


async def test_the_engine_opens_a_turn_once(contested: Store):
    await contested.put(voted_game)
    ended = await race(
        *(
            write_until_known(contested, open_candidates(voted_game, [Proposal(it.position, "堅実。")], NOW))
            for it in CANDIDATES
        )
    )
    assert len(ended.won) == 1
    assert [it async for it in contested.each(ballot_of(GAME, TURN))] == ended.won


@pytest.mark.parametrize("proposing", [True, False])
async def test_a_turn_is_opened_again_once_and_not_after_the_next_close(contested: Store, proposing: bool):
    await contested.put(closed_game)
    again = replace(voted_game, voting_deadline=TOMORROW)
    reopening = reopen_turn(closed_game, TOMORROW, AFTER)

    async def patiently(plan: Plan[Any]) -> None:
        while not (await race(write_until_known(contested, plan))).won:
            await asyncio.sleep(0)

    async def crowd() -> None:
        if proposing:
            await patiently(propose(again, Proposal("C3", "間に合った。"), user_id_of(1), AFTER))
        await patiently(close_turn(GAME, TURN, TOMORROW))

    async def slowly(steps: int) -> Any:
        for _ in range(steps):
            await asyncio.sleep(0)
        return await write_until_known(contested, reopening)

    ended, _ = await asyncio.gather(race(*map(slowly, range(0, 18, 3))), crowd())
    late = await race(write_until_known(contested, reopening))
    assert (len(ended.won), len(ended.refused), len(late.refused)) == (1, 5, 1)
    found = await contested.get(game(GAME), strong=True)
    assert found is not None
    assert (found.closed_turn, found.voting_deadline) == (TURN, TOMORROW)


async def test_the_ai_answers_once(contested: Store):
    await contested.put(new_game)
    squares = ("D3", "C4", "F5", "E6")
    ended = await race(*(write_until_known(contested, play_turn(new_game, it, NOW, DEADLINE)) for it in squares))
    assert len(ended.won) == 1
    assert [it async for it in contested.each(_strong_moves())] == ended.won


async def test_a_game_ends_once(contested: Store):
    await contested.put(full_game)
    ended = await race(*(contested.write(finish(full_game, format_instant(START + at))) for at in range(5)))
    found = await contested.get(game(GAME), strong=True)
    assert found is not None
    assert ended.allows(int(found.status == "FINISHED"))
    assert all(it == found for it in ended.won)


async def test_an_id_a_name_and_a_comment_have_one_author(contested: Store):
    names = [user_named(name) for name in ("はな", "민지", "Zoë")]
    signed = await race(*(contested.write(register_user(it)) for it in names))
    there = await contested.get(user(user_id_of(0)), strong=True)
    assert signed.allows(int(there is not None))
    assert all(it == there for it in signed.won)
    was = await contested.put(names[0])
    changed = await race(*(contested.write(change_profile(was, it, None, None, SOON)) for it in ("花", "華", "はなこ")))
    now = await contested.get(user(user_id_of(0)), strong=True)
    assert now is not None
    assert changed.allows(int(now != was))
    await contested.put(voted_game)
    commentary = await race(
        *(write_until_known(contested, add_commentary(GAME, 0, it, NOW)) for it in ("静か。", "激しい。"))
    )
    assert len(commentary.won) == len(commentary.refused) == 1


def _strong_moves() -> Query[Move]:
    query = moves_of(GAME)
    return Query(query.name, query.span, query.returns, True)
