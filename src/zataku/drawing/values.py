"""What lies inside a game and its rounds: settings, players, turns, points."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from zataku.drawing.limits import (
    Answer,
    ConnectionId,
    DrawingName,
    Mode,
    Moment,
    PlayerName,
    PlayerUuid,
    Points,
    ReadyStatus,
    RoundCount,
    RoundNumber,
    RoundPoints,
    RoundUuid,
    ScoreReason,
    SeatCount,
    TimeLimit,
    Total,
    TurnNumber,
    TurnStatus,
    TurnUuid,
    check_name,
)

Guessers: TypeAlias = Annotated[
    tuple[PlayerUuid, ...], Meta(max_length=9, description="Players who guessed right, in their order")
]
Suggestions: TypeAlias = Annotated[tuple[Answer, ...], Meta(max_length=3, description="Words to choose from")]
Revealed: TypeAlias = Annotated[
    tuple[Annotated[int, Meta(ge=0, le=49)], ...],
    Meta(max_length=2, description="Places of the kana that were given as hints"),
]


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """How the host wants the game to be."""

    time_limit: TimeLimit = 60
    round_count: RoundCount = 3
    player_count: SeatCount = 4
    public: Annotated[bool, Meta(description="Whether the lobby lists the room")] = False
    mode: Annotated[Mode, Meta(description="Any word, or one that goes on from the last kana")] = "free"
    hints: Annotated[bool, Meta(description="Whether kana are revealed on the way")] = True


class Player(Struct, frozen=True, kw_only=True, rename="camel"):
    """Someone at the table."""

    id: PlayerUuid
    name: PlayerName
    status: ReadyStatus = "not_ready"
    joined_at: Moment
    connection_id: ConnectionId | None = None
    away_since: Annotated[Moment, Meta(description="When the connection was lost; the seat is kept")] | None = None
    left_at: Annotated[Moment, Meta(description="When the player left a game under way")] | None = None
    total: Total | None = None

    def __post_init__(self) -> None:
        check_name(self.name)


class ScoreEntry(Struct, frozen=True, kw_only=True, rename="camel"):
    """Points that somebody won, or lost as a drawer whom nobody understood."""

    player_id: PlayerUuid
    round_number: RoundNumber
    turn_number: TurnNumber
    points: Points
    reason: ScoreReason
    timestamp: Moment

    @property
    def signed(self) -> int:
        """The points as they count in totals."""
        return -self.points if self.reason == "drawer_penalty" else self.points


ScoreEntries: TypeAlias = Annotated[
    tuple[ScoreEntry, ...], Meta(max_length=100, description="Points of one round: at most 10 entries in 10 turns")
]


class CurrentDrawing(Struct, frozen=True, kw_only=True, rename="camel"):
    """The picture being drawn: whose it is, and where it lies."""

    drawer_id: PlayerUuid
    data: DrawingName
    updated_at: Moment


class Turn(Struct, frozen=True, kw_only=True, rename="camel"):
    """The turn under way."""

    id: TurnUuid
    turn_number: TurnNumber
    drawer_id: PlayerUuid
    answer: Answer | None = None
    status: TurnStatus = "not_started"
    time_limit: TimeLimit
    started_at: Moment | None = None
    ended_at: Moment | None = None
    correct_player_ids: Guessers = ()
    deadline: Annotated[Moment, Meta(description="When choosing a word, or drawing, is over")] | None = None
    suggestions: Suggestions | None = None
    revealed: Revealed | None = None


class FinishedTurn(Struct, frozen=True, kw_only=True, rename="camel"):
    """A turn as the history keeps it."""

    id: TurnUuid
    turn_number: TurnNumber
    drawer_id: PlayerUuid
    drawer_name: PlayerName
    answer: Answer
    status: Literal["finished"] = "finished"
    time_limit: TimeLimit
    started_at: Moment
    ended_at: Moment
    correct_player_ids: Guessers = ()
    final_drawing: DrawingName | None = None

    def __post_init__(self) -> None:
        check_name(self.drawer_name)


FinishedTurns: TypeAlias = Annotated[
    tuple[FinishedTurn, ...], Meta(max_length=10, description="The turns of a round that are over, in their order")
]


PassedOver: TypeAlias = Annotated[
    tuple[PlayerUuid, ...], Meta(max_length=10, description="Drawers of this round who chose no word, in their order")
]


class CurrentRound(Struct, frozen=True, kw_only=True, rename="camel"):
    """The round under way. Its finished turns wait here until the round has an item of its own."""

    id: RoundUuid
    round_number: RoundNumber
    started_at: Moment
    ended_at: Moment | None = None
    current_turn: Turn
    turns: FinishedTurns | None = None
    passed: PassedOver | None = None


class RoundScore(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a player won or lost in a round."""

    player_id: PlayerUuid
    player_name: PlayerName
    points: RoundPoints

    def __post_init__(self) -> None:
        check_name(self.player_name)
