"""The reads of an access pattern, derived by calling it with arguments that can be recognised in its result."""

from datetime import date
from enum import Enum
from typing import Any, Literal, cast
from uuid import UUID

from msgspec import Struct

from zataku.table.backend.expression import Expression, routes_in
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute
from zataku.table.backend.values import KeyValue
from zataku.table.export.document.notation import key_notation, slot_notation
from zataku.table.schema.access_pattern import Query, Span
from zataku.table.schema.analysis.key_sources import indexed_bindings, key_source
from zataku.table.schema.analysis.sample_calls import (
    Arguments,
    ReadPattern,
    argument_options,
    argument_sets,
    call_with_samples,
)
from zataku.table.schema.entity import Key
from zataku.table.schema.key_template import Slot
from zataku.table.schema.table import Table


class ReadRequest(Struct, frozen=True):
    """One read: from which index (None for the table), with which key condition, in which order, filtered by what."""

    operation: Literal["GetItem", "Query"]
    index: IndexSchema | None
    condition: tuple[str, ...]
    backwards: bool = False
    filtered: tuple[str, ...] = ()


def reads_of(table: Table, pattern: ReadPattern) -> list[ReadRequest]:
    """The reads that a pattern can lead to, each once; none for a pattern that cannot be called."""
    reads: list[ReadRequest] = []
    options = _options(table, pattern)
    for arguments in argument_sets(options) if options is not None else ():
        try:
            result = pattern.function(**arguments)
        except Exception:  # noqa: BLE001 - not every sample needs to be allowed
            continue
        reads.append(_read_request(table, result, arguments))
    if not reads:
        # No text with a placeholder was accepted, so the design's own example is shown.
        for call in call_with_samples(pattern).accepted:
            result = cast("Query[Any] | Key[Any]", call.result)
            request = result.span if isinstance(result, Query) else result
            reads.append(_read_request(table, request, call.arguments))
    return list(dict.fromkeys(reads))


def _read_request(table: Table, result: Any, arguments: Arguments) -> ReadRequest:
    if isinstance(result, Key):
        return _item_request(table, cast("Key[Any]", result), arguments)
    span: Span = result
    source = span.index or table
    condition = [f"{source.pk.name} = {_with_names(table, span.index, source.pk, span.pk, arguments)}"]
    if span.range is not None and source.sk is not None:
        low = _with_names(table, span.index, source.sk, span.range.low, arguments)
        name, sign = source.sk.name, span.range.sign
        if span.range.high is not None:
            high = _with_names(table, span.index, source.sk, span.range.high, arguments)
            condition.append(f"{name} BETWEEN {low} AND {high}")
        else:
            condition.append(f"{name} {'begins_with' if sign == 'begins' else sign} {low}")
    return ReadRequest("Query", span.index, tuple(condition), span.backwards, tuple(attributes_read(span.filter)))


def _item_request(table: Table, key: Key[Any], arguments: Arguments) -> ReadRequest:
    binding = next(binding for binding in table.bindings if binding.entity is key.entity)
    values = [*arguments.values()]
    fixed = {name: str(value) for name, value in key.fields.items() if arguments and value not in values}
    lines = (f"{name} = {key_notation(binding, template, fixed)}" for name, template in binding.key_templates.items())
    return ReadRequest("GetItem", None, tuple(lines))


def _with_names(
    table: Table, index: IndexSchema | None, key: KeyAttribute, value: KeyValue, arguments: Arguments
) -> str:
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
    return _with_slots(table, index, key, text, arguments)


def _with_slots(table: Table, index: IndexSchema | None, key: KeyAttribute, text: str, arguments: Arguments) -> str:
    """A key value in which numbers and choices are replaced where a template of the key has a slot for them."""
    values = [str(value.value if isinstance(value, Enum) else value) for value in arguments.values()]
    candidates = [text]
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

        candidates.append("".join(part_text(part) for part in template.parts))
    # Several templates may fit a text; the one with the most names is meant.
    return max(candidates, key=lambda candidate: candidate.count("<"))


def _options(table: Table, pattern: ReadPattern) -> dict[str, list[Any]] | None:
    attributes = {field.name: field.attribute for binding in table.bindings for field in binding.fields.values()}
    try:
        return argument_options(
            pattern.function,
            lambda name, _: f"<{attributes.get(name, name)}>",
            examples=pattern.metadata.example or {},
        )
    except (TypeError, NameError):
        return None


def attributes_read(condition: Expression | None) -> list[str]:
    """The attributes that a condition reads, each once."""
    return list(dict.fromkeys(".".join(map(str, route)) for route in routes_in(condition)))
