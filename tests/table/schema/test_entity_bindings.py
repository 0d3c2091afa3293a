"""Bindings of entities: how they are stored as items, read back and addressed, and which declarations are refused."""

from datetime import date, datetime
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta
from msgspec.structs import replace

from tests.table.boardgame import Clock, Game, GameId, Kifu, Move, MoveSquare, Room, Side, board, library
from zataku.table import (
    BadKey,
    DesignError,
    Entity,
    InKey,
    ItemUnreadable,
    MissingKeyField,
    Table,
    UnknownAttribute,
    WrongType,
    derived,
    number,
)
from zataku.table.backend.values import pack
from zataku.table.schema.entity import binding_of
from zataku.table.store.row_readers import binding_for_item, reader_for

GAME = Game(game_id=GameId("g1"), status="ACTIVE", created_at="2026-02-19T10:00:00Z")


def test_attributes_have_the_names_of_the_design_document() -> None:
    item = binding_of(Game).encode(replace(GAME, clock=Clock(60), day=date(2026, 2, 21)))
    assert item == {
        "PK": "GAME#g1",
        "SK": "GAME#g1",
        "GSI1PK": "GAME#STATUS#ACTIVE",
        "GSI1SK": "2026-02-19T10:00:00Z",
        "GSI3PK": "DAY#2026-02-21",
        "gameId": "g1",
        "status": "ACTIVE",
        "createdAt": "2026-02-19T10:00:00Z",
        "private": False,
        "winner": None,
        "day": "2026-02-21",
        "clock": {"timeLimit": 60, "flag": None},
        "players": [],
        "version": 1,
        "entityType": "GAME",
    }


def test_none_is_omitted_unless_the_field_stores_nulls() -> None:
    item = binding_of(Game).encode(GAME)
    assert item["winner"] is None
    assert "clock" not in item


def test_a_derived_none_omits_the_item_from_the_index() -> None:
    item = binding_of(Game).encode(replace(GAME, private=True))
    assert "GSI1PK" not in item


@given(
    level=st.none() | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e100, max_value=1e100),
    players=st.lists(st.text(max_size=10)),
    watchers=st.none() | st.frozensets(st.text(), min_size=1),
    winner=st.none() | st.text(),
)
def test_decoding_an_encoded_entity_returns_it(
    level: float | None, players: list[str], watchers: frozenset[str] | None, winner: str | None
) -> None:
    if level is not None and 0 < abs(level) < 1e-100:
        level = 0.0
    game = replace(GAME, level=level, players=players, watchers=watchers, winner=winner)
    binding = binding_of(Game)
    item = binding.encode(game)
    assert binding.decode(pack(item)) == game
    assert binding.decode(item) == game


def test_fields_stored_only_in_keys_are_decoded_from_them() -> None:
    kifu = Kifu(username="h-akira", kid="k1", slug="社団戦/2025/鈴木", kifu="手合割：平手")
    item = binding_of(Kifu).encode(kifu)
    assert item == {
        "pk": "kifu#uname#h-akira",
        "sk": "kid#k1",
        "clsi_sk": "slug#社団戦/2025/鈴木",
        "kifu": "手合割：平手",
    }
    assert binding_of(Kifu).decode(pack(item)) == kifu
    shared = replace(kifu, share_code="ABC")
    assert binding_of(Kifu).decode(binding_of(Kifu).encode(shared)) == shared


def test_a_key_that_equals_a_field_is_stored_once() -> None:
    room = Room(room_id="r1", name="Talk")
    assert binding_of(Room).encode(room) == {"roomId": "r1", "name": "Talk"}
    assert binding_of(Room).decode({"roomId": "r1", "name": "Talk"}) == room


def test_a_value_outside_its_limits_is_refused() -> None:
    move = Move(game_id=GameId("g1"), turn_number=1, side=Side.BLACK, position="Z9")
    with pytest.raises(WrongType, match=r"Move cannot be stored: .*position"):
        binding_of(Move).encode(move)


def test_a_value_of_another_type_is_refused() -> None:
    with pytest.raises(WrongType, match=r"players"):
        binding_of(Game).encode(replace(GAME, players=[1]))
    with pytest.raises(WrongType, match=r"cannot hold a object"):
        binding_of(Game).encode(replace(GAME, winner=object()))


def test_decoding_an_invalid_item_names_its_key_and_field() -> None:
    with pytest.raises(ItemUnreadable, match=r"'GAME#g1', 'MOVE#001'.*turnNumber"):
        binding_of(Move).decode({"PK": "GAME#g1", "SK": "MOVE#001", "entityType": "MOVE", "gameId": "g1"})


numbered = Table("Numbered", pk="PK")


@numbered.entity(pk="NUMBER#{number}")
class Numbered(Entity, frozen=True, kw_only=True):
    """Something whose number is in its key only."""

    number: InKey[int]


def test_a_key_that_holds_no_number_makes_its_item_unreadable() -> None:
    assert binding_of(Numbered).decode({"PK": "NUMBER#-12"}) == Numbered(number=-12)
    for text in ("--5", "x", "1.5"):
        with pytest.raises(ItemUnreadable, match=rf"NUMBER#{text}.*number"):
            binding_of(Numbered).decode({"PK": f"NUMBER#{text}"})


def test_a_key_requires_exactly_its_template_fields() -> None:
    assert Move.key(game_id="g1", turn_number=3).sk == "MOVE#003"
    with pytest.raises(MissingKeyField, match="needs turn_number"):
        Move.key(game_id="g1")
    with pytest.raises(UnknownAttribute, match=r"no field 'turn'"):
        Move.key(game_id="g1", turn=3)
    with pytest.raises(UnknownAttribute, match="not part of this key"):
        Move.key(game_id="g1", turn_number=3, position="D3")
    with pytest.raises(BadKey):
        Room.key(room_id="")
    with pytest.raises(WrongType):
        Room.key(room_id=7)


def test_keys_are_equal_when_they_address_the_same_item() -> None:
    assert Move.key(game_id="g1", turn_number=3) == Move.key(turn_number=3, game_id="g1")
    assert Move.key(game_id="g1", turn_number=3) != Move.key(game_id="g1", turn_number=4)
    assert len({Move.key(game_id="g1", turn_number=3), Move.key(game_id="g1", turn_number=3)}) == 1
    assert "MOVE#003" in repr(Move.key(game_id="g1", turn_number=3))


def test_keys_and_tag_identify_the_entity_of_an_item() -> None:
    item = binding_of(Move).encode(Move(game_id=GameId("g1"), turn_number=1, side=Side.WHITE, position="D3"))
    assert binding_for_item(board.bindings, item).entity is Move
    with pytest.raises(ItemUnreadable, match="none of Game, Move"):
        binding_for_item(board.bindings, {"PK": "USER#1", "SK": "USER#1"})


@pytest.mark.parametrize(
    ("pk", "sk", "other_pk", "other_sk"),
    [
        ("GAME#{part}", "META", "GAME#{part}#TURN#{rest}", "META"),
        ("GAME#{part}", "{rest}", "GAME#{part}", "META"),
        ("GAME#{part}", "{rest}", "GAME#{part}", "X#{rest}"),
    ],
)
def test_an_item_is_not_of_a_kind_that_refuses_to_make_its_key(pk: str, sk: str, other_pk: str, other_sk: str) -> None:
    table = Table("Kinds", pk="PK", sk="SK")

    @table.entity(pk=pk, sk=sk)
    class Wide(Entity, frozen=True, kw_only=True):
        part: str
        rest: str = ""

    @table.entity(pk=other_pk, sk=other_sk)
    class Narrow(Entity, frozen=True, kw_only=True):
        part: str
        rest: str

    for item in (Wide(part="1", rest="a"), Narrow(part="1", rest="b")):
        stored = binding_of(type(item)).encode(item)
        for kinds in ((Wide, Narrow), (Narrow, Wide)):
            assert reader_for(table, kinds)(stored) == item


def test_a_key_that_is_one_field_refuses_the_key_of_another_kind() -> None:
    table = Table("Rooms", pk="room", sk="at")

    @table.entity(pk="{room}", sk="META")
    class Room(Entity, frozen=True, kw_only=True):
        room: str

    @table.entity(pk="{room}", sk="{at}")
    class Message(Entity, frozen=True, kw_only=True):
        room: str
        at: str

    assert binding_of(Room).encode(Room(room="r")) == {"room": "r", "at": "META"}
    with pytest.raises(BadKey, match="could pass for a key of 'META'"):
        binding_of(Message).encode(Message(room="r", at="META"))


def test_a_view_reads_part_of_an_item() -> None:
    read = reader_for(board, (MoveSquare,))
    assert read({"PK": "GAME#g1", "position": "D3", "voteCount": 2}) == MoveSquare(position="D3", vote_count=2)


def test_a_key_of_an_unbound_entity_says_how_to_bind_it() -> None:
    class Unbound(Entity, frozen=True, kw_only=True):
        name: str

    with pytest.raises(DesignError, match=r"@table.entity"):
        Unbound.key(name="x")


class TestRefusedDeclarations:
    def test_a_template_with_an_unknown_field_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str

        with pytest.raises(DesignError, match="no field 'nme'"):
            Table("T").entity(pk="X#{nme}")(Thing)

    def test_a_sort_key_for_a_table_without_one_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str

        with pytest.raises(DesignError, match="exactly when its table"):
            Table("T").entity(pk="X#{name}", sk="Y")(Thing)

    def test_a_field_with_the_name_of_a_key_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            PK: str

        with pytest.raises(DesignError, match="is also its key"):
            Table("T").entity(pk="X#{PK}")(Thing)

    def test_an_index_key_of_no_index_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str

        with pytest.raises(DesignError, match="no index of T"):
            Table("T").entity(pk="X#{name}", index={"GSI1PK": "{name}"})(Thing)

    def test_an_in_key_field_that_is_in_no_key_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str
            other: InKey[str]

        with pytest.raises(DesignError, match="is InKey"):
            Table("T").entity(pk="X#{name}")(Thing)

    def test_a_table_key_of_a_derived_value_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str

            @derived("name")
            def shown(self) -> str:
                return self.name

        with pytest.raises(DesignError, match="it would move"):
            Table("T").entity(pk="X#{shown}")(Thing)

    def test_a_version_that_is_not_an_int_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str

        with pytest.raises(DesignError, match="must be an int"):
            Table("T").entity(pk="X#{name}", version="name")(Thing)

    def test_binding_an_entity_twice_is_refused(self) -> None:
        with pytest.raises(DesignError, match="already belongs"):
            library.entity(pk="x#{username}", sk="{kid}")(Kifu)

    def test_an_optional_field_without_a_default_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str
            note: str | None

        with pytest.raises(DesignError, match=r"Thing.note is left out when it is None. Give it a default"):
            Table("T").entity(pk="X#{name}")(Thing)

    def test_a_set_without_a_default_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str
            tags: frozenset[str]

        with pytest.raises(DesignError, match="left out when it is empty"):
            Table("T").entity(pk="X#{name}")(Thing)

    def test_a_field_type_that_cannot_be_decoded_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str
            either: list[int] | tuple[str, ...] = ()

        with pytest.raises(DesignError, match="cannot be read back"):
            Table("T").entity(pk="X#{name}")(Thing)

    def test_a_limit_that_does_not_fit_64_bits_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str
            count: Annotated[int, Meta(le=10**30)] = 0

        with pytest.raises(DesignError, match="cannot be read back"):
            Table("T").entity(pk="X#{name}")(Thing)

    def test_a_key_of_another_type_than_its_field_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str
            turn: int

        with pytest.raises(DesignError, match="the key turn, so it must be text"):
            table = Table("T")
            table.index("ByTurn", pk="turn")
            table.entity(pk="X#{name}")(Thing)
        with pytest.raises(DesignError, match="is a number, so its template is one such field"):
            Table("T", pk=number("PK")).entity(pk="X#{turn}")(Thing)
        with pytest.raises(DesignError, match="is a number, so its template is one such field"):
            Table("T", pk=number("PK")).entity(pk="{name}")(Thing)

    def test_a_sort_key_of_a_datetime_is_refused(self) -> None:
        class Thing(Entity, frozen=True, kw_only=True):
            name: str
            at: datetime

        with pytest.raises(DesignError, match="sorts wrongly"):
            Table("T", sk="SK").entity(pk="X#{name}", sk="AT#{at}")(Thing)


def test_an_empty_set_is_omitted_and_decoded_as_the_default() -> None:
    table = Table("T")

    @table.entity(pk="X#{name}")
    class Thing(Entity, frozen=True, kw_only=True):
        name: str
        tags: frozenset[str] = frozenset()

    thing = Thing(name="a")
    item = binding_of(Thing).encode(thing)
    assert item == {"PK": "X#a", "name": "a"}
    assert binding_of(Thing).decode(pack(item)) == thing


def test_a_key_field_of_another_type_is_refused() -> None:
    with pytest.raises(WrongType, match=r"Move.turn_number: Expected `int`"):
        Move.key(game_id="g1", turn_number="3")
    with pytest.raises(WrongType, match=r"Move.game_id: Expected `str`"):
        Move.partition(game_id=7)


def test_an_int_in_a_text_key_is_rendered_as_text() -> None:
    table = Table("T", sk="SK")

    @table.entity(pk="{name}", sk="{turn}")
    class Thing(Entity, frozen=True, kw_only=True):
        name: str
        turn: int

    assert Thing.key(name="a", turn=7).sk == "7"


def test_an_in_key_field_keeps_its_constraints() -> None:
    table = Table("Limited", pk="PK")
    hex_id = InKey[Annotated[str, Meta(pattern="^[0-9a-f]{8}$")]]

    @table.entity(pk="ROOM#{room_id}")
    class Limited(Entity, frozen=True, kw_only=True):
        room_id: hex_id

    assert Limited.key(room_id="0123abcd").pk == "ROOM#0123abcd"
    with pytest.raises(WrongType):
        Limited.key(room_id="not hex")
