"""The part of the document about one table: settings, indexes, access patterns, alarms, waivers."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zataku.table.backend.table_schema import Capacity, IndexSchema, KeyAttribute, OnDemand
from zataku.table.export.cloudformation.alarms import cloudwatch_alarms
from zataku.table.export.document.access_patterns import ReadRequest, reads_of
from zataku.table.export.document.notation import code_span, key_notation, markdown_table
from zataku.table.export.document.type_descriptions import KEY_TYPE_NAMES
from zataku.table.schema.access_pattern import ItemPattern, QueryPattern
from zataku.table.schema.analysis.key_sources import indexed_bindings, key_source
from zataku.table.schema.codec import stored_fields
from zataku.table.schema.table import Table

_STREAMS: Mapping[str, str] = {
    "KEYS_ONLY": "the keys of each changed item",
    "NEW_IMAGE": "each changed item as it is afterwards",
    "OLD_IMAGE": "each changed item as it was before",
    "NEW_AND_OLD_IMAGES": "each changed item before and after",
}


def settings_section(table: Table, env: str, level: str) -> Iterator[str]:
    """The settings of the table."""
    yield f"{level} Settings"
    yield markdown_table(("Setting", "Value"), _settings(table, env))


def _settings(table: Table, env: str) -> Iterator[tuple[str, str]]:
    names = [f"{code_span(table.schema(name).name)} in {code_span(name)}" for name in dict.fromkeys((env, "prod"))]
    yield "Name", ", ".join([*names, f"{code_span(table.schema('<env>').name)} elsewhere"])
    yield "Partition key", _key(table.pk)
    yield "Sort key", "none" if table.sk is None else _key(table.sk)
    yield "Capacity", _capacity(table.capacity)
    yield "Point-in-time recovery", "on, to any second of the last 35 days" if table.recovery else "off"
    yield "Stream", "none" if table.stream is None else f"{code_span(table.stream)}: {_STREAMS[table.stream]}"
    yield "Time to live", "none" if table.ttl is None else f"by {code_span(table.ttl)}"
    yield (
        "Encryption",
        "with the account's key, which AWS manages"
        if table.encryption == "managed"
        else "with a key of DynamoDB's own",
    )
    if table.transactions:
        yield "Needs", "transactions"
    named = [f"{code_span(name)}: {policy}" for name, policy in sorted(table.deletion.items())]
    yield "When the stack is deleted", "; ".join([*named, "other environments: Delete"])


def index_section(table: Table, level: str) -> Iterator[str]:
    """The indexes, and the keys of each entity in them."""
    if not table.indexes:
        return
    yield f"{level} Indexes"
    headings = ("Index", "Kind", "Partition key", "Sort key", "Projection")
    schemas = [index.schema for index in table.indexes.values()]
    yield markdown_table(headings, (_index_row(schema) for schema in schemas))
    rows = [row for schema in schemas for row in _index_entries(table, schema)]
    if rows:
        yield "What they hold:"
        yield markdown_table(("Index", "Entity", "Partition key", "Sort key"), rows)


def pattern_section(table: Table, level: str) -> Iterator[str]:
    """The access patterns, with the read, the order and the budget of each."""
    if not table.patterns:
        return
    yield f"{level} Access patterns"
    for number, (name, pattern) in enumerate(table.patterns.items(), 1):
        yield from pattern_head(f"{level}# {number}.", name, pattern.metadata.doc, pattern.function)
        reads = reads_of(table, pattern)
        yield (
            "\n".join(["```text", *(line for read in reads for line in _read_lines(read)), "```"])
            if reads
            else "The key condition depends on arguments of which no example is given."
        )
        yield _result_text(table, pattern, reads)
        if pattern.metadata.budget is not None:
            yield f"Budget: {pattern.metadata.budget.text()}."


def alarm_section(table: Table, env: str, level: str) -> Iterator[str]:
    """The alarms, with the condition of each."""
    if not table.alarms:
        return
    yield f"{level} Alarms"
    rows = ((code_span(alarm.name), alarm.description) for alarm in cloudwatch_alarms(table, table.schema(env).name))
    yield markdown_table(("Alarm", "Fires when"), rows)


def waiver_section(table: Table, level: str) -> Iterator[str]:
    """The accepted findings of the lint, with their reasons."""
    if table.waivers:
        yield f"{level} Waivers"
        rows = (
            (code_span(waiver.rule), code_span(waiver.subject), waiver.reason, waiver.limit) for waiver in table.waivers
        )
        yield markdown_table(("Rule", "Subject", "Reason", "Holds up to"), rows)


def _key(key: KeyAttribute) -> str:
    return f"{code_span(key.name)} ({KEY_TYPE_NAMES[key.type]})"


def _capacity(capacity: Capacity) -> str:
    maxima = (("read", capacity.max_reads), ("write", capacity.max_writes))
    maximum = " and ".join(f"{units:,} {name} units" for name, units in maxima if units is not None)
    if isinstance(capacity, OnDemand):
        return f"on demand, at most {maximum} a second" if maximum else "on demand"
    steady = f"{capacity.reads:,} read units and {capacity.writes:,} write units a second"
    return f"{steady}, growing to {maximum} to stay near {capacity.target} % in use" if maximum else steady


def _index_row(index: IndexSchema) -> tuple[str, ...]:
    projected = index.projection
    names = ", ".join(code_span(name) for name in projected.attributes)
    projection = {"ALL": "everything", "KEYS_ONLY": "keys only"}.get(projected.kind) or f"keys and {names}"
    sort = "none" if index.sk is None else _key(index.sk)
    return code_span(index.name), "local" if index.local else "global", _key(index.pk), sort, projection


def _index_entries(table: Table, index: IndexSchema) -> Iterator[tuple[str, ...]]:
    for binding in indexed_bindings(table, index):
        templates = [key_source(binding, key) for key in index.keys]
        texts = [code_span(key_notation(binding, template)) for template in templates if template is not None]
        yield code_span(index.name), binding.entity.__name__, texts[0], texts[1] if len(texts) > 1 else "none"


def pattern_head(heading: str, name: str, doc: str, function: Callable[..., Any]) -> Iterator[str]:
    """The heading of an access pattern, and its signature."""
    first, rest = _sentences(doc)
    yield f"{heading} {first}"
    parameters = ", ".join(inspect.signature(function).parameters)
    yield f"In code: {code_span(f'{name}({parameters})')}.{rest}"


def _sentences(doc: str) -> tuple[str, str]:
    """The first sentence, without its full stop, and the rest with a space before it."""
    first, stop, rest = " ".join(doc.split()).partition(". ")
    return first.rstrip("."), f" {rest}" if stop else ""


def _read_lines(read: ReadRequest) -> Iterator[str]:
    yield f"{read.operation}:" if read.index is None else f"{read.operation} ({read.index.name}):"
    yield from (f"  {line}" for line in read.condition)
    if read.backwards:
        yield "  from the end"
    if read.filtered:
        yield f"  filtered by {', '.join(read.filtered)}"


def _result_text(
    table: Table, pattern: QueryPattern[..., Any] | ItemPattern[..., Any], reads: list[ReadRequest]
) -> str:
    consistency = "strongly consistent" if pattern.metadata.strong else "eventually consistent"
    if isinstance(pattern, ItemPattern):
        return f"Returns one item or none; {consistency}."
    kinds = ", ".join(_result_name(table, kind) for kind in pattern.metadata.returns)
    orders = dict.fromkeys(_order_text(table, read) for read in reads)
    return f"Returns {kinds}{''.join(orders)}; {consistency}."


def _order_text(table: Table, read: ReadRequest) -> str:
    sort = table.sk if read.index is None else read.index.sk
    if sort is None:
        return ""
    return f", in {'descending' if read.backwards else 'ascending'} order of {code_span(sort.name)}"


def _result_name(table: Table, kind: type[Any]) -> str:
    entity = table.views.get(kind)
    if entity is None:
        return code_span(kind.__name__)
    names = ", ".join(code_span(field.attribute) for field in stored_fields(kind))
    return f"{code_span(kind.__name__)} ({names} of {code_span(entity.__name__)})"
