"""Sample values that fit their annotations: for examples in documents, and for calls of access patterns."""

import re
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum
from types import NoneType
from typing import Any, Literal, get_args, get_origin
from uuid import UUID

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields as struct_fields

from zataku.table.backend.errors import TableError
from zataku.table.backend.values import Item
from zataku.table.schema.analysis.annotations import LISTS, MAPS, SETS, PlainType, plain_types
from zataku.table.schema.analysis.regex import matching_text
from zataku.table.schema.codec import NUMBERS, stored_fields
from zataku.table.schema.entity import Entity, binding_of
from zataku.table.schema.entity_bindings import Binding

_UUID = "456e7890-e89b-42d3-a456-426614174001"
_MOMENT = datetime(2026, 2, 21, 10, 30, tzinfo=UTC)
_DAY_SECONDS = 24 * 60 * 60
_MAX_DEPTH = 4
_BY_TYPE: dict[Any, Any] = {
    bytes: b"bytes",
    date: _MOMENT.date(),
    datetime: _MOMENT,
    time: _MOMENT.time(),
    timedelta: timedelta(hours=1),
    UUID: UUID(_UUID),
}
_TEXT_BY_NAME: tuple[tuple[str, str], ...] = (
    (r"(?:^|_)(?:at|deadline|timestamp|created|updated|since|(?:latest|last)_\w+)$", "2026-02-21T10:30:00Z"),
    (r"(?:^|_)(?:date|day)$", "2026-02-21"),
    (r"(?:^|_)(?:id|ids|code)$", _UUID),
    (r"(?:^|_)email$", "player@example.com"),
    (r"(?:^|_)url$", "https://example.com/picture.png"),
)


def sample_item(binding: Binding[Any], entity: Entity | None = None) -> Item | None:
    """The item of an entity, keys first; that of a sample with all fields when none is given.

    None when no sample fits, since the entity has a rule beyond its types, such as a pattern with a look-ahead.
    """
    try:
        item = binding.encode(sample_entity(binding) if entity is None else entity)
    except (TableError, TypeError, ValueError, LookupError):
        return None
    return {name: item[name] for name in (*binding.templates, *item) if name in item}


def sample_entity(binding: Binding[Any]) -> Any:
    """An entity with all its fields; raises what its constructor raises when the samples do not fit."""
    return binding.entity(**{name: _sample_field(binding, name) for name in binding.fields})


def sample_value(name: str, annotation: Any, depth: int = 0) -> Any:
    """A value for a field or argument: its declared example, else one that its types and patterns allow."""
    types = [plain for plain in plain_types(annotation) if plain.type is not NoneType]
    if not types or depth > _MAX_DEPTH:
        return None
    declared = [example for meta in types[0].metas for example in meta.examples or ()]
    return declared[-1] if declared else _sample(name, types[0], depth)


def sample_choices(plain: PlainType) -> tuple[Any, ...] | None:
    """All values of a Literal, Enum or bool; the members of an Enum, since calls take those."""
    kind: Any = plain.type
    if get_origin(kind) is Literal:
        return get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(kind)
    return (False, True) if kind is bool else None


def sample_number(plain: PlainType, offset: int = 0) -> Any:
    """A number within the limits of its type: 1 and `offset` where they allow that."""
    number = (1 if plain.minimum is None else max(1, plain.minimum)) + offset
    return plain.type(number if plain.maximum is None else min(number, plain.maximum))


def sample_of_type(name: str, plain: PlainType) -> Any:
    """A value of a type that has neither text nor limits, such as a date; raises TypeError for any other type."""
    if plain.type in _BY_TYPE:
        return _BY_TYPE[plain.type]
    raise TypeError(f"no sample is known for {name}, a {plain.type!r}")


def defaults_of(struct: type[Struct]) -> dict[str, Any]:
    """The defaults of a struct's fields, by field."""
    return {field.name: field.default for field in struct_fields(struct) if field.default is not NODEFAULT}


def _sample_field(binding: Binding[Any], name: str) -> Any:
    field = binding.fields[name]
    if field.keeps_null:
        return None
    if name == binding.ttl_field:
        return int(_MOMENT.timestamp()) + _DAY_SECONDS
    default = defaults_of(binding.entity).get(name)
    if isinstance(default, str | int | float) and default:
        return default
    return sample_value(name, field.annotation)


def _sample(name: str, plain: PlainType, depth: int) -> Any:
    kind: Any = plain.type
    choices = sample_choices(plain)
    if choices is not None:
        # Of a flag, the value that shows something.
        return True if kind is bool else choices[0]
    if isinstance(kind, type) and issubclass(kind, Entity):
        return sample_entity(binding_of(kind))
    if isinstance(kind, type) and issubclass(kind, Struct):
        fields = {
            field.name: None if field.keeps_null else sample_value(field.name, field.annotation, depth + 1)
            for field in stored_fields(kind)
        }
        return kind(**fields)
    if kind is str:
        return _sample_text(name, plain)
    if kind in NUMBERS:
        return sample_number(plain)
    return _BY_TYPE[kind] if kind in _BY_TYPE else _sample_members(name, plain, depth)


def _sample_members(name: str, plain: PlainType, depth: int) -> Any:
    origin = get_origin(plain.type) or plain.type
    members = [member for member in get_args(plain.type) if member is not Ellipsis]
    singular = name.removesuffix("s")
    sample = sample_value(singular, members[-1], depth + 1) if members else name
    if origin in MAPS:
        return {singular: sample}
    if origin in SETS:
        return frozenset([sample])
    if origin in LISTS:
        return [sample] * max(1, plain.min_length)
    raise TypeError(f"no sample is known for {name}, a {plain.type!r}")


def _sample_text(name: str, plain: PlainType) -> str:
    """A text of a fitting length that matches all patterns, as far as one is found; else the words of the name."""
    patterns = tuple(meta.pattern for meta in plain.metas if meta.pattern is not None)
    by_name = (text for pattern, text in _TEXT_BY_NAME if re.search(pattern, name))
    words = re.sub(r"[^a-z]+", " ", name).strip() or "text"
    by_pattern = (text for text in map(matching_text, patterns) if text is not None)
    for text in (*by_name, words, *by_pattern):
        sized = text.ljust(plain.min_length, text[-1:] or "x")[: plain.max_length]
        if all(re.search(pattern, sized) for pattern in patterns):
            return sized
    return words
