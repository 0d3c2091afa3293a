"""Transitions between turns and rounds: pure functions that the writes apply."""

from collections.abc import Iterable

from msgspec.structs import replace

from zataku.drawing.design import Game, Round
from zataku.drawing.errors import NotAllowed, WrongState
from zataku.drawing.limits import (
    ANSWER_SECONDS,
    RETENTION_SECONDS,
    DrawingName,
    Moment,
    PlayerId,
    RoundNumber,
    TurnId,
    TurnNumber,
    seconds_after,
)
from zataku.drawing.values import (
    CurrentRound,
    FinishedTurn,
    Player,
    RoundScore,
    ScoreEntry,
    Suggestions,
    Turn,
)


def new_turn(
    game: Game, turn_id: TurnId, number: TurnNumber, drawer_id: PlayerId, suggestions: Suggestions, now: Moment
) -> Turn:
    """A turn whose drawer has to choose a word."""
    return Turn(
        id=turn_id,
        turn_number=number,
        drawer_id=drawer_id,
        status="setting_answer",
        time_limit=game.settings.time_limit,
        deadline=now + ANSWER_SECONDS * 1000,
        suggestions=suggestions,
    )


def drawing_name(round_number: RoundNumber, turn_number: TurnNumber) -> DrawingName:
    """The sort key of a turn's picture."""
    return f"DRAWING#{round_number:02d}#{turn_number:02d}"


def add_scores(players: Iterable[Player], entries: Iterable[ScoreEntry]) -> tuple[Player, ...]:
    """The players with their totals after these points."""
    points: dict[PlayerId, int] = {}
    for entry in entries:
        points[entry.player_id] = points.get(entry.player_id, 0) + entry.signed
    return tuple(
        replace(player, total=(player.total or 0) + points[player.id]) if player.id in points else player
        for player in players
    )


def close_turn(game: Game, current: CurrentRound, now: Moment) -> CurrentRound:
    """The round after its current turn; a drawer who is absent, or chose no word in time, is passed over.

    With fewer than two players present, the drawer is passed over at once. Raises `WrongState` before the turn is over.
    """
    turn = current.current_turn
    if turn.status == "finished":
        return current
    present = {player.id for player in game.players if player.left_at is None and player.away_since is None}
    in_time = turn.deadline is None or now < turn.deadline
    if turn.status == "drawing" or (in_time and turn.drawer_id in present and len(present) >= 2):
        raise WrongState("The turn is not over yet.")
    return replace(current, passed=(*(current.passed or ()), turn.drawer_id))


def next_turn(
    game: Game, current: CurrentRound, turn_id: TurnId, drawer_id: PlayerId, suggestions: Suggestions, now: Moment
) -> CurrentRound:
    """The round with a new turn, for a drawer who has had none in it."""
    closed = close_turn(game, current, now)
    if drawer_id in {turn.drawer_id for turn in closed.turns or ()} or drawer_id in (closed.passed or ()):
        raise NotAllowed("This player has had a turn in this round. Each player draws once in a round.")
    number = current.current_turn.turn_number + 1
    return replace(closed, current_turn=new_turn(game, turn_id, number, drawer_id, suggestions, now))


def finished_turn(game: Game, turn: Turn, picture: DrawingName | None, now: Moment) -> FinishedTurn:
    """The record of a turn in its round."""
    if turn.answer is None or turn.started_at is None:
        raise WrongState("The turn has no word and cannot be recorded.")
    return FinishedTurn(
        id=turn.id,
        turn_number=turn.turn_number,
        drawer_id=turn.drawer_id,
        drawer_name=next(player.name for player in game.players if player.id == turn.drawer_id),
        answer=turn.answer,
        time_limit=turn.time_limit,
        started_at=turn.started_at,
        ended_at=now,
        correct_player_ids=turn.correct_player_ids,
        final_drawing=picture,
    )


def finished_round(game: Game, current: CurrentRound, now: Moment) -> Round:
    """The item of a finished round: its turns, its points by player and its score entries."""
    points = {player.id: 0 for player in game.players}
    for entry in game.score_histories:
        points[entry.player_id] += entry.signed
    return Round(
        id=current.id,
        game_id=game.game_id,
        round_number=current.round_number,
        started_at=current.started_at,
        ended_at=now,
        turns=current.turns or (),
        round_scores=tuple(
            RoundScore(player_id=player.id, player_name=player.name, points=points[player.id])
            for player in game.players
        ),
        score_histories=game.score_histories,
        ttl=seconds_after(now, RETENTION_SECONDS),
    )
