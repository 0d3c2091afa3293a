"""The most bytes that a value of a type can have."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import inf
from types import NoneType
from typing import Any, get_args, get_origin
from uuid import UUID

from msgspec import Struct

from zataku.table.backend.limits import PARTITION_KEY_BYTES
from zataku.table.backend.values import size_of
from zataku.table.schema.analysis.annotations import LISTS, MAPS, SETS, PlainType, plain_types
from zataku.table.schema.analysis.regex import UNBOUNDED, text_bounds
from zataku.table.schema.codec import NUMBERS, stored_fields, to_value

_NUMBER = 21
# Lists and maps take 3 bytes, and 1 for each member.
_FRAME = 3
_MEMBER = 1
# A whole number of 126 digits and its sign; decimals are shorter in text.
_NUMBER_TEXT = 127

_FIXED: dict[Any, int] = {
    NoneType: 1,
    bool: 1,
    int: _NUMBER,
    float: _NUMBER,
    Decimal: _NUMBER,
    UUID: 36,
    date: 10,
    datetime: 42,  # 2026-02-21T10:30:00.000000+09:00:00.000000
    time: 31,
    timedelta: 42,
}


class SizeBound(Struct, frozen=True):
    """The largest size, or None with the places that have no limit."""

    bytes: int | None
    unbounded: tuple[str, ...] = ()


def max_value_size(annotation: Any, place: str, enclosing: tuple[Any, ...] = ()) -> SizeBound:
    """The most bytes a value can take; `place` names it, `enclosing` are the structs around it."""
    bounds = [_bound(plain, place, enclosing) for plain in plain_types(annotation)]
    return _combined(bounds, max(bound.bytes or 0 for bound in bounds))


def max_text_size(plain: PlainType, width: int | None) -> int | None:
    """The most bytes a value takes inside a key template, as text."""
    if width is not None:
        return width
    if plain.choices is not None:
        return max(len(str(choice).encode()) for choice in plain.choices)
    if plain.type in NUMBERS:
        ends = [plain.minimum, plain.maximum]
        return max(len(str(end)) for end in ends) if plain.type is int and None not in ends else _NUMBER_TEXT
    return _bound(plain, "", ()).bytes


def _combined(parts: Iterable[SizeBound], size: int) -> SizeBound:
    unbounded = tuple(place for part in parts for place in part.unbounded)
    return SizeBound(None, unbounded) if unbounded else SizeBound(size)


def _bound(plain: PlainType, place: str, enclosing: tuple[Any, ...]) -> SizeBound:
    kind = plain.type
    if plain.choices is not None:
        return SizeBound(max(size_of(to_value(choice)) for choice in plain.choices))
    if kind in _FIXED:
        return SizeBound(_FIXED[kind])
    if kind in (str, bytes, bytearray):
        return _string(plain, place)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _struct(kind, place, enclosing)
    origin: Any = get_origin(kind)
    inside = get_args(kind)
    if origin is tuple and inside and inside[-1] is not Ellipsis:
        parts = [max_value_size(part, f"{place}[{at}]", enclosing) for at, part in enumerate(inside)]
        return _combined(parts, _FRAME + sum(_MEMBER + (part.bytes or 0) for part in parts))
    parts = [max_value_size(part, f"{place}[]", enclosing) for part in inside if part is not Ellipsis]
    if origin in LISTS:
        return _members(plain.max_length, parts, place, (_FRAME, _MEMBER))
    if origin in SETS:
        return _members(_max_members(plain.max_length, inside[0]), parts, place, (0, 0))
    if origin in MAPS:
        return _members(_max_members(plain.max_length, inside[0]), parts, place, (_FRAME, _MEMBER))
    return SizeBound(None, (place,))


def _string(plain: PlainType, place: str) -> SizeBound:
    if plain.type is not str:
        max_length, bytes_each = plain.max_length, 1
    else:
        bounds = [UNBOUNDED, *(text_bounds(meta.pattern) for meta in plain.metas if meta.pattern is not None)]
        characters = min(bound.characters for bound in bounds)
        bytes_each = min(bound.bytes_each for bound in bounds)
        characters = characters if plain.max_length is None else min(characters, plain.max_length)
        max_length = None if characters == inf else int(characters)
    if max_length is not None:
        return SizeBound(max_length * bytes_each)
    # Ids have types of their own and are made for keys, so that they fit one.
    return SizeBound(PARTITION_KEY_BYTES) if plain.is_named else SizeBound(None, (place,))


def _max_members(max_length: int | None, annotation: Any) -> int | None:
    """The most members of a set or map, which has each member once only."""
    choices = [plain.choices for plain in plain_types(annotation)]
    counts = [len(choice) for choice in choices if choice is not None]
    if len(counts) < len(choices):
        return max_length
    return sum(counts) if max_length is None else min(max_length, sum(counts))


def _members(count: int | None, parts: list[SizeBound], place: str, frame: tuple[int, int]) -> SizeBound:
    if count is None:
        return SizeBound(None, (place, *_combined(parts, 0).unbounded))
    around, each = frame
    return _combined(parts, around + count * (each + sum(part.bytes or 0 for part in parts)))


def _struct(struct: type[Struct], place: str, enclosing: tuple[Any, ...]) -> SizeBound:
    if struct in enclosing:
        return SizeBound(None, (place,))  # It contains itself, without a limit of depth.
    fields = stored_fields(struct)
    parts = [max_value_size(field.annotation, f"{place}.{field.name}", (*enclosing, struct)) for field in fields]
    size = _FRAME + sum(_MEMBER + size_of(field.attribute) for field in fields) + sum(part.bytes or 0 for part in parts)
    config = struct.__struct_config__
    if config.tag_field is not None:
        size += _MEMBER + size_of(config.tag_field) + size_of(config.tag)
    return _combined(parts, size)
