"""Concurrent writes: one vote per user, counts equal to votes, turns played once."""

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
IDS = tuple(candidate.candidate_id for candidate in CANDIDATES)
_tokens = count()


def write_until_known(store: Store, plan: Plan[Any]) -> Awaitable[Any]:
    """Carry out a transaction with a token, so that its outcome is known even when replies are lost."""
    return store.write(plan, token=f"race-{next(_tokens)}")


async def assert_consistent(store: Store) -> dict[CandidateId, int]:
    """Assert that the counts equal the votes; returns the counts."""
    vote_counts = await counts(store)
    assert vote_counts == await tally(store)
    return vote_counts


async def check_snapshots(store: Store, voters: int, running: "asyncio.Future[Any]") -> int:
    """Compare counts and votes in snapshots until the future is done; returns the number of snapshots."""
    keys: list[Any] = [binding_of(Candidate).key_of(candidate) for candidate in CANDIDATES]
    keys += [vote_of(GAME, TURN, user_id_of(at)) for at in range(voters)]
    checked = 0
    while not running.done() or checked == 0:
        items: list[Any] = await store.snapshot(*keys)
        choices = [vote.candidate_id for vote in items[3:] if vote]
        assert [candidate.vote_count for candidate in items[:3]] == [choices.count(choice) for choice in IDS]
        checked += 1
        await asyncio.sleep(0)
    return checked


async def race_with_readers(store: Store, voters: int, attempts: Awaitable[Race[T]]) -> Race[T]:
    """Run a race while snapshots check that counts equal votes."""
    running = asyncio.ensure_future(attempts)
    checking = asyncio.ensure_future(check_snapshots(store, voters, running))
    result = await running
    assert await checking >= 1
    return result


async def test_one_user_voting_many_times_at_once_has_one_vote(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    votes = (write_until_known(contested, cast_vote(GAME, TURN, user_id_of(1), IDS[at % 3], NOW)) for at in range(9))
    result = await race(*votes)
    assert len(result.won) == 1
    assert len(result.refused) == 8
    assert await assert_consistent(contested) == {result.won[0].candidate_id: 1}


async def test_a_vote_without_a_token_counts_at_most_once(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    result = await race(*(contested.write(cast_vote(GAME, TURN, user_id_of(1), IDS[at % 3], NOW)) for at in range(9)))
    counted = sum((await assert_consistent(contested)).values())
    assert counted <= 1
    assert result.allows(counted)


async def test_many_users_vote_at_once_and_every_vote_is_counted(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    votes = (write_until_known(contested, cast_vote(GAME, TURN, user_id_of(at), IDS[at % 3], NOW)) for at in range(24))
    result = await race_with_readers(contested, 24, race(*votes))
    assert len(result.won) == 24
    assert await assert_consistent(contested) == dict.fromkeys(IDS, 8)


async def test_one_user_changing_the_vote_many_times_at_once_moves_it_once(contested: Store):
    own_vote = vote(0, C3.candidate_id)
    others = [vote(at, C3.candidate_id) for at in range(1, 10)]
    await contested.write_many(put=[voted_game, own_vote, *others, replace(C3, vote_count=10), E3, C5])
    changes = (write_until_known(contested, change_vote(own_vote, IDS[1 + at % 2], SOON)) for at in range(8))
    result = await race_with_readers(contested, 10, race(*changes))
    assert len(result.won) == 1
    vote_counts = await assert_consistent(contested)
    assert sorted(vote_counts.values()) == [1, 9]
    assert vote_counts[C3.candidate_id] == 9


async def test_many_users_change_their_votes_at_once(contested: Store):
    votes = [vote(at, IDS[at % 3]) for at in range(12)]
    candidates = [replace(candidate, vote_count=4) for candidate in CANDIDATES]
    await contested.write_many(put=[voted_game, *votes, *candidates])
    changes = (
        write_until_known(contested, change_vote(cast, IDS[(at + 1) % 3], SOON)) for at, cast in enumerate(votes)
    )
    result = await race_with_readers(contested, 12, race(*changes))
    assert len(result.won) == 12
    assert await assert_consistent(contested) == dict.fromkeys(IDS, 4)


async def close_current_turn(store: Store) -> None:
    """Close the turn, with retries after lost replies."""
    result = await race(store.write(close_turn(GAME, TURN, DEADLINE)))
    stored = await store.get(game(GAME), strong=True)
    assert stored is not None
    if stored.closed_turn != TURN:
        assert result.unknown
        await close_current_turn(store)


async def test_no_vote_is_counted_after_the_close_and_none_before_is_lost(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES, vote(99, C3.candidate_id)])
    await contested.put(replace(C3, vote_count=1))
    # A slow clock: for these votes the deadline is still in the future.
    early = format_instant(0)
    won: list[Vote] = []

    async def cast(number: int) -> Vote:
        for _ in range(number % 5):
            await asyncio.sleep(0)
        plan = cast_vote(GAME, TURN, user_id_of(number), IDS[number % 3], early)
        stored = await write_until_known(contested, plan)
        won.append(stored)
        return stored

    async def close_after_five_votes() -> dict[CandidateId, int]:
        while len(won) < 5:
            await asyncio.sleep(0)
        await close_current_turn(contested)
        return await counts(contested)

    closing = asyncio.ensure_future(close_after_five_votes())
    changing = race(write_until_known(contested, change_vote(vote(99, C3.candidate_id), E3.candidate_id, early)))
    result, changed = await asyncio.gather(race(*map(cast, range(16))), changing)
    at_the_close = await closing
    assert await assert_consistent(contested) == at_the_close
    assert sum(at_the_close.values()) == len(result.won) + 1
    assert len(changed.won) + len(changed.refused) == 1
    late = await race(
        *(
            write_until_known(contested, cast_vote(GAME, TURN, user_id_of(at), C3.candidate_id, early))
            for at in range(50, 54)
        )
    )
    assert len(late.refused) == 4


async def test_a_square_is_proposed_once_by_a_user_or_the_engine(contested: Store):
    await contested.put(voted_game)
    users = (
        write_until_known(contested, propose(voted_game, Proposal("C3", "角を守る。"), user_id_of(at), NOW))
        for at in range(7)
    )
    engine = write_until_known(
        contested, open_candidates(voted_game, [Proposal("C3", "堅実。"), Proposal("E3", "攻め。")], NOW)
    )
    result = await race(engine, *users)
    assert len(result.won) == 1
    ballot = [candidate async for candidate in contested.each(ballot_of(GAME, TURN))]
    assert result.won[0] in ballot
    assert {candidate.position for candidate in ballot} == (
        {"C3", "E3"} if result.won[0].created_by == "AI" else {"C3"}
    )


async def test_no_user_proposes_a_square_after_the_deadline(contested: Store):
    await contested.put(voted_game)
    result = await race(
        *(
            write_until_known(contested, propose(voted_game, Proposal("C3", "間に合う？"), user_id_of(at), DEADLINE))
            for at in range(4)
        )
    )
    assert len(result.refused) == 4
    assert [candidate async for candidate in contested.each(ballot_of(GAME, TURN))] == []


async def test_of_many_closes_of_a_turn_one_succeeds(contested: Store):
    await contested.put(voted_game)
    result = await race(*(contested.write(close_turn(GAME, TURN, DEADLINE)) for _ in range(6)))
    stored = await contested.get(game(GAME), strong=True)
    is_closed = stored is not None and stored.closed_turn == TURN
    assert is_closed or result.unknown
    assert result.allows(int(is_closed))


async def test_many_advances_at_once_move_the_game_by_one_turn(contested: Store):
    candidates = [C3, replace(E3, vote_count=3), C5]
    await contested.write_many(put=[closed_game, *candidates])
    jobs = (write_until_known(contested, advance(closed_game, candidates, format_instant(at))) for at in range(6))
    result = await race(*jobs)
    assert len(result.won) == 1
    stored = await contested.get(game(GAME), strong=True)
    assert stored is not None
    assert stored.current_turn == TURN + 1
    moves = [move async for move in contested.each(_strong_moves())]
    assert moves == result.won
    decided = [candidate async for candidate in contested.each(ballot_of(GAME, TURN))]
    assert [candidate.position for candidate in decided if candidate.status == "ADOPTED"] == ["E3"]
    assert {candidate.status for candidate in decided} == {"ADOPTED", "CLOSED"}


async def test_a_turn_is_never_played_on_counts_from_before_the_close(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    read_too_early = advance(closed_game, CANDIDATES, AFTER)
    refusals: list[Any] = []

    async def advance_repeatedly(voting: "asyncio.Future[Any]") -> None:
        while not voting.done():
            refusals.extend((await race(write_until_known(contested, read_too_early))).refused)
        await close_current_turn(contested)
        refusals.extend((await race(*(write_until_known(contested, read_too_early) for _ in range(3)))).refused)

    votes = race(
        *(write_until_known(contested, cast_vote(GAME, TURN, user_id_of(at), IDS[at % 3], NOW)) for at in range(6))
    )
    voting = asyncio.ensure_future(votes)
    await advance_repeatedly(voting)
    assert len((await voting).won) == 6
    assert len(refusals) >= 3
    assert await assert_consistent(contested) == dict.fromkeys(IDS, 2)
    assert [move async for move in contested.each(_strong_moves())] == []


async def test_no_turn_is_played_while_it_is_open(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    jobs = [write_until_known(contested, advance(closed_game, CANDIDATES, AFTER)) for _ in range(4)]
    votes = [write_until_known(contested, cast_vote(GAME, TURN, user_id_of(at), IDS[at % 3], NOW)) for at in range(6)]
    result = await race(*jobs, *votes)
    assert (len(result.won), len(result.refused)) == (6, 4)
    assert await contested.get(game(GAME), strong=True) == voted_game


async def test_a_turn_is_never_played_on_an_incomplete_list_of_candidates(contested: Store):
    await contested.write_many(put=[voted_game, C3])

    async def close_and_advance() -> Any:
        # An eventually consistent read may return an older list of candidates.
        await close_current_turn(contested)
        return await write_until_known(contested, advance(closed_game, [C3], AFTER))

    proposals = [
        write_until_known(contested, propose(voted_game, Proposal(square, "こちら。"), user_id_of(1), NOW))
        for square in ("E3", "C5")
    ]
    proposed, advanced = await asyncio.gather(race(*proposals), race(close_and_advance()))
    ballot = [candidate async for candidate in contested.each(ballot_of(GAME, TURN))]
    assert len(ballot) == 1 + len(proposed.won)
    assert len(advanced.won) == int(not proposed.won)


async def test_a_decided_candidate_accepts_no_more_votes(contested: Store):
    await contested.write_many(put=[voted_game, *CANDIDATES])
    won: list[Vote] = []

    async def cast(at: int) -> Vote:
        for _ in range(at % 5):
            await asyncio.sleep(0)
        won.append(await write_until_known(contested, cast_vote(GAME, TURN, user_id_of(at), C3.candidate_id, NOW)))
        return won[-1]

    async def close_candidate() -> dict[CandidateId, int]:
        while len(won) < 3:
            await asyncio.sleep(0)
        key = binding_of(Candidate).key_of(C3)
        await write_until_known(contested, Plan(update(key, candidate_status.set("CLOSED"))))
        return await counts(contested)

    result, decided = await asyncio.gather(race(*map(cast, range(12))), close_candidate())
    late = await race(write_until_known(contested, cast_vote(GAME, TURN, user_id_of(50), C3.candidate_id, NOW)))
    assert len(late.refused) == 1
    assert await assert_consistent(contested) == decided == {C3.candidate_id: len(result.won)}


async def test_the_engine_opens_a_turn_once(contested: Store):
    await contested.put(voted_game)
    result = await race(
        *(
            write_until_known(contested, open_candidates(voted_game, [Proposal(candidate.position, "堅実。")], NOW))
            for candidate in CANDIDATES
        )
    )
    assert len(result.won) == 1
    assert [candidate async for candidate in contested.each(ballot_of(GAME, TURN))] == result.won


@pytest.mark.parametrize("proposing", [True, False])
async def test_a_turn_is_reopened_once_and_not_after_the_next_close(contested: Store, proposing: bool):
    await contested.put(closed_game)
    reopened = replace(voted_game, voting_deadline=TOMORROW)
    reopening = reopen_turn(closed_game, TOMORROW, AFTER)

    async def write_until_won(plan: Plan[Any]) -> None:
        while not (await race(write_until_known(contested, plan))).won:
            await asyncio.sleep(0)

    async def propose_and_close() -> None:
        if proposing:
            await write_until_won(propose(reopened, Proposal("C3", "間に合った。"), user_id_of(1), AFTER))
        await write_until_won(close_turn(GAME, TURN, TOMORROW))

    async def reopen_after(steps: int) -> Any:
        for _ in range(steps):
            await asyncio.sleep(0)
        return await write_until_known(contested, reopening)

    result, _ = await asyncio.gather(race(*map(reopen_after, range(0, 18, 3))), propose_and_close())
    late = await race(write_until_known(contested, reopening))
    assert (len(result.won), len(result.refused), len(late.refused)) == (1, 5, 1)
    stored = await contested.get(game(GAME), strong=True)
    assert stored is not None
    assert (stored.closed_turn, stored.voting_deadline) == (TURN, TOMORROW)


async def test_the_ai_plays_a_turn_once(contested: Store):
    await contested.put(new_game)
    squares = ("D3", "C4", "F5", "E6")
    result = await race(
        *(write_until_known(contested, play_turn(new_game, square, NOW, DEADLINE)) for square in squares)
    )
    assert len(result.won) == 1
    assert [move async for move in contested.each(_strong_moves())] == result.won


async def test_a_game_ends_once(contested: Store):
    await contested.put(full_game)
    result = await race(*(contested.write(finish(full_game, format_instant(START + at))) for at in range(5)))
    stored = await contested.get(game(GAME), strong=True)
    assert stored is not None
    assert result.allows(int(stored.status == "FINISHED"))
    assert all(finished == stored for finished in result.won)


async def test_of_concurrent_registrations_profile_changes_and_comments_one_succeeds(contested: Store):
    names = [user_named(name) for name in ("はな", "민지", "Zoë")]
    registered = await race(*(contested.write(register_user(registered_user)) for registered_user in names))
    stored = await contested.get(user(user_id_of(0)), strong=True)
    assert registered.allows(int(stored is not None))
    assert all(registered_user == stored for registered_user in registered.won)
    was = await contested.put(names[0])
    changed = await race(
        *(contested.write(change_profile(was, name, None, None, SOON)) for name in ("花", "華", "はなこ"))
    )
    stored = await contested.get(user(user_id_of(0)), strong=True)
    assert stored is not None
    assert changed.allows(int(stored != was))
    await contested.put(voted_game)
    commentary = await race(
        *(write_until_known(contested, add_commentary(GAME, 0, text, NOW)) for text in ("静か。", "激しい。"))
    )
    assert len(commentary.won) == len(commentary.refused) == 1


def _strong_moves() -> Query[Move]:
    query = moves_of(GAME)
    return Query(query.name, query.span, query.returns, True)
