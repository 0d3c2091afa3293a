"""Values are read as they were written: nulls, numbers, bytes, sets, every character."""

from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from uuid import UUID

import pytest
import pytest_asyncio
from msgspec import Struct
from msgspec.structs import replace

from tests.support.designs.board import Game, Move
from tests.support.store_reads import assert_query_returns
from zataku.table import ConditionFailed, Entity, Nullable, Span, Store, Table, path

cabinet = Table("CabinetOfCuriosities", pk="pk", sk="sk")
by_day = cabinet.index("ByDay", pk="day_pk", sk="day_sk")


class Colour(Enum):
    """An enumeration stored by its value."""

    RED = "red"
    BLUE = "blue"


class Label(Struct, frozen=True, kw_only=True):
    """A nested struct with a field that omits None and one that stores it as null."""

    omitted: str | None = None
    explicit: Nullable[str] = None


@cabinet.entity(pk="CABINET#{name}", sk="CABINET", index={"day_pk": "COLOUR#{colour}", "day_sk": "{day}#{number:04d}"})
class Curiosity(Entity, frozen=True, kw_only=True):
    """An entity with a field of every type of value."""

    name: str
    number: int = 0
    exact: Decimal | None = None
    rough: float | None = None
    blob: bytes | None = None
    names: frozenset[str] | None = None
    numbers: frozenset[Decimal] | None = None
    blobs: frozenset[bytes] | None = None
    nested: dict[str, list[dict[str, int]]] | None = None
    pair: tuple[int, str] | None = None
    colour: Colour | None = None
    day: date | None = None
    found_at: datetime | None = None
    uuid: UUID | None = None
    label: Label | None = None
    flag: bool | None = None


@cabinet.query(returns=Curiosity)
def found_in(colour: str) -> Span:
    """Curiosities of a colour by the day they were found."""
    return by_day.partition(f"COLOUR#{colour}")


KEY = Curiosity.key(name="c")
DAY = date(2025, 2, 19)
MOMENT = datetime(2025, 2, 19, 10, 0, 0, 123000, tzinfo=UTC)


@pytest.fixture
async def cabinets(open_store) -> Store:
    return await open_store(cabinet)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_cabinet(open_shared_store) -> Store:
    """For tests that replace the whole item."""
    return await open_shared_store(cabinet)


VALUES = {
    "zero": {"number": 0},
    "minus one": {"number": -1},
    "the largest of 64 bits": {"number": 2**63 - 1},
    "above 64 bits": {"number": 2**64},
    "below 64 bits": {"number": -(2**63) - 1},
    "38 nines": {"number": 10**38 - 1},
    "minus 38 nines": {"number": -(10**38) + 1},
    "a one with 125 zeros": {"number": 10**125},
    "a tenth": {"exact": Decimal("0.1")},
    "the smallest": {"exact": Decimal("-1E-130")},
    "38 digits": {"exact": Decimal("1.2345678901234567890123456789012345678")},
    "the largest": {"exact": Decimal("9.9999999999999999999999999999999999999E+125")},
    "18 digits": {"exact": Decimal("123456789.000000001")},
    "a float": {"rough": 0.1},
    "a large float": {"rough": -2.5e100},
    "a whole float": {"rough": 3.0},
    "a third": {"rough": 1 / 3},
    "no bytes": {"blob": b""},
    "every byte": {"blob": bytes(range(256))},
    "a set of strings": {"names": frozenset({"a", "", "𝄞", "\0"})},
    "a set of numbers": {"numbers": frozenset({Decimal("0.1"), Decimal(3), Decimal("-1.2345678901234567890123")})},
    "a set of long numbers": {"numbers": frozenset({Decimal("-1.2345678901234567890123456789012345678")})},
    "a set of bytes": {"blobs": frozenset({b"", b"\x00", b"\xff"})},
    "an empty map": {"nested": {}},
    "maps in lists in a map": {"nested": {"a": [], "b": [{"c": 1}, {}], "": []}},
    "a pair": {"pair": (1, "x")},
    "a member of an enumeration": {"colour": Colour.BLUE},
    "a date": {"day": DAY},
    "a datetime": {"found_at": MOMENT},
    "an id": {"uuid": UUID(int=7)},
    "a nested struct": {"label": Label(omitted="x", explicit="y")},
    "an empty nested struct": {"label": Label()},
    "false": {"flag": False},
}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", VALUES)
async def test_a_value_is_read_as_it_was_written(shared_cabinet: Store, name: str):
    fields = VALUES[name]
    written = Curiosity(name="c", **fields)
    await shared_cabinet.put(written)
    stored = await shared_cabinet.get(KEY, strong=True)
    assert stored == written
    for field, value in fields.items():
        assert type(getattr(stored, field)) is type(value)
    assert await shared_cabinet.save(replace(stored, number=77), was=stored) == replace(written, number=77)


async def test_none_is_omitted_unless_the_field_is_nullable(store: Store):
    await store.put(Game(game_id="g1"))
    key, note, winner = Game.key(game_id="g1"), path(Game, lambda it: it.note), path(Game, lambda it: it.winner)
    turn = path(Game, lambda it: it.current_turn)
    assert await store.update(key, turn.add(1), when=note.missing() & winner.exists() & winner.has_type("NULL"))
    with pytest.raises(ConditionFailed):
        await store.update(key, turn.add(1), when=winner.missing() | note.exists())


async def test_none_in_a_nested_struct_is_omitted_unless_the_field_is_nullable(cabinets: Store):
    await cabinets.put(Curiosity(name="c", label=Label()))
    flag = path(Curiosity, lambda it: it.flag)
    explicit = path(Curiosity, lambda it: it.label.explicit)
    omitted = path(Curiosity, lambda it: it.label.omitted)
    assert await cabinets.update(KEY, flag.set(True), when=explicit.has_type("NULL") & omitted.missing())


async def test_a_nullable_field_can_get_a_value_and_become_null_again(store: Store):
    was = await store.put(Game(game_id="g1"))
    won = await store.save(replace(was, winner="AI"), was=was)
    reopened = await store.save(replace(won, winner=None), was=won)
    assert await store.get(Game.key(game_id="g1"), strong=True) == reopened
    assert reopened.winner is None


async def test_one_is_not_read_as_true(store: Store):
    was = await store.put(Game(game_id="g1", scores={"a": 1}))
    assert was.scores == {"a": True}
    stored = await store.get(Game.key(game_id="g1"), strong=True)
    assert stored is not None
    assert type(stored.scores["a"]) is int


async def test_put_save_and_update_write_a_date_as_the_same_index_key(cabinets: Store):
    """The same values give the same key, however they are written."""
    day = path(Curiosity, lambda it: it.day)
    number = path(Curiosity, lambda it: it.number)
    items = [Curiosity(name=name, colour=Colour.RED, day=DAY, number=at) for at, name in enumerate("abc")]
    await cabinets.put(items[0])
    was = await cabinets.put(Curiosity(name="b", colour=Colour.RED))
    await cabinets.save(items[1], was=was)
    await cabinets.put(Curiosity(name="c", colour=Colour.RED))
    await cabinets.update(Curiosity.key(name="c"), day.set(DAY), number.set(2))
    await assert_query_returns(cabinets, found_in("red"), *items)


async def test_an_empty_set_is_omitted(store: Store):
    await store.put(Game(game_id="g1", tags=frozenset()))
    key, tags = Game.key(game_id="g1"), path(Game, lambda it: it.tags)
    stored = await store.get(key, strong=True)
    assert stored is not None
    assert not stored.tags
    assert await store.delete(key, when=tags.missing())


async def test_a_key_can_contain_any_character(store: Store):
    names = ["a/b", "\0", "é", "e\u0301", "𝄞", "GAME", "%", "_", "'", '"', " ", "\n", "👩‍🎨", "#"]
    moves = [Move(game_id=name, turn_number=1) for name in names]
    await store.write_many(put=moves)
    assert await store.get_many([Move.key(game_id=name, turn_number=1) for name in names], strong=True) == moves
