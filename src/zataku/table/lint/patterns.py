"""The rules about access patterns: the keys that queries read, and arguments to call them with."""

from collections.abc import Iterator
from typing import Any

from zataku.table.lint.report import Violation
from zataku.table.lint.template_matcher import can_be_within, can_equal
from zataku.table.schema.access_pattern import Query, QueryPattern, Span
from zataku.table.schema.analysis.key_sources import binding_of_result, indexed_bindings, key_source
from zataku.table.schema.analysis.sample_calls import call_with_samples
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.table import Table


def unanswerable_pattern(table: Table) -> Iterator[Violation]:
    """Every query reads keys that its results can have.

    A query names a partition key and a range of sort keys. When no entity in that table or index has a template
    that makes such keys, the query is always empty; when a kind it returns has none, that kind is never among the
    results. The query's keys and the templates must agree: `begins_with("MOVES#")` never finds MOVE#001.
    """
    for name, pattern in table.patterns.items():
        if not isinstance(pattern, QueryPattern):
            continue
        calls = call_with_samples(pattern)
        problems = {problem: None for query in calls.results for problem in _problems(table, query, pattern)}
        if calls.is_design_error:
            problems[str(calls.problem)] = None
        if problems:
            yield Violation(
                name,
                " ".join(problems),
                "Read keys as the templates write them, from the index that holds them, or give the entity such keys.",
            )


def unexpected_entity(table: Table) -> Iterator[Violation]:
    """Every kind of item in a query's range is among the kinds that it returns.

    A partition holds several kinds, and an index over shared keys holds even more. A query that reads a kind it does
    not name fails as soon as the first such item is written. Queries with a filter, or with arguments given as an
    example, are not checked: which items they leave out is not known before they run.
    """
    for name, pattern in table.patterns.items():
        if not isinstance(pattern, QueryPattern) or pattern.metadata.example is not None:
            continue
        unnamed = {
            binding.entity.__name__: None
            for query in call_with_samples(pattern).results
            # A query for keys that no entity has is reported by another rule.
            if query.span.filter is None and not any(_problems(table, query, pattern))
            for binding in indexed_bindings(table, query.span.index)
            if _can_hold(table, binding, query.span, loose=False)
            and all(binding_of_result(table, kind) is not binding for kind in query.returns)
        }
        if unnamed:
            yield Violation(
                name,
                f"{name} can read {', '.join(unnamed)}, which it does not return and could not decode.",
                "Narrow the range with begins_with or between, or return those kinds too.",
            )


def no_example(table: Table) -> Iterator[Violation]:
    """Every access pattern can be tried out.

    The lint calls each pattern with arguments that fit its annotations and checks the keys that it reads. Where an
    annotation is missing or too general, the declaration gives arguments with `example=`.
    """
    for name, pattern in table.patterns.items():
        calls = call_with_samples(pattern)
        if calls.problem is not None and not calls.is_design_error:
            yield Violation(
                name,
                f"{name} cannot be tried out: {type(calls.problem).__name__}: {calls.problem}",
                "Annotate its parameters, or give arguments that it takes: @table.query(..., example={...}).",
            )


def _problems(table: Table, query: Query[Any], pattern: QueryPattern[..., Any]) -> Iterator[str]:
    span, loose = query.span, pattern.metadata.example is not None
    indexed = indexed_bindings(table, span.index)
    if span.index is not None and not indexed:
        return  # An index that no entity feeds is reported by another rule.
    matching = [binding for binding in indexed if _can_hold(table, binding, span, loose)]
    location = span.index.name if span.index else table.name
    if not matching:
        existing = "; ".join(_keys_text(table, binding, span) for binding in indexed)
        condition = _condition_text(table, span)
        yield f"{query.name} reads {location} with {condition}, which no entity can have. There are: {existing}."
        return
    for kind in query.returns:
        binding = binding_of_result(table, kind)
        if binding is None:
            yield f"{query.name} returns {kind.__name__}, which is not an entity or view of {table.name}."
        elif binding not in indexed:
            yield f"{query.name} returns {kind.__name__}, which has no keys of {location}."
        elif binding not in matching:
            yield (
                f"{query.name} returns {kind.__name__}, but reads {location} with {_condition_text(table, span)}, "
                f"while its keys are {_keys_text(table, binding, span)}."
            )


def _can_hold(table: Table, binding: Binding[Any], span: Span, loose: bool) -> bool:
    target = span.index or table
    partition = key_source(binding, target.pk)
    if partition is None or not can_equal(binding, partition, span.pk, loose):
        return False
    sort = None if target.sk is None else key_source(binding, target.sk)
    return sort is None or can_be_within(binding, sort, span.range, loose)


def _condition_text(table: Table, span: Span) -> str:
    target = span.index or table
    condition = f"{target.pk.name} = {span.pk!r}"
    if span.range is None or target.sk is None:
        return condition
    sign = {"begins": "beginning with"}.get(span.range.sign, span.range.sign)
    ends = repr(span.range.low) if span.range.high is None else f"{span.range.low!r} and {span.range.high!r}"
    return f"{condition} and {target.sk.name} {sign} {ends}"


def _keys_text(table: Table, binding: Binding[Any], span: Span) -> str:
    target = span.index or table
    templates = [key_source(binding, key) for key in (target.pk, target.sk) if key is not None]
    return f"{binding.entity.__name__} ({', '.join(template.text for template in templates if template is not None)})"
