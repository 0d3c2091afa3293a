"""How many bytes a value of some type can have at most."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import inf
from types import NoneType
from typing import Any, get_args, get_origin
from uuid import UUID

from msgspec import Struct

from zataku.table.backend.limits import PARTITION_KEY_BYTES
from zataku.table.backend.values import size_of
from zataku.table.schema.analysis.annotations import NUMBERS, PlainType, plain_types
from zataku.table.schema.analysis.regex import text_bounds
from zataku.table.schema.codec import stored_fields, to_value

_CHARACTER = 4  # bytes of the longest character in UTF-8
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
_LISTS = (list, tuple, Sequence)
_SETS = (set, frozenset, AbstractSet)
_MAPS = (dict, Mapping)


class SizeBound(Struct, frozen=True):
    """The largest size, or None with the places that have no limit."""

    bytes: int | None
    endless: tuple[str, ...] = ()


def max_value_size(annotation: Any, place: str, above: tuple[Any, ...] = ()) -> SizeBound:
    """The most bytes a value can take; `place` names it, `above` are the structs it lies in."""
    found = [_arm(arm, place, above) for arm in plain_types(annotation)]
    return _joined(found, max(bound.bytes or 0 for bound in found))


def max_text_size(arm: PlainType, width: int | None) -> int | None:
    """The most bytes a value takes inside a key template, as text."""
    if width is not None:
        return width
    if arm.choices is not None:
        return max(len(str(choice).encode()) for choice in arm.choices)
    if arm.kind in NUMBERS:
        ends = [arm.lowest, arm.highest]
        return max(len(str(end)) for end in ends) if arm.kind is int and None not in ends else _NUMBER_TEXT
    return _arm(arm, "", ()).bytes


def _joined(parts: Iterable[SizeBound], size: int) -> SizeBound:
    endless = tuple(place for part in parts for place in part.endless)
    return SizeBound(None, endless) if endless else SizeBound(size)


def _arm(arm: PlainType, place: str, above: tuple[Any, ...]) -> SizeBound:
    kind = arm.kind
    if arm.choices is not None:
        return SizeBound(max(size_of(to_value(choice)) for choice in arm.choices))
    if kind in _FIXED:
        return SizeBound(_FIXED[kind])
    if kind in (str, bytes, bytearray):
        return _string(arm, place)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _struct(kind, place, above)
    origin: Any = get_origin(kind)
    inside = get_args(kind)
    if origin is tuple and inside and inside[-1] is not Ellipsis:
        parts = [max_value_size(part, f"{place}[{at}]", above) for at, part in enumerate(inside)]
        return _joined(parts, _FRAME + sum(_MEMBER + (part.bytes or 0) for part in parts))
    parts = [max_value_size(part, f"{place}[]", above) for part in inside if part is not Ellipsis]
    if origin in _LISTS:
        return _members(arm.longest, parts, place, (_FRAME, _MEMBER))
    if origin in _SETS:
        return _members(_fewest(arm.longest, inside[0]), parts, place, (0, 0))
    if origin in _MAPS:
        return _members(_fewest(arm.longest, inside[0]), parts, place, (_FRAME, _MEMBER))
    return SizeBound(None, (place,))


def _string(arm: PlainType, place: str) -> SizeBound:
    if arm.kind is not str:
        longest, letter = arm.longest, 1
    else:
        shapes = [text_bounds(meta.pattern) for meta in arm.metas if meta.pattern is not None]
        characters = min((shape.characters for shape in shapes), default=inf)
        letter = min((shape.letter for shape in shapes), default=_CHARACTER)
        characters = characters if arm.longest is None else min(characters, arm.longest)
        longest = None if characters == inf else int(characters)
    if longest is not None:
        return SizeBound(longest * letter)
    # Ids have types of their own and are made for keys, so that they fit one.
    return SizeBound(PARTITION_KEY_BYTES) if arm.named else SizeBound(None, (place,))


def _fewest(longest: int | None, annotation: Any) -> int | None:
    """The most members of a set or map, which has each member once only."""
    choices = [arm.choices for arm in plain_types(annotation)]
    counts = [len(choice) for choice in choices if choice is not None]
    if len(counts) < len(choices):
        return longest
    return sum(counts) if longest is None else min(longest, sum(counts))


def _members(count: int | None, parts: list[SizeBound], place: str, frame: tuple[int, int]) -> SizeBound:
    if count is None:
        return SizeBound(None, (place, *_joined(parts, 0).endless))
    around, each = frame
    return _joined(parts, around + count * (each + sum(part.bytes or 0 for part in parts)))


def _struct(struct: type[Struct], place: str, above: tuple[Any, ...]) -> SizeBound:
    if struct in above:
        return SizeBound(None, (place,))  # It holds itself, as deep as one likes.
    fields = stored_fields(struct)
    parts = [max_value_size(field.annotation, f"{place}.{field.name}", (*above, struct)) for field in fields]
    size = _FRAME + sum(_MEMBER + size_of(field.attribute) for field in fields) + sum(part.bytes or 0 for part in parts)
    config = struct.__struct_config__
    if config.tag_field is not None:
        size += _MEMBER + size_of(config.tag_field) + size_of(config.tag)
    return _joined(parts, size)
