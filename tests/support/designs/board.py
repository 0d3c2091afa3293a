"""Games decided by vote: one table with global and local indexes of every projection, expiry and a stream."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from zataku.table import KEYS_ONLY, NEW_AND_OLD, Entity, InKey, Nullable, Span, Table, View, derived, include, number

Status = Literal["ACTIVE", "FINISHED"]

board = Table("VoteBoardGame", pk="PK", sk="SK", ttl="expiresAt", stream=NEW_AND_OLD, transactions=True)
by_status = board.index("GSI1", pk="GSI1PK", sk="GSI1SK")
by_user = board.index("GSI2", pk="GSI2PK", sk="GSI2SK", projection=include("candidateId", "createdAt"))
by_followed = board.index("GSI3", pk="GSI3PK", sk="GSI3SK", projection=KEYS_ONLY)
by_listing = board.index("GSI4", pk="GSI4PK", sk="GSI4SK", projection=include("gameId"))
by_votes = board.local_index("VotesIndex", sk=number("voteCount"))
by_deadline = board.local_index("DeadlineIndex", sk="votingDeadline", projection=KEYS_ONLY)


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """A nested struct with fields of its own."""

    time_limit: Annotated[int, Meta(ge=1, le=300)] = 60
    hint: str | None = None
    words: list[str] = field(default_factory=list)


@board.entity(
    pk="GAME#{game_id}",
    sk="GAME#{game_id}",
    index={
        "GSI1PK": "GAME#STATUS#{status}",
        "GSI1SK": "{created_at}",
        "GSI4PK": "LISTED#{listed}",
        "GSI4SK": "{created_at}",
    },
    version="version",
)
class Game(Entity, frozen=True, kw_only=True, rename="camel", tag_field="entityType", tag="GAME"):
    """A game, listed by its status."""

    game_id: str
    status: Status = "ACTIVE"
    created_at: str = "2025-02-19T10:00:00Z"
    public: bool = False
    current_turn: Annotated[int, Meta(ge=0)] = 0
    settings: Settings = Settings()
    tags: frozenset[str] | None = None
    moves: list[str] = field(default_factory=list)
    scores: dict[str, int] = field(default_factory=dict)
    winner: Nullable[str] = None
    note: str | None = None
    expires_at: int | None = None
    version: int = 0

    @derived("status", "public")
    def listed(self) -> str | None:
        """The status of a public game, None for a private one."""
        return self.status if self.public else None


@board.entity(pk="GAME#{game_id}", sk="MOVE#{turn_number:03d}")
class Move(Entity, frozen=True, kw_only=True, rename="camel", tag_field="entityType", tag="MOVE"):
    """The move that was played in a turn."""

    game_id: str
    turn_number: int
    position: Annotated[str, Meta(pattern="^([A-H][1-8]|PASS)$")] = "D3"
    played_by: str = "COLLECTIVE"
    expires_at: int | None = None


@board.entity(
    pk="GAME#{game_id}#TURN#{turn_number:03d}",
    sk="CANDIDATE#{candidate_id}",
    index={"GSI2PK": "USER#{user_id}", "GSI2SK": "CANDIDATE#{created_at}"},
)
class Candidate(Entity, frozen=True, kw_only=True, rename="camel", tag_field="entityType", tag="CANDIDATE"):
    """A move to vote for; those that the machine proposes have no user."""

    game_id: str
    turn_number: int
    candidate_id: str
    user_id: str | None = None
    created_at: str | None = None
    position: str = "D3"
    description: str = ""
    vote_count: int | None = None
    voting_deadline: str | None = None
    picture: bytes | None = None


@board.entity(
    pk="GAME#{game_id}#TURN#{turn_number:03d}",
    sk="VOTE#{user_id}",
    index={"GSI2PK": "USER#{user_id}", "GSI2SK": "VOTE#{created_at}"},
)
class Vote(Entity, frozen=True, kw_only=True, rename="camel", tag_field="entityType", tag="VOTE"):
    """One user's vote in one turn."""

    game_id: str
    turn_number: int
    user_id: str
    candidate_id: str
    created_at: str = "2025-02-19T16:00:00Z"
    expires_at: int | None = None


@board.entity(
    pk="USER#{user_id}", sk="FOLLOWS#{other_id}", index={"GSI3PK": "FOLLOWERS#{other_id}", "GSI3SK": "{user_id}"}
)
class Follow(Entity, frozen=True, kw_only=True, rename="camel", tag_field="entityType", tag="FOLLOW"):
    """One user follows another; both are stored only in the keys."""

    user_id: InKey[str]
    other_id: InKey[str]
    since: str | None = None


@board.view(Vote)
class VoteLine(View, frozen=True, kw_only=True, rename="camel"):
    """A row in a list of votes."""

    candidate_id: str
    created_at: str


@board.view(Follow)
class Follower(View, frozen=True, kw_only=True, rename="camel"):
    """A follower, read from keys."""

    user_id: str
    other_id: str


@board.view(Game)
class GameLine(View, frozen=True, kw_only=True, rename="camel"):
    """A row in a list of games."""

    game_id: str
    status: Status


@board.view(Game)
class Listed(View, frozen=True, kw_only=True, rename="camel"):
    """A public game."""

    game_id: str


@board.query(returns=Listed)
def listed_with(status: Status) -> Span:
    """Public games of a status."""
    return by_listing.partition(f"LISTED#{status}")


@board.item()
def game(game_id: str):
    """One game."""
    return Game.key(game_id=game_id)


@board.item(strong=True)
def game_now(game_id: str):
    """One game, read strongly."""
    return Game.key(game_id=game_id)


@board.query(returns=Game)
def games_with(status: Status) -> Span:
    """Games of a status, oldest first."""
    return by_status.partition(f"GAME#STATUS#{status}")


@board.query(returns=Game)
def newest_games_with(status: Status) -> Span:
    """Games of a status, newest first."""
    return by_status.partition(f"GAME#STATUS#{status}").newest_first()


@board.query(returns=Game, strong=True)
def games_with_strongly(status: Status) -> Span:
    """A strong read of a global index, which every store refuses."""
    return by_status.partition(f"GAME#STATUS#{status}")


@board.query(returns=Move, strong=True)
def moves_of(game_id: str) -> Span:
    """All moves of a game, in turn order."""
    return board.partition(f"GAME#{game_id}").begins_with("MOVE#")


@board.query(returns=(Game, Move), strong=True)
def whole_game(game_id: str) -> Span:
    """A game and its moves."""
    return board.partition(f"GAME#{game_id}")


@board.query(returns=(Candidate, Vote), strong=True)
def turn_of(game_id: str, turn_number: int) -> Span:
    """Candidates and votes of a turn."""
    return board.partition(f"GAME#{game_id}#TURN#{turn_number:03d}")


@board.query(returns=Candidate, strong=True)
def favourites(game_id: str, turn_number: int) -> Span:
    """Candidates of a turn, most votes first, without those that have no count."""
    return by_votes.partition(f"GAME#{game_id}#TURN#{turn_number:03d}").newest_first()


@board.query(returns=VoteLine)
def votes_of(user_id: str) -> Span:
    """A user's votes over all games, oldest first."""
    return by_user.partition(f"USER#{user_id}").begins_with("VOTE#")


@board.query(returns=Follower)
def followers_of(user_id: str) -> Span:
    """The followers of a user."""
    return by_followed.partition(f"FOLLOWERS#{user_id}")


@board.query(returns=GameLine, strong=True)
def game_line(game_id: str) -> Span:
    """The row of one game, read from its item."""
    return board.partition(f"GAME#{game_id}").equals(f"GAME#{game_id}")
