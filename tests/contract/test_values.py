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
    """A part with nulls of both kinds."""

    left_out: str | None = None
    kept: Nullable[str] = None


@cabinet.entity(pk="CABINET#{name}", sk="CABINET", index={"day_pk": "COLOUR#{colour}", "day_sk": "{day}#{number:04d}"})
class Curiosity(Entity, frozen=True, kw_only=True):
    """Something with many kinds of value."""

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
async def one_cabinet(open_shared_store) -> Store:
    """For what replaces whatever lies there."""
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
    "one of an enumeration": {"colour": Colour.BLUE},
    "a day": {"day": DAY},
    "a moment": {"found_at": MOMENT},
    "an id": {"uuid": UUID(int=7)},
    "a part": {"label": Label(left_out="x", kept="y")},
    "an empty part": {"label": Label()},
    "false": {"flag": False},
}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", VALUES)
async def test_a_value_comes_back_as_it_was(one_cabinet: Store, name: str):
    fields = VALUES[name]
    written = Curiosity(name="c", **fields)
    await one_cabinet.put(written)
    found = await one_cabinet.get(KEY, strong=True)
    assert found == written
    for field, value in fields.items():
        assert type(getattr(found, field)) is type(value)
    assert await one_cabinet.save(replace(found, number=77), was=found) == replace(written, number=77)


async def test_none_is_left_out_and_an_explicit_null_is_kept(store: Store):
    await store.put(Game(game_id="g1"))
    key, note, winner = Game.key(game_id="g1"), path(Game, lambda it: it.note), path(Game, lambda it: it.winner)
    turn = path(Game, lambda it: it.current_turn)
    assert await store.update(key, turn.add(1), when=note.missing() & winner.exists() & winner.has_type("NULL"))
    with pytest.raises(ConditionFailed):
        await store.update(key, turn.add(1), when=winner.missing() | note.exists())


async def test_nulls_inside_a_part_are_kept_and_left_out_as_well(cabinets: Store):
    await cabinets.put(Curiosity(name="c", label=Label()))
    flag = path(Curiosity, lambda it: it.flag)
    kept, left_out = (
        path(Curiosity, lambda it: it.label.kept),
        path(Curiosity, lambda it: it.label.left_out),
    )
    assert await cabinets.update(KEY, flag.set(True), when=kept.has_type("NULL") & left_out.missing())


async def test_a_null_can_become_a_value_and_a_null_again(store: Store):
    was = await store.put(Game(game_id="g1"))
    won = await store.save(replace(was, winner="AI"), was=was)
    open_again = await store.save(replace(won, winner=None), was=won)
    assert await store.get(Game.key(game_id="g1"), strong=True) == open_again
    assert open_again.winner is None


async def test_one_and_true_are_kept_apart(store: Store):
    was = await store.put(Game(game_id="g1", scores={"a": 1}))
    assert was.scores == {"a": True}
    found = await store.get(Game.key(game_id="g1"), strong=True)
    assert found is not None
    assert type(found.scores["a"]) is int


async def test_a_day_in_an_index_key_is_the_same_by_put_save_and_update(cabinets: Store):
    """The same values give the same key, whichever way they are written."""
    day = path(Curiosity, lambda it: it.day)
    number = path(Curiosity, lambda it: it.number)
    items = [Curiosity(name=name, colour=Colour.RED, day=DAY, number=at) for at, name in enumerate("abc")]
    await cabinets.put(items[0])
    was = await cabinets.put(Curiosity(name="b", colour=Colour.RED))
    await cabinets.save(items[1], was=was)
    await cabinets.put(Curiosity(name="c", colour=Colour.RED))
    await cabinets.update(Curiosity.key(name="c"), day.set(DAY), number.set(2))
    await assert_query_returns(cabinets, found_in("red"), *items)


async def test_an_empty_set_is_left_out(store: Store):
    await store.put(Game(game_id="g1", tags=frozenset()))
    key, tags = Game.key(game_id="g1"), path(Game, lambda it: it.tags)
    found = await store.get(key, strong=True)
    assert found is not None
    assert not found.tags
    assert await store.delete(key, when=tags.missing())


async def test_every_character_can_be_in_a_key(store: Store):
    names = ["a/b", "\0", "é", "e\u0301", "𝄞", "GAME", "%", "_", "'", '"', " ", "\n", "👩‍🎨", "#"]
    moves = [Move(game_id=name, turn_number=1) for name in names]
    await store.write_many(put=moves)
    assert await store.get_many([Move.key(game_id=name, turn_number=1) for name in names], strong=True) == moves
