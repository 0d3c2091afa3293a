"""Writes that close and play turns. Each is conditional on the turn, so that it happens once.

    crowd's turn   close_turn → ballot_of → advance, or reopen_turn where nothing was proposed
    AI's turn      play_turn, also for a pass of either side
    after a turn   add_commentary
    at the end     finish, after the last commentary

A job that died in between, or runs twice, starts again with what it reads: the write that was done already is refused.
Boards are not handed in: each is made of the loaded game's, which changes only together with the turn.
"""

from collections.abc import Sequence

from zataku.othello.design import A_GAME, Candidate, Commentary, Game, Move, board_game
from zataku.othello.errors import RuleViolation
from zataku.othello.limits import Contents, GameId, candidate_id, side_of
from zataku.othello.rules.board import Board, format_board, is_over, legal_moves, opponent, parse_board, play_move
from zataku.othello.writes import paths
from zataku.othello.writes.examples import CANDIDATE, CLOSED_GAME, DEADLINE, NEW_GAME, NOW, OTHER_CANDIDATE
from zataku.othello.writes.votes import votable_squares
from zataku.table import Budget, Condition, Edit, Plan, Step, check, check_absent, put, update


@board_game.write(budget=Budget(writes=2, of="a game"), example={"game_id": A_GAME, "turn": 5, "now": DEADLINE})
def close_turn(game_id: GameId, turn: int, now: str) -> Plan[Game]:
    """Voting in a turn ends, at its deadline or later. Once this is acknowledged no vote and no candidate comes in.

    Only a turn without any candidate can be opened again.
    """
    due = paths.at_turn(turn) & paths.closed_turn.not_equals(turn) & paths.deadline.at_most(now)
    return Plan(
        update(Game.key(game_id=game_id), paths.closed_turn.set(turn), paths.updated_at_path.set(now), when=due)
    )


@board_game.write(
    budget=Budget(writes=9, of="a turn with 3 legal squares"),
    example={"game": CLOSED_GAME, "deadline": "2025-02-21T00:00:00Z", "now": DEADLINE},
)
def reopen_turn(game: Game, deadline: str, now: str) -> Plan[Game]:
    """A closed turn in which nothing was proposed, as after an outage, gets another deadline, later than any before.

    That nothing was proposed is checked square by square. A run that loaded the game before it was opened again is
    refused: the deadline is another one since.
    """
    closed = _closed_turn(game)
    if deadline <= max(now, game.voting_deadline or ""):
        raise RuleViolation("wrong_deadline", "The new deadline lies ahead, and after the old one.")
    reopened = (paths.closed_turn.remove(), paths.deadline.set(deadline), paths.updated_at_path.set(now))
    return Plan(update(Game.key(game_id=game.game_id), *reopened, when=closed), *_no_other_candidates(game, ()))


def winning_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """The candidate with most votes; of equals the earliest, and of those made in the same second the first square."""
    if not candidates:
        raise RuleViolation("no_candidates", "Nothing was proposed in this turn, so nothing can be adopted.")
    return min(candidates, key=lambda it: (-it.vote_count, it.created_at, it.position))


@board_game.write(
    budget=Budget(
        writes=45,
        of="3 candidates of the AI, 5 of users with a reason of 200 Japanese characters, and 2 more legal squares",
    ),
    example={"game": CLOSED_GAME, "candidates": [CANDIDATE, OTHER_CANDIDATE], "now": DEADLINE},
)
def advance(game: Game, candidates: Sequence[Candidate], now: str) -> Plan[Move]:
    """The crowd plays what it elected: the winner is adopted, the rest closed, board and turn move on. The AI is next.

    `candidates` are what `ballot_of` gave after `close_turn` was acknowledged. They must be all there are, which is
    checked square by square for two units each, and their counts must still be the same. At most 62 items: there are
    at most 60 legal squares, those that the opening leaves empty.
    """
    turn, closed, best = game.current_turn, _closed_turn(game), winning_candidate(candidates)
    if any((it.game_id, it.turn_number) != (game.game_id, turn) for it in candidates):
        raise RuleViolation("wrong_turn", "The candidates are of another turn.")
    move = Move(
        game_id=game.game_id,
        turn_number=turn,
        side=side_of(turn),
        position=best.position,
        played_by="COLLECTIVE",
        candidate_id=best.candidate_id,
        created_at=now,
    )
    decided = [_close_candidate(it, adopted=it is best) for it in candidates]
    edits = _next_turn(game, _board_after(game, best.position), now, None)
    moved_on = update(Game.key(game_id=game.game_id), *edits, when=closed)
    return Plan(put(move, if_absent=True), *decided, *_no_other_candidates(game, candidates), moved_on)


@board_game.write(
    budget=Budget(writes=5, of="a move of the AI"),
    example={"game": NEW_GAME, "position": "D3", "now": NOW, "deadline": DEADLINE},
)
def play_turn(game: Game, position: str, now: str, deadline: str | None = None) -> Plan[Move]:
    """The AI plays, or a side without a move passes; nobody votes in such a turn.

    `deadline` is that of the next turn, given exactly when the crowd is to vote in it: it is the crowd's, and the crowd
    has a move. Where it has none it passes next, and where neither side has one `finish` is next.
    """
    turn = game.current_turn
    side = side_of(turn)
    by_ai = side == game.ai_side
    if not by_ai and position != "PASS":
        raise RuleViolation("not_the_ais_turn", "The crowd plays what it has voted for.")
    board = _board_after(game, position)
    if (by_ai and bool(legal_moves(board, opponent(side)))) != (deadline is not None):
        raise RuleViolation("wrong_deadline", "The next turn has a deadline exactly when the crowd has a move in it.")
    if deadline is not None and deadline <= now:
        raise RuleViolation("wrong_deadline", "The deadline of the next turn lies ahead.")
    move = Move(
        game_id=game.game_id,
        turn_number=turn,
        side=side,
        position=position,
        played_by="AI" if by_ai else "COLLECTIVE",
        created_at=now,
    )
    nobody_votes = paths.at_turn(turn) & paths.deadline.missing()
    moved_on = update(Game.key(game_id=game.game_id), *_next_turn(game, board, now, deadline), when=nobody_votes)
    return Plan(put(move, if_absent=True), moved_on)


@board_game.write(
    budget=Budget(writes=16, of="500 Japanese characters, and as many in each of three languages"),
    example={"game_id": A_GAME, "turn": 5, "content": "中央が厚くなった。", "now": NOW},
)
def add_commentary(
    game_id: GameId, turn: int, content: str, now: str, content_i18n: Contents | None = None
) -> Plan[Commentary]:
    """A turn that was played is commented on, once, while the game is on: the last one before `finish`.

    So nothing comes into a finished game any more, and what `set_item_expiry` has marked is all there will be. In one
    language below 1 KB it costs four units.
    """
    made = Commentary(game_id=game_id, turn_number=turn, content=content, content_i18n=content_i18n, created_at=now)
    played_on = paths.status.equals("ACTIVE") & paths.current_turn.above(turn)
    return Plan(put(made, if_absent=True), check(Game.key(game_id=game_id), played_on))


def _closed_turn(game: Game) -> Condition[Game]:
    """The turn of the loaded game is closed, and was not opened again since: every time has its own deadline."""
    turn = game.current_turn
    if game.closed_turn != turn or game.voting_deadline is None:
        raise RuleViolation("not_closed", "Voting in this turn was not closed.")
    return paths.at_turn(turn) & paths.closed_turn.equals(turn) & paths.deadline.equals(game.voting_deadline)


def _no_other_candidates(game: Game, candidates: Sequence[Candidate]) -> list[Step[Candidate]]:
    """No other legal square was proposed. Its square gives a candidate its key, so that each can be looked for."""
    known, turn = {it.position for it in candidates}, game.current_turn
    return [
        check_absent(paths.candidate_key(game.game_id, turn, candidate_id(game.game_id, turn, square)))
        for square in votable_squares(game)
        if square not in known
    ]


def _close_candidate(candidate: Candidate, *, adopted: bool) -> Step[Candidate]:
    counted = paths.candidate_status.equals("VOTING") & paths.vote_count.equals(candidate.vote_count)
    key = paths.candidate_key(candidate.game_id, candidate.turn_number, candidate.candidate_id)
    return update(key, paths.candidate_status.set("ADOPTED" if adopted else "CLOSED"), when=counted)


def _board_after(game: Game, position: str) -> Board:
    board, side = parse_board(game.board_state), side_of(game.current_turn)
    if is_over(board):
        raise RuleViolation("game_over", "Neither side has a move: the game is over.")
    if position not in (votable_squares(game) or ["PASS"]):
        raise RuleViolation("not_legal", f"{side} may not play {position}.")
    return board if position == "PASS" else play_move(board, side, position)


def _next_turn(game: Game, board: Board, now: str, deadline: str | None) -> tuple[Edit[Game], ...]:
    return (
        paths.current_turn.set(game.current_turn + 1),
        paths.board_state.set(format_board(board)),
        paths.deadline.set(deadline),
        paths.updated_at_path.set(now),
    )
