"""Items as lines of DynamoDB JSON, each in one spelling only, and the sum that tells two sets of items apart."""

from base64 import b64decode
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, cast

import msgspec

from zataku.table.backend.errors import TableError
from zataku.table.backend.limits import NESTING
from zataku.table.backend.values import Item, Value
from zataku.table.dynamodb.wire import value_of, wire_item

# Names in order and no spaces: equal items give equal lines. Bytes become base64 on the way.
_encoder = msgspec.json.Encoder(order="deterministic")
_decoder = msgspec.json.Decoder()
_DIGEST_BYTES = 16
_MODULUS = 1 << (8 * _DIGEST_BYTES)


def encode_line(item: Item) -> bytes:
    """The line of an item, without its end."""
    return _encoder.encode({"Item": wire_item(item)})


def decode_line(line: bytes) -> Item:
    """The item of a line, in any spelling. Raises `ValueError` when it is none."""
    try:
        content: Any = _decoder.decode(line)
        return decode_item(content["Item"])
    except (TypeError, KeyError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"no item in DynamoDB JSON ({error})") from error
    except (msgspec.DecodeError, TableError) as error:
        raise ValueError(f"no item in DynamoDB JSON ({error})") from error


def decode_item(wire: dict[str, Any], depth: int = 0) -> Item:
    """An item whose bytes are base64."""
    return {name: _value(value, depth) for name, value in wire.items()}


def _value(wire: dict[str, Any], depth: int) -> Value:
    if depth >= NESTING:
        raise ValueError(f"nested deeper than {NESTING} levels")
    ((kind, content),) = wire.items()
    if kind not in _CONTENT or not isinstance(content, _CONTENT[kind]):
        raise ValueError(f"a value of type {kind!r} holds {type(content).__name__}")
    match kind:
        case "S":
            return content
        case "M":
            return decode_item(content, depth + 1)
        case "L":
            return [_value(part, depth + 1) for part in cast("list[dict[str, Any]]", content)]
        case "B":
            return b64decode(content, validate=True)
        case "SS" | "NS" | "BS":
            return _set(kind, cast("list[object]", content))
        case _:
            return value_of(wire)


def _set(kind: str, content: list[object]) -> Value:
    if not content or not all(isinstance(member, str) for member in content):
        raise ValueError(f"a set of type {kind!r} is empty or holds something else")
    members = cast("list[str]", content)
    return value_of({kind: [b64decode(member, validate=True) for member in members] if kind == "BS" else members})


_CONTENT: dict[str, type] = {
    "S": str,
    "N": str,
    "B": str,
    "BOOL": bool,
    "NULL": bool,
    "L": list,
    "M": dict,
    "SS": list,
    "NS": list,
    "BS": list,
}


class ItemChecksum:
    """How many items there are, and the sum of their digests: the same for the same items in any order."""

    __slots__ = ("items", "total")

    def __init__(self, items: int = 0, digest: str = "0") -> None:
        self.items = items
        self.total = int(digest, 16)

    def add(self, lines: Iterable[bytes]) -> None:
        """Count lines that `encode_line` has made."""
        total, items = self.total, 0
        for line in lines:
            total += int.from_bytes(blake2b(line, digest_size=_DIGEST_BYTES).digest())
            items += 1
        self.total = total % _MODULUS
        self.items += items

    def take(self, other: "ItemChecksum") -> None:
        """Count everything that another has counted."""
        self.items += other.items
        self.total = (self.total + other.total) % _MODULUS

    @property
    def digest(self) -> str:
        """The sum as text."""
        return f"{self.total:032x}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ItemChecksum) and (self.items, self.total) == (other.items, other.total)

    __hash__ = None  # pyright: ignore[reportAssignmentType] - it changes while it counts
