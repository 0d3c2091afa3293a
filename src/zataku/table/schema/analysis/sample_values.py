"""An example of each kind of item, made from the types of its fields."""

import json
from base64 import b64encode
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from types import NoneType
from typing import Any, Literal, cast, get_args, get_origin
from uuid import UUID

import msgspec
from msgspec import Struct

from zataku.table.backend.errors import TableError
from zataku.table.backend.values import Item, Value
from zataku.table.export.document.type_descriptions import LISTS, MAPS, SETS, defaults_of
from zataku.table.schema.analysis.annotations import PlainType, plain_types
from zataku.table.schema.analysis.sample_text import sample_text
from zataku.table.schema.binding import Binding
from zataku.table.schema.codec import stored_fields
from zataku.table.schema.entity import Entity, binding_of

_MOMENT = datetime(2026, 2, 21, 10, 30, tzinfo=UTC)
_DEEPEST = 4
_PLAIN: dict[Any, Any] = {
    bool: True,
    bytes: b"bytes",
    datetime: _MOMENT,
    type(_MOMENT.date()): _MOMENT.date(),
    time: _MOMENT.time(),
    timedelta: timedelta(hours=1),
    UUID: UUID("456e7890-e89b-42d3-a456-426614174001"),
}


def sample_item(binding: Binding[Any]) -> Item | None:
    """An item of the entity with all its fields, keys first; None where the types do not say what would be right."""
    try:
        item = binding.encode(sample_entity(binding))
    except (TableError, TypeError, ValueError, LookupError):
        # A rule beyond the types, such as a pattern with a look-ahead, is the author's to illustrate.
        return None
    return {name: item[name] for name in (*binding.templates, *item) if name in item}


def sample_entity(binding: Binding[Any]) -> Any:
    """The entity of that item; raises whatever its types raise when they do not say what would be right."""
    return binding.entity(**{field.name: _field(binding, field.name) for field in binding.fields.values()})


def sample_value(name: str, annotation: Any) -> Any:
    """A value for an argument of that name and type; an entity has all its fields."""
    kinds = [arm.kind for arm in plain_types(annotation) if arm.kind is not NoneType]
    kind = kinds[0] if kinds else None
    if isinstance(kind, type) and issubclass(kind, Entity):
        return sample_entity(binding_of(kind))
    if get_origin(kind) in LISTS:
        return [sample_value(name, get_args(kind)[0])]
    return _value(name, annotation, 0)


def as_json(item: Item) -> str:
    """An item as people write it: bytes as base64, sets as lists."""
    return json.dumps(_plain(item), indent=2, ensure_ascii=False)


def _field(binding: Binding[Any], name: str) -> Any:
    field = binding.fields[name]
    if field.keeps_null:
        return None
    if name == binding.ttl_field:
        return int(_MOMENT.timestamp()) + 24 * 60 * 60
    usual = defaults_of(binding.entity).get(name)
    return usual if isinstance(usual, str | int | float) and usual else _value(name, field.annotation, 0)


def _value(name: str, annotation: Any, depth: int) -> Any:
    kinds = [arm for arm in plain_types(annotation) if arm.kind is not NoneType]
    if not kinds or depth > _DEEPEST:
        return None
    given = [example for meta in kinds[0].metas for example in meta.examples or ()]
    return given[-1] if given else _of(name, kinds[0], depth)


def _of(name: str, arm: PlainType, depth: int) -> Any:
    kind, origin = arm.kind, get_origin(arm.kind)
    if origin is Literal:
        return get_args(kind)[0]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if isinstance(kind, type) and issubclass(kind, Struct):
        inner = {
            field.name: None if field.keeps_null else _value(field.name, field.annotation, depth + 1)
            for field in stored_fields(kind)
        }
        return kind(**inner)
    if kind is str:
        patterns = tuple(meta.pattern for meta in arm.metas if meta.pattern is not None)
        return sample_text(name, arm.shortest, arm.longest, patterns)
    if kind in (int, float, Decimal):
        return _number(kind, arm)
    if kind in _PLAIN:
        return _PLAIN[kind]
    return _members(name, arm, origin or kind, depth)


def _number(kind: Any, arm: PlainType) -> Any:
    least = 1 if arm.lowest is None else max(1, arm.lowest)
    return kind(least if arm.highest is None else min(least, arm.highest))


def _members(name: str, arm: PlainType, origin: Any, depth: int) -> Any:
    inner = [kind for kind in get_args(arm.kind) if kind is not Ellipsis]
    one = _value(name.removesuffix("s"), inner[-1], depth + 1) if inner else name
    if origin in MAPS:
        return {name.removesuffix("s"): one}
    if origin in SETS:
        return frozenset([one])
    if origin in LISTS:
        return [one] * max(1, arm.shortest)
    raise TypeError(f"no example of {arm.kind!r} comes to mind")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in cast("Item", value).items()}
    if isinstance(value, list):
        return [_plain(part) for part in cast("list[Value]", value)]
    if isinstance(value, frozenset):
        return sorted((_plain(part) for part in cast("frozenset[Value]", value)), key=str)
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return float(value) if isinstance(value, Decimal) else msgspec.to_builtins(value)
