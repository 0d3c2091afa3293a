"""Generated sample games: the smallest, the largest and one in play. The same arguments give the same items."""

from base64 import b64encode
from collections.abc import Iterator
from random import Random
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from zataku.drawing.design import ChatMessage, Connection, Game, Picture, Round, Seat, Strokes
from zataku.drawing.limits import (
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
        ttl=seconds_after(start, WAITING_ROOM_SECONDS),
    )


def in_play(
    random: Random, room: Game, round_number: RoundNumber, turn_number: TurnNumber, status: TurnStatus = "drawing"
) -> Game:
    """The game of a room at some turn; every player has guessed every word so far, and every drawer has scored."""
    start = _turn_start(room, round_number, 1)
    count = turn_number if status == "finished" else turn_number - 1
    turns = tuple(_finished_turn(random, room, round_number, number) for number in range(1, count + 1))
    entries = tuple(entry for turn in turns for entry in _entries(random, round_number, turn))
    turn = _turn(random, room, round_number, turn_number, status, turns)
    current = CurrentRound(
        id=RoundId(an_id(random)), round_number=round_number, started_at=start, current_turn=turn, turns=turns or None
    )
    now = _turn_start(room, round_number, turn_number)
    canvas = CurrentDrawing(drawer_id=turn.drawer_id, data=drawing_name(round_number, turn_number), updated_at=now)
    return replace(
        room,
        status="playing",
        updated_at=now,
        current_round=current,
        players=add_scores(room.players, entries),
        score_histories=entries,
        current_drawing=canvas if status == "drawing" else None,
        ttl=seconds_after(now, RETENTION_SECONDS),
    )


def between_rounds(random: Random, room: Game, round_number: RoundNumber) -> tuple[Game, Round]:
    """A game whose round has just ended, and that round."""
    full = in_play(random, room, round_number, len(room.players), "finished")
    assert full.current_round is not None
    now = full.updated_at + room.settings.time_limit * 1000
    ended = replace(full.current_round, ended_at=now, turns=None)
    small = replace(full, current_round=ended, score_histories=(), updated_at=now)
    return small, finished_round(full, full.current_round, now)


def ended(game: Game) -> Game:
    """The game after its last round."""
    return replace(game, status="finished", ttl=seconds_after(game.updated_at, FINISHED_GAME_SECONDS))


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
    yield from chat_in(random, game, start, size)
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
    yield from chat_in(random, game, start, size)
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


def chat_in(random: Random, game: Game, start: Moment, size: SampleSize) -> Iterator[ChatMessage]:
    """Messages of a game, a second apart."""
    for number in range(1, size.messages + 1):
        player = random.choice(game.players)
        text = "𠮷" * 500 if size.longest else random.choice(MESSAGE_TEXTS)
        yield a_message(random, game, player, number, text, start + 60_000 + number * 1000)


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


def _turn(
    random: Random,
    room: Game,
    round_number: RoundNumber,
    turn_number: TurnNumber,
    status: TurnStatus,
    turns: tuple[FinishedTurn, ...],
) -> Turn:
    drawer, now = room.players[turn_number - 1], _turn_start(room, round_number, turn_number)
    limit = room.settings.time_limit
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
        return replace(turn, answer=_answer(random, room), started_at=now, deadline=now + limit * 1000)
    return replace(turn, suggestions=tuple(random.sample(ANSWERS, 3)), deadline=now + 45_000)


def _finished_turn(random: Random, room: Game, round_number: RoundNumber, number: TurnNumber) -> FinishedTurn:
    drawer, started = room.players[number - 1], _turn_start(room, round_number, number)
    guessers = [player.id for player in room.players if player is not drawer]
    return FinishedTurn(
        id=TurnId(an_id(random)),
        turn_number=number,
        drawer_id=drawer.id,
        drawer_name=drawer.name,
        answer=_answer(random, room),
        time_limit=room.settings.time_limit,
        started_at=started,
        ended_at=started + room.settings.time_limit * 1000,
        correct_player_ids=tuple(random.sample(guessers, len(guessers))),
        final_drawing=drawing_name(round_number, number),
    )


def _entries(random: Random, round_number: RoundNumber, turn: FinishedTurn) -> Iterator[ScoreEntry]:
    for at, player_id in enumerate((turn.drawer_id, *turn.correct_player_ids)):
        yield ScoreEntry(
            player_id=player_id,
            round_number=round_number,
            turn_number=turn.turn_number,
            points=random.randint(1, turn.time_limit),
            reason="correct_answer",
            timestamp=turn.started_at + at * 1000,
        )


def _base64(random: Random, characters: int) -> str:
    return b64encode(random.randbytes(characters * 3 // 4)).decode()


def examples() -> Iterator[Entity]:
    """An item of each kind, of a small game in its second round, for the design document."""
    random, start = Random(1), 1_771_669_800_000
    size = SampleSize(players=3, rounds=2, picture=64)
    room = ready_room(random, start, size)
    between, first = between_rounds(random, room, 1)
    game = in_play(random, between, 2, 2)
    yield from (game, first)
    yield from seats_in(game)
    turn = first.turns[0]
    yield a_picture(random, game, 1, turn.turn_number, turn.drawer_id, turn.ended_at, size.picture)
    now = game.updated_at
    yield some_strokes(random, game, 1, now + 500, size.picture)
    yield a_message(random, game, game.players[0], 1, "りんご", now + 2000)
