"""One table, VoteBoardGame, for Othello by vote: all users together play against an AI, one voted move at a time.

A game with its moves and commentary is one partition; the candidates and votes of each of its turns are another. GSI1
lists games by status, GSI2 the votes and proposals of a user.

A vote and the counts it changes are one TransactWriteItems, which also checks the turn and its deadline: one vote per
user, and counts always equal votes. The items of a finished game can be deleted after 90 days, which is off by default.
About 10,000 requests a day are expected; capacity is on demand at first, and may be provisioned once the load is known.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from zataku.othello.departures import DEPARTURES
from zataku.othello.limits import (
    AiLevel,
    Author,
    BoardState,
    Cadence,
    CandidateStatus,
    CandidateUuid,
    Content,
    Contents,
    Description,
    Descriptions,
    Email,
    GameId,
    GameStatus,
    GameType,
    GameUuid,
    IconUrl,
    Language,
    Player,
    Side,
    Square,
    SquareOrPass,
    TimeZone,
    Turn,
    UserId,
    Username,
    UserUuid,
    Votes,
    Winner,
    check_name,
    check_text,
)
from zataku.table import Budget, Entity, Instant, Key, Nullable, Seconds, Span, Table, Waiver, derived
from zataku.table.lint import check

TITLE = "Othello by vote"

board_game = Table(
    "VoteBoardGame",
    pk="PK",
    sk="SK",
    ttl="expiresAt",
    encryption="managed",
    transactions=True,
    waivers=[
        Waiver(
            rule="hot-partition",
            subject="Game.GSI1",
            reason="Two statuses list all games. A game is written at most three times a turn, never by a vote or a "
            "user's proposal, and the list is read a page at a time.",
            limit="1,000 write units a second: 333 turns a second over all games, at 3 units of GSI1 a turn",
        ),
    ],
)
games_by_status = board_game.index("GSI1", pk="GSI1PK", sk="GSI1SK")
entries_by_user = board_game.index("GSI2", pk="GSI2PK", sk="GSI2SK")

# The identifiers of the document's examples; the lint calls item reads with them.
A_USER = UserId("123e4567-e89b-12d3-a456-426614174000")
A_GAME = GameId("456e7890-e89b-12d3-a456-426614174001")

CreatedAt = Annotated[Instant, Meta(description="Created at (ISO 8601)")]
UpdatedAt = Annotated[Instant, Meta(description="Updated at (ISO 8601)")]
TurnNumber = Annotated[Turn, Meta(description="Number of the turn, from 0; even turns are black's")]


@board_game.entity(pk="USER#{user_id}", sk="USER#{user_id}")
class User(Entity, frozen=True, kw_only=True, rename="camel", tag_field="entityType", tag="USER"):
    """A user who votes and proposes."""

    user_id: UserUuid
    email: Email | None = None
    username: Username
    icon_url: IconUrl | None = None
    created_at: CreatedAt
    updated_at: UpdatedAt
    expires_at: Seconds | None = None

    def __post_init__(self) -> None:
        check_name("A user name", self.username)
        if self.email is not None:
            check_name("A mail address", self.email)


@board_game.entity(
    pk="GAME#{game_id}",
    sk="GAME#{game_id}",
    index={"GSI1PK": "GAME#STATUS#{status}", "GSI1SK": "{created_at}"},
)
class Game(Entity, frozen=True, kw_only=True, rename="camel", tag_field="entityType", tag="GAME"):
    """The current state of a game of all users against the AI."""

    game_id: GameUuid
    game_type: Annotated[GameType, Meta(description="Kind of game")] = "OTHELLO"
    status: Annotated[GameStatus, Meta(description="Status")] = "ACTIVE"
    ai_side: Annotated[Side, Meta(description="Side of the AI")]
    current_turn: Annotated[Turn, Meta(description="Current turn, from 0; even turns are black's")] = 0
    board_state: BoardState
    winner: Annotated[Nullable[Winner], Meta(description="Winner")] = None
    created_at: CreatedAt
    updated_at: UpdatedAt
    voting_deadline: (
        Annotated[Instant, Meta(description="End of voting in the current turn; absent in a turn without a vote")]
        | None
    ) = None
    closed_turn: Annotated[Turn, Meta(description="The turn whose voting was closed last")] | None = None
    opened_turn: Annotated[Turn, Meta(description="The turn that the engine opened candidates for last")] | None = None
    cadence: Cadence | None = None
    time_zone: TimeZone | None = None
    ai_level: AiLevel | None = None
    language: Annotated[Language, Meta(description="Language of the game's texts")] | None = None
    expires_at: Seconds | None = None


@board_game.entity(pk="GAME#{game_id}", sk="MOVE#{turn_number:03d}")
class Move(Entity, frozen=True, kw_only=True, rename="camel", tag_field="entityType", tag="MOVE"):
    """The move played in a turn."""

    game_id: GameUuid
    turn_number: TurnNumber
    side: Annotated[Side, Meta(description="Side that played")]
    position: SquareOrPass
    played_by: Annotated[Player, Meta(description="Player of the move")]
    candidate_id: Annotated[CandidateUuid, Meta(description="ID of the adopted candidate (UUID)")] | None = None
    created_at: CreatedAt
    expires_at: Seconds | None = None


@board_game.entity(
    pk="GAME#{game_id}#TURN#{turn_number}",
    sk="CANDIDATE#{candidate_id}",
    index={"GSI2PK": "USER#{proposer}", "GSI2SK": "CANDIDATE#{proposed_at}"},
)
class Candidate(Entity, frozen=True, kw_only=True, rename="camel", tag_field="entityType", tag="CANDIDATE"):
    """A move that users may vote for in a turn."""

    candidate_id: CandidateUuid
    game_id: GameUuid
    turn_number: TurnNumber
    position: Square
    description: Description
    vote_count: Votes = 0
    created_by: Author
    status: Annotated[CandidateStatus, Meta(description="Status")] = "VOTING"
    created_at: CreatedAt
    voting_deadline: Annotated[Instant, Meta(description="End of voting (ISO 8601)")]
    description_i18n: (
        Annotated[Descriptions, Meta(description="The reason in every language, where a template wrote it")] | None
    ) = field(default=None, name="descriptionI18n")
    expires_at: Seconds | None = None

    def __post_init__(self) -> None:
        check_text("A reason", self.description)

    @derived("created_by")
    def proposer(self) -> str | None:
        """The id of the user who proposed it; None for the AI's candidates, which are not in GSI2."""
        author, _, user_id = self.created_by.partition("#")
        return user_id if author == "USER" else None

    @derived("created_by", "created_at")
    def proposed_at(self) -> str | None:
        """`createdAt` of a user's candidate; None for the AI's, like `proposer`."""
        return None if self.proposer is None else self.created_at


@board_game.entity(
    pk="GAME#{game_id}#TURN#{turn_number}",
    sk="VOTE#{user_id}",
    index={"GSI2PK": "USER#{user_id}", "GSI2SK": "VOTE#{created_at}"},
)
class Vote(Entity, frozen=True, kw_only=True, rename="camel", tag_field="entityType", tag="VOTE"):
    """The one vote of a user in a turn."""

    game_id: GameUuid
    turn_number: TurnNumber
    user_id: UserUuid
    candidate_id: Annotated[CandidateUuid, Meta(description="ID of the candidate voted for")]
    created_at: CreatedAt
    updated_at: UpdatedAt
    expires_at: Seconds | None = None


@board_game.entity(pk="GAME#{game_id}", sk="COMMENTARY#{turn_number:03d}")
class Commentary(Entity, frozen=True, kw_only=True, rename="camel", tag_field="entityType", tag="COMMENTARY"):
    """The commentary on a turn."""

    game_id: GameUuid
    turn_number: TurnNumber
    content: Content
    generated_by: Annotated[Literal["AI"], Meta(description="Author")] = "AI"
    created_at: CreatedAt
    content_i18n: (
        Annotated[Contents, Meta(description="The commentary in every language, where a template wrote it")] | None
    ) = field(default=None, name="contentI18n")
    expires_at: Seconds | None = None

    def __post_init__(self) -> None:
        check_text("Commentary", self.content)


@board_game.item(example={"user_id": A_USER}, budget=Budget(reads=0.5, of="a user"))
def user(user_id: UserId) -> Key[User]:
    """One user."""
    return User.key(user_id=user_id)


@board_game.query(returns=Game, budget=Budget(reads=3.5, of="a page of 50 games"))
def games_with(status: GameStatus) -> Span:
    """The games of a status, newest first."""
    return games_by_status.partition(f"GAME#STATUS#{status}").newest_first()


@board_game.item(example={"game_id": A_GAME}, budget=Budget(reads=0.5, of="a game"))
def game(game_id: GameId) -> Key[Game]:
    """One game."""
    return Game.key(game_id=game_id)


@board_game.query(returns=Move, budget=Budget(reads=2, of="a game of 60 moves"))
def moves_of(game_id: GameId) -> Span:
    """The moves of a game, in turn order."""
    return board_game.partition(f"GAME#{game_id}").begins_with("MOVE#")


@board_game.query(returns=Candidate, budget=Budget(reads=1, of="a turn with 3 candidates of the AI and 5 of users"))
def candidates_of(game_id: GameId, turn_number: Turn) -> Span:
    """The candidates of a turn, in no particular order."""
    return board_game.partition(f"GAME#{game_id}#TURN#{turn_number}").begins_with("CANDIDATE#")


@board_game.item(
    example={"game_id": A_GAME, "turn_number": 5, "user_id": A_USER}, budget=Budget(reads=0.5, of="a vote")
)
def vote_of(game_id: GameId, turn_number: Turn, user_id: UserId) -> Key[Vote]:
    """The vote of a user in a turn."""
    return Vote.key(game_id=game_id, turn_number=turn_number, user_id=user_id)


@board_game.query(returns=Vote, budget=Budget(reads=2.5, of="a page of 50 votes"))
def votes_by(user_id: UserId) -> Span:
    """The votes of a user in all games, newest first."""
    return entries_by_user.partition(f"USER#{user_id}").begins_with("VOTE#").newest_first()


@board_game.query(
    returns=Commentary, budget=Budget(reads=4.5, of="60 turns, in 40 characters of each of three languages")
)
def commentary_of(game_id: GameId) -> Span:
    """The commentary on the turns of a game, in turn order."""
    return board_game.partition(f"GAME#{game_id}").begins_with("COMMENTARY#")


@board_game.query(
    returns=Candidate, budget=Budget(reads=4, of="a page of 50 candidates with a reason of 40 Japanese characters")
)
def candidates_by(user_id: UserId) -> Span:
    """The candidates that a user proposed in all games, newest first."""
    return entries_by_user.partition(f"USER#{user_id}").begins_with("CANDIDATE#").newest_first()


@board_game.query(returns=Move, budget=Budget(reads=1, of="the first 31 moves"))
def moves_until(game_id: GameId, turn_number: Turn) -> Span:
    """The moves of a game up to and including a turn: replayed, they give the board after it."""
    return board_game.partition(f"GAME#{game_id}").between("MOVE#000", f"MOVE#{turn_number:03d}")


@board_game.query(
    returns=Candidate, strong=True, budget=Budget(reads=2, of="a turn with 3 candidates of the AI and 5 of users")
)
def ballot_of(game_id: GameId, turn_number: Turn) -> Span:
    """The current candidates of a turn, read strongly to decide it."""
    return board_game.partition(f"GAME#{game_id}#TURN#{turn_number}").begins_with("CANDIDATE#")


@board_game.query(returns=Vote, strong=True, budget=Budget(reads=5, of="a turn with 50 votes"))
def votes_in(game_id: GameId, turn_number: Turn) -> Span:
    """All current votes of a turn, read strongly to compare them with the counts."""
    return board_game.partition(f"GAME#{game_id}#TURN#{turn_number}").begins_with("VOTE#")


check(board_game)

__all__ = [
    "A_GAME",
    "A_USER",
    "DEPARTURES",
    "TITLE",
    "Candidate",
    "Commentary",
    "Game",
    "Move",
    "User",
    "Vote",
    "ballot_of",
    "board_game",
    "candidates_by",
    "candidates_of",
    "commentary_of",
    "game",
    "games_with",
    "moves_of",
    "moves_until",
    "user",
    "vote_of",
    "votes_by",
    "votes_in",
]
