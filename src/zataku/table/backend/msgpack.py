"""An item as bytes: MessagePack that keeps every DynamoDB type apart and that entities can be read from directly.

Whole numbers of 64 bits are integers; other numbers are floats where the float says exactly the same decimal, else
an extension with the digits. Sets are extensions. Everything else is MessagePack's own.
"""

from decimal import Decimal
from typing import Any, cast

import msgspec

from zataku.table.backend.numbers import canonical
from zataku.table.backend.values import SCALARS, Item, Value

_DECIMAL, _STRINGS, _NUMBERS, _BYTES = 1, 2, 3, 4
_LARGEST, _SMALLEST = 2**64 - 1, -(2**63)


def _number(value: Decimal) -> float | msgspec.msgpack.Ext:
    near = float(value)
    if near not in (float("inf"), float("-inf")) and Decimal(repr(near)) == value:
        return near
    return msgspec.msgpack.Ext(_DECIMAL, str(value).encode())


def _plain(value: Value) -> Value:
    """The value with everything MessagePack lacks replaced. Returns the same object when there is nothing to do."""
    kind = cast("type[object]", type(value))
    if kind is str or kind is bool or value is None or kind is bytes:
        return value
    if kind is int:
        return value if _SMALLEST <= value <= _LARGEST else _number(Decimal(value))
    if kind is Decimal:
        return _number(value)
    if kind is dict:
        return {name: _plain(part) for name, part in value.items()}
    if kind is list:
        return [_plain(part) for part in value]
    members = sorted(value)
    code = _STRINGS if isinstance(members[0], str) else _BYTES if isinstance(members[0], bytes) else _NUMBERS
    return msgspec.msgpack.Ext(code, _encoder.encode([_plain(member) for member in members]))


def extension(code: int, content: memoryview) -> Any:
    """A decimal or set out of the bytes of its extension."""
    if code == _DECIMAL:
        return canonical(Decimal(str(content, "ascii")))
    return frozenset(_restored(member) for member in _decoder.decode(content))


def _restored(value: Value) -> Value:
    """Floats back to the decimals they stand for, in place."""
    kind = cast("type[object]", type(value))
    if kind is float:
        return canonical(value)
    if kind is dict:
        for name, part in value.items():
            if type(part) in _DEEP:
                value[name] = _restored(part)
    elif kind is list:
        for at, part in enumerate(value):
            if type(part) in _DEEP:
                value[at] = _restored(part)
    return value


_DEEP = {float, dict, list}
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(ext_hook=extension)


def pack(item: Item) -> bytes:
    """The bytes of an item."""
    if SCALARS.issuperset(map(type, item.values())):
        try:
            return _encoder.encode(item)
        except OverflowError:
            pass  # A whole number of more than 64 bits.
    return _encoder.encode(_plain(item))


def unpack(packed: bytes) -> Item:
    """The item of the bytes."""
    item: Item = _decoder.decode(packed)
    return item if _DEEP.isdisjoint(map(type, item.values())) else cast("Item", _restored(item))
