"""What each write does, and when it is refused. Nothing else changes then."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.contract.asking import contents, finds
from tests.opened import START
from tests.othello.costs import MOST
from tests.othello.playing import (
    AFTER,
    AFTER_D3,
    C3,
    C5,
    DEADLINE,
    E3,
    GAME,
    NOW,
    SOON,
    TOMORROW,
    TURN,
    candidate,
    closed_game,
    counts,
    new_game,
    person,
    tally,
    user_named,
    vote,
    voted_game,
)
from zataku.othello.design import Candidate, Game, Move, Vote, candidates_by, game, games_with, user, vote_of
from zataku.othello.errors import NotPossible
from zataku.othello.limits import candidate_id, instant
from zataku.othello.writes import (
    Proposal,
    add_commentary,
    advance,
    cast_vote,
    change_profile,
    change_vote,
    close_turn,
    elected,
    finish,
    open_candidates,
    open_game,
    play_turn,
    propose,
    register_user,
    reopen_turn,
    stamp_expiry,
    stamp_game,
)
from zataku.table import ConditionFailed, Plan, Store, TransactionCancelled, WrongType
from zataku.table.entity import binding_of

HANA = user_named("はな", 1)
FINISHED = replace(closed_game, status="FINISHED", winner="AI", voting_deadline=None)
REASON = Proposal("C3", "角を守る手です。")


async def refused(store: Store, plan: Plan[Any]) -> None:
    """The plan is refused by a condition and leaves everything as it was."""
    before = await contents(store)
    with pytest.raises((ConditionFailed, TransactionCancelled)) as problem:
        await store.write(plan)
    assert not getattr(problem.value, "conflict", False)
    assert await contents(store) == before


async def test_an_id_is_given_once(store: Store):
    await store.write(register_user(HANA))
    await refused(store, register_user(replace(HANA, username="花子")))


async def test_a_profile_changes_unless_it_did_meanwhile(store: Store):
    await store.put(HANA)
    await store.write(change_profile(HANA, "花", "/icons/hana.png", "hana@example.com", SOON))
    now = await store.get(user(person(1)), strong=True)
    assert now == replace(HANA, username="花", icon_url="/icons/hana.png", email="hana@example.com", updated_at=SOON)
    await refused(store, change_profile(HANA, "華", None, None, AFTER))


async def test_a_game_begins_once(store: Store):
    await store.write(open_game(new_game))
    await finds(store, games_with("ACTIVE"), new_game)
    await refused(store, open_game(replace(new_game, ai_level=9)))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"status": "FINISHED"}, "not_new"),
        ({"current_turn": 1}, "not_new"),
        ({"winner": "AI"}, "not_new"),
        ({"closed_turn": 0}, "not_new"),
        ({"board_state": AFTER_D3}, "not_new"),
        ({"voting_deadline": DEADLINE}, "wrong_deadline"),
        ({"ai_side": "WHITE"}, "wrong_deadline"),
        ({"time_zone": "Asia/Edo"}, "unknown_zone"),
    ],
)
def test_a_game_cannot_begin_in_the_middle(changes: dict[str, Any], code: str):
    with pytest.raises(NotPossible) as problem:
        open_game(replace(new_game, **changes))
    assert problem.value.code == code


async def test_the_engine_opens_a_turn_with_candidates(store: Store):
    await store.put(voted_game)
    await store.write(open_candidates(voted_game, [Proposal(it.position, it.description) for it in (C3, E3, C5)], NOW))
    keys = [binding_of(Candidate).key_of(it) for it in (C3, E3, C5)]
    assert await store.snapshot(*keys) == [C3, E3, C5]


async def test_the_engine_opens_all_candidates_or_none(store: Store):
    await store.write_many(put=[voted_game, E3])
    await refused(store, open_candidates(voted_game, [Proposal(it.position, "手") for it in (C3, E3)], NOW))


@pytest.mark.parametrize("number", [0, 4])
def test_the_engine_opens_one_to_three(number: int):
    with pytest.raises(NotPossible, match="1 to 3"):
        open_candidates(voted_game, [REASON] * number, NOW)


async def test_a_user_proposes_a_square_that_is_free(store: Store):
    await store.write_many(put=[voted_game, E3])
    made = await store.write(propose(voted_game, REASON, person(1), SOON))
    assert made == candidate("C3", created_by=f"USER#{person(1)}", description=REASON.description, created_at=SOON)
    assert made.voting_deadline == voted_game.voting_deadline
    await finds(store, candidates_by(person(1)), made)
    await refused(store, propose(voted_game, Proposal("E3", "こちら"), person(2), SOON))


def test_nothing_is_proposed_while_nobody_votes():
    with pytest.raises(NotPossible, match="Nobody votes"):
        propose(new_game, REASON, person(1), NOW)


async def test_a_reason_that_breaks_the_limits_is_refused_before_anything_is_written(store: Store):
    await store.put(voted_game)
    with pytest.raises(WrongType):
        await store.write(propose(voted_game, Proposal("C3", "あ" * 201), person(1), NOW))
    with pytest.raises(WrongType):
        await store.write(propose(voted_game, Proposal("PASS", "パス"), person(1), NOW))
    with pytest.raises(ValueError, match="seen"):
        propose(voted_game, Proposal("C3", "\u3000"), person(1), NOW)


CHOOSING: dict[str, Callable[[str], Plan[Any]]] = {
    "propose": lambda now: propose(voted_game, Proposal("F3", "右へ"), person(2), now),
    "open_candidates": lambda now: open_candidates(voted_game, [Proposal("F3", "右へ")], now),
    "cast_vote": lambda now: cast_vote(GAME, TURN, person(2), C3.candidate_id, now),
    "change_vote": lambda now: change_vote(vote(1, C3.candidate_id), E3.candidate_id, now),
}


@pytest.mark.parametrize("name", CHOOSING)
async def test_nothing_is_proposed_or_voted_when_voting_is_not_open(store: Store, name: str):
    plan = CHOOSING[name]
    await store.write_many(put=[voted_game, vote(1, C3.candidate_id), replace(C3, vote_count=1), E3])
    await refused(store, plan(DEADLINE))
    await refused(store, plan(AFTER))
    for state in (
        closed_game,
        FINISHED,
        replace(voted_game, current_turn=TURN + 1),
        replace(voted_game, voting_deadline=None),
        replace(voted_game, status="FINISHED"),
    ):
        await store.put(state)
        await refused(store, plan(NOW))
    await store.delete(game(GAME))
    await refused(store, plan(NOW))
    await store.put(voted_game)
    await store.write(plan(instant(START + 3599)))


async def test_a_candidate_repeats_the_deadline_that_its_game_has_now(store: Store):
    await store.put(replace(voted_game, voting_deadline=TOMORROW))
    await refused(store, propose(voted_game, REASON, person(1), NOW))


async def test_a_vote_is_counted_once(store: Store):
    await store.write_many(put=[voted_game, C3, E3])
    await store.write(cast_vote(GAME, TURN, person(1), C3.candidate_id, NOW))
    assert await store.get(vote_of(GAME, TURN, person(1)), strong=True) == vote(1, C3.candidate_id)
    assert await counts(store) == await tally(store) == {C3.candidate_id: 1}
    await refused(store, cast_vote(GAME, TURN, person(1), E3.candidate_id, NOW))


@pytest.mark.parametrize("status", ["CLOSED", "ADOPTED"])
async def test_a_candidate_that_is_decided_takes_no_votes(store: Store, status: str):
    await store.write_many(put=[voted_game, replace(C3, status=status)])
    await refused(store, cast_vote(GAME, TURN, person(1), C3.candidate_id, NOW))


async def test_a_vote_needs_a_candidate_of_its_turn(store: Store):
    await store.write_many(put=[voted_game, candidate("C3", turn_number=3)])
    await refused(store, cast_vote(GAME, TURN, person(1), C3.candidate_id, NOW))
    await refused(store, cast_vote(GAME, 3, person(1), C3.candidate_id, NOW))


async def test_a_changed_vote_moves_from_one_count_to_the_other(store: Store):
    first = vote(1, C3.candidate_id)
    await store.write_many(put=[voted_game, first, vote(2, C3.candidate_id), replace(C3, vote_count=2), E3, C5])
    await store.write(change_vote(first, E3.candidate_id, SOON))
    now = await store.get(vote_of(GAME, TURN, person(1)), strong=True)
    assert now == replace(first, candidate_id=E3.candidate_id, updated_at=SOON)
    assert await counts(store) == await tally(store) == {C3.candidate_id: 1, E3.candidate_id: 1}
    await refused(store, change_vote(first, C5.candidate_id, SOON))


async def test_a_vote_that_is_not_there_cannot_change(store: Store):
    await store.write_many(put=[voted_game, replace(C3, vote_count=1), E3])
    await refused(store, change_vote(vote(1, C3.candidate_id), E3.candidate_id, SOON))


async def test_a_count_never_falls_below_nothing(store: Store):
    await store.write_many(put=[voted_game, vote(1, C3.candidate_id), C3, E3])
    await refused(store, change_vote(vote(1, C3.candidate_id), E3.candidate_id, SOON))


def test_changing_a_vote_to_the_same_candidate_is_no_change():
    with pytest.raises(NotPossible, match="already"):
        change_vote(vote(1, C3.candidate_id), C3.candidate_id, SOON)


async def test_a_turn_is_closed_at_its_deadline_and_once(store: Store):
    await store.put(voted_game)
    await refused(store, close_turn(GAME, TURN, instant(START + 3599)))
    await refused(store, close_turn(GAME, TURN + 1, DEADLINE))
    now = await store.write(close_turn(GAME, TURN, DEADLINE))
    assert now == replace(closed_game, updated_at=DEADLINE)
    await refused(store, close_turn(GAME, TURN, AFTER))


async def test_a_turn_that_nobody_votes_in_cannot_be_closed(store: Store):
    await store.put(new_game)
    await refused(store, close_turn(GAME, 0, AFTER))


async def test_a_closed_turn_without_candidates_is_opened_again(store: Store):
    await store.put(voted_game)
    await refused(store, reopen_turn(GAME, TURN, TOMORROW, AFTER))
    await store.write(close_turn(GAME, TURN, DEADLINE))
    now = await store.write(reopen_turn(GAME, TURN, TOMORROW, AFTER))
    assert now == replace(voted_game, voting_deadline=TOMORROW, updated_at=AFTER)
    await store.write(propose(now, REASON, person(1), AFTER))


def test_most_votes_win_and_of_equals_the_earliest():
    late, early = replace(C3, created_at=SOON), E3
    assert elected([late, early]) is early
    assert elected([early, late]) is early
    assert elected([early, replace(late, vote_count=1)]).position == "C3"
    assert elected([E3, C5, C3]) is C3
    with pytest.raises(NotPossible, match="Nothing was proposed"):
        elected([])


async def test_a_turn_is_played_as_elected(store: Store):
    winner = replace(E3, vote_count=2)
    await store.write_many(put=[closed_game, C3, winner, C5])
    await store.write(advance(closed_game, [C3, winner, C5], AFTER_D3, AFTER))
    keys = [binding_of(Candidate).key_of(it) for it in (C3, E3, C5)]
    assert [it and it.status for it in await store.snapshot(*keys)] == ["CLOSED", "ADOPTED", "CLOSED"]
    move = await store.get(Move.key(game_id=GAME, turn_number=TURN), strong=True)
    assert move == Move(
        game_id=GAME,
        turn_number=TURN,
        side="WHITE",
        position="E3",
        played_by="COLLECTIVE",
        candidate_id=E3.candidate_id,
        created_at=AFTER,
    )
    after = await store.get(game(GAME), strong=True)
    assert after == replace(closed_game, current_turn=TURN + 1, voting_deadline=None, updated_at=AFTER)
    await refused(store, advance(closed_game, [C3, winner, C5], AFTER_D3, AFTER))


async def test_a_turn_is_not_played_before_it_is_closed(store: Store):
    await store.write_many(put=[voted_game, C3])
    await refused(store, advance(closed_game, [C3], AFTER_D3, AFTER))


async def test_a_turn_is_not_played_on_counts_that_have_changed(store: Store):
    await store.write_many(put=[closed_game, C3, replace(E3, vote_count=1)])
    await refused(store, advance(closed_game, [C3, E3], AFTER_D3, AFTER))


def test_a_turn_is_not_played_with_candidates_of_another():
    with pytest.raises(NotPossible, match="another turn"):
        advance(closed_game, [candidate("C3", turn_number=3)], AFTER_D3, AFTER)


async def test_sixty_candidates_are_decided_in_one_transaction(store: Store):
    assert len(MOST) == 60
    await store.write_many(put=[closed_game, *MOST])
    await store.write(advance(closed_game, MOST, AFTER_D3, AFTER, TOMORROW))
    keys = [binding_of(Candidate).key_of(it) for it in MOST]
    found = [it.status for it in await store.snapshot(*keys) if it]
    assert sorted(found) == ["ADOPTED", *["CLOSED"] * 59]


async def test_the_ai_plays_and_the_crowd_gets_a_deadline(store: Store):
    await store.put(new_game)
    move = await store.write(play_turn(new_game, "D3", AFTER_D3, SOON, DEADLINE))
    assert move == Move(game_id=GAME, turn_number=0, side="BLACK", position="D3", played_by="AI", created_at=SOON)
    assert await store.get(game(GAME), strong=True) == replace(voted_game, updated_at=SOON)
    await refused(store, play_turn(new_game, "C4", AFTER_D3, SOON, DEADLINE))


async def test_a_crowd_without_a_move_passes(store: Store):
    waiting = await store.put(replace(voted_game, voting_deadline=None))
    move = await store.write(play_turn(waiting, "PASS", AFTER_D3, SOON))
    assert move is not None
    assert (move.side, move.position, move.played_by) == ("WHITE", "PASS", "COLLECTIVE")


async def test_no_move_is_made_past_a_vote(store: Store):
    await store.put(voted_game)
    await refused(store, play_turn(voted_game, "PASS", AFTER_D3, SOON))
    with pytest.raises(NotPossible, match="voted for"):
        play_turn(voted_game, "C3", AFTER_D3, SOON)


async def test_a_game_ends_once_and_is_listed_as_finished(store: Store):
    last = await store.put(replace(closed_game, current_turn=60, voting_deadline=None))
    now = await store.write(finish(GAME, 60, "COLLECTIVE", SOON))
    assert now == replace(last, status="FINISHED", winner="COLLECTIVE", updated_at=SOON)
    await finds(store, games_with("FINISHED"), now)
    await finds(store, games_with("ACTIVE"))
    await refused(store, finish(GAME, 60, "AI", SOON))


async def test_a_game_does_not_end_during_a_vote_or_at_another_turn(store: Store):
    await store.put(voted_game)
    await refused(store, finish(GAME, TURN, "AI", SOON))
    await store.put(new_game)
    await refused(store, finish(GAME, 1, "AI", SOON))


async def test_a_turn_is_commented_on_once(store: Store):
    await store.write(add_commentary(GAME, TURN, "白が一つ角に近づいた。", NOW))
    await refused(store, add_commentary(GAME, TURN, "別の見方。", SOON))


async def test_what_is_left_of_a_finished_game_gets_its_end(store: Store):
    end = int(START) + 90 * 86_400
    move = Move(game_id=GAME, turn_number=0, side="BLACK", position="D3", played_by="AI", created_at=NOW)
    said = add_commentary(GAME, 0, "初手。", NOW).steps[0].entity
    items = [move, said, C3, vote(1, C3.candidate_id)]
    await store.write_many(put=[FINISHED, *items])
    await store.write(stamp_expiry(GAME, items, end))
    await store.write(stamp_expiry(GAME, items, end))
    await store.write(stamp_game(GAME, end))
    keys = [binding_of(type(it)).key_of(it) for it in (*items, FINISHED)]
    assert await store.snapshot(*keys) == [replace(it, expires_at=end) for it in (*items, FINISHED)]


async def test_a_game_that_is_on_does_not_expire(store: Store):
    await store.write_many(put=[voted_game, C3])
    await refused(store, stamp_expiry(GAME, [C3], int(START) + 1))
    await refused(store, stamp_game(GAME, int(START) + 1))


def test_items_are_marked_by_the_hundred_and_of_one_game():
    votes = [vote(at, C3.candidate_id) for at in range(100)]
    for items, code in (([], "wrong_number"), (votes, "wrong_number")):
        with pytest.raises(NotPossible) as problem:
            stamp_expiry(GAME, items, int(START))
        assert problem.value.code == code
    with pytest.raises(NotPossible, match="another game"):
        stamp_expiry(candidate_id(GAME, 0, "A1"), votes[:1], int(START))  # pyright: ignore[reportArgumentType]


def test_a_key_of_another_kind_does_not_pass_for_a_vote():
    with pytest.raises(WrongType):
        Vote.key(game_id=f"{GAME}#TURN#1", turn_number=1, user_id=person(1))
    with pytest.raises(WrongType):
        Game.key(game_id="x")
