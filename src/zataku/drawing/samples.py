"""Generated sample games: the smallest, the largest and one in play. The same arguments give the same items."""

from base64 import b64encode
from collections.abc import Iterator
from random import Random
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from zataku.drawing.design import ChatMessage, Connection, Game, Picture, Round, Seat, Strokes
from zataku.drawing.limits import (
    ANSWER_SECONDS,
    CONNECTION_SECONDS,
    FINISHED_GAME_SECONDS,
    MAX_CHAT_MESSAGES,
    PICTURE_CHARACTERS,
    RETENTION_SECONDS,
    WAITING_ROOM_SECONDS,
    ConnectionId,
    GameId,
    MessageId,
    Moment,
    PlayerId,
    RoundId,
    RoundNumber,
    TurnId,
    TurnNumber,
    TurnStatus,
    seconds_after,
)
from zataku.drawing.rules.chat import NewMessage, chat_message
from zataku.drawing.rules.turns import add_scores, drawing_name, finished_round
from zataku.drawing.values import (
    CurrentDrawing,
    CurrentRound,
    FinishedTurn,
    Player,
    ScoreEntry,
    Settings,
    Turn,
)
from zataku.table import Entity

NAMES = ("はなこ", "たろう", "지민", "Alex", "ゆうき", "서연", "Noor", "さくら", "민준", "Zoë 2")
ANSWERS = ("りんご", "ごりら", "らっこ", "こあら", "らーめん", "かさ", "さかな", "なす", "すいか", "かめ", "めがね")
MESSAGE_TEXTS = (
    "こんにちは！",
    "それはなに？",
    "わかった！",
    "もう少し大きく描いて",
    "고양이?",
    "너무 어려워요",
    "Is it a boat?",
    "lol",
)
DRAWING_DATA = (
    "H4sIAAAAAAACA4uOViouKcrPTlXSUVI2TAJBJR0TnWgDPWNDHQM9EyMgYWwKYsXG6kQrpWXm5IBUJhsYWxoBVYLUWYBkgdKxAPU6xCFMAAAA"
)
"""A stroke and a fill as commands, gzip and base64."""


class SampleSize(Struct, frozen=True, kw_only=True):
    """The size of a sample game."""

    players: int = 10
    rounds: int = 3
    time_limit: int = 60
    picture: int = 4000
    messages: int = 50
    longest: bool = False


MINIMAL = SampleSize(players=2, rounds=1, time_limit=60, messages=4)
MAXIMAL = SampleSize(
    players=10, rounds=10, time_limit=300, picture=PICTURE_CHARACTERS, messages=MAX_CHAT_MESSAGES, longest=True
)


def an_id(random: Random) -> str:
    """A random UUID of version 4."""
    return str(UUID(int=random.getrandbits(128), version=4))


def ready_room(random: Random, start: Moment, size: SampleSize) -> Game:
    """A public room with every seat taken and every player ready."""
    players = tuple(_player(random, start, index, size) for index in range(size.players))
    settings = Settings(time_limit=size.time_limit, round_count=size.rounds, player_count=size.players, public=True)
    return Game(
        game_id=GameId(an_id(random)),
        created_at=start,
        updated_at=players[-1].joined_at,
        settings=settings,
        players=players,
        host_id=players[0].id,
        epoch=1,
        # Created and taken by its owner; then every player but the host joined, and all became ready.
        version=1 + 1 + (size.players - 1) + size.players,
        ttl=seconds_after(start, WAITING_ROOM_SECONDS),
    )


def in_play(
    random: Random, room: Game, round_number: RoundNumber, turn_number: TurnNumber, status: TurnStatus = "drawing"
) -> Game:
    """The game of a room at some turn; every player has guessed every word so far, and every drawer has scored."""
    start = _turn_start(room, round_number, turn_number)
    count = turn_number if status == "finished" else turn_number - 1
    played = [_played_turn(random, room, round_number, number) for number in range(1, count + 1)]
    turns = tuple(turn for turn, _ in played)
    entries = tuple(entry for _, scored in played for entry in scored)
    turn = _turn(random, room, start, turn_number, status, turns)
    current = CurrentRound(
        id=RoundId(an_id(random)),
        round_number=round_number,
        started_at=_turn_start(room, round_number, 1),
        current_turn=turn,
        turns=turns or None,
    )
    canvas = CurrentDrawing(drawer_id=turn.drawer_id, data=drawing_name(round_number, turn_number), updated_at=start)
    now = turn.ended_at or start
    return replace(
        room,
        status="playing",
        updated_at=now,
        current_round=current,
        players=add_scores(room.players, entries),
        score_histories=entries,
        current_drawing=canvas if status == "drawing" else None,
        version=room.version + _changes_in_round(room, turn_number, status),
        ttl=seconds_after(_turn_start(room, 1, 1), RETENTION_SECONDS),
    )


def between_rounds(random: Random, room: Game, round_number: RoundNumber) -> tuple[Game, Round]:
    """A game whose round has just ended, and that round."""
    full = in_play(random, room, round_number, len(room.players), "finished")
    assert full.current_round is not None
    now = full.updated_at + 5000
    ended = replace(full.current_round, ended_at=now, turns=None)
    small = replace(full, current_round=ended, score_histories=(), updated_at=now, version=full.version + 1)
    return small, finished_round(full, full.current_round, now)


def ended(game: Game) -> Game:
    """The game after its last round."""
    until = seconds_after(game.updated_at, FINISHED_GAME_SECONDS)
    return replace(game, status="finished", version=game.version + 1, ttl=until)


def minimal_game(random: Random, start: Moment) -> Iterator[Entity]:
    """A finished game of 2 players, 1 round and 60 seconds."""
    return played_game(random, start, MINIMAL)


def maximal_game(random: Random, start: Moment) -> Iterator[Entity]:
    """A finished game that fills every limit: 10 players, 10 rounds, 300 seconds, 100 pictures, 1,000 messages."""
    return played_game(random, start, MAXIMAL)


def played_game(random: Random, start: Moment, size: SampleSize) -> Iterator[Entity]:
    """All items of a finished game, one at a time; the game itself comes last."""
    game = ready_room(random, start, size)
    yield from seats_in(game)
    for number in range(1, size.rounds + 1):
        game, played = between_rounds(random, game, number)
        yield played
        for turn in played.turns:
            yield a_picture(random, game, number, turn.turn_number, turn.drawer_id, turn.ended_at, size.picture)
    yield from chat_in(random, game, size)
    yield ended(game)


def ongoing_game(random: Random, start: Moment) -> Iterator[Entity]:
    """A game in play: round 2, turn 3, 50 messages, 20 score entries. The game itself comes last."""
    size = SampleSize()
    room = ready_room(random, start, size)
    yield from seats_in(room)
    between, first = between_rounds(random, room, 1)
    yield first
    game = in_play(random, between, 2, 3)
    now = game.updated_at
    for number in range(1, 21):
        yield some_strokes(random, game, number, now + number * 500)
    yield from chat_in(random, game, size)
    yield game


def seats_in(game: Game) -> Iterator[Seat | Connection]:
    """The seat and the connection of every player."""
    for player in game.players:
        at = player.joined_at
        yield Seat(
            game_id=game.game_id,
            player_id=player.id,
            player_name=player.name,
            joined_at=at,
            ttl=seconds_after(at, RETENTION_SECONDS),
        )
        if player.connection_id is not None:
            yield Connection(
                player_id=player.id,
                player_name=player.name,
                game_id=game.game_id,
                connection_id=player.connection_id,
                connected_at=at,
                last_active_at=at,
                ttl=seconds_after(at, CONNECTION_SECONDS),
            )


def chat_in(random: Random, game: Game, size: SampleSize) -> Iterator[ChatMessage]:
    """Wrong guesses of a game's current turn, evenly spaced between its start and its end."""
    assert game.current_round is not None
    turn = game.current_round.current_turn
    assert turn.started_at is not None
    guessers = [player for player in game.players if player.id != turn.drawer_id]
    interval = ((turn.ended_at or turn.deadline or turn.started_at) - turn.started_at) // (size.messages + 1)
    for number in range(1, size.messages + 1):
        text = "𠮷" * 500 if size.longest else random.choice(MESSAGE_TEXTS)
        yield a_message(random, game, random.choice(guessers), number, text, turn.started_at + number * interval)


def a_message(random: Random, game: Game, player: Player, number: int, text: str, now: Moment) -> ChatMessage:
    """A wrong guess in the current turn, or a plain message before the first round."""
    message = NewMessage(id=MessageId(an_id(random)), number=number, player_id=player.id, content=text)
    return chat_message(game, message, player.name, "normal" if game.current_round is None else "guess", now)


def a_picture(
    random: Random, game: Game, round_: RoundNumber, turn: TurnNumber, drawer: PlayerId, now: Moment, characters: int
) -> Picture:
    """A picture of that many characters: valid base64 of random bytes."""
    return Picture(
        game_id=game.game_id,
        round_number=round_,
        turn_number=turn,
        drawer_id=drawer,
        data=_base64(random, characters),
        updated_at=now,
        ttl=seconds_after(now, RETENTION_SECONDS),
    )


def some_strokes(random: Random, game: Game, number: int, now: Moment, characters: int = 700) -> Strokes:
    """A part of the picture of the current turn: half a second of drawing."""
    assert game.current_round is not None
    turn = game.current_round.current_turn
    return Strokes(
        game_id=game.game_id,
        round_number=game.current_round.round_number,
        turn_number=turn.turn_number,
        number=number,
        drawer_id=turn.drawer_id,
        data=_base64(random, characters),
        updated_at=now,
        epoch=game.epoch,
        ttl=seconds_after(now, RETENTION_SECONDS),
    )


def _player(random: Random, start: Moment, index: int, size: SampleSize) -> Player:
    name = "𠮷" * 9 + "𠀀𠀁𠀂𠀃𠀄𠀅𠀆𠀇𠀈𠀉"[index] if size.longest else NAMES[index]
    connection: ConnectionId = _base64(random, 128 if size.longest else 16)
    return Player(
        id=PlayerId(an_id(random)),
        name=name,
        status="ready",
        joined_at=start + index * 1000,
        connection_id=connection,
    )


def _turn_start(room: Game, round_number: RoundNumber, turn_number: TurnNumber) -> Moment:
    """When a turn begins: each takes its time limit and a minute more."""
    before = (round_number - 1) * len(room.players) + turn_number - 1
    return room.created_at + 60_000 + before * (room.settings.time_limit + 60) * 1000


def _answer(random: Random, room: Game) -> str:
    return "".join(random.choices("あかさたなー", k=50)) if len(room.players[0].name) == 10 else random.choice(ANSWERS)


def _changes_in_round(room: Game, turn_number: TurnNumber, status: TurnStatus) -> int:
    """How often a game changes from the start of a round to a status of one of its turns.

    A turn begins, its word is chosen, all players but the drawer guess it, and it ends.
    """
    players = len(room.players)
    by_turn: dict[TurnStatus, int] = {"not_started": 0, "setting_answer": 1, "drawing": 2, "finished": players + 2}
    return (turn_number - 1) * by_turn["finished"] + by_turn[status]


def _turn(
    random: Random,
    room: Game,
    start: Moment,
    turn_number: TurnNumber,
    status: TurnStatus,
    turns: tuple[FinishedTurn, ...],
) -> Turn:
    drawer, limit = room.players[turn_number - 1], room.settings.time_limit
    turn = Turn(id=TurnId(an_id(random)), turn_number=turn_number, drawer_id=drawer.id, status=status, time_limit=limit)
    if status == "finished":
        last = turns[-1]
        return replace(
            turn,
            id=last.id,
            answer=last.answer,
            started_at=last.started_at,
            ended_at=last.ended_at,
            correct_player_ids=last.correct_player_ids,
        )
    if status == "drawing":
        return replace(turn, answer=_answer(random, room), started_at=start, deadline=start + limit * 1000)
    return replace(turn, suggestions=tuple(random.sample(ANSWERS, 3)), deadline=start + ANSWER_SECONDS * 1000)


def _played_turn(
    random: Random, room: Game, round_number: RoundNumber, number: TurnNumber
) -> tuple[FinishedTurn, list[ScoreEntry]]:
    """A turn that ended with the last correct guess, and its points: the seconds that remained at each guess."""
    drawer, started = room.players[number - 1], _turn_start(room, round_number, number)
    limit = room.settings.time_limit
    guessers = [player.id for player in room.players if player is not drawer]
    random.shuffle(guessers)
    guessed_after = sorted(random.sample(range(1, limit), len(guessers)))
    first_guess = guessed_after[0]
    scorers = [(guessers[0], first_guess), (drawer.id, first_guess), *zip(guessers[1:], guessed_after[1:], strict=True)]
    entries = [
        ScoreEntry(
            player_id=player_id,
            round_number=round_number,
            turn_number=number,
            points=limit - seconds,
            reason="correct_answer",
            timestamp=started + seconds * 1000,
        )
        for player_id, seconds in scorers
    ]
    turn = FinishedTurn(
        id=TurnId(an_id(random)),
        turn_number=number,
        drawer_id=drawer.id,
        drawer_name=drawer.name,
        answer=_answer(random, room),
        time_limit=limit,
        started_at=started,
        ended_at=entries[-1].timestamp,
        correct_player_ids=tuple(guessers),
        final_drawing=drawing_name(round_number, number),
    )
    return turn, entries


def _base64(random: Random, characters: int) -> str:
    return b64encode(random.randbytes(characters * 3 // 4)).decode()


def examples() -> Iterator[Entity]:
    """An item of each kind, of a small game in its second round, for the design document."""
    random, start = Random(1), 1_771_669_800_000
    room = ready_room(random, start, SampleSize(players=3, rounds=2))
    between, first = between_rounds(random, room, 1)
    game = in_play(random, between, 2, 2)
    yield from (game, first)
    yield from seats_in(game)
    turn, characters = first.turns[0], len(DRAWING_DATA)
    picture = a_picture(random, game, 1, turn.turn_number, turn.drawer_id, turn.ended_at, characters)
    yield replace(picture, data=DRAWING_DATA)
    now = game.updated_at
    yield replace(some_strokes(random, game, 1, now + 500, characters), data=DRAWING_DATA)
    # Each of the four finished turns has two messages with correct guesses.
    yield a_message(random, game, game.players[0], 9, "りんご", now + 2000)
