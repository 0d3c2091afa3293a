"""How a turn becomes the next one, and a round its record: pure steps that the writes are made of."""

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
    """A turn whose drawer is about to choose a word."""
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
    """Where the picture of a turn lies."""
    return f"DRAWING#{round_number:02d}#{turn_number:02d}"


def add_scores(players: Iterable[Player], entries: Iterable[ScoreEntry]) -> tuple[Player, ...]:
    """The players with their totals after these points."""
    won: dict[PlayerId, int] = {}
    for entry in entries:
        won[entry.player_id] = won.get(entry.player_id, 0) + entry.signed
    return tuple(
        replace(player, total=(player.total or 0) + won[player.id]) if player.id in won else player
        for player in players
    )


def close_turn(game: Game, current: CurrentRound, now: Moment) -> CurrentRound:
    """The round once its turn is over, or its drawer is passed over: gone, or out of time without having chosen.

    Where fewer than two are there, nobody is waited for.
    """
    last = current.current_turn
    if last.status == "finished":
        return current
    there = {player.id for player in game.players if player.left_at is None and player.away_since is None}
    in_time = last.deadline is None or now < last.deadline
    if last.status == "drawing" or (in_time and last.drawer_id in there and len(there) >= 2):
        raise WrongState("The turn is not over yet.")
    return replace(current, passed=(*(current.passed or ()), last.drawer_id))


def next_turn(
    game: Game, current: CurrentRound, turn_id: TurnId, drawer_id: PlayerId, suggestions: Suggestions, now: Moment
) -> CurrentRound:
    """The round with the turn of a player who has had none in it."""
    over = close_turn(game, current, now)
    if drawer_id in {turn.drawer_id for turn in over.turns or ()} or drawer_id in (over.passed or ()):
        raise NotAllowed("Everybody draws once in a round.")
    number = current.current_turn.turn_number + 1
    return replace(over, current_turn=new_turn(game, turn_id, number, drawer_id, suggestions, now))


def finished_turn(game: Game, turn: Turn, picture: DrawingName | None, now: Moment) -> FinishedTurn:
    """What stays of a turn."""
    if turn.answer is None or turn.started_at is None:
        raise WrongState("A turn without a word leaves nothing behind.")
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
    """What stays of a round: its turns, its points by player and one by one."""
    won = {player.id: 0 for player in game.players}
    for entry in game.score_histories:
        won[entry.player_id] += entry.signed
    return Round(
        id=current.id,
        game_id=game.game_id,
        round_number=current.round_number,
        started_at=current.started_at,
        ended_at=now,
        turns=current.turns or (),
        round_scores=tuple(
            RoundScore(player_id=player.id, player_name=player.name, points=won[player.id]) for player in game.players
        ),
        score_histories=game.score_histories,
        ttl=seconds_after(now, RETENTION_SECONDS),
    )
