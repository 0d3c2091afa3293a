"""Attribute values: their types and sizes, and items packed as MessagePack that keeps every DynamoDB type apart.

Entities can be decoded from packed items directly. Whole numbers of 64 bits are integers; other numbers are floats
where the float is exactly the same decimal, else an extension with the digits. Sets are extensions.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from types import NoneType
from typing import Any, Literal, TypeAlias, cast

import msgspec

from zataku.table.backend import numbers
from zataku.table.backend.errors import BadInput, BadNumber, StoreDamaged, WrongType
from zataku.table.backend.limits import NESTING
from zataku.table.backend.numbers import canonical

ValueType: TypeAlias = Literal["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]
KeyType: TypeAlias = Literal["S", "N", "B"]
KeyValue: TypeAlias = str | int | Decimal | bytes

# The recursive union (None, bool, int, Decimal, str, bytes, list, dict with str keys, frozenset of one scalar type)
# is too expensive for the type checker; `Value` marks the places where it applies.
Value: TypeAlias = Any
Item: TypeAlias = dict[str, Value]

# Types whose values have the same form in Python, MessagePack and msgspec.
SCALARS: frozenset[type[object]] = frozenset({str, int, bool, bytes, NoneType})

_SET_RULE = "A set holds strings, numbers or bytes, at least one and all of one type. Use a list for others."


def type_of(value: Value) -> ValueType:
    """The DynamoDB type of a value."""
    if value is None:
        return "NULL"
    scalar = _TYPES.get(cast("type[object]", type(value)))
    if scalar is not None:
        return scalar
    if isinstance(value, frozenset):
        kinds: set[ValueType] = {type_of(element) for element in cast("frozenset[Value]", value)}
        if kinds == {"S"}:
            return "SS"
        if kinds == {"N"}:
            return "NS"
        if kinds == {"B"}:
            return "BS"
        raise WrongType(_SET_RULE)
    raise WrongType(f"A table cannot hold a {type(value).__name__}. Use text, numbers, bytes, lists or maps.")


_TYPES: dict[type[object], ValueType] = {
    str: "S",
    int: "N",
    Decimal: "N",
    bytes: "B",
    bool: "BOOL",
    list: "L",
    dict: "M",
}


def key_type_of(value: object) -> KeyType | None:
    """The type of a key value, or None when it cannot be one."""
    kind = _TYPES.get(type(value))
    return kind if kind in ("S", "N", "B") else None


def normalize(value: object, depth: int = 0) -> Value:
    """The value in its canonical stored form; raises `BadInput` for what a table cannot hold."""
    if depth >= NESTING:
        raise nesting_error()
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float | Decimal):
        return numbers.canonical(value)
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, list | tuple):
        return [normalize(part, depth + 1) for part in cast("Iterable[object]", value)]
    if isinstance(value, Mapping):
        return {
            _name(name): normalize(part, depth + 1) for name, part in cast("Mapping[object, object]", value).items()
        }
    if isinstance(value, set | frozenset):
        # Members are scalars, so they add no nesting level.
        members = [normalize(part) for part in cast("Iterable[object]", value)]
        if not all(isinstance(member, str | bytes | int | Decimal) for member in members):
            raise WrongType(_SET_RULE)
        unique = frozenset(members)
        type_of(unique)
        return unique
    raise WrongType(f"A table cannot hold a {type(value).__name__}. Use text, numbers, bytes, lists or maps.")


def nesting_error() -> BadInput:
    """The error for a value nested too deeply; the attribute itself is the first level."""
    return BadInput(f"Lists and maps are nested deeper than {NESTING} levels. Flatten the value.")


def nesting_depth(value: Value) -> int:
    """Number of nesting levels of a value: 1 for anything but a list or map with members."""
    if type(value) is dict:
        return 1 + max(map(nesting_depth, cast("Item", value).values()), default=0)
    if type(value) is list:
        return 1 + max(map(nesting_depth, cast("list[Value]", value)), default=0)
    return 1


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise WrongType(f"Names in a map are strings, not {type(name).__name__}.")
    return _text(name)


def _text(text: str) -> str:
    # A member of a string enumeration is stored as a plain string.
    plain = text if type(text) is str else str.__str__(text)
    if not plain.isascii():
        try:
            plain.encode()
        except UnicodeEncodeError:
            raise WrongType("The text has half a character (a lone surrogate). Give whole characters.") from None
    return plain


def size_of(value: Value) -> int:
    """Bytes of one value by DynamoDB's rules."""
    kind = cast("type[object]", type(value))
    if kind is str:
        return len(value) if value.isascii() else len(value.encode())
    if kind is int or kind is Decimal:
        return numbers.size_of(value)
    if kind is bytes:
        return len(value)
    if kind is bool or value is None:
        return 1
    if kind is list:
        return 3 + sum(1 + size_of(part) for part in value)
    if kind is dict:
        return 3 + sum(1 + size_of(name) + size_of(part) for name, part in value.items())
    return sum(size_of(member) for member in value)


def item_size(item: Item) -> int:
    """Bytes of a whole item by DynamoDB's rules: the UTF-8 lengths of names and the sizes of values."""
    return sum(size_of(name) + size_of(value) for name, value in item.items())


_DECIMAL, _STRINGS, _NUMBERS, _BYTES = 1, 2, 3, 4
_MAX_INT, _MIN_INT = 2**64 - 1, -(2**63)


def _pack_decimal(value: Decimal) -> float | msgspec.msgpack.Ext:
    nearest = float(value)
    if nearest not in (float("inf"), float("-inf")) and Decimal(repr(nearest)) == value:
        return nearest
    return msgspec.msgpack.Ext(_DECIMAL, str(value).encode())


def _packable(value: Value) -> Value:
    """The value with types that MessagePack lacks replaced; the same object when there are none."""
    kind = cast("type[object]", type(value))
    if kind is str or kind is bool or value is None or kind is bytes:
        return value
    if kind is int:
        return value if _MIN_INT <= value <= _MAX_INT else _pack_decimal(Decimal(value))
    if kind is Decimal:
        return _pack_decimal(value)
    if kind is dict:
        return {name: _packable(part) for name, part in value.items()}
    if kind is list:
        return [_packable(part) for part in value]
    members = sorted(value)
    code = _STRINGS if isinstance(members[0], str) else _BYTES if isinstance(members[0], bytes) else _NUMBERS
    return msgspec.msgpack.Ext(code, _encoder.encode([_packable(member) for member in members]))


def extension(code: int, content: memoryview) -> Any:
    """Decode a decimal or set from its extension."""
    if code == _DECIMAL:
        return canonical(Decimal(str(content, "ascii")))
    return frozenset(_restore_decimals(member) for member in _decoder.decode(content))


def _restore_decimals(value: Value) -> Value:
    """Replace floats by the decimals they stand for, in place."""
    kind = cast("type[object]", type(value))
    if kind is float:
        return canonical(value)
    if kind is dict:
        for name, part in value.items():
            if type(part) in _NEEDS_RESTORING:
                value[name] = _restore_decimals(part)
    elif kind is list:
        for at, part in enumerate(value):
            if type(part) in _NEEDS_RESTORING:
                value[at] = _restore_decimals(part)
    return value


_NEEDS_RESTORING = {float, dict, list}
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(ext_hook=extension)
_item_decoder = msgspec.msgpack.Decoder(dict[str, Any], ext_hook=extension)


def pack(item: Item) -> bytes:
    """The bytes of an item."""
    if SCALARS.issuperset(map(type, item.values())):
        try:
            return _encoder.encode(item)
        except OverflowError:
            pass  # A whole number of more than 64 bits.
    return _encoder.encode(_packable(item))


def unpack(packed: bytes) -> Item:
    """The item of the bytes. Raises `StoreDamaged` for bytes that no item has, as a file from elsewhere may hold."""
    try:
        item: Item = _item_decoder.decode(packed)
        return item if _NEEDS_RESTORING.isdisjoint(map(type, item.values())) else cast("Item", _restore_decimals(item))
    except (ValueError, TypeError, ArithmeticError, BadNumber) as error:
        raise StoreDamaged("The store holds a row that is no item. Restore a backup whose origin you know.") from error


def unpack_row(row: Item | bytes) -> Item:
    """The item of a row, which a backend returns packed or unpacked."""
    return unpack(row) if isinstance(row, bytes) else row
