"""Turns are closed and played, games end and are forgotten. Each step is guarded by the turn, so that it happens once.

    crowd's turn   close_turn → read the candidates strongly → advance, or reopen_turn where there are none
    AI's turn      play_turn, also for a pass of either side
    at the end     finish → stamp_expiry, where games are not kept for ever

A job that died in between, or runs twice, starts again with what it reads: the write that was done already is refused.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from zataku.othello import paths
from zataku.othello.board import START, board_text
from zataku.othello.design import A_GAME, Candidate, Commentary, Game, Move, Vote, board_game
from zataku.othello.errors import NotPossible
from zataku.othello.examples import CANDIDATE, DEADLINE, NEW_GAME, NOW, OTHER_CANDIDATE, VOTE, VOTED_GAME
from zataku.othello.limits import Contents, GameId, Winner, side_of
from zataku.table import Budget, Edit, Plan, Step, check, path, put, update

STAMPED_AT_ONCE = 99
"""Items that one `stamp_expiry` takes: with the check of the game they are the 100 of a transaction."""

_BOARD = board_text(START)
_COMMENTARY_EXPIRY = path(Commentary, lambda commentary: commentary.expires_at)
_MOVE_EXPIRY = path(Move, lambda move: move.expires_at)
_CANDIDATE_EXPIRY = path(Candidate, lambda candidate: candidate.expires_at)
_VOTE_EXPIRY = path(Vote, lambda vote: vote.expires_at)
_GAME_EXPIRY = path(Game, lambda game: game.expires_at)


@board_game.write(budget=Budget(writes=2, of="a game"), example={"game_id": A_GAME, "turn": 5, "now": DEADLINE})
def close_turn(game_id: GameId, turn: int, now: str) -> Plan[Game]:
    """Voting in a turn ends, at its deadline or later. Once this is acknowledged no vote and no candidate comes in."""
    due = paths.at_turn(turn) & paths.closed_turn.not_equals(turn) & paths.deadline.at_most(now)
    return Plan(update(Game.key(game_id=game_id), paths.closed_turn.set(turn), paths.touched_at.set(now), when=due))


@board_game.write(
    budget=Budget(writes=2, of="a game"),
    example={"game_id": A_GAME, "turn": 5, "deadline": "2025-02-21T00:00:00Z", "now": DEADLINE},
)
def reopen_turn(game_id: GameId, turn: int, deadline: str, now: str) -> Plan[Game]:
    """A closed turn in which nothing was proposed, as after an outage, gets another deadline.

    While a turn is closed no candidate comes in, so that what a strong read did not find is still not there.
    """
    closed = paths.at_turn(turn) & paths.closed_turn.equals(turn)
    reopened = (paths.closed_turn.remove(), paths.deadline.set(deadline), paths.touched_at.set(now))
    return Plan(update(Game.key(game_id=game_id), *reopened, when=closed))


def elected(candidates: Sequence[Candidate]) -> Candidate:
    """The candidate with most votes; of equals the earliest, and of those made in the same second the first square."""
    if not candidates:
        raise NotPossible("no_candidates", "Nothing was proposed in this turn, so nothing can be adopted.")
    return min(candidates, key=lambda it: (-it.vote_count, it.created_at, it.position))


@board_game.write(
    budget=Budget(writes=41, of="3 candidates of the AI, and 5 of users with a reason of 200 Japanese characters"),
    example={
        "game": replace(VOTED_GAME, closed_turn=5),
        "candidates": [CANDIDATE, OTHER_CANDIDATE],
        "board_state": _BOARD,
        "now": DEADLINE,
    },
)
def advance(
    game: Game, candidates: Sequence[Candidate], board_state: str, now: str, deadline: str | None = None
) -> Plan[Move]:
    """The crowd plays what it elected: the winner is adopted, the rest closed, board and turn move on.

    `candidates` are all of the turn, read strongly after `close_turn` was acknowledged; their counts must still be the
    same. `deadline` is that of the next turn where the crowd plays again. At most 62 items: a turn has at most 60
    candidates, one for each square that the opening leaves empty.
    """
    turn, best = game.current_turn, elected(candidates)
    if any((it.game_id, it.turn_number) != (game.game_id, turn) for it in candidates):
        raise NotPossible("wrong_turn", "The candidates are of another turn.")
    move = Move(
        game_id=game.game_id,
        turn_number=turn,
        side=side_of(turn),
        position=best.position,
        played_by="COLLECTIVE",
        candidate_id=best.candidate_id,
        created_at=now,
    )
    decided = [_decided(it, adopted=it is best) for it in candidates]
    closed = paths.at_turn(turn) & paths.closed_turn.equals(turn)
    moved_on = update(Game.key(game_id=game.game_id), *_moved_on(turn, board_state, now, deadline), when=closed)
    return Plan(put(move, if_absent=True), *decided, moved_on)


@board_game.write(
    budget=Budget(writes=5, of="a move of the AI"),
    example={"game": NEW_GAME, "position": "D3", "board_state": _BOARD, "now": NOW},
)
def play_turn(game: Game, position: str, board_state: str, now: str, deadline: str | None = None) -> Plan[Move]:
    """The AI plays, or a side without a move passes; nobody votes in such a turn.

    `deadline` is that of the next turn where it is the crowd's.
    """
    turn = game.current_turn
    by_ai = side_of(turn) == game.ai_side
    if not by_ai and position != "PASS":
        raise NotPossible("not_the_ais_turn", "The crowd plays what it has voted for.")
    move = Move(
        game_id=game.game_id,
        turn_number=turn,
        side=side_of(turn),
        position=position,
        played_by="AI" if by_ai else "COLLECTIVE",
        created_at=now,
    )
    nobody_votes = paths.at_turn(turn) & paths.deadline.missing()
    moved_on = update(Game.key(game_id=game.game_id), *_moved_on(turn, board_state, now, deadline), when=nobody_votes)
    return Plan(put(move, if_absent=True), moved_on)


@board_game.write(
    budget=Budget(writes=3, of="a game"), example={"game_id": A_GAME, "turn": 60, "winner": "COLLECTIVE", "now": NOW}
)
def finish(game_id: GameId, turn: int, winner: Winner, now: str) -> Plan[Game]:
    """A game ends with a winner, where neither side has a move left; it moves to the finished games of GSI1."""
    over = paths.at_turn(turn) & paths.deadline.missing()
    return Plan(
        update(
            Game.key(game_id=game_id),
            paths.status.set("FINISHED"),
            paths.winner.set(winner),
            paths.touched_at.set(now),
            when=over,
        )
    )


@board_game.write(
    budget=Budget(writes=7, of="500 Japanese characters, and as many in each of three languages"),
    example={"game_id": A_GAME, "turn": 5, "content": "中央が厚くなった。", "now": NOW},
)
def add_commentary(
    game_id: GameId, turn: int, content: str, now: str, content_i18n: Contents | None = None
) -> Plan[Commentary]:
    """A turn is commented on, once."""
    made = Commentary(game_id=game_id, turn_number=turn, content=content, content_i18n=content_i18n, created_at=now)
    return Plan(put(made, if_absent=True))


@board_game.write(
    budget=Budget(writes=299, of="99 votes"),
    example={"game_id": A_GAME, "items": [VOTE], "expires_at": 1_747_872_000},
)
def stamp_expiry(game_id: GameId, items: Sequence[Move | Commentary | Candidate | Vote], expires_at: int) -> Plan[Game]:
    """Up to 99 items of a finished game are to be deleted at that moment.

    A game with more takes more calls, in any order and any number of times; `stamp_game` comes last, so that a game
    which carries the mark is marked to its last vote.
    """
    if not 1 <= len(items) <= STAMPED_AT_ONCE:
        raise NotPossible("wrong_number", f"1 to {STAMPED_AT_ONCE} items are marked at once.")
    if any(it.game_id != game_id for it in items):
        raise NotPossible("wrong_game", "The items are of another game.")
    over = check(Game.key(game_id=game_id), paths.status.equals("FINISHED"))
    return Plan(over, *[_stamped(it, expires_at) for it in items])


@board_game.write(budget=Budget(writes=2, of="a game"), example={"game_id": A_GAME, "expires_at": 1_747_872_000})
def stamp_game(game_id: GameId, expires_at: int) -> Plan[Game]:
    """A finished game itself is to be deleted at that moment, after everything in it was marked."""
    over = paths.status.equals("FINISHED")
    return Plan(update(Game.key(game_id=game_id), _GAME_EXPIRY.set(expires_at), when=over))


def _decided(candidate: Candidate, *, adopted: bool) -> Step[Candidate]:
    counted = paths.outcome.equals("VOTING") & paths.vote_count.equals(candidate.vote_count)
    key = paths.candidate_key(candidate.game_id, candidate.turn_number, candidate.candidate_id)
    return update(key, paths.outcome.set("ADOPTED" if adopted else "CLOSED"), when=counted)


def _moved_on(turn: int, board_state: str, now: str, deadline: str | None) -> tuple[Edit[Game], ...]:
    return (
        paths.current_turn.set(turn + 1),
        paths.board_state.set(board_state),
        paths.deadline.set(deadline),
        paths.touched_at.set(now),
    )


def _stamped(item: Move | Commentary | Candidate | Vote, expires_at: int) -> Step[Any]:
    turn = {"game_id": item.game_id, "turn_number": item.turn_number}
    match item:
        case Move():
            return update(Move.key(**turn), _MOVE_EXPIRY.set(expires_at))
        case Commentary():
            return update(Commentary.key(**turn), _COMMENTARY_EXPIRY.set(expires_at))
        case Candidate():
            return update(Candidate.key(**turn, candidate_id=item.candidate_id), _CANDIDATE_EXPIRY.set(expires_at))
        case Vote():
            return update(Vote.key(**turn, user_id=item.user_id), _VOTE_EXPIRY.set(expires_at))
