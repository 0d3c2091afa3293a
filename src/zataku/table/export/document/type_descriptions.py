"""Descriptions of field types: the type on disk and the limits of its values."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import NoneType
from typing import Any, get_args, get_origin
from uuid import UUID

from msgspec import Meta, Struct
from msgspec.structs import replace

from zataku.table.backend.values import KeyType
from zataku.table.export.document.notation import code_span
from zataku.table.schema.analysis.annotations import LISTS, MAPS, SETS, PlainType, plain_types
from zataku.table.schema.analysis.regex import readable_pattern

KEY_TYPE_NAMES: dict[KeyType, str] = {"S": "String", "N": "Number", "B": "Binary"}
_TYPE_NAMES: dict[Any, str] = {
    str: "String",
    bool: "Boolean",
    int: "Number",
    float: "Number",
    Decimal: "Number",
    bytes: "Binary",
    bytearray: "Binary",
    date: "String",
    datetime: "String",
    time: "String",
    timedelta: "String",
    UUID: "String",
}
_TEXT_FORMATS: dict[Any, str] = {
    date: "date as YYYY-MM-DD",
    datetime: "date and time in ISO 8601",
    time: "time in ISO 8601",
    timedelta: "duration in ISO 8601",
    UUID: "UUID",
}


def type_name(annotation: Any) -> str:
    """The type on disk: `String`, `List of Number`, `Map (Settings)`."""
    return " or ".join(dict.fromkeys(_kind(plain) for plain in _types(annotation))) or "Null"


def constraints_of(annotation: Any) -> str:
    """The limits on a value, those of its members included; `Meta(title=...)` stands for all of them."""
    limits = [limit for plain in _types(annotation) for limit in _limits(plain)]
    return "; ".join(dict.fromkeys(limits))


def description_of(annotation: Any) -> str:
    """The `Meta(description=...)` of a field, or else that of its type."""
    descriptions = ([meta.description for meta in plain.metas if meta.description][-1:] for plain in _types(annotation))
    return " ".join(dict.fromkeys(text for texts in descriptions for text in texts))


def structs_in(annotation: Any) -> Iterator[type[Struct]]:
    """The structs that a value consists of, outermost first."""
    for plain in _types(annotation):
        kind: Any = plain.type
        if isinstance(kind, type) and issubclass(kind, Struct):
            yield kind
        elif get_origin(kind) in (*LISTS, *SETS, *MAPS):
            for inner in get_args(kind):
                yield from structs_in(inner)


def _types(annotation: Any) -> list[PlainType]:
    return [plain for plain in plain_types(annotation) if plain.type is not NoneType]


def _kind(plain: PlainType) -> str:
    kind: Any = plain.type
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _TYPE_NAMES:
        return _TYPE_NAMES[kind]
    if plain.choices is not None:
        return " or ".join(dict.fromkeys(_TYPE_NAMES.get(type(choice), "String") for choice in plain.choices))
    if isinstance(kind, type) and issubclass(kind, Struct):
        return f"Map ({kind.__name__})"
    for kinds, name in ((LISTS, "List"), (SETS, "Set"), (MAPS, "Map")):
        if origin in kinds or kind in kinds:
            members = [member for member in inner if member is not Ellipsis]
            return f"{name} of {type_name(members[-1])}" if members else name
    return "Any"


def _limits(plain: PlainType) -> Iterator[str]:
    origin = get_origin(plain.type)
    if plain.choices is not None and plain.type is not bool:
        yield ", ".join(code_span(str(choice)) for choice in plain.choices)
        return
    titled = [at for at, meta in enumerate(plain.metas) if meta.title]
    if titled:
        # The title of a type replaces its pattern and limits; those that the field adds follow it.
        yield str(plain.metas[titled[-1]].title)
        plain = replace(plain, metas=plain.metas[titled[-1] + 1 :])
    elif plain.type in _TEXT_FORMATS:
        yield _TEXT_FORMATS[plain.type]
    unit = "characters" if plain.type is str else "bytes" if plain.type in (bytes, bytearray) else "members"
    shortest = plain.min_length or None
    if shortest is not None or plain.max_length is not None:
        yield _range_text(shortest, plain.max_length, unit)
    lowest, highest = _limits_of_number(plain)
    if lowest is not None or highest is not None:
        yield _range_text(lowest, highest, "")
    yield from (
        f"matches {code_span(readable_pattern(meta.pattern))}" for meta in plain.metas if meta.pattern is not None
    )
    if origin in (*LISTS, *SETS, *MAPS):
        members = [kind for kind in get_args(plain.type) if kind is not Ellipsis]
        limits = constraints_of(members[-1]) if members else ""
        if limits:
            yield f"each {limits}"


def _limits_of_number(plain: PlainType) -> tuple[Any, Any]:
    if plain.type is int:
        return plain.minimum, plain.maximum
    minima = [end for meta in plain.metas for end in _declared_ends(meta, "ge", "gt")]
    maxima = [end for meta in plain.metas for end in _declared_ends(meta, "le", "lt")]
    return max(minima, default=None), min(maxima, default=None)


def _declared_ends(meta: Meta, closed: str, open_end: str) -> list[float]:
    return [end for end in (getattr(meta, closed), getattr(meta, open_end)) if end is not None]


def _range_text(low: float | None, high: float | None, unit: str) -> str:
    if low is not None and low == high:
        text = f"exactly {low:,}"
    elif low is None:
        text = f"at most {high:,}"
    elif high is None:
        text = f"at least {low:,}"
    else:
        text = f"{low:,} to {high:,}"
    return f"{text} {unit}".strip()
