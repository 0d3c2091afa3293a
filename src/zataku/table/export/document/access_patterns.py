"""What an access pattern asks for, read off by calling it with arguments that can be told apart in its answer."""

import inspect
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from types import NoneType
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints
from uuid import UUID

from msgspec import Struct, structs

from zataku.table.backend.table_schema import IndexSchema, KeyAttribute
from zataku.table.backend.values import KeyValue
from zataku.table.export.document.key_notation import key_notation, slot_notation
from zataku.table.schema.access_pattern import ItemPattern, Query, QueryPattern, Span
from zataku.table.schema.analysis.annotations import PlainType, plain_types
from zataku.table.schema.analysis.key_sources import indexed_bindings, key_source
from zataku.table.schema.analysis.sample_calls import call_with_samples
from zataku.table.schema.entity import Key
from zataku.table.schema.key_template import Slot
from zataku.table.schema.table import Table

Arguments = dict[str, Any]
_DAY = date(2026, 2, 21)
_PLAIN: dict[Any, Any] = {
    date: _DAY,
    datetime: datetime.fromisoformat("2026-02-21T10:30:00+00:00"),
    UUID: UUID("456e7890-e89b-42d3-a456-426614174001"),
}


class ReadRequest(Struct, frozen=True):
    """One read: from which index (None for the table), with which key condition, in which order, filtered by what."""

    operation: Literal["GetItem", "Query"]
    index: IndexSchema | None
    condition: tuple[str, ...]
    backwards: bool = False
    filtered: tuple[str, ...] = ()


def reads_of(table: Table, pattern: QueryPattern[..., Any] | ItemPattern[..., Any]) -> list[ReadRequest]:
    """The reads that a pattern can lead to, each once. A pattern that cannot be tried out gives none."""
    found: list[ReadRequest] = []
    for arguments in _attempts(table, pattern):
        try:
            answer = pattern.function(**arguments)
        except Exception:  # noqa: BLE001 - not every made-up argument needs to be allowed
            continue
        found.append(_described(table, answer, arguments))
    if not found:
        # No made-up text was good enough, so the design's own example has to do.
        answers, example = call_with_samples(pattern).answers, pattern.facts.example or {}
        found = [_described(table, it.span if isinstance(it, Query) else it, example) for it in answers]
    return list(dict.fromkeys(found))


def _described(table: Table, answer: Any, arguments: Arguments) -> ReadRequest:
    if isinstance(answer, Key):
        return _item(table, cast("Key[Any]", answer), arguments)
    span: Span = answer
    place = span.index or table
    condition = [f"{place.pk.name} = {_told(table, span.index, place.pk, span.pk, arguments)}"]
    if span.range is not None and place.sk is not None:
        low = _told(table, span.index, place.sk, span.range.low, arguments)
        name, sign = place.sk.name, span.range.sign
        if span.range.high is not None:
            high = _told(table, span.index, place.sk, span.range.high, arguments)
            condition.append(f"{name} BETWEEN {low} AND {high}")
        else:
            condition.append(f"{name} {'begins_with' if sign == 'begins' else sign} {low}")
    return ReadRequest("Query", span.index, tuple(condition), span.backwards, tuple(dict.fromkeys(routes(span.filter))))


def _item(table: Table, key: Key[Any], arguments: Arguments) -> ReadRequest:
    binding = next(made for made in table.bindings if made.entity is key.entity)
    given = [*arguments.values()]
    fixed = {name: str(value) for name, value in key.fields.items() if arguments and value not in given}
    lines = (f"{name} = {key_notation(binding, made, fixed)}" for name, made in binding.key_templates.items())
    return ReadRequest("GetItem", None, tuple(lines))


def _told(table: Table, index: IndexSchema | None, key: KeyAttribute, value: KeyValue, arguments: Arguments) -> str:
    """A key value in which the arguments are replaced by their names."""
    for name, argument in arguments.items():
        if not isinstance(argument, str | bool) and argument == value:
            return f"<{name}>"
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    text = str(value)
    for name, argument in arguments.items():
        if isinstance(argument, date | UUID):
            text = text.replace(argument.isoformat() if isinstance(argument, date) else str(argument), f"<{name}>")
    return _by_template(table, index, key, text, arguments)


def _by_template(table: Table, index: IndexSchema | None, key: KeyAttribute, text: str, arguments: Arguments) -> str:
    """Numbers and choices cannot carry a mark, so they are recognised where a template of the key has a slot."""
    values = [str(it.value if isinstance(it, Enum) else it) for it in arguments.values()]
    found = [text]
    for binding in indexed_bindings(table, index):
        template = key_source(binding, key)
        texts = None if template is None else template.parse(text)
        if template is None or texts is None:
            continue

        def part_text(part: str | Slot, texts: dict[str, str] = texts, binding: Any = binding) -> str:
            if isinstance(part, str):
                return part
            filled = texts[part.field]
            plain = filled.lstrip("0") or "0" if part.width is not None else filled
            return slot_notation(binding, part) if plain in values and not filled.startswith("<") else filled

        found.append("".join(part_text(part) for part in template.parts))
    # Several templates may fit a text; the one that tells most of it by name is the one that was meant.
    return max(found, key=lambda told: told.count("<"))


def _attempts(table: Table, pattern: QueryPattern[..., Any] | ItemPattern[..., Any]) -> Iterator[Arguments]:
    """Arguments to try: the first choice of everything, then one parameter changed at a time, then all given."""
    try:
        options = dict(_options(table, pattern))
    except (TypeError, NameError):
        return
    first = {name: found[0] for name, found in options.items()}
    changes = [{name: value} for name, found in options.items() for value in found[1:]]
    spare = {name: found[1] for name, found in options.items() if found[0] is _OMITTED and len(found) > 1}
    for change in ({}, *changes, spare):
        yield {name: value for name, value in (first | change).items() if value is not _OMITTED}


_OMITTED = object()


def _options(table: Table, pattern: QueryPattern[..., Any] | ItemPattern[..., Any]) -> Iterator[tuple[str, list[Any]]]:
    hints = get_type_hints(pattern.function, include_extras=True)
    example = pattern.facts.example or {}
    names = {field.name: field.attribute for binding in table.bindings for field in binding.fields.values()}
    for at, (name, parameter) in enumerate(inspect.signature(pattern.function).parameters.items()):
        left_out = [_OMITTED] if parameter.default is not parameter.empty else []
        kinds = [arm for arm in plain_types(hints.get(name, NoneType)) if arm.kind is not NoneType]
        values = [value for arm in kinds[:1] for value in _values(names.get(name, name), arm, at)]
        # An example is needed where a made-up value would not be understood; text with a mark always is.
        given = [example[name]] if name in example and not any(isinstance(value, str) for value in values) else []
        found = left_out + (given or values)
        if not found:
            raise TypeError(f"no value comes to mind for {name}")
        yield name, found


def _values(name: str, arm: PlainType, at: int) -> list[Any]:
    kind = arm.kind
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)
    if kind is bool:
        return [False, True]
    if kind is str:
        return [f"<{name}>"]
    if kind is bytes:
        return [f"<{name}>".encode()]
    if kind in (int, float, Decimal):
        least = (1 if arm.lowest is None else max(1, arm.lowest)) + at
        return [kind(least if arm.highest is None else min(least, arm.highest))]
    return [_PLAIN[kind]] if kind in _PLAIN else []


def routes(condition: Any) -> Iterator[str]:
    """The attributes that a condition looks at."""
    if isinstance(condition, tuple):
        for part in cast("tuple[Any, ...]", condition):
            yield from routes(part)
    elif isinstance(condition, Struct):
        route = getattr(condition, "route", None)
        if route:
            yield ".".join(str(step) for step in route)
        yield from routes(structs.astuple(condition))
