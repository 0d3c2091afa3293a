"""Wire format of items: every value with its type, numbers as text."""

from decimal import Decimal
from typing import Any, TypeAlias, cast

from zataku.table.backend.numbers import canonical
from zataku.table.backend.values import Item, Value, type_of

WireValue: TypeAlias = dict[str, Any]
WireItem: TypeAlias = dict[str, WireValue]


def wire_item(item: Item) -> WireItem:
    """An item in wire format."""
    return {name: wire_value(value) for name, value in item.items()}


def wire_value(value: Value) -> WireValue:
    """A value in wire format."""
    kind = type_of(value)
    match kind:
        case "S" | "B" | "BOOL":
            return {kind: value}
        case "N":
            return {"N": str(value)}
        case "NULL":
            return {"NULL": True}
        case "L":
            return {"L": [wire_value(part) for part in value]}
        case "M":
            return {"M": wire_item(value)}
        case "NS":
            return {"NS": [str(member) for member in sorted(value)]}
        case _:
            return {kind: sorted(value)}


def item_of(wire: WireItem) -> Item:
    """The item of a wire item."""
    return {name: value_of(value) for name, value in wire.items()}


def value_of(wire: WireValue) -> Value:
    """The value of a wire value."""
    ((kind, content),) = wire.items()
    match kind:
        case "S" | "BOOL":
            return content
        case "N":
            return _number(content)
        case "B":
            return bytes(content)
        case "NULL":
            return None
        case "L":
            return [value_of(part) for part in cast("list[WireValue]", content)]
        case "M":
            return item_of(content)
        case "SS":
            return frozenset(content)
        case "NS":
            return frozenset(_number(member) for member in cast("list[str]", content))
        case "BS":
            return frozenset(bytes(member) for member in content)
        case _:
            raise ValueError(f"The service sent an attribute of the unknown type {kind!r}.")


def _number(text: str) -> int | Decimal:
    return int(text) if text.isdecimal() and len(text) < 38 else canonical(Decimal(text))
