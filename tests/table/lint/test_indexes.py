"""The rule about unfed indexes: at least one entity must have all keys of an index."""

from typing import Annotated, NewType

from msgspec import Meta

from tests.table.lint.findings import findings_of, message_of
from zataku.table import Entity, Table, number

GameId = NewType("GameId", str)
Moment = Annotated[str, Meta(max_length=20)]
FINDING = [("unfed-index", "GSI1")]


def games(*, pk: str = "GSI1PK", sk: str = "GSI1SK", sort_number: bool = False, **templates: str) -> Table:
    table = Table("Games", sk="SK")
    table.index("GSI1", pk=pk, sk=number(sk) if sort_number else sk)

    @table.entity(pk="GAME#{game_id}", sk="GAME", index=templates)
    class Game(Entity, frozen=True, kw_only=True, rename="camel", tag="GAME", tag_field="entityType"):
        """A game."""

        game_id: GameId
        created_at: Moment
        turn: int

    return table


def test_an_index_whose_keys_no_entity_has_is_reported() -> None:
    assert findings_of(games()) == FINDING
    assert "(GSI1PK of type S, GSI1SK of type S)." in message_of(games())
    assert findings_of(games(GSI1PK="OF#{game_id}", GSI1SK="{created_at}")) == []


def test_the_finding_names_the_entity_with_only_one_of_the_keys() -> None:
    assert findings_of(games(GSI1PK="OF#{game_id}")) == FINDING
    assert "Game has only GSI1PK" in message_of(games(GSI1PK="OF#{game_id}"))


def test_stored_fields_and_table_keys_can_be_index_keys() -> None:
    assert findings_of(games(pk="gameId", sk="createdAt")) == []
    assert findings_of(games(pk="gameId", sk="PK")) == []
    assert findings_of(games(pk="gameId", sk="turn", sort_number=True)) == []


def test_keys_split_over_two_entities_do_not_feed_an_index() -> None:
    table = Table("Games", sk="SK")
    table.index("GSI1", pk="GSI1PK", sk="GSI1SK")

    @table.entity(pk="GAME#{game_id}", sk="GAME", index={"GSI1PK": "OF#{game_id}"})
    class Game(Entity, frozen=True, kw_only=True):
        """A game."""

        game_id: GameId

    @table.entity(pk="GAME#{game_id}", sk="CHAT", index={"GSI1SK": "OF#{game_id}"})
    class Chat(Entity, frozen=True, kw_only=True):
        """The chat of a game."""

        game_id: GameId

    assert findings_of(table) == FINDING
    assert "Game has only GSI1PK; Chat has only GSI1SK" in message_of(table)


def test_a_local_index_whose_sort_key_no_entity_has_is_reported() -> None:
    table = Table("Games", sk="SK")
    table.local_index("GSI1", sk="created")

    @table.entity(pk="GAME#{game_id}", sk="GAME")
    class Game(Entity, frozen=True, kw_only=True):
        """A game."""

        game_id: GameId

    assert findings_of(table) == FINDING
