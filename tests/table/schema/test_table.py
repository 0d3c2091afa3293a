"""Table declarations: the schema they produce, and the declarations that are refused."""

import pytest

from tests.table.boardgame import Game, Move, board, library, rooms
from zataku.table import KEYS_ONLY, DesignError, Entity, InKey, Provisioned, Table, View, binary, include, number
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute
from zataku.table.schema.table import required_capabilities


def test_the_schema_has_the_declared_keys_indexes_ttl_and_stream() -> None:
    schema = board.schema()
    assert schema.name == "VoteBoardGame"
    assert schema.keys == (KeyAttribute("PK"), KeyAttribute("SK"))
    assert schema.ttl == "expiresAt"
    assert schema.stream == "NEW_AND_OLD_IMAGES"
    assert schema.indexes[1] == IndexSchema(
        "GSI2", KeyAttribute("PK"), KeyAttribute("voteCount", "N"), include("position")
    )
    assert schema.indexes[3].local


def test_a_table_is_protected_in_environments_that_retain_it() -> None:
    table = Table("T", deletion={"prod": "Retain", "stage": "Retain"})
    assert [table.schema(env).protected for env in ("prod", "stage", "dev")] == [True, True, False]
    assert Table("U").schema("prod").protected


def test_the_schema_has_the_declared_settings() -> None:
    schema = Table(
        "T",
        pk=binary("b"),
        sk=number("n"),
        capacity=Provisioned(5, 2),
        recovery=True,
        encryption="managed",
        stream="KEYS_ONLY",
    ).schema()
    assert (schema.pk.type, schema.sk.type if schema.sk else None) == ("B", "N")
    assert (schema.capacity, schema.recovery, schema.encryption, schema.stream) == (
        Provisioned(5, 2),
        True,
        "managed",
        "KEYS_ONLY",
    )


def test_a_table_name_includes_the_environment_except_in_prod() -> None:
    assert board.schema("dev").name == "VoteBoardGame-dev"
    assert board.schema("prod").name == "VoteBoardGame"


def test_a_name_with_an_environment_placeholder_always_includes_it() -> None:
    assert rooms.schema("dev").name == "LiveComment-Rooms-dev"
    assert rooms.schema("prod").name == "LiveComment-Rooms-prod"


def test_a_projection_holds_the_keys_and_its_included_attributes() -> None:
    schema = board.schema()
    assert schema.projected(schema.indexes[0]) is None
    assert schema.projected(schema.indexes[1]) == {"PK", "SK", "voteCount", "position"}
    assert schema.projected(schema.indexes[2]) == {"PK", "SK", "GSI3PK"}


def test_a_table_lists_the_capabilities_it_requires() -> None:
    assert required_capabilities(board) == {"streams", "ttl", "local-indexes"}
    assert required_capabilities(library) == {"local-indexes"}
    assert required_capabilities(Table("T", transactions=True)) == {"transactions"}


def test_conflicting_keys_and_indexes_are_refused() -> None:
    with pytest.raises(DesignError, match="different attributes"):
        Table("T", pk="a", sk="a")
    with pytest.raises(DesignError, match="no sort key, so it cannot have the local index"):
        Table("T").local_index("L", sk="x")
    table = Table("T", sk="SK")
    table.index("G", pk="x")
    with pytest.raises(DesignError, match="two indexes named G"):
        table.index("G", pk="y")
    with pytest.raises(DesignError, match="used as a key with two types"):
        table.index("H", pk=number("x"))
    with pytest.raises(DesignError, match="before the entities"):
        board.index("Late", pk="x", projection=KEYS_ONLY)


def test_more_than_five_local_or_twenty_global_indexes_are_refused() -> None:
    table = Table("T", sk="SK")
    for at in range(5):
        table.local_index(f"L{at}", sk=f"l{at}")
    with pytest.raises(DesignError, match="too many local"):
        table.local_index("L5", sk="l5")
    for at in range(20):
        table.index(f"G{at}", pk=f"g{at}")
    with pytest.raises(DesignError, match="too many global"):
        table.index("G20", pk="g20")


def test_a_view_that_does_not_match_its_entity_is_refused() -> None:
    class UnknownField(View, frozen=True, kw_only=True):
        colour: str

    with pytest.raises(DesignError, match="not a field of Move"):
        board.view(Move)(UnknownField)

    class Renamed(View, frozen=True, kw_only=True):
        vote_count: int

    with pytest.raises(DesignError, match=r"stores it as voteCount. Give both structs the same `rename`"):
        board.view(Move)(Renamed)

    class OtherTable(View, frozen=True, kw_only=True):
        status: str

    with pytest.raises(DesignError, match="belongs to VoteBoardGame"):
        library.view(Game)(OtherTable)


def test_an_entity_can_have_number_and_binary_keys() -> None:
    table = Table("T", pk=binary("hash"), sk=number("at"))

    @table.entity(pk="{hash}", sk="{at}")
    class Print(Entity, frozen=True, kw_only=True):
        hash: bytes
        at: float

    key = Print.key(hash=b"\x00\x01", at=1.5)
    assert (key.pk, str(key.sk)) == (b"\x00\x01", "1.5")


def test_an_in_key_field_of_a_view_that_is_in_no_key_is_refused() -> None:
    class Counted(View, frozen=True, kw_only=True, rename="camel"):
        vote_count: InKey[int]

    with pytest.raises(DesignError, match="Counted.vote_count is InKey, but no key of Move has it"):
        board.view(Move)(Counted)


def test_a_ttl_attribute_that_is_not_a_field_is_refused() -> None:
    table = Table("T", pk="PK", ttl="ends")
    table.index("ByEnd", pk="PK", sk=number("ends"))
    with pytest.raises(DesignError, match="ends is the expiry of an item, so it must be a field, not '{until}'"):

        @table.entity(pk="{name}", index={"ends": "{until}"})
        class Room(Entity, frozen=True, kw_only=True):
            name: str
            until: int
