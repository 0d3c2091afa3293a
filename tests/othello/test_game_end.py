"""The end of a game, and the expiry of its items."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.othello.games import (
    AFTER,
    C3,
    DEADLINE,
    GAME,
    NOW,
    SOON,
    assert_refused,
    full_game,
    new_game,
    vote,
    voted_game,
)
from tests.support.manual_clock import ManualClock
from tests.support.store_reads import assert_query_returns
from tests.support.stores import START
from zataku.othello.design import Commentary, Move, games_with
from zataku.othello.errors import RuleViolation
from zataku.othello.limits import candidate_id
from zataku.othello.rules.board import format_board
from zataku.othello.writes import expiry_of, finish, set_game_expiry, set_item_expiry
from zataku.othello.writes.game_end import DAY, RETENTION_SECONDS
from zataku.table import Store, format_instant
from zataku.table.schema.entity import binding_of

FINISHED = replace(full_game, status="FINISHED", winner="COLLECTIVE")
END = int(START) + RETENTION_SECONDS
MOVE = Move(game_id=GAME, turn_number=0, side="BLACK", position="D3", played_by="AI", created_at=NOW)
COMMENTARY = Commentary(game_id=GAME, turn_number=0, content="初手。", created_at=NOW)


async def test_a_game_ends_once_and_is_listed_as_finished(store: Store):
    await store.put(full_game)
    finished = await store.write(finish(full_game, SOON))
    assert finished == replace(FINISHED, updated_at=SOON)
    await assert_query_returns(store, games_with("FINISHED"), finished)
    await assert_query_returns(store, games_with("ACTIVE"))
    await assert_refused(store, finish(full_game, AFTER))


@pytest.mark.parametrize(("black", "winner"), [(3, "COLLECTIVE"), (4, "DRAW"), (5, "AI")])
async def test_the_player_with_more_discs_wins(embedded: Store, black: int, winner: str):
    board = format_board(((1,) * 8,) * black + ((2,) * 8,) * (8 - black))
    last = await embedded.put(replace(full_game, board_state=board))
    finished = await embedded.write(finish(last, SOON))
    assert finished is not None
    assert finished.winner == winner


async def test_a_game_does_not_end_during_a_vote_or_at_another_turn(embedded: Store):
    for state in (replace(full_game, voting_deadline=DEADLINE), replace(full_game, current_turn=60)):
        await embedded.put(state)
        await assert_refused(embedded, finish(full_game, SOON))
    with pytest.raises(RuleViolation, match="still has a move"):
        finish(new_game, SOON)


async def test_all_items_of_a_finished_game_get_an_expiry(store: Store):
    items = [MOVE, COMMENTARY, C3, vote(1, C3.candidate_id)]
    await store.write_many(put=[FINISHED, *items])
    await store.write(set_item_expiry(GAME, items, END, NOW))
    await store.write(set_item_expiry(GAME, items, END, NOW))
    await store.write(set_game_expiry(GAME, END, NOW))
    keys = [binding_of(type(item)).key_of(item) for item in (*items, FINISHED)]
    assert await store.snapshot(*keys) == [replace(item, expires_at=END) for item in (*items, FINISHED)]


async def test_an_expiry_for_a_deleted_item_fails_until_the_job_reads_again(store: Store, clock: ManualClock):
    expiring, remaining = vote(1, C3.candidate_id), vote(2, C3.candidate_id)
    await store.write_many(put=[FINISHED, expiring, remaining])
    await store.write(set_item_expiry(GAME, [expiring], END, NOW))
    await clock.advance(RETENTION_SECONDS)
    late = format_instant(START + RETENTION_SECONDS)
    await assert_refused(store, set_item_expiry(GAME, [expiring, remaining], END + DAY, late))
    await store.write(set_item_expiry(GAME, [remaining], END + DAY, late))


async def test_an_active_game_does_not_expire(embedded: Store):
    await embedded.write_many(put=[voted_game, C3])
    await assert_refused(embedded, set_item_expiry(GAME, [C3], END, NOW))
    await assert_refused(embedded, set_game_expiry(GAME, END, NOW))


def test_a_game_expires_ninety_days_after_its_end_and_a_day_after_the_job_at_the_earliest():
    assert RETENTION_SECONDS == 90 * 86_400
    assert expiry_of(replace(FINISHED, updated_at=NOW), SOON) == END
    assert expiry_of(replace(FINISHED, updated_at=NOW), format_instant(END)) == END + DAY


def test_an_expiry_in_the_past_is_rejected():
    for set_expiry in (
        lambda: set_item_expiry(GAME, [C3], int(START), NOW),
        lambda: set_game_expiry(GAME, int(START), NOW),
    ):
        with pytest.raises(RuleViolation, match="in the past"):
            set_expiry()


def test_an_expiry_is_set_for_1_to_99_items_of_one_game():
    votes = [vote(at, C3.candidate_id) for at in range(100)]
    for items, code in (([], "wrong_number"), (votes, "wrong_number")):
        with pytest.raises(RuleViolation) as problem:
            set_item_expiry(GAME, items, END, NOW)
        assert problem.value.code == code
    other_game_id: Any = candidate_id(GAME, 0, "A1")
    with pytest.raises(RuleViolation, match="another game"):
        set_item_expiry(other_game_id, votes[:1], END, NOW)
