"""Whether what is asked for can be there."""

from collections.abc import Iterator
from typing import Any

from zataku.table.lint.key_matching import can_be, can_lie_in
from zataku.table.lint.report import Violation
from zataku.table.schema.access_pattern import Query, QueryPattern, Span
from zataku.table.schema.analysis.key_sources import binding_of_result, indexed_bindings, key_source
from zataku.table.schema.analysis.sample_calls import call_with_samples
from zataku.table.schema.binding import Binding
from zataku.table.schema.table import Table


def unanswerable_pattern(table: Table) -> Iterator[Violation]:
    """Every query asks for keys that its results can have.

    A query names a partition key and a stretch of sort keys. When no entity in that table or index has a template
    that makes such keys, the query is always empty; when a kind it returns has none, that kind is never among the
    results. The query's keys and the templates must say the same: begins_with("MOVES#") never finds MOVE#001.
    """
    for name, pattern in table.patterns.items():
        if not isinstance(pattern, QueryPattern):
            continue
        tried = call_with_samples(pattern)
        problems = {problem: None for query in tried.results for problem in _problems(table, query, pattern)}
        if tried.is_design_error:
            problems[str(tried.problem)] = None
        if problems:
            yield Violation(
                name,
                " ".join(problems),
                "Ask for keys as the templates write them, on the index that holds them, or give the entity such keys.",
            )


def stranger_in_span(table: Table) -> Iterator[Violation]:
    """Every kind of item that lies in a query's stretch is among the kinds it returns.

    A partition holds several kinds, and an index over shared keys gathers even more. A query that meets a kind it does
    not name cannot read it and fails, on the day when the first such item is written. Queries with a filter, or with
    arguments given as an example, are not judged: what they leave out cannot be told from here.
    """
    for name, pattern in table.patterns.items():
        if not isinstance(pattern, QueryPattern) or pattern.metadata.example is not None:
            continue
        strangers = {
            binding.entity.__name__: None
            for query in call_with_samples(pattern).results
            # A query that asks for the wrong keys altogether is a finding of its own.
            if query.span.filter is None and not any(_problems(table, query, pattern))
            for binding in indexed_bindings(table, query.span.index)
            if _within(table, binding, query.span, loose=False)
            and all(binding_of_result(table, kind) is not binding for kind in query.returns)
        }
        if strangers:
            yield Violation(
                name,
                f"{name} can meet {', '.join(strangers)}, which it does not return and could not read.",
                "Narrow the stretch with begins_with or between, or return those kinds too.",
            )


def _problems(table: Table, query: Query[Any], pattern: QueryPattern[..., Any]) -> Iterator[str]:
    span, loose = query.span, pattern.metadata.example is not None
    there = indexed_bindings(table, span.index)
    if span.index is not None and not there:
        return  # The index is empty for everybody, which is a finding of its own.
    found = [binding for binding in there if _within(table, binding, span, loose)]
    where = span.index.name if span.index else table.name
    if not found:
        known = "; ".join(_keys(table, binding, span) for binding in there)
        yield f"{query.name} asks {where} for {_asked(table, span)}, which no entity can have. There are: {known}."
        return
    for kind in query.returns:
        binding = binding_of_result(table, kind)
        if binding is None:
            yield f"{query.name} returns {kind.__name__}, which is no entity or view of {table.name}."
        elif binding not in there:
            yield f"{query.name} returns {kind.__name__}, which has no keys of {where}."
        elif binding not in found:
            yield (
                f"{query.name} returns {kind.__name__}, but asks {where} for {_asked(table, span)}, while its keys "
                f"are {_keys(table, binding, span)}."
            )


def _within(table: Table, binding: Binding[Any], span: Span, loose: bool) -> bool:
    place = span.index or table
    partition = key_source(binding, place.pk)
    if partition is None or not can_be(binding, partition, span.pk, loose):
        return False
    sort = None if place.sk is None else key_source(binding, place.sk)
    return sort is None or can_lie_in(binding, sort, span.range, loose)


def _asked(table: Table, span: Span) -> str:
    place = span.index or table
    asked = f"{place.pk.name} = {span.pk!r}"
    if span.range is None or place.sk is None:
        return asked
    sign = {"begins": "beginning with"}.get(span.range.sign, span.range.sign)
    ends = repr(span.range.low) if span.range.high is None else f"{span.range.low!r} and {span.range.high!r}"
    return f"{asked} and {place.sk.name} {sign} {ends}"


def _keys(table: Table, binding: Binding[Any], span: Span) -> str:
    place = span.index or table
    made = [key_source(binding, key) for key in (place.pk, place.sk) if key is not None]
    return f"{binding.entity.__name__} ({', '.join(template.text for template in made if template is not None)})"
