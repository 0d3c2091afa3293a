"""The flaws of the five design documents, each as a minimal table declared exactly as the document says."""

from typing import Annotated, Literal, NewType

from msgspec import Meta, Struct

from zataku.table import KEYS_ONLY, Entity, InKey, Span, Table, View

GameId = NewType("GameId", str)
UserId = NewType("UserId", str)
KifuId = NewType("KifuId", str)
AnalysisId = NewType("AnalysisId", str)
ShareCode = NewType("ShareCode", str)
Name = Annotated[str, Meta(min_length=1, max_length=30)]


def moves_without_padding() -> Table:
    """VoteBoardGame: `SK = MOVE#<turnNumber>` and `SK = COMMENTARY#<turnNumber>`."""
    board = Table("VoteBoardGame", sk="SK")

    @board.entity(pk="GAME#{game_id}", sk="MOVE#{turn_number}")
    class Move(Entity, frozen=True, kw_only=True, rename="camel"):
        """A move that was played."""

        game_id: GameId
        turn_number: int

    @board.entity(pk="GAME#{game_id}", sk="COMMENTARY#{turn_number}")
    class Commentary(Entity, frozen=True, kw_only=True, rename="camel"):
        """The AI's commentary on a turn."""

        game_id: GameId
        turn_number: int
        content: Annotated[str, Meta(max_length=500)]

    @board.query(returns=Move)
    def moves_of(game_id: GameId) -> Span:
        """All moves of a game."""
        return board.partition(Move.partition(game_id=game_id)).begins_with("MOVE#")

    @board.query(returns=Commentary)
    def commentary_of(game_id: GameId) -> Span:
        """All commentary of a game."""
        return board.partition(f"GAME#{game_id}").begins_with("COMMENTARY#")

    return board


def rounds_without_padding() -> Table:
    """EsiritoriGame: `SK = ROUND#<roundNumber>`."""
    games = Table("EsiritoriGame", sk="SK")

    @games.entity(pk="GAME#{game_id}", sk="ROUND#{round_number}")
    class Round(Entity, frozen=True, kw_only=True, rename="camel"):
        """A round that has ended."""

        game_id: GameId
        round_number: Annotated[int, Meta(ge=1, le=10)]

    return games


def name_from_a_keys_only_index() -> Table:
    """Hanwol: GSI_Find_User_By_Name is Keys Only, and path ⑤ reads Name from it."""
    ranking = Table("Hanwol_Bot_DEV_Single_Table", sk="SK")
    by_name = ranking.index("GSI_Find_User_By_Name", pk="Name_Lower", sk="SK", projection=KEYS_ONLY)

    @ranking.entity(pk="USER#{uuid}", sk="METADATA")
    class Profile(Entity, frozen=True, kw_only=True, rename={"name": "Name", "name_lower": "Name_Lower"}):
        """A player as of now."""

        uuid: InKey[UserId]
        name: Name
        name_lower: Name

    @ranking.view(Profile)
    class PlayerName(View, frozen=True, kw_only=True, rename={"name": "Name"}):
        """A player looked up by name."""

        uuid: InKey[UserId]
        name: Name

    @ranking.query(returns=PlayerName)
    def player_named(name_lower: Name) -> Span:
        """The UUID of the player of this name."""
        return by_name.partition(name_lower).equals("METADATA")

    return ranking


def share_code_on_the_swap_index() -> Table:
    """ShogiProject: a shared record is looked up by `sk = kifu#scode#…`, which is stored in cgsi_pk."""
    library = Table("ShogiProject", pk="pk", sk="sk")
    swapped = library.index("SwapIndex", pk="sk", sk="pk")
    library.index("CommonGSI", pk="cgsi_pk", sk="sk")

    @library.entity(pk="kifu#uname#{username}", sk="kid#{kid}", index={"cgsi_pk": "kifu#scode#{share_code}"})
    class Kifu(Entity, frozen=True, kw_only=True):
        """A record of a game."""

        username: InKey[UserId]
        kid: InKey[KifuId]
        share_code: InKey[ShareCode | None] = None

    @library.query(returns=Kifu)
    def shared(share_code: ShareCode) -> Span:
        """The record shared under this code."""
        return swapped.partition(f"kifu#scode#{share_code}")

    return library


def player_index_without_keys() -> Table:
    """EsiritoriGame: GSI1-PlayerIndex is declared, but no item is given GSI1PK and GSI1SK."""
    games = Table("EsiritoriGame", sk="SK")
    by_player = games.index("GSI1-PlayerIndex", pk="GSI1PK", sk="GSI1SK")

    @games.entity(pk="GAME#{game_id}", sk="META")
    class Game(Entity, frozen=True, kw_only=True, rename="camel"):
        """A game and its seats."""

        game_id: GameId
        players: Annotated[list[UserId], Meta(max_length=10)]

    @games.query(returns=Game)
    def games_of(player: UserId) -> Span:
        """The games in which a player has a seat."""
        return by_player.partition(f"PLAYER#{player}").begins_with("GAME#")

    return games


def pictures_in_one_round() -> Table:
    """EsiritoriGame: a ROUND item holds the final pictures of up to ten turns, 100 KB of base64 each."""
    games = Table("EsiritoriGame", sk="SK")

    class Turn(Struct, frozen=True, kw_only=True, rename="camel"):
        drawer_id: UserId
        status: Literal["finished"]
        final_drawing: Annotated[str, Meta(max_length=100 * 1024, pattern="^[A-Za-z0-9+/=]*$")] | None = None

    @games.entity(pk="GAME#{game_id}", sk="ROUND#{round_number:02d}")
    class Round(Entity, frozen=True, kw_only=True, rename="camel"):
        """A round that has ended."""

        game_id: GameId
        round_number: int
        turns: Annotated[list[Turn], Meta(max_length=10)]

    return games


def all_users_in_one_partition() -> Table:
    """ShogiProject: `pk = users` and `pk = analysis`."""
    library = Table("ShogiProject", pk="pk", sk="sk")

    @library.entity(pk="users", sk="uname#{username}")
    class User(Entity, frozen=True, kw_only=True):
        """The settings of a user."""

        username: InKey[UserId]
        kifu_max: int

    @library.entity(pk="system", sk="none")
    class System(Entity, frozen=True, kw_only=True):
        """The settings of the whole system."""

        kifu_max: int

    @library.entity(pk="analysis", sk="aid#{aid}")
    class Analysis(Entity, frozen=True, kw_only=True):
        """The result of an engine's analysis."""

        aid: InKey[AnalysisId]
        status: Literal["waiting", "succeeded", "error"]

    return library
