"""Items as lines of DynamoDB JSON: lossless, canonical, and rejected when invalid."""

from decimal import Decimal
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given

from tests.table.strategies import exactly, items
from zataku.table.backend.values import Item
from zataku.table.transfer.dynamodb_json import ItemChecksum, decode_line, encode_line


@given(items())
def test_decoding_an_encoded_item_returns_it_exactly(item: Item):
    assert exactly(decode_line(encode_line(item))) == exactly(item)


@given(items())
def test_the_line_of_an_item_does_not_depend_on_the_order_of_its_attributes(item: Item):
    def reversed_order(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: reversed_order(value[name]) for name in reversed(value)}
        return [reversed_order(part) for part in value] if isinstance(value, list) else value

    assert encode_line(reversed_order(item)) == encode_line(item)


def test_a_line_is_dynamodb_json():
    item: Item = {"b": b"\0\xff", "n": Decimal("1.50"), "bs": frozenset([b"b", b"a"]), "null": None, "m": {"s": ""}}
    assert msgspec.json.decode(encode_line(item)) == {
        "Item": {
            "b": {"B": "AP8="},
            "bs": {"BS": ["YQ==", "Yg=="]},
            "m": {"M": {"s": {"S": ""}}},
            "n": {"N": "1.50"},
            "null": {"NULL": True},
        }
    }


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.50", Decimal("1.5")), ("1e3", 1000), ("-0", 0), ("007", 7), ("1E-130", Decimal("1E-130"))],
)
def test_a_number_is_decoded_from_any_notation(text: str, number: object):
    assert exactly(decode_line(b'{"Item":{"n":{"N":"%s"}}}' % text.encode())) == exactly({"n": number})


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "null",
        '{"Item":null}',
        '{"Item":[]}',
        '{"item":{}}',
        '{"Item":{"a":"text"}}',
        '{"Item":{"a":{}}}',
        '{"Item":{"a":{"S":"x","N":"1"}}}',
        '{"Item":{"a":{"X":"x"}}}',
        '{"Item":{"a":{"S":1}}}',
        '{"Item":{"a":{"N":1}}}',
        '{"Item":{"a":{"N":"one"}}}',
        '{"Item":{"a":{"N":"NaN"}}}',
        '{"Item":{"a":{"N":"123456789012345678901234567890123456789"}}}',
        '{"Item":{"a":{"B":"???"}}}',
        '{"Item":{"a":{"BOOL":"true"}}}',
        '{"Item":{"a":{"SS":[]}}}',
        '{"Item":{"a":{"NS":[1]}}}',
        '{"Item":{"a":{"L":{}}}}',
        '{"Item":{"a":{"S":"half"',
        '{"Item":' + '{"a":{"M":' * 40 + "{}" + "}}" * 40 + "}",
        '{"Item":' + '{"a":{"L":[' * 5000,
    ],
)
def test_a_line_that_is_not_an_item_is_rejected(content: str):
    with pytest.raises(ValueError, match=r"."):
        decode_line(content.encode())


def test_a_checksum_does_not_depend_on_order_and_differs_for_a_different_item():
    lines = [encode_line({"PK": str(at), "flag": True}) for at in range(100)]
    ordered, shuffled, different = ItemChecksum(), ItemChecksum(), ItemChecksum()
    ordered.add(lines)
    Random(1).shuffle(lines)
    shuffled.add(lines[:30])
    rest = ItemChecksum()
    rest.add(lines[30:])
    shuffled.merge(rest)
    different.add([*lines[1:], encode_line({"PK": "0", "flag": 1})])
    assert ordered == shuffled == ItemChecksum(100, ordered.digest)
    assert ordered != different
