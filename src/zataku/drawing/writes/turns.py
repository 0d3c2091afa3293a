"""Writes of a game in play: words, guesses, pictures, turns, rounds.

Each names the turn or round it applies to, so that a late write, or a retry on a newer state, does nothing.
"""

from msgspec.structs import replace

from zataku.drawing.design import Game, Picture, Strokes, esiritori
from zataku.drawing.errors import NotAllowed, WrongState
from zataku.drawing.limits import (
    FINISHED_GAME_SECONDS,
    RETENTION_SECONDS,
    Answer,
    Epoch,
    Kana,
    Moment,
    Penalty,
    PictureText,
    PlayerId,
    Points,
    RoundId,
    ScoreReason,
    StrokesNumber,
    TurnId,
    seconds_after,
)
from zataku.drawing.rules.chat import NewMessage, chat_message
from zataku.drawing.rules.turns import (
    add_scores,
    close_turn,
    drawing_name,
    finished_round,
    finished_turn,
    new_turn,
    next_turn,
)
from zataku.drawing.samples import DRAWING_DATA
from zataku.drawing.values import CurrentDrawing, CurrentRound, ScoreEntry, Suggestions
from zataku.drawing.writes.examples import (
    BETWEEN_ROUNDS,
    CHOOSING,
    DRAWING,
    HOST,
    MESSAGE,
    TURN_OVER,
    example_arguments,
)
from zataku.drawing.writes.game_update import (
    require_drawing_turn,
    require_owner,
    require_round,
    require_seated,
    require_status,
    update_game,
)
from zataku.table import Budget, Plan, put

_TURN_OVER, _BETWEEN_ROUNDS = example_arguments(TURN_OVER), example_arguments(BETWEEN_ROUNDS)


@esiritori.write(
    budget=Budget(writes=2, of="the first turn of 10 players"),
    example={**example_arguments(CHOOSING), "drawer_id": HOST.id},
)
def choose_answer(
    game: Game, epoch: Epoch, turn_id: TurnId, drawer_id: PlayerId, answer: Answer, next_kana: Kana | None, now: Moment
) -> Plan[Game]:
    """Set the word of a turn, chosen by the drawer or by the timeout: drawing and the turn's time limit begin."""
    current = require_round(game, turn_id)
    turn = current.current_turn
    if turn.status != "setting_answer":
        raise WrongState("The word of this turn is chosen already.")
    if turn.drawer_id != drawer_id:
        raise NotAllowed("Only the drawer may choose the word.")
    drawing = replace(
        turn, answer=answer, status="drawing", started_at=now, deadline=now + turn.time_limit * 1000, suggestions=None
    )
    name = drawing_name(current.round_number, turn.turn_number)
    canvas = CurrentDrawing(drawer_id=drawer_id, data=name, updated_at=now)
    changes = {"current_round": replace(current, current_turn=drawing), "current_drawing": canvas}
    return Plan(update_game(game, epoch, now, next_kana=next_kana, **changes))


@esiritori.write(budget=Budget(writes=2, of="the first turn of 10 players"), example=example_arguments(DRAWING))
def reveal_kana(game: Game, epoch: Epoch, turn_id: TurnId, place: int, now: Moment) -> Plan[Game]:
    """Reveal one kana of the word as a hint, at most two in a turn."""
    current, turn = require_drawing_turn(game, turn_id)
    revealed = turn.revealed or ()
    if not game.settings.hints or len(revealed) >= 2 or place in revealed or not 0 <= place < len(turn.answer or ""):
        raise WrongState("This hint cannot be given.")
    hinted = replace(turn, revealed=(*revealed, place))
    return Plan(update_game(game, epoch, now, current_round=replace(current, current_turn=hinted)))


@esiritori.write(
    budget=Budget(writes=8, of="the first right guess among 10 players"),
    example={**example_arguments(DRAWING), "message": MESSAGE},
)
def record_correct_guess(
    game: Game, epoch: Epoch, turn_id: TurnId, message: NewMessage, points: Points, now: Moment
) -> Plan[Game]:
    """Store a correct guess: its message and its points, both or neither.

    The first correct guess gives the drawer as many points. The caller decides whether the message is the word.
    """
    current, turn = require_drawing_turn(game, turn_id)
    guesser = require_seated(game, message.player_id)
    if guesser.id == turn.drawer_id:
        raise NotAllowed("The drawer cannot guess.")
    if guesser.id in turn.correct_player_ids:
        raise WrongState("This player has guessed the word already.")
    if turn.deadline is None or now > turn.deadline:
        raise WrongState("Time is up.")
    if points > turn.time_limit:
        raise WrongState("A guess scores at most the seconds of its turn.")
    scorers = [guesser.id] if turn.correct_player_ids else [guesser.id, turn.drawer_id]
    entries = [_score_entry(current, player_id, points, "correct_answer", now) for player_id in scorers]
    guessed = replace(turn, correct_player_ids=(*turn.correct_player_ids, guesser.id))
    step = update_game(
        game,
        epoch,
        now,
        current_round=replace(current, current_turn=guessed),
        players=add_scores(game.players, entries),
        score_histories=(*game.score_histories, *entries),
    )
    return Plan(step, put(chat_message(game, message, guesser.name, "correct", now), if_absent=True))


@esiritori.write(
    budget=Budget(writes=1, of="700 characters, half a second of quick drawing"),
    example={**example_arguments(DRAWING), "data": DRAWING_DATA},
)
def flush_strokes(
    game: Game, epoch: Epoch, turn_id: TurnId, number: StrokesNumber, data: PictureText, now: Moment
) -> Plan[Strokes]:
    """Store half a second of drawing, after the last part that the owner has read or written. A part is never replaced.

    Checking the stored game would make each of two flushes a second cost 6 units or more in place of 1. The number
    serves instead: an owner writes a part only after it has read or written all parts before it. If the number is in
    use by a part of another `epoch`, the owner reads the game: either it has lost the room and stops, or a former
    owner has written parts, and it takes `strokes_of` as the picture and continues after the last. If the stored part
    is of its own epoch, it is the one whose reply was lost. So no part is lost or stored twice.
    A server that has lost the room without noticing adds parts until one is rejected; parts of a finished turn are
    never read.
    """
    require_owner(game, epoch, now)
    current, turn = require_drawing_turn(game, turn_id)
    part = Strokes(
        game_id=game.game_id,
        round_number=current.round_number,
        turn_number=turn.turn_number,
        number=number,
        drawer_id=turn.drawer_id,
        data=data,
        updated_at=now,
        epoch=epoch,
        ttl=seconds_after(now, RETENTION_SECONDS),
    )
    return Plan(put(part, if_absent=True))


@esiritori.write(
    budget=Budget(writes=208, of="the first turn of 10 players and a picture of 100 KB"),
    example={**example_arguments(DRAWING), "data": DRAWING_DATA, "penalty": 30},
)
def finish_turn(
    game: Game, epoch: Epoch, turn_id: TurnId, data: PictureText | None, penalty: Penalty | None, now: Moment
) -> Plan[Game]:
    """End a turn, once: store its record, its whole picture, and the penalty of a drawer without a correct guess.

    A turn without strokes has no picture.
    """
    current, turn = require_drawing_turn(game, turn_id)
    if penalty is not None and turn.correct_player_ids:
        raise WrongState("The word was guessed, so the drawer loses nothing.")
    if penalty is not None and penalty > turn.time_limit // 2:
        raise WrongState("A drawer loses at most half the seconds of the turn.")
    picture = None if data is None else _picture(game, current, data, now)
    name = None if data is None else drawing_name(current.round_number, turn.turn_number)
    entries = [] if penalty is None else [_score_entry(current, turn.drawer_id, penalty, "drawer_penalty", now)]
    finished = replace(turn, status="finished", ended_at=now, deadline=None)
    record = finished_turn(game, turn, name, now)
    step = update_game(
        game,
        epoch,
        now,
        current_round=replace(current, current_turn=finished, turns=(*(current.turns or ()), record)),
        current_drawing=None,
        players=add_scores(game.players, entries),
        score_histories=(*game.score_histories, *entries),
    )
    return Plan(step) if picture is None else Plan(step, put(picture, if_absent=True))


@esiritori.write(
    budget=Budget(writes=4, of="the second turn of 10 players"), example={**_TURN_OVER, "after": _TURN_OVER["turn_id"]}
)
def begin_turn(
    game: Game,
    epoch: Epoch,
    after: TurnId,
    turn_id: TurnId,
    drawer_id: PlayerId,
    suggestions: Suggestions,
    now: Moment,
) -> Plan[Game]:
    """Begin the next player's turn. A drawer who is away, or chose no word in time, is passed over for the round."""
    current = require_round(game, after)
    require_seated(game, drawer_id)
    return Plan(
        update_game(game, epoch, now, current_round=next_turn(game, current, turn_id, drawer_id, suggestions, now))
    )


@esiritori.write(budget=Budget(writes=78, of="a full round of 10 players"), example=_TURN_OVER)
def finish_round(game: Game, epoch: Epoch, turn_id: TurnId, now: Moment) -> Plan[Game]:
    """End the round after this turn: its turns and points move into an item of their own.

    A round may end before every player has drawn, if the others are away. The caller decides whose turn it is.
    """
    current = require_round(game, turn_id)
    ended = replace(close_turn(game, current, now), ended_at=now, turns=None, passed=None)
    step = update_game(game, epoch, now, current_round=ended, score_histories=())
    return Plan(step, put(finished_round(game, current, now), if_absent=True))


@esiritori.write(
    budget=Budget(writes=3, of="a game of 10 players"),
    example={**_BETWEEN_ROUNDS, "after": _BETWEEN_ROUNDS["round_id"]},
)
def begin_round(
    game: Game,
    epoch: Epoch,
    after: RoundId,
    round_id: RoundId,
    turn_id: TurnId,
    drawer_id: PlayerId,
    suggestions: Suggestions,
    now: Moment,
) -> Plan[Game]:
    """Begin the next round, unless all rounds of the settings are played."""
    last = _ended_round(game, after)
    if last.round_number >= game.settings.round_count:
        raise WrongState("All rounds are played.")
    require_seated(game, drawer_id)
    turn = new_turn(game, turn_id, 1, drawer_id, suggestions, now)
    current = CurrentRound(id=round_id, round_number=last.round_number + 1, started_at=now, current_turn=turn)
    return Plan(update_game(game, epoch, now, current_round=current))


@esiritori.write(budget=Budget(writes=5, of="a game of 10 players"), example=_BETWEEN_ROUNDS)
def finish_game(game: Game, epoch: Epoch, round_id: RoundId, now: Moment) -> Plan[Game]:
    """End the game, after its last round or because too few players are left. It expires after seven days."""
    _ended_round(game, round_id)
    until = seconds_after(now, FINISHED_GAME_SECONDS)
    return Plan(update_game(game, epoch, now, status="finished", ttl=until))


def _ended_round(game: Game, round_id: RoundId) -> CurrentRound:
    require_status(game, "playing")
    if game.current_round is None or game.current_round.ended_at is None:
        raise WrongState("The round is not over yet.")
    if game.current_round.id != round_id:
        raise WrongState("The round has moved on.")
    return game.current_round


def _score_entry(
    current: CurrentRound, player_id: PlayerId, points: Points, reason: ScoreReason, now: Moment
) -> ScoreEntry:
    turn = current.current_turn
    return ScoreEntry(
        player_id=player_id,
        round_number=current.round_number,
        turn_number=turn.turn_number,
        points=points,
        reason=reason,
        timestamp=now,
    )


def _picture(game: Game, current: CurrentRound, data: PictureText, now: Moment) -> Picture:
    return Picture(
        game_id=game.game_id,
        round_number=current.round_number,
        turn_number=current.current_turn.turn_number,
        drawer_id=current.current_turn.drawer_id,
        data=data,
        updated_at=now,
        ttl=seconds_after(now, RETENTION_SECONDS),
    )
