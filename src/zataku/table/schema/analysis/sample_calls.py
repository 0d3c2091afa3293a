"""Access patterns tried out with made-up arguments, so that the lint sees which keys they ask for."""

import inspect
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints
from uuid import UUID

from msgspec import Struct

from zataku.table.backend.errors import DesignError, StrongReadRefused
from zataku.table.lint.report import Violation
from zataku.table.schema.access_pattern import ItemPattern, Query, QueryPattern
from zataku.table.schema.analysis.annotations import PlainType, plain_types
from zataku.table.schema.entity import Key
from zataku.table.schema.table import Table

AnyPattern = QueryPattern[..., Any] | ItemPattern[..., Any]

_MOMENT = datetime(2026, 2, 21, 10, 30, tzinfo=UTC)
_PLAIN: dict[Any, Any] = {
    float: 1.0,
    Decimal: Decimal(1),
    date: _MOMENT.date(),
    datetime: _MOMENT,
    timedelta: timedelta(hours=1),
    UUID: UUID("456e7890-e89b-42d3-a456-426614174001"),
}


class SampleCalls(Struct, frozen=True):
    """What a pattern answered to made-up arguments, or why it could not."""

    answers: tuple[Any, ...] = ()
    problem: Exception | None = None

    @property
    def refused(self) -> bool:
        """True when the pattern contradicts the design, whatever its arguments."""
        return isinstance(self.problem, DesignError | StrongReadRefused)


def call_with_samples(pattern: AnyPattern) -> SampleCalls:
    """Call a pattern with its example or with arguments made from its annotations.

    A parameter with a few choices (Literal, Enum, bool) or a default is tried with each of them in turn, since a
    pattern may read another index for another choice.
    """
    given = pattern.facts.example or {}
    try:
        options = {name: list(found) for name, found in _options(pattern, given)}
        first = {name: values[0] for name, values in options.items() if values[0] is not _OMITTED}
        answers = [_called(pattern, {**first, **given})]
    except Exception as problem:  # noqa: BLE001 - whatever the function raises, it is the design's to mend
        return SampleCalls(problem=problem)
    for variation in _variations(options):
        try:
            answers.append(_called(pattern, {**first, **given, **variation}))
        except Exception:  # noqa: BLE001 - not every combination needs to be allowed
            continue
    return SampleCalls(tuple(answers))


def sample_queries(table: Table) -> Iterator[tuple[QueryPattern[..., Any], list[Query[Any]]]]:
    """The queries of a table that could be tried, with what they ask for."""
    for pattern in table.patterns.values():
        if isinstance(pattern, QueryPattern):
            yield pattern, list(call_with_samples(pattern).answers)


def no_example(table: Table) -> Iterator[Violation]:
    """Every access pattern can be tried out.

    The lint calls each pattern with arguments that fit its annotations and looks at the keys it asks for. Where an
    annotation is missing or says too little, the declaration gives arguments itself with `example=`.
    """
    for name, pattern in table.patterns.items():
        tried = call_with_samples(pattern)
        if tried.problem is not None and not tried.refused:
            yield Violation(
                name,
                f"{name} cannot be tried out: {type(tried.problem).__name__}: {tried.problem}",
                "Annotate its parameters, or give arguments that it takes: @table.query(..., example={...}).",
            )


_OMITTED = object()


def _variations(options: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """One parameter changed at a time, and at last all that may be left out given together, as for a range."""
    for name, values in options.items():
        for value in values[1:]:
            yield {name: value}
    spare = {name: values[1] for name, values in options.items() if values[0] is _OMITTED and len(values) > 1}
    if len(spare) > 1:
        yield spare


def _called(pattern: AnyPattern, arguments: dict[str, Any]) -> Query[Any] | Key[Any]:
    return pattern(**arguments)


def _options(pattern: AnyPattern, given: dict[str, Any]) -> Iterator[tuple[str, Iterator[Any]]]:
    parameters = inspect.signature(pattern.function).parameters
    wanted = {name: parameter for name, parameter in parameters.items() if name not in given}
    hints = get_type_hints(pattern.function, include_extras=True) if wanted else {}
    for name, parameter in wanted.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        optional = parameter.default is not parameter.empty
        if name not in hints and not optional:
            raise TypeError(f"the parameter {name} has no annotation")
        yield name, _values(name, hints.get(name, NoneType), optional)


def _values(name: str, annotation: Any, optional: bool) -> Iterator[Any]:
    if optional:
        yield _OMITTED
    kinds = [arm for arm in plain_types(annotation) if arm.kind is not NoneType]
    for arm in kinds:
        try:
            yield from _choices(arm) or (_value(name, arm),)
        except TypeError:
            # A default or an earlier type of the union has already given something to try.
            if not optional and arm is kinds[0]:
                raise


def _choices(arm: PlainType) -> tuple[Any, ...] | None:
    # Members of an Enum, not their values: that is what the function is called with.
    kind: Any = arm.kind
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(kind)
    return get_args(arm.kind) if get_origin(arm.kind) is Literal else arm.choices


def _value(name: str, arm: PlainType) -> Any:
    if arm.kind is str:
        return _text(name, arm)
    if arm.kind is int:
        lowest, highest = arm.lowest, arm.highest
        wanted = 1 if lowest is None else max(1, lowest)
        return wanted if highest is None else min(wanted, highest)
    if arm.kind is bytes:
        return _text(name, arm).encode()
    if arm.kind in _PLAIN:
        return _PLAIN[arm.kind]
    if get_origin(arm.kind) in (list, tuple, set, frozenset):
        return get_origin(arm.kind)([next(_values(name, get_args(arm.kind)[0], False))])
    raise TypeError(f"no value of {arm.kind!r} comes to mind for the parameter {name}")


def _text(name: str, arm: PlainType) -> str:
    # Letters only, so that the text can never be taken for a separator of a key.
    letters = "".join(filter(str.isalpha, name)) or "text"
    return letters.ljust(arm.shortest, "x")[: arm.longest]
