"""Items as canonical lines of DynamoDB JSON, and an order-independent checksum of a set of items."""

from base64 import b64decode
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, cast

import msgspec

from zataku.table.backend.errors import TableError
from zataku.table.backend.limits import NESTING
from zataku.table.backend.values import Item, Value
from zataku.table.backend.wire import value_of, wire_item

# Sorted names and no spaces, so that equal items give equal lines. Bytes become base64.
_encoder = msgspec.json.Encoder(order="deterministic")
_decoder = msgspec.json.Decoder()
_DIGEST_BYTES = 16
_MODULUS = 1 << (8 * _DIGEST_BYTES)


def encode_line(item: Item) -> bytes:
    """The line of an item, without the newline."""
    return _encoder.encode({"Item": wire_item(item)})


def decode_line(line: bytes) -> Item:
    """The item of a line in any valid formatting. Raises `ValueError` for anything else."""
    try:
        content: Any = _decoder.decode(line)
        return decode_item(content["Item"])
    except (TypeError, KeyError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"no item in DynamoDB JSON ({error})") from error
    except (msgspec.DecodeError, TableError) as error:
        raise ValueError(f"no item in DynamoDB JSON ({error})") from error


def decode_item(wire: dict[str, Any], depth: int = 0) -> Item:
    """Decode an item whose bytes are base64."""
    return {name: _value(value, depth) for name, value in wire.items()}


def _value(wire: dict[str, Any], depth: int) -> Value:
    if depth >= NESTING:
        raise ValueError(f"nested deeper than {NESTING} levels")
    ((kind, content),) = wire.items()
    if kind not in _CONTENT_TYPES or not isinstance(content, _CONTENT_TYPES[kind]):
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


_CONTENT_TYPES: dict[str, type] = {
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
    """Number of items and the sum of their digests, independent of their order."""

    __slots__ = ("items", "total")

    def __init__(self, items: int = 0, digest: str = "0") -> None:
        self.items = items
        self.total = int(digest, 16)

    def add(self, lines: Iterable[bytes]) -> None:
        """Add lines made by `encode_line`."""
        total, items = self.total, 0
        for line in lines:
            total += int.from_bytes(blake2b(line, digest_size=_DIGEST_BYTES).digest())
            items += 1
        self.total = total % _MODULUS
        self.items += items

    def merge(self, other: "ItemChecksum") -> None:
        """Add all items of another checksum."""
        self.items += other.items
        self.total = (self.total + other.total) % _MODULUS

    @property
    def digest(self) -> str:
        """The sum as hexadecimal text."""
        return f"{self.total:032x}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ItemChecksum) and (self.items, self.total) == (other.items, other.total)

    __hash__ = None  # pyright: ignore[reportAssignmentType] - mutable
