"""Writes of candidates and votes, while voting is open.

`now` is a time in the table's format: texts of equal width, which conditions compare. The legality of a square is
checked on the board of the loaded game: it changes only together with the turn, and every write here is conditional on
the turn.
"""

from collections.abc import Sequence

from msgspec import Struct

from zataku.othello.design import A_GAME, A_USER, Candidate, Game, Vote, board_game
from zataku.othello.errors import RuleViolation
from zataku.othello.limits import CandidateId, Descriptions, GameId, UserId, candidate_id, side_of
from zataku.othello.rules.board import legal_moves, parse_board
from zataku.othello.writes.examples import CANDIDATE, NOW, OTHER_CANDIDATE, VOTE, VOTED_GAME
from zataku.othello.writes.paths import (
    candidate_key,
    candidate_status,
    opened_turn,
    updated_at,
    vote_count,
    vote_updated_at,
    voted_candidate,
    voting_open,
    voting_unchanged,
)
from zataku.table import Budget, Plan, Step, check, put, update

MAX_ENGINE_CANDIDATES = 3
"""The most candidates that the engine opens a turn with."""


class Proposal(Struct, frozen=True):
    """A proposed square, and the reason for it."""

    position: str
    description: str
    description_i18n: Descriptions | None = None


_FROM_ENGINE = Proposal(CANDIDATE.position, CANDIDATE.description)


@board_game.write(
    budget=Budget(writes=9, of="3 candidates with a reason of 40 characters in three languages"),
    example={"game": VOTED_GAME, "proposals": [_FROM_ENGINE], "now": NOW},
)
def open_candidates(game: Game, proposals: Sequence[Proposal], now: str) -> Plan[Candidate]:
    """Open a turn with up to three candidates of the engine, all or none, once per turn: `openedTurn` records it.

    A second run of the same job fails, with the same squares or others. If a user has proposed one of the squares
    before, nothing is written either: read the candidates of the turn and open the remaining ones.
    """
    if not 1 <= len(proposals) <= MAX_ENGINE_CANDIDATES:
        raise RuleViolation("wrong_number", f"The engine opens a turn with 1 to {MAX_ENGINE_CANDIDATES} candidates.")
    first, *others = [put(_candidate(game, proposal, "AI", now), if_absent=True) for proposal in proposals]
    turn = game.current_turn
    unopened = voting_unchanged(game, now) & opened_turn.not_equals(turn)
    opened = update(Game.key(game_id=game.game_id), opened_turn.set(turn), updated_at.set(now), when=unopened)
    return Plan(first, *others, opened)


@board_game.write(
    budget=Budget(writes=8, of="a reason of 200 Japanese characters"),
    example={"game": VOTED_GAME, "proposal": _FROM_ENGINE, "user_id": A_USER, "now": NOW},
)
def propose(game: Game, proposal: Proposal, user_id: UserId, now: str) -> Plan[Candidate]:
    """Propose a legal square for a user, if the turn has no candidate for it.

    The ID of a candidate is derived from game, turn and square, so that a conditional put suffices.
    """
    candidate = _candidate(game, proposal, f"USER#{user_id}", now)
    return Plan(put(candidate, if_absent=True), check(Game.key(game_id=game.game_id), voting_unchanged(game, now)))


@board_game.write(
    budget=Budget(writes=11, of="a user's candidate with a reason of 200 Japanese characters"),
    example={"game_id": A_GAME, "turn": 5, "user_id": A_USER, "choice": CANDIDATE.candidate_id, "now": NOW},
)
def cast_vote(game_id: GameId, turn: int, user_id: UserId, choice: CandidateId, now: str) -> Plan[Vote]:
    """Cast a user's vote for a candidate, once per turn, and increment its count.

    Two units for the check of the game, three for the vote with its entry in GSI2, and the candidate: two units for
    each KB, and one more for each KB of a user's candidate, which is in GSI2 too. A vote for a candidate of the AI
    below 1 KB costs seven.
    """
    vote = Vote(game_id=game_id, turn_number=turn, user_id=user_id, candidate_id=choice, created_at=now, updated_at=now)
    return Plan(
        put(vote, if_absent=True),
        _add_votes(vote, choice, 1),
        check(Game.key(game_id=game_id), voting_open(turn, now)),
    )


@board_game.write(
    budget=Budget(writes=17, of="two users' candidates with a reason of 200 Japanese characters each"),
    example={"vote": VOTE, "choice": OTHER_CANDIDATE.candidate_id, "now": NOW},
)
def change_vote(vote: Vote, choice: CandidateId, now: str) -> Plan[Vote]:
    """Move a user's vote to another candidate: decrement one count and increment the other.

    It is conditional on the vote still naming the old candidate, so that of concurrent changes one succeeds. Between
    two candidates of the AI below 1 KB it costs nine.
    """
    if choice == vote.candidate_id:
        raise RuleViolation("same_candidate", "The vote is for this candidate already.")
    key = Vote.key(game_id=vote.game_id, turn_number=vote.turn_number, user_id=vote.user_id)
    return Plan(
        update(
            key, voted_candidate.set(choice), vote_updated_at.set(now), when=voted_candidate.equals(vote.candidate_id)
        ),
        _add_votes(vote, vote.candidate_id, -1),
        _add_votes(vote, choice, 1),
        check(Game.key(game_id=vote.game_id), voting_open(vote.turn_number, now)),
    )


def votable_squares(game: Game) -> list[str]:
    """The legal squares of the current turn, which can be proposed."""
    return legal_moves(parse_board(game.board_state), side_of(game.current_turn))


def _add_votes(vote: Vote, choice: CandidateId, by: int) -> Step[Candidate]:
    key = candidate_key(vote.game_id, vote.turn_number, choice)
    return update(key, vote_count.add(by), when=candidate_status.equals("VOTING") & vote_count.at_least(max(0, -by)))


def _candidate(game: Game, proposal: Proposal, author: str, now: str) -> Candidate:
    if game.voting_deadline is None:
        raise RuleViolation("not_voting", "This turn has no vote.")
    if proposal.position not in votable_squares(game):
        raise RuleViolation("not_legal", f"{side_of(game.current_turn)} may not play {proposal.position}.")
    return Candidate(
        candidate_id=candidate_id(game.game_id, game.current_turn, proposal.position),
        game_id=game.game_id,
        turn_number=game.current_turn,
        position=proposal.position,
        description=proposal.description,
        description_i18n=proposal.description_i18n,
        created_by=author,
        created_at=now,
        voting_deadline=game.voting_deadline,
    )
