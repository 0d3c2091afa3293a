"""Values inside game and round items: settings, players, turns, points."""

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
    tuple[PlayerUuid, ...], Meta(max_length=9, description="Players who guessed the word, in order")
]
Suggestions: TypeAlias = Annotated[tuple[Answer, ...], Meta(max_length=3, description="Words to choose from")]
Revealed: TypeAlias = Annotated[
    tuple[Annotated[int, Meta(ge=0, le=49)], ...],
    Meta(max_length=2, description="Positions of the kana revealed as hints"),
]


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """Settings of a game, chosen by its host."""

    time_limit: TimeLimit = 60
    round_count: RoundCount = 3
    player_count: SeatCount = 4
    public: Annotated[bool, Meta(description="Whether the lobby lists the room")] = False
    mode: Annotated[Mode, Meta(description="Any word, or one that begins with the last kana")] = "free"
    hints: Annotated[bool, Meta(description="Whether kana are revealed during a turn")] = True


class Player(Struct, frozen=True, kw_only=True, rename="camel"):
    """A player of a game, including those who left it."""

    id: PlayerUuid
    name: PlayerName
    status: ReadyStatus = "not_ready"
    joined_at: Moment
    connection_id: ConnectionId | None = None
    away_since: Annotated[Moment, Meta(description="When the connection was lost; the seat is kept")] | None = None
    left_at: Annotated[Moment, Meta(description="When the player left a game in play")] | None = None
    total: Total | None = None

    def __post_init__(self) -> None:
        check_name(self.name)


class ScoreEntry(Struct, frozen=True, kw_only=True, rename="camel"):
    """Points that a player won by a guess, or lost as a drawer without a correct guess."""

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
    """The picture of the current turn: its drawer and its sort key."""

    drawer_id: PlayerUuid
    data: DrawingName
    updated_at: Moment


class Turn(Struct, frozen=True, kw_only=True, rename="camel"):
    """The current turn."""

    id: TurnUuid
    turn_number: TurnNumber
    drawer_id: PlayerUuid
    answer: Answer | None = None
    status: TurnStatus = "not_started"
    time_limit: TimeLimit
    started_at: Moment | None = None
    ended_at: Moment | None = None
    correct_player_ids: Guessers = ()
    deadline: Annotated[Moment, Meta(description="When the time to choose a word, or to draw, ends")] | None = None
    suggestions: Suggestions | None = None
    revealed: Revealed | None = None


class FinishedTurn(Struct, frozen=True, kw_only=True, rename="camel"):
    """The record of a finished turn."""

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
    tuple[FinishedTurn, ...], Meta(max_length=10, description="Finished turns of a round, in order")
]


PassedOver: TypeAlias = Annotated[
    tuple[PlayerUuid, ...], Meta(max_length=10, description="Drawers of this round who chose no word, in order")
]


class CurrentRound(Struct, frozen=True, kw_only=True, rename="camel"):
    """The current round. Its finished turns are held here until the round has an item of its own."""

    id: RoundUuid
    round_number: RoundNumber
    started_at: Moment
    ended_at: Moment | None = None
    current_turn: Turn
    turns: FinishedTurns | None = None
    passed: PassedOver | None = None


class RoundScore(Struct, frozen=True, kw_only=True, rename="camel"):
    """The points of a player in a round."""

    player_id: PlayerUuid
    player_name: PlayerName
    points: RoundPoints

    def __post_init__(self) -> None:
        check_name(self.player_name)
