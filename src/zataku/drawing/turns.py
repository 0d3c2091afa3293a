"""Writes of a game under way: words, guesses, pictures, turns, rounds."""

from msgspec.structs import replace

from zataku.drawing.changing import changed, demand_status, round_under_way, seated, turn_under_way
from zataku.drawing.design import ChatMessage, Game, Picture, Strokes, esiritori
from zataku.drawing.errors import NotNow, NotYours
from zataku.drawing.examples import CHOOSING, DRAWING, GUESS, GUEST, HOST, OVER, PAUSING, PICTURE, WORDS
from zataku.drawing.limits import (
    AFTERWARDS_SECONDS,
    Answer,
    Epoch,
    Kana,
    Moment,
    PlayerId,
    Points,
    RoundId,
    ScoreReason,
    TurnId,
    seconds_after,
)
from zataku.drawing.parts import CurrentDrawing, CurrentRound, ScoreEntry, Suggestions
from zataku.drawing.turning import (
    drawing_name,
    finished_round,
    new_turn,
    next_turn,
    record_of,
    scored,
)
from zataku.table import Budget, Plan, put

_NOW = {"epoch": DRAWING.epoch, "now": DRAWING.updated_at + 1}
_NEXT = {**_NOW, "drawer_id": GUEST.id, "suggestions": WORDS}


@esiritori.write(
    budget=Budget(writes=2, of="the first turn of 10 players"),
    example={**_NOW, "game": CHOOSING, "drawer_id": HOST.id},
)
def choose_answer(
    game: Game, epoch: Epoch, drawer_id: PlayerId, answer: Answer, next_kana: Kana | None, now: Moment
) -> Plan[Game]:
    """The drawer has chosen a word, or time has chosen one for them: drawing begins, and the clock of the turn."""
    current = round_under_way(game)
    turn = current.current_turn
    if turn.status != "setting_answer":
        raise NotNow("The word of this turn is chosen.")
    if turn.drawer_id != drawer_id:
        raise NotYours("Only the drawer chooses the word.")
    drawn = replace(
        turn, answer=answer, status="drawing", started_at=now, deadline=now + turn.time_limit * 1000, suggestions=None
    )
    name = drawing_name(current.round_number, turn.turn_number)
    canvas = CurrentDrawing(drawer_id=drawer_id, data=name, updated_at=now)
    changes = {"current_round": replace(current, current_turn=drawn), "current_drawing": canvas}
    return Plan(changed(game, epoch, now, next_kana=next_kana, **changes))


@esiritori.write(budget=Budget(writes=2, of="the first turn of 10 players"), example={**_NOW, "game": DRAWING})
def reveal_kana(game: Game, epoch: Epoch, place: int, now: Moment) -> Plan[Game]:
    """One kana of the word is given as a hint, at most two in a turn."""
    current, turn = turn_under_way(game)
    shown = turn.revealed or ()
    if not game.settings.hints or len(shown) >= 2 or place in shown or not 0 <= place < len(turn.answer or ""):
        raise NotNow("There is no such hint to give.")
    hinted = replace(turn, revealed=(*shown, place))
    return Plan(changed(game, epoch, now, current_round=replace(current, current_turn=hinted)))


@esiritori.write(
    budget=Budget(writes=8, of="the first right guess among 10 players"),
    example={**_NOW, "game": DRAWING, "message": GUESS},
)
def guess_right(game: Game, epoch: Epoch, message: ChatMessage, points: Points, now: Moment) -> Plan[Game]:
    """Somebody has guessed the word in time: the message and the points are kept together, or neither.

    The first right guess gives the drawer as many points.
    """
    current, turn = turn_under_way(game)
    guesser = seated(game, message.player_id)
    if guesser.id == turn.drawer_id:
        raise NotYours("The drawer cannot guess.")
    if guesser.id in turn.correct_player_ids:
        raise NotNow("This player has guessed the word already.")
    if turn.deadline is None or now > turn.deadline:
        raise NotNow("Time is up.")
    if message.game_id != game.game_id or message.type != "correct":
        raise NotNow("The message is not a right guess in this game.")
    winners = [guesser.id] if turn.correct_player_ids else [guesser.id, turn.drawer_id]
    entries = [_entry(current, who, points, "correct_answer", now) for who in winners]
    known = replace(turn, correct_player_ids=(*turn.correct_player_ids, guesser.id))
    step = changed(
        game,
        epoch,
        now,
        current_round=replace(current, current_turn=known),
        players=scored(game.players, entries),
        score_histories=(*game.score_histories, *entries),
    )
    return Plan(step, put(message, if_absent=True))


@esiritori.write(budget=Budget(writes=1, of="700 characters, half a second of quick drawing"))
def flush_strokes(strokes: Strokes) -> Plan[Strokes]:
    """Half a second of drawing is kept. A part is never replaced.

    It does not look at the game: that would make each of two flushes a second cost 4 units or more in place of 1. A
    server that has lost the room can leave one stray part behind; the final picture comes from the owner alone.
    """
    return Plan(put(strokes, if_absent=True))


@esiritori.write(
    budget=Budget(writes=208, of="the first turn of 10 players and a picture of 100 KB"),
    example={**_NOW, "game": DRAWING, "picture": PICTURE},
)
def finish_turn(game: Game, epoch: Epoch, picture: Picture | None, penalty: Points | None, now: Moment) -> Plan[Game]:
    """The turn is over, once: its record, its picture in one piece, and what a drawer whom nobody understood loses.

    Without a stroke there is no picture.
    """
    current, turn = turn_under_way(game)
    if penalty is not None and turn.correct_player_ids:
        raise NotNow("Somebody has guessed the word, so the drawer loses nothing.")
    name = drawing_name(current.round_number, turn.turn_number)
    if picture is not None and not _belongs(picture, game, current):
        raise NotNow("The picture is not that of this turn.")
    entries = [] if penalty is None else [_entry(current, turn.drawer_id, penalty, "drawer_penalty", now)]
    over = replace(turn, status="finished", ended_at=now, deadline=None)
    record = record_of(game, turn, None if picture is None else name, now)
    step = changed(
        game,
        epoch,
        now,
        current_round=replace(current, current_turn=over, turns=(*(current.turns or ()), record)),
        current_drawing=None,
        players=scored(game.players, entries),
        score_histories=(*game.score_histories, *entries),
    )
    return Plan(step) if picture is None else Plan(step, put(picture, if_absent=True))


@esiritori.write(budget=Budget(writes=4, of="the second turn of 10 players"), example={**_NEXT, "game": OVER})
def begin_turn(
    game: Game, epoch: Epoch, turn_id: TurnId, drawer_id: PlayerId, suggestions: Suggestions, now: Moment
) -> Plan[Game]:
    """The next player chooses a word. A drawer who went away before choosing one is passed over."""
    current = round_under_way(game)
    seated(game, drawer_id)
    turn = next_turn(game, current, turn_id, drawer_id, suggestions, now)
    return Plan(changed(game, epoch, now, current_round=replace(current, current_turn=turn)))


@esiritori.write(budget=Budget(writes=78, of="a full round of 10 players"), example={**_NOW, "game": OVER})
def finish_round(game: Game, epoch: Epoch, now: Moment) -> Plan[Game]:
    """The round is over: its turns and points move into an item of their own, and the game is small again."""
    current = round_under_way(game)
    if current.current_turn.status == "drawing":
        raise NotNow("The turn is not over yet.")
    ended = replace(current, ended_at=now, turns=None)
    step = changed(game, epoch, now, current_round=ended, score_histories=())
    return Plan(step, put(finished_round(game, current, now), if_absent=True))


@esiritori.write(budget=Budget(writes=3, of="a game of 10 players"), example={**_NEXT, "game": PAUSING})
def begin_round(
    game: Game,
    epoch: Epoch,
    round_id: RoundId,
    turn_id: TurnId,
    drawer_id: PlayerId,
    suggestions: Suggestions,
    now: Moment,
) -> Plan[Game]:
    """The next round begins, as long as the settings have one left."""
    last = _ended_round(game)
    if last.round_number >= game.settings.round_count:
        raise NotNow("All rounds are played.")
    seated(game, drawer_id)
    turn = new_turn(game, turn_id, 1, drawer_id, suggestions, now)
    current = CurrentRound(id=round_id, round_number=last.round_number + 1, started_at=now, current_turn=turn)
    return Plan(changed(game, epoch, now, current_round=current))


@esiritori.write(budget=Budget(writes=5, of="a game of 10 players"), example={**_NOW, "game": PAUSING})
def finish_game(game: Game, epoch: Epoch, now: Moment) -> Plan[Game]:
    """The game is over, after its last round or because too few are left. It can be looked at for seven days."""
    _ended_round(game)
    until = seconds_after(now, AFTERWARDS_SECONDS)
    return Plan(changed(game, epoch, now, status="finished", ttl=until))


def _ended_round(game: Game) -> CurrentRound:
    demand_status(game, "playing")
    if game.current_round is None or game.current_round.ended_at is None:
        raise NotNow("The round is not over yet.")
    return game.current_round


def _entry(current: CurrentRound, who: PlayerId, points: Points, reason: ScoreReason, now: Moment) -> ScoreEntry:
    turn = current.current_turn
    return ScoreEntry(
        player_id=who,
        round_number=current.round_number,
        turn_number=turn.turn_number,
        points=points,
        reason=reason,
        timestamp=now,
    )


def _belongs(picture: Picture, game: Game, current: CurrentRound) -> bool:
    turn = current.current_turn
    wanted = (game.game_id, current.round_number, turn.turn_number, turn.drawer_id)
    return (picture.game_id, picture.round_number, picture.turn_number, picture.drawer_id) == wanted
