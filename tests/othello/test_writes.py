"""The effect of each write, and the conditions under which it fails and changes nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.othello.games import (
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
    assert_refused,
    candidate,
    closed_game,
    counts,
    new_game,
    tally,
    user_id_of,
    user_named,
    vote,
    voted_game,
)
from tests.support.store_reads import assert_query_returns
from tests.support.stores import START
from zataku.othello.design import Candidate, Game, Vote, candidates_by, game, games_with, user, vote_of
from zataku.othello.errors import RuleViolation
from zataku.othello.writes import (
    Proposal,
    cast_vote,
    change_profile,
    change_vote,
    open_candidates,
    open_game,
    propose,
    register_user,
)
from zataku.table import Plan, Store, WrongType, format_instant
from zataku.table.schema.entity import binding_of

HANA = user_named("はな", 1)
FINISHED = replace(closed_game, status="FINISHED", winner="AI", voting_deadline=None)
REASON = Proposal("C3", "角を守る手です。")


async def test_a_user_id_is_registered_once(store: Store):
    await store.write(register_user(HANA))
    await assert_refused(store, register_user(replace(HANA, username="花子")))


async def test_a_profile_change_fails_after_a_concurrent_one(store: Store):
    await store.put(HANA)
    await store.write(change_profile(HANA, "花", "/icons/hana.png", "hana@example.com", SOON))
    stored = await store.get(user(user_id_of(1)), strong=True)
    assert stored == replace(HANA, username="花", icon_url="/icons/hana.png", email="hana@example.com", updated_at=SOON)
    await assert_refused(store, change_profile(HANA, "華", None, None, AFTER))


async def test_a_game_is_opened_once(store: Store):
    await store.write(open_game(new_game))
    await assert_query_returns(store, games_with("ACTIVE"), new_game)
    await assert_refused(store, open_game(replace(new_game, ai_level=9)))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"status": "FINISHED"}, "not_new"),
        ({"current_turn": 1}, "not_new"),
        ({"winner": "AI"}, "not_new"),
        ({"closed_turn": 0}, "not_new"),
        ({"opened_turn": 0}, "not_new"),
        ({"board_state": AFTER_D3}, "not_new"),
        ({"voting_deadline": DEADLINE}, "wrong_deadline"),
        ({"ai_side": "WHITE"}, "wrong_deadline"),
        ({"ai_side": "WHITE", "voting_deadline": NOW}, "wrong_deadline"),
        ({"time_zone": "Asia/Edo"}, "unknown_zone"),
    ],
)
def test_a_game_with_progress_or_a_wrong_setting_cannot_be_opened(changes: dict[str, Any], code: str):
    with pytest.raises(RuleViolation) as problem:
        open_game(replace(new_game, **changes))
    assert problem.value.code == code


async def test_the_engine_opens_a_turn_with_candidates(store: Store):
    await store.put(voted_game)
    await store.write(
        open_candidates(
            voted_game, [Proposal(proposed.position, proposed.description) for proposed in (C3, E3, C5)], NOW
        )
    )
    keys = [binding_of(Candidate).key_of(proposed) for proposed in (C3, E3, C5)]
    assert await store.snapshot(*keys) == [C3, E3, C5]
    assert await store.get(game(GAME), strong=True) == replace(voted_game, opened_turn=TURN)


async def test_the_engine_opens_a_turn_once_whatever_the_squares(embedded: Store):
    await embedded.put(voted_game)
    await embedded.write(open_candidates(voted_game, [REASON], NOW))
    await assert_refused(embedded, open_candidates(voted_game, [Proposal("E3", "手")], SOON))
    await embedded.write(propose(voted_game, Proposal("E3", "手"), user_id_of(1), SOON))


async def test_the_engine_opens_all_candidates_or_none(store: Store):
    await store.write_many(put=[voted_game, E3])
    await assert_refused(
        store, open_candidates(voted_game, [Proposal(proposed.position, "手") for proposed in (C3, E3)], NOW)
    )


@pytest.mark.parametrize("number", [0, 4])
def test_the_engine_opens_one_to_three_candidates(number: int):
    with pytest.raises(RuleViolation, match="1 to 3"):
        open_candidates(voted_game, [REASON] * number, NOW)


async def test_a_user_proposes_a_square_without_a_candidate(store: Store):
    await store.write_many(put=[voted_game, E3])
    proposed = await store.write(propose(voted_game, REASON, user_id_of(1), SOON))
    assert proposed == candidate(
        "C3", created_by=f"USER#{user_id_of(1)}", description=REASON.description, created_at=SOON
    )
    assert proposed.voting_deadline == voted_game.voting_deadline
    await assert_query_returns(store, candidates_by(user_id_of(1)), proposed)
    await assert_refused(store, propose(voted_game, Proposal("E3", "こちら"), user_id_of(2), SOON))


@pytest.mark.parametrize("square", ["D4", "H8", "D3", "c3", "PASS", ""])
def test_an_illegal_square_cannot_be_proposed(square: str):
    for plan in (
        lambda: propose(voted_game, Proposal(square, "ここ"), user_id_of(1), NOW),
        lambda: open_candidates(voted_game, [REASON, Proposal(square, "ここ")], NOW),
    ):
        with pytest.raises(RuleViolation) as problem:
            plan()
        assert problem.value.code == "not_legal"


def test_a_square_cannot_be_proposed_in_a_turn_without_a_vote():
    with pytest.raises(RuleViolation, match="no vote"):
        propose(new_game, REASON, user_id_of(1), NOW)


async def test_a_reason_outside_its_limits_is_rejected_before_anything_is_written(store: Store):
    await store.put(voted_game)
    with pytest.raises(WrongType):
        await store.write(propose(voted_game, Proposal("C3", "あ" * 201), user_id_of(1), NOW))
    with pytest.raises(ValueError, match="visible"):
        propose(voted_game, Proposal("C3", "\u3000"), user_id_of(1), NOW)


WRITES_DURING_VOTE: dict[str, Callable[[str], Plan[Any]]] = {
    "propose": lambda now: propose(voted_game, Proposal("C5", "左へ"), user_id_of(2), now),
    "open_candidates": lambda now: open_candidates(voted_game, [Proposal("C5", "左へ")], now),
    "cast_vote": lambda now: cast_vote(GAME, TURN, user_id_of(2), C3.candidate_id, now),
    "change_vote": lambda now: change_vote(vote(1, C3.candidate_id), E3.candidate_id, now),
}


@pytest.mark.parametrize("name", WRITES_DURING_VOTE)
async def test_proposals_and_votes_fail_when_voting_is_not_open(store: Store, name: str):
    plan = WRITES_DURING_VOTE[name]
    await store.write_many(put=[voted_game, vote(1, C3.candidate_id), replace(C3, vote_count=1), E3])
    await assert_refused(store, plan(DEADLINE))
    await assert_refused(store, plan(AFTER))
    for state in (
        closed_game,
        FINISHED,
        replace(voted_game, current_turn=TURN + 1),
        replace(voted_game, voting_deadline=None),
        replace(voted_game, status="FINISHED"),
    ):
        await store.put(state)
        await assert_refused(store, plan(NOW))
    await store.delete(game(GAME))
    await assert_refused(store, plan(NOW))
    await store.put(voted_game)
    await store.write(plan(format_instant(START + 3599)))


async def test_a_proposal_fails_when_the_deadline_of_its_game_has_changed(store: Store):
    await store.put(replace(voted_game, voting_deadline=TOMORROW))
    await assert_refused(store, propose(voted_game, REASON, user_id_of(1), NOW))


async def test_a_vote_is_counted_once(store: Store):
    await store.write_many(put=[voted_game, C3, E3])
    await store.write(cast_vote(GAME, TURN, user_id_of(1), C3.candidate_id, NOW))
    assert await store.get(vote_of(GAME, TURN, user_id_of(1)), strong=True) == vote(1, C3.candidate_id)
    assert await counts(store) == await tally(store) == {C3.candidate_id: 1}
    await assert_refused(store, cast_vote(GAME, TURN, user_id_of(1), E3.candidate_id, NOW))


@pytest.mark.parametrize("status", ["CLOSED", "ADOPTED"])
async def test_a_decided_candidate_accepts_no_votes(store: Store, status: str):
    await store.write_many(put=[voted_game, replace(C3, status=status)])
    await assert_refused(store, cast_vote(GAME, TURN, user_id_of(1), C3.candidate_id, NOW))


async def test_a_vote_needs_a_candidate_of_its_turn(store: Store):
    await store.write_many(put=[voted_game, candidate("C3", turn_number=3)])
    await assert_refused(store, cast_vote(GAME, TURN, user_id_of(1), C3.candidate_id, NOW))
    await assert_refused(store, cast_vote(GAME, 3, user_id_of(1), C3.candidate_id, NOW))


async def test_a_changed_vote_moves_from_one_count_to_the_other(store: Store):
    first = vote(1, C3.candidate_id)
    await store.write_many(put=[voted_game, first, vote(2, C3.candidate_id), replace(C3, vote_count=2), E3, C5])
    await store.write(change_vote(first, E3.candidate_id, SOON))
    stored = await store.get(vote_of(GAME, TURN, user_id_of(1)), strong=True)
    assert stored == replace(first, candidate_id=E3.candidate_id, updated_at=SOON)
    assert await counts(store) == await tally(store) == {C3.candidate_id: 1, E3.candidate_id: 1}
    await assert_refused(store, change_vote(first, C5.candidate_id, SOON))


async def test_a_missing_vote_cannot_be_changed(store: Store):
    await store.write_many(put=[voted_game, replace(C3, vote_count=1), E3])
    await assert_refused(store, change_vote(vote(1, C3.candidate_id), E3.candidate_id, SOON))


async def test_a_count_never_falls_below_zero(store: Store):
    await store.write_many(put=[voted_game, vote(1, C3.candidate_id), C3, E3])
    await assert_refused(store, change_vote(vote(1, C3.candidate_id), E3.candidate_id, SOON))


def test_changing_a_vote_to_the_same_candidate_is_rejected():
    with pytest.raises(RuleViolation, match="already"):
        change_vote(vote(1, C3.candidate_id), C3.candidate_id, SOON)


def test_invalid_ids_are_rejected_in_keys():
    with pytest.raises(WrongType):
        Vote.key(game_id=f"{GAME}#TURN#1", turn_number=1, user_id=user_id_of(1))
    with pytest.raises(WrongType):
        Game.key(game_id="x")
