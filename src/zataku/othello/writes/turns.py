"""Writes that close and play turns. Each is conditional on the turn, so that it happens once.

    crowd's turn   close_turn → ballot_of → advance, or reopen_turn if there are no candidates
    AI's turn      play_turn, also for a pass of either side
    after a turn   add_commentary
    at the end     finish, after the last commentary

A job that was interrupted, or runs twice, starts from what it reads: a write that was done already fails its condition.
Boards are not arguments: each is computed from that of the loaded game, which changes only together with the turn.
"""

from collections.abc import Sequence

from zataku.othello.design import A_GAME, Candidate, Commentary, Game, Move, board_game
from zataku.othello.errors import RuleViolation
from zataku.othello.limits import Contents, GameId, candidate_id, side_of
from zataku.othello.rules.board import Board, format_board, is_over, legal_moves, opponent, parse_board, play_move
from zataku.othello.writes import paths
from zataku.othello.writes.examples import CANDIDATE, CLOSED_GAME, DEADLINE, NEW_GAME, NOW, OTHER_CANDIDATE
from zataku.othello.writes.votes import votable_squares
from zataku.table import Budget, Edit, Plan, Step, check, check_absent, put, update


@board_game.write(budget=Budget(writes=2, of="a game"), example={"game_id": A_GAME, "turn": 5, "now": DEADLINE})
def close_turn(game_id: GameId, turn: int, now: str) -> Plan[Game]:
    """End voting in a turn, at its deadline or later. Once this is acknowledged, votes and proposals fail.

    Only a turn without candidates can be reopened.
    """
    due = paths.at_turn(turn) & paths.closed_turn.not_equals(turn) & paths.deadline.at_most(now)
    return Plan(update(Game.key(game_id=game_id), paths.closed_turn.set(turn), paths.updated_at.set(now), when=due))


@board_game.write(
    budget=Budget(writes=9, of="a turn with 3 legal squares"),
    example={"game": CLOSED_GAME, "deadline": "2025-02-21T00:00:00Z", "now": DEADLINE},
)
def reopen_turn(game: Game, deadline: str, now: str) -> Plan[Game]:
    """Reopen a closed turn without candidates, as after an outage, with a deadline later than any before.

    The absence of candidates is checked square by square. A run that loaded the game before it was reopened fails,
    because the deadline has changed since.
    """
    closed = paths.voting_closed(game)
    if deadline <= max(now, game.voting_deadline or ""):
        raise RuleViolation("wrong_deadline", "The new deadline must be in the future and later than the old one.")
    reopened = (paths.closed_turn.remove(), paths.deadline.set(deadline), paths.updated_at.set(now))
    return Plan(update(Game.key(game_id=game.game_id), *reopened, when=closed), *_no_other_candidates(game, ()))


def winning_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """The candidate with most votes; of equals the earliest, and of those of the same second the first square."""
    if not candidates:
        raise RuleViolation("no_candidates", "This turn has no candidates to adopt. Reopen it.")
    return min(candidates, key=lambda candidate: (-candidate.vote_count, candidate.created_at, candidate.position))


@board_game.write(
    budget=Budget(
        writes=45,
        of="3 candidates of the AI, 5 of users with a reason of 200 Japanese characters, and 2 more legal squares",
    ),
    example={"game": CLOSED_GAME, "candidates": [CANDIDATE, OTHER_CANDIDATE], "now": DEADLINE},
)
def advance(game: Game, candidates: Sequence[Candidate], now: str) -> Plan[Move]:
    """Play the elected move of the crowd: adopt the winner, close the other candidates, and advance board and turn.

    `candidates` are those that `ballot_of` returned after `close_turn` was acknowledged. They must be complete, which
    is checked square by square for two units each, and their counts unchanged. At most 62 items: there are at most 60
    legal squares, those that the opening leaves empty.
    """
    turn, closed, best = game.current_turn, paths.voting_closed(game), winning_candidate(candidates)
    if any((candidate.game_id, candidate.turn_number) != (game.game_id, turn) for candidate in candidates):
        raise RuleViolation("wrong_turn", "A candidate belongs to another turn.")
    move = Move(
        game_id=game.game_id,
        turn_number=turn,
        side=side_of(turn),
        position=best.position,
        played_by="COLLECTIVE",
        candidate_id=best.candidate_id,
        created_at=now,
    )
    decided = [_close_candidate(candidate, adopted=candidate is best) for candidate in candidates]
    edits = _next_turn(game, _board_after(game, best.position), now, None)
    advanced = update(Game.key(game_id=game.game_id), *edits, when=closed)
    return Plan(put(move, if_absent=True), *decided, *_no_other_candidates(game, candidates), advanced)


@board_game.write(
    budget=Budget(writes=5, of="a move of the AI"),
    example={"game": NEW_GAME, "position": "D3", "now": NOW, "deadline": DEADLINE},
)
def play_turn(game: Game, position: str, now: str, deadline: str | None = None) -> Plan[Move]:
    """Play a turn without a vote: a move of the AI, or a pass of a side without a move.

    `deadline` is that of the next turn, given exactly when the crowd votes in it: the turn is the crowd's, and the
    crowd has a move. If it has none, it passes next; if neither side has one, `finish` is next.
    """
    turn = game.current_turn
    side = side_of(turn)
    by_ai = side == game.ai_side
    if not by_ai and position != "PASS":
        raise RuleViolation("not_the_ais_turn", "The crowd's move has to be voted for. Use advance.")
    board = _board_after(game, position)
    if (by_ai and bool(legal_moves(board, opponent(side)))) != (deadline is not None):
        raise RuleViolation("wrong_deadline", "Pass a deadline exactly when the crowd has a move in the next turn.")
    if deadline is not None and deadline <= now:
        raise RuleViolation("wrong_deadline", "The deadline of the next turn must be in the future.")
    move = Move(
        game_id=game.game_id,
        turn_number=turn,
        side=side,
        position=position,
        played_by="AI" if by_ai else "COLLECTIVE",
        created_at=now,
    )
    advanced = update(
        Game.key(game_id=game.game_id), *_next_turn(game, board, now, deadline), when=paths.without_vote(turn)
    )
    return Plan(put(move, if_absent=True), advanced)


@board_game.write(
    budget=Budget(writes=16, of="500 Japanese characters, and as many in each of three languages"),
    example={"game_id": A_GAME, "turn": 5, "content": "中央が厚くなった。", "now": NOW},
)
def add_commentary(
    game_id: GameId, turn: int, content: str, now: str, content_i18n: Contents | None = None
) -> Plan[Commentary]:
    """Add the commentary on a played turn, once, while the game is active: that on the last turn before `finish`.

    So nothing is added to a finished game, and `set_item_expiry` misses no item. In one language below 1 KB it costs
    four units.
    """
    commentary = Commentary(
        game_id=game_id, turn_number=turn, content=content, content_i18n=content_i18n, created_at=now
    )
    turn_played = paths.status.equals("ACTIVE") & paths.current_turn.above(turn)
    return Plan(put(commentary, if_absent=True), check(Game.key(game_id=game_id), turn_played))


def _no_other_candidates(game: Game, candidates: Sequence[Candidate]) -> list[Step[Candidate]]:
    """Checks that no other legal square has a candidate. The key of a candidate follows from its square."""
    proposed, turn = {candidate.position for candidate in candidates}, game.current_turn
    return [
        check_absent(paths.candidate_key(game.game_id, turn, candidate_id(game.game_id, turn, square)))
        for square in votable_squares(game)
        if square not in proposed
    ]


def _close_candidate(candidate: Candidate, *, adopted: bool) -> Step[Candidate]:
    unchanged = paths.candidate_status.equals("VOTING") & paths.vote_count.equals(candidate.vote_count)
    key = paths.candidate_key(candidate.game_id, candidate.turn_number, candidate.candidate_id)
    return update(key, paths.candidate_status.set("ADOPTED" if adopted else "CLOSED"), when=unchanged)


def _board_after(game: Game, position: str) -> Board:
    board, side = parse_board(game.board_state), side_of(game.current_turn)
    if is_over(board):
        raise RuleViolation("game_over", "The game is over: neither side has a move.")
    if position not in (votable_squares(game) or ["PASS"]):
        raise RuleViolation("not_legal", f"{side} may not play {position}.")
    return board if position == "PASS" else play_move(board, side, position)


def _next_turn(game: Game, board: Board, now: str, deadline: str | None) -> tuple[Edit[Game], ...]:
    return (
        paths.current_turn.set(game.current_turn + 1),
        paths.board_state.set(format_board(board)),
        paths.deadline.set(deadline),
        paths.updated_at.set(now),
    )
