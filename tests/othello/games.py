"""A game with an open vote, its neighbouring states, and their times."""

from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from tests.support.store_reads import contents
from tests.support.stores import START
from zataku.othello.design import Candidate, Game, User, Vote, ballot_of, votes_in
from zataku.othello.limits import CandidateId, GameId, UserId, candidate_id, side_of
from zataku.othello.rules.board import START as OPENING
from zataku.othello.rules.board import format_board, play_move
from zataku.table import ConditionFailed, Plan, Store, TransactionCancelled, format_instant

NOW = format_instant(START)
SOON = format_instant(START + 60)
DEADLINE = format_instant(START + 3600)
AFTER = format_instant(START + 3601)
TOMORROW = format_instant(START + 86_400)
GAME = GameId("456e7890-e89b-12d3-a456-426614174001")
TURN = 1


def board_after(*squares: str) -> str:
    """The board after these moves from the opening."""
    board = OPENING
    for turn, square in enumerate(squares):
        board = play_move(board, side_of(turn), square)
    return format_board(board)


AFTER_D3 = board_after("D3")

new_game = Game(game_id=GAME, ai_side="BLACK", board_state=format_board(OPENING), created_at=NOW, updated_at=NOW)
voted_game = replace(new_game, current_turn=TURN, board_state=AFTER_D3, voting_deadline=DEADLINE)
closed_game = replace(voted_game, closed_turn=TURN)
# White has ten legal squares: F2 C3 B4 F4 F5 E6 C7 D7 E7 G7.
wide_game = replace(voted_game, board_state=board_after("C4", "E3", "F6", "C6", "D6", "C5", "B6", "A7", "E2"))
# Black has moved last, and neither side has a move.
full_game = replace(
    closed_game, current_turn=61, board_state=format_board(((1,) * 8,) * 3 + ((2,) * 8,) * 5), voting_deadline=None
)


def user_id_of(number: int) -> UserId:
    """The id of the user with this number."""
    return UserId(str(UUID(int=number + 1, version=4)))


def user_named(name: str, number: int = 0) -> User:
    """A user of that name."""
    return User(user_id=user_id_of(number), username=name, created_at=NOW, updated_at=NOW)


def candidate(position: str, **changes: object) -> Candidate:
    """A candidate of the AI in the turn with the open vote."""
    default = Candidate(
        candidate_id=candidate_id(GAME, TURN, position),
        game_id=GAME,
        turn_number=TURN,
        position=position,
        description="角に近づかない堅実な手。",
        created_by="AI",
        created_at=NOW,
        voting_deadline=DEADLINE,
    )
    return replace(default, **changes)


def vote(number: int, choice: CandidateId, turn: int = TURN) -> Vote:
    """The vote of the user with this number."""
    return Vote(
        game_id=GAME, turn_number=turn, user_id=user_id_of(number), candidate_id=choice, created_at=NOW, updated_at=NOW
    )


C3, E3, C5 = candidate("C3"), candidate("E3"), candidate("C5")


async def counts(store: Store, turn: int = TURN) -> dict[CandidateId, int]:
    """The vote counts of the candidates of the turn, without zeros."""
    return {
        candidate.candidate_id: candidate.vote_count
        async for candidate in store.each(ballot_of(GAME, turn))
        if candidate.vote_count
    }


async def tally(store: Store, turn: int = TURN) -> dict[CandidateId, int]:
    """The votes of the turn, counted by candidate."""
    return dict(Counter([cast.candidate_id async for cast in store.each(votes_in(GAME, turn))]))


async def assert_refused(store: Store, plan: Plan[Any]) -> None:
    """Assert that a condition of the plan fails and the store is unchanged."""
    before = await contents(store)
    with pytest.raises((ConditionFailed, TransactionCancelled)) as error:
        await store.write(plan)
    assert not getattr(error.value, "conflict", False)
    assert await contents(store) == before
