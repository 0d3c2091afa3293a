"""One table for a game in which one player draws and the others guess.

A game is a partition: its state (`META`), its finished rounds, its chat, its seats and its pictures. A player's
connection has a partition of its own. Pictures and chat are items apart from the state, which is rewritten with every
correct guess and has to stay small.

Reads are eventually consistent, except those that a write depends on: the game before it is changed, the last message
and the strokes from which a new owner continues numbering, and the oldest messages that the cap removes. Every item is
written with its expiry; keeping a game removes it.
"""

from typing import Annotated

from msgspec import Meta

from zataku.drawing.departures import DEPARTURES
from zataku.drawing.limits import (
    ChatNumber,
    ChatText,
    ChatType,
    ConnectionId,
    Epoch,
    GameId,
    GameStatus,
    GameUuid,
    Kana,
    MessageUuid,
    Moment,
    PictureText,
    PlayerId,
    PlayerName,
    PlayerUuid,
    RoundNumber,
    RoundUuid,
    StrokesNumber,
    TurnNumber,
    Until,
    check_base64,
    check_chat_text,
    check_name,
)
from zataku.drawing.values import (
    CurrentDrawing,
    CurrentRound,
    FinishedTurns,
    Player,
    RoundScore,
    ScoreEntries,
    Settings,
)
from zataku.table import (
    KEYS_ONLY,
    NEW_AND_OLD,
    Budget,
    Entity,
    InKey,
    Key,
    OnDemand,
    Span,
    Table,
    View,
    Waiver,
    capacity_alarm,
    derived,
    error_rate_alarm,
)
from zataku.table.lint import check

__all__ = ["DEPARTURES", "TITLE"]

TITLE = "Drawing game"
_GAME = "456e7890-e89b-42d3-a456-426614174001"
_PLAYER = "789e0123-e89b-42d3-a456-426614174002"

esiritori = Table(
    "EsiritoriGame",
    pk="PK",
    sk="SK",
    ttl="ttl",
    stream=NEW_AND_OLD,
    recovery=True,
    transactions=True,
    capacity=OnDemand(max_reads=500, max_writes=1000),
    alarms=[
        capacity_alarm("read", percent=80, period=300, evaluations=2),
        error_rate_alarm(percent=5, period=300, evaluations=1),
    ],
    waivers=[
        Waiver(
            rule="hot-partition",
            subject="Game.GSI2-ActiveGameIndex",
            reason="The document lists games by their status. An entry is some 100 bytes and is written only when a "
            "game is opened, listed or hidden, begins or ends, not when its state changes.",
            limit="1,000 games opened, begun or ended a second; the table's own maximum is reached before",
        )
    ],
)
by_player = esiritori.index("GSI1-PlayerIndex", pk="GSI1PK", sk="GSI1SK")
by_status = esiritori.index("GSI2-ActiveGameIndex", pk="GSI2PK", sk="GSI2SK", projection=KEYS_ONLY)


@esiritori.entity(
    pk="GAME#{game_id}",
    sk="META",
    index={"GSI2PK": "STATUS#{listed}", "GSI2SK": "CREATED#{listed_since:013d}"},
    version="version",
)
class Game(Entity, frozen=True, kw_only=True, rename="camel"):
    """A game: its settings, its players, the current round and turn, and the points of that round.

    A waiting room is in the index of active games while it is public and not empty; a playing or finished game always
    is.
    """

    game_id: GameUuid
    status: GameStatus = "waiting"
    created_at: Moment
    updated_at: Moment
    settings: Settings
    current_round: CurrentRound | None = None
    players: Annotated[
        tuple[Player, ...], Meta(max_length=10, description="Authoritative list of seats, in seating order")
    ]
    score_histories: ScoreEntries = ()
    current_drawing: CurrentDrawing | None = None
    host_id: Annotated[PlayerUuid, Meta(description="The player who may change settings, start and kick")] | None = None
    next_kana: Kana | None = None
    epoch: Epoch = 0
    version: Annotated[int, Meta(ge=0, description="Incremented and checked by every change")] = 1
    ttl: Until | None = None

    def __post_init__(self) -> None:
        if len({player.id for player in self.players}) < len(self.players):
            raise ValueError("A player can have only one seat")
        if len(self.players) > self.settings.player_count:
            raise ValueError("A game cannot have more players than seats")

    @derived("status", "settings", "players")
    def listed(self) -> GameStatus | None:
        """The status under which the game is indexed; None for a private or empty waiting room."""
        hidden = self.status == "waiting" and not (self.settings.public and self.players)
        return None if hidden else self.status

    @derived("status", "settings", "players", "created_at")
    def listed_since(self) -> Moment | None:
        """The creation time of a listed game; None for one that is not listed."""
        return None if self.listed is None else self.created_at


@esiritori.entity(pk="GAME#{game_id}", sk="ROUND#{round_number:02d}")
class Round(Entity, frozen=True, kw_only=True, rename="camel"):
    """A finished round: its turns, the points of each player, and the single score entries."""

    id: RoundUuid
    game_id: GameUuid
    round_number: RoundNumber
    started_at: Moment
    ended_at: Moment
    turns: FinishedTurns
    round_scores: Annotated[tuple[RoundScore, ...], Meta(max_length=10)]
    score_histories: ScoreEntries | None = None
    ttl: Until | None = None


@esiritori.entity(pk="GAME#{game_id}", sk="CHAT#{created_at:013d}#{id}")
class ChatMessage(Entity, frozen=True, kw_only=True, rename="camel"):
    """A chat message: a player's text or guess, or a notice of the game about a player."""

    id: MessageUuid
    game_id: GameUuid
    player_id: PlayerUuid
    player_name: PlayerName
    content: ChatText
    type: ChatType
    created_at: Moment
    is_guess: bool | None = None
    is_correct: bool | None = None
    round_number: RoundNumber | None = None
    turn_number: TurnNumber | None = None
    number: ChatNumber | None = None
    ttl: Until | None = None

    def __post_init__(self) -> None:
        check_name(self.player_name)
        check_chat_text(self.content)


@esiritori.entity(pk="PLAYER#{player_id}", sk="CONNECTION")
class Connection(Entity, frozen=True, kw_only=True, rename="camel"):
    """A player's current connection, and the game it belongs to."""

    player_id: PlayerUuid
    player_name: PlayerName
    game_id: GameUuid
    connection_id: ConnectionId
    connected_at: Moment
    last_active_at: Moment
    ttl: Until

    def __post_init__(self) -> None:
        check_name(self.player_name)


@esiritori.entity(
    pk="GAME#{game_id}",
    sk="PLAYER#{player_id}",
    index={"GSI1PK": "PLAYER#{player_id}", "GSI1SK": "GAME#{game_id}"},
)
class Seat(Entity, frozen=True, kw_only=True, rename="camel"):
    """A player's seat in a game, indexed by player. Written together with the game's list of players.

    The seat of a player who left a waiting room stays, since their messages do: the removal of an account finds them.
    """

    game_id: GameUuid
    player_id: PlayerUuid
    player_name: PlayerName
    joined_at: Moment
    left_at: Annotated[Moment, Meta(description="When the player left the waiting room")] | None = None
    ttl: Until | None = None

    def __post_init__(self) -> None:
        check_name(self.player_name)


@esiritori.entity(pk="GAME#{game_id}", sk="DRAWING#{round_number:02d}#{turn_number:02d}")
class Picture(Entity, frozen=True, kw_only=True, rename="camel"):
    """The finished picture of a turn, written once when the turn ends. `finalDrawing` is its sort key."""

    game_id: GameUuid
    round_number: RoundNumber
    turn_number: TurnNumber
    drawer_id: PlayerUuid
    data: PictureText
    updated_at: Moment
    ttl: Until | None = None

    def __post_init__(self) -> None:
        check_base64(self.data)


@esiritori.entity(pk="GAME#{game_id}", sk="DRAWING#{round_number:02d}#{turn_number:02d}#{number:04d}")
class Strokes(Entity, frozen=True, kw_only=True, rename="camel"):
    """A part of the picture of the current turn: half a second of drawing, never changed. `currentDrawing` names it.

    The parts of a turn are numbered without gaps. In this order they form the picture, whichever owner wrote them.
    """

    game_id: GameUuid
    round_number: RoundNumber
    turn_number: TurnNumber
    number: StrokesNumber
    drawer_id: PlayerUuid
    data: PictureText
    updated_at: Moment
    epoch: Annotated[Epoch, Meta(description="Epoch of the room's owner that wrote it")] | None = None
    ttl: Until | None = None

    def __post_init__(self) -> None:
        check_base64(self.data)


@esiritori.view(Game)
class ListedGame(View, frozen=True, kw_only=True, rename="camel"):
    """A game's entry in the index of active games: its id. The games themselves are read in one batch."""

    game_id: InKey[GameUuid]


@esiritori.item(strong=True, example={"game_id": _GAME}, budget=Budget(reads=1, of="10 players in a fresh turn"))
def game(game_id: GameId) -> Key[Game]:
    """The current state of a game, read before a change."""
    return Game.key(game_id=game_id)


@esiritori.query(returns=Seat, budget=Budget(reads=2, of="50 games"))
def games_of_player(player_id: PlayerId) -> Span:
    """The seats of a player in all games, current and past, and those left before a game began."""
    return by_player.partition(f"PLAYER#{player_id}")


@esiritori.query(returns=ListedGame, budget=Budget(reads=1, of="50 rooms"))
def waiting_games() -> Span:
    """Public waiting rooms, newest first; their games are then read in one batch."""
    return by_status.partition("STATUS#waiting").newest_first()


@esiritori.query(returns=ListedGame, budget=Budget(reads=1, of="50 games"))
def running_games() -> Span:
    """Games in play, oldest first, for a restarted server to resume."""
    return by_status.partition("STATUS#playing")


@esiritori.query(returns=Round, budget=Budget(reads=23.5, of="10 rounds of 10 players"))
def rounds_of(game_id: GameId) -> Span:
    """The finished rounds of a game, in order."""
    return esiritori.partition(f"GAME#{game_id}").begins_with("ROUND#")


@esiritori.item(example={"game_id": _GAME}, budget=Budget(reads=2.5, of="a round of 10 players"))
def round_of(game_id: GameId, round_number: RoundNumber) -> Key[Round]:
    """One finished round."""
    return Round.key(game_id=game_id, round_number=round_number)


@esiritori.query(returns=ChatMessage, budget=Budget(reads=4, of="50 messages of 100 kana"))
def latest_chat(game_id: GameId) -> Span:
    """The messages of a game, newest first: the last 50 on entry, older ones page by page."""
    return esiritori.partition(f"GAME#{game_id}").begins_with("CHAT#").newest_first()


@esiritori.query(returns=ChatMessage, strong=True, budget=Budget(reads=1, of="2 messages of 500 kana"))
def oldest_chat(game_id: GameId) -> Span:
    """The messages of a game, oldest first, to find those beyond the cap."""
    return esiritori.partition(f"GAME#{game_id}").begins_with("CHAT#")


@esiritori.query(returns=ChatMessage, strong=True, budget=Budget(reads=1, of="1 message of 500 kana"))
def last_message(game_id: GameId) -> Span:
    """The last message of a game, read with a limit of 1: a new owner continues numbering from it."""
    return esiritori.partition(f"GAME#{game_id}").begins_with("CHAT#").newest_first()


@esiritori.item(example={"player_id": _PLAYER}, budget=Budget(reads=0.5, of="any connection"))
def connection_of(player_id: PlayerId) -> Key[Connection]:
    """The current connection of a player."""
    return Connection.key(player_id=player_id)


@esiritori.query(returns=Seat, budget=Budget(reads=0.5, of="10 seats"))
def seats_of(game_id: GameId) -> Span:
    """The seats of a game, and those that players left before it began."""
    return esiritori.partition(f"GAME#{game_id}").begins_with("PLAYER#")


@esiritori.item(example={"game_id": _GAME}, budget=Budget(reads=13, of="a picture of 100 KB"))
def picture_of(game_id: GameId, round_number: RoundNumber, turn_number: TurnNumber) -> Key[Picture]:
    """The finished picture of a turn, for the gallery, a link or a replay."""
    return Picture.key(game_id=game_id, round_number=round_number, turn_number=turn_number)


@esiritori.query(returns=Strokes, strong=True, budget=Budget(reads=27, of="60 seconds, 120 parts of 700 characters"))
def strokes_of(game_id: GameId, round_number: RoundNumber, turn_number: TurnNumber) -> Span:
    """The parts of a picture in order, for a server that takes over a turn or whose part was rejected."""
    return esiritori.partition(f"GAME#{game_id}").begins_with(f"DRAWING#{round_number:02d}#{turn_number:02d}#")


@esiritori.query(
    returns=(Picture, Strokes), strong=True, budget=Budget(reads=52, of="a picture of 100 KB and 120 parts of another")
)
def drawings_of(game_id: GameId) -> Span:
    """All pictures of a game and the parts of each, for the removal of an account."""
    return esiritori.partition(f"GAME#{game_id}").begins_with("DRAWING#")


check(esiritori)
