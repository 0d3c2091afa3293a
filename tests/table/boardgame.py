"""A small design after the vote board game, for the tests of the typed layer."""

from datetime import date
from enum import Enum
from typing import Annotated, Literal, NewType

from msgspec import Meta, Struct

from zataku.table import (
    KEYS_ONLY,
    NEW_AND_OLD,
    Entity,
    InKey,
    Key,
    Nullable,
    Span,
    Table,
    View,
    derived,
    include,
    number,
    path,
)

GameId = NewType("GameId", str)
Status = Literal["ACTIVE", "FINISHED"]


class Side(Enum):
    BLACK = "BLACK"
    WHITE = "WHITE"


class Clock(Struct, frozen=True, rename="camel"):
    time_limit: int
    byoyomi: int | None = None
    flag: Nullable[str] = None


board = Table("VoteBoardGame", pk="PK", sk="SK", ttl="expiresAt", stream=NEW_AND_OLD)
by_status = board.index("GSI1", pk="GSI1PK", sk="GSI1SK")
by_votes = board.index("GSI2", pk="PK", sk=number("voteCount"), projection=include("position"))
by_day = board.index("GSI3", pk="GSI3PK", projection=KEYS_ONLY)
by_position = board.local_index("ByPosition", sk="position", projection=include("voteCount"))


@board.entity(
    pk="GAME#{game_id}",
    sk="GAME#{game_id}",
    index={"GSI1PK": "GAME#STATUS#{listed_status}", "GSI1SK": "{created_at}", "GSI3PK": "DAY#{day}"},
    version="version",
)
class Game(Entity, frozen=True, kw_only=True, tag="GAME", tag_field="entityType", rename="camel"):
    """A game."""

    game_id: GameId
    status: Status
    created_at: str
    private: bool = False
    winner: Nullable[str] = None
    day: date | None = None
    clock: Clock | None = None
    players: list[Annotated[str, Meta(max_length=10)]] = []
    watchers: frozenset[str] | None = None
    level: float | None = None
    expires_at: int | None = None
    version: int = 1

    @derived("status", "private")
    def listed_status(self) -> str | None:
        return None if self.private else self.status


@board.entity(pk="GAME#{game_id}", sk="MOVE#{turn_number:03d}", index={"GSI1PK": "SIDE#{side}", "GSI1SK": "{position}"})
class Move(Entity, frozen=True, kw_only=True, tag="MOVE", tag_field="entityType", rename="camel"):
    """A move of a game."""

    game_id: GameId
    turn_number: int
    side: Side
    position: Annotated[str, Meta(pattern="^([A-H][1-8]|PASS)$")]
    vote_count: int | None = None


@board.view(Move)
class MoveSquare(View, frozen=True, kw_only=True, rename="camel"):
    position: str
    vote_count: int | None = None


@board.item(strong=True)
def game(game_id: GameId) -> Key[Game]:
    """One game."""
    return Game.key(game_id=game_id)


@board.query(returns=Move)
def moves_of(game_id: GameId) -> Span:
    """All moves of a game, in turn order."""
    return board.partition(Move.partition(game_id=game_id)).begins_with("MOVE#")


@board.query(returns=(Game, Move))
def everything_of(game_id: GameId) -> Span:
    """A game with its moves."""
    return board.partition(f"GAME#{game_id}")


@board.query(returns=Game)
def games_by_status(status: Status) -> Span:
    """Games in a status, newest first."""
    return by_status.partition(f"GAME#STATUS#{status}").newest_first()


library = Table("ShogiProject", pk="pk", sk="sk")
common = library.index("CommonGSI", pk="cgsi_pk", sk="sk")
slugs = library.local_index("CommonLSI", sk="clsi_sk")


@library.entity(
    pk="kifu#uname#{username}",
    sk="kid#{kid}",
    index={"cgsi_pk": "kifu#scode#{share_code}", "clsi_sk": "slug#{slug}"},
)
class Kifu(Entity, frozen=True, kw_only=True):
    """A record, whose owner, id, share code and slug are stored in its keys only."""

    username: InKey[str]
    kid: InKey[str]
    slug: InKey[str]
    share_code: InKey[str | None] = None
    kifu: str


rooms = Table("LiveComment-Rooms-{env}", pk="roomId")


@rooms.entity(pk="{room_id}")
class Room(Entity, frozen=True, kw_only=True, rename="camel"):
    """A room, whose key is just one of its attributes."""

    room_id: str
    name: str


status = path(Game, lambda game: game.status)
winner = path(Game, lambda game: game.winner)
