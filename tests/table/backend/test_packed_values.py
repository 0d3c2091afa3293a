"""Packing and unpacking of items keeps every value and its type."""

from decimal import Decimal

import msgspec
import pytest
from hypothesis import given

from tests.table.strategies import decimals, exactly, items
from zataku.table.backend.errors import StoreDamaged
from zataku.table.backend.numbers import Number
from zataku.table.backend.values import Item, Value, pack, unpack


@given(items())
def test_any_item_is_unpacked_exactly(item: Item) -> None:
    assert exactly(unpack(pack(item))) == exactly(item)


@given(decimals())
def test_any_number_is_unpacked_exactly_alone_and_in_a_set(number: Number) -> None:
    item = {"alone": number, "together": frozenset({number, 0}), "deep": [{"n": number}]}
    assert exactly(unpack(pack(item))) == exactly(item)


@pytest.mark.parametrize(
    "value",
    [
        True,
        1,
        "1",
        b"1",
        "True",
        None,
        "",
        b"",
        [],
        {},
        [[]],
        [{}],
        [None],
        frozenset({"1"}),
        frozenset({1}),
        frozenset({b"1"}),
        frozenset({"", "a"}),
        frozenset({Decimal("0.1"), 2**70, -1}),
        2**63,
        2**64 - 1,
        2**64,
        -(2**63),
        -(2**63) - 1,
        10**125,
        Decimal("57.25"),
        Decimal("0.1"),
        Decimal("1E-130"),
        Decimal("1234567890123456789012345678.9012345678"),
        12345678901234567890123456789012345678,
        "a\0b",
        "𝄞\uffff",
    ],
)
def test_values_of_similar_types_are_unpacked_with_their_own_type(value: Value) -> None:
    item = {"value": value, "list": [value], "map": {"value": value}}
    assert exactly(unpack(pack(item))) == exactly(item)


def test_the_order_of_lists_and_maps_is_kept() -> None:
    item: Item = {"z": [3, 1, 2], "a": {"y": 1, "b": 2}}
    restored = unpack(pack(item))
    assert list(restored) == ["z", "a"]
    assert list(restored["a"]) == ["y", "b"]
    assert restored["z"] == [3, 1, 2]


def test_equal_sets_pack_to_equal_bytes_in_any_order() -> None:
    forward = frozenset(str(n) for n in range(100))
    backward = frozenset(str(n) for n in reversed(range(100)))
    assert pack({"s": forward}) == pack({"s": backward})


def test_common_numbers_are_decoded_directly_into_an_entity() -> None:
    class Score(msgspec.Struct):
        points: int
        ratio: float

    assert msgspec.msgpack.decode(pack({"points": 7, "ratio": Decimal("57.25")}), type=Score) == Score(7, 57.25)


def test_packing_does_not_change_the_item() -> None:
    item: Item = {"n": Decimal("0.1"), "m": {"s": frozenset({1})}, "l": [Decimal("2.5")]}
    pack(item)
    assert item == {"n": Decimal("0.1"), "m": {"s": frozenset({1})}, "l": [Decimal("2.5")]}


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"\xc1",
        pack({"PK": "one"})[:-1],
        msgspec.msgpack.encode(["PK"]),
        msgspec.msgpack.encode({1: "one"}),
        msgspec.msgpack.encode({"n": msgspec.msgpack.Ext(1, b"many")}),
        msgspec.msgpack.encode({"n": msgspec.msgpack.Ext(2, b"\xc1")}),
        msgspec.msgpack.encode({"n": msgspec.msgpack.Ext(2, msgspec.msgpack.encode([{}]))}),
        msgspec.msgpack.encode({"n": float("nan")}),
    ],
)
def test_bytes_that_no_item_has_are_reported_as_damage(packed: bytes) -> None:
    with pytest.raises(StoreDamaged, match="a row that is no item"):
        unpack(packed)
