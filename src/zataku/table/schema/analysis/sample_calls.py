"""Calls of access patterns with sample arguments, which show the keys that they read and write."""

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from string import ascii_lowercase
from types import NoneType
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

from msgspec import Struct, ValidationError
from msgspec.structs import replace

from zataku.table.backend.errors import DesignError, StrongReadRefused
from zataku.table.schema.access_pattern import ItemPattern, Query, QueryPattern
from zataku.table.schema.analysis.annotations import PlainType, plain_types
from zataku.table.schema.analysis.sample_values import sample_choices, sample_number, sample_of_type, sample_value
from zataku.table.schema.codec import NUMBERS, convert
from zataku.table.schema.entity import Entity, Key, binding_of
from zataku.table.schema.plan import Plan, WritePattern
from zataku.table.schema.table import Table

ReadPattern: TypeAlias = QueryPattern[..., Any] | ItemPattern[..., Any]
Arguments: TypeAlias = dict[str, Any]
TextSample: TypeAlias = Callable[[str, PlainType], str]

_OMITTED = object()
_COLLECTIONS: dict[Any, Callable[[list[Any]], Any]] = {kind: kind for kind in (list, tuple, set, frozenset)}


class SampleCall(Struct, frozen=True):
    """Arguments of a pattern, and the query or key that it gave for them."""

    arguments: Arguments
    result: Any


class SampleCalls(Struct, frozen=True):
    """The calls that a pattern accepted, or the exception that the first one raised."""

    accepted: tuple[SampleCall, ...] = ()
    problem: Exception | None = None

    @property
    def results(self) -> list[Any]:
        """The queries or keys."""
        return [call.result for call in self.accepted]

    @property
    def is_design_error(self) -> bool:
        """True when the pattern contradicts the design, with any arguments."""
        return isinstance(self.problem, DesignError | StrongReadRefused)


def call_with_samples(pattern: ReadPattern) -> SampleCalls:
    """Call a pattern with its example or with arguments made from its annotations.

    A parameter with a few choices (Literal, Enum, bool) or a default is tried with each of them in turn, since a
    pattern may read another index for another choice.
    """
    example = pattern.metadata.example or {}
    try:
        first, *others = argument_sets(argument_options(pattern.function, _letters, skipped=example))
        accepted = [_call(pattern, first | example)]
    except Exception as problem:  # noqa: BLE001 - a design may raise anything, and the lint reports it
        return SampleCalls(problem=problem)
    for arguments in others:
        try:
            accepted.append(_call(pattern, arguments | example))
        except Exception:  # noqa: BLE001 - not every combination needs to be allowed
            continue
    return SampleCalls(tuple(accepted))


def sample_queries(table: Table) -> Iterator[tuple[QueryPattern[..., Any], list[Query[Any]]]]:
    """The query patterns of a table, each with the queries that its sample calls gave."""
    for pattern in table.patterns.values():
        if isinstance(pattern, QueryPattern):
            yield pattern, call_with_samples(pattern).results


def sample_plan(pattern: WritePattern[..., Any], *, distinct: bool = False) -> Plan[Any] | Exception:
    """The plan of a declared write for its example or for samples of its annotations, or what the write raised.

    With `distinct`, two parameters of the same kind name different items where their types allow it.
    """
    example = pattern.metadata.example or {}
    try:
        hints = get_type_hints(pattern.function, include_extras=True)
        signature = inspect.signature(pattern.function)
        arguments = {
            name: example[name] if name in example else _sample_argument(parameter, hints)
            for name, parameter in signature.parameters.items()
            if name in example or (parameter.default is parameter.empty and parameter.kind != parameter.VAR_KEYWORD)
        }
        if distinct:
            varied = ((at, name) for at, name in enumerate(arguments) if name not in example)
            arguments |= {name: _told_apart(arguments[name], hints[name], at) for at, name in varied}
        call = inspect.BoundArguments(signature, OrderedDict(arguments))
        call.apply_defaults()
        return pattern.function(*call.args, **call.kwargs)
    except Exception as problem:  # noqa: BLE001 - a design may raise anything, and the lint reports it
        return problem


def _sample_argument(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Any:
    """A sample for a parameter; one member for a parameter that takes any number of them (`*names`)."""
    sample = sample_value(parameter.name, hints[parameter.name])
    return (sample,) if parameter.kind == parameter.VAR_POSITIONAL else sample


def _told_apart(sample: Any, annotation: Any, position: int) -> Any:
    """The sample, changed for the position of its parameter where a changed value fits the annotation."""
    if isinstance(sample, Entity):
        binding = binding_of(type(sample))
        fields = {name: binding.fields[name].annotation for name in binding.key_fields}
        return replace(sample, **{name: _told_apart(getattr(sample, name), fields[name], position) for name in fields})
    if isinstance(sample, str):
        mark = ascii_lowercase[position % len(ascii_lowercase)]
        candidates: tuple[Any, ...] = (sample[:-1] + mark, sample + mark, sample[:-1] + str(position % 10))
    else:
        candidates = (sample + position,) if type(sample) is int else ()
    for candidate in candidates:
        try:
            return convert(candidate, annotation)
        except ValidationError:
            continue
    return sample


def argument_options(
    function: Callable[..., Any], text: TextSample, *, skipped: Iterable[str] = (), examples: Mapping[str, Any] = {}
) -> dict[str, list[Any]]:
    """The values to try for each parameter of a function.

    `text` makes the samples of texts; of the others, no two parameters get the same number. A parameter that takes no
    text gets its value in `examples`, if there is one. Raises TypeError for a required parameter without any value.
    """
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in skipped and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    hints = get_type_hints(function, include_extras=True) if parameters else {}
    options: dict[str, list[Any]] = {}
    for position, (name, parameter) in enumerate(parameters.items()):
        optional = parameter.default is not parameter.empty
        if name not in hints and not optional:
            raise TypeError(f"the parameter {name} has no annotation")
        values = _samples(name, hints.get(name, NoneType), text, position, required=not (optional or name in examples))
        if name in examples and not any(isinstance(value, str) for value in values):
            values = [examples[name]]
        options[name] = [_OMITTED, *values] if optional else values
    return options


def argument_sets(options: Mapping[str, list[Any]]) -> Iterator[Arguments]:
    """The first value of every parameter, then one changed at a time, then all optional ones given, as for a range."""
    first = {name: values[0] for name, values in options.items()}
    changes: list[Arguments] = [{}]
    changes += [{name: value} for name, values in options.items() for value in values[1:]]
    optional = {name: values[1] for name, values in options.items() if values[0] is _OMITTED and len(values) > 1}
    if len(optional) > 1:
        changes.append(optional)
    for change in changes:
        yield {name: value for name, value in (first | change).items() if value is not _OMITTED}


def _call(pattern: ReadPattern, arguments: Arguments) -> SampleCall:
    result: Query[Any] | Key[Any] = pattern(**arguments)
    return SampleCall(arguments, result)


def _samples(name: str, annotation: Any, text: TextSample, position: int, *, required: bool) -> list[Any]:
    types = [plain for plain in plain_types(annotation) if plain.type is not NoneType]
    samples: list[Any] = []
    for plain in types:
        try:
            samples += sample_choices(plain) or (_sample(name, plain, text, position),)
        except TypeError:
            # A default, an example or an earlier type of the union has given something to try.
            if required and plain is types[0]:
                raise
    return samples


def _sample(name: str, plain: PlainType, text: TextSample, position: int) -> Any:
    if plain.type is str:
        return text(name, plain)
    if plain.type is bytes:
        return text(name, plain).encode()
    if plain.type in NUMBERS:
        return sample_number(plain, position)
    collection = _COLLECTIONS.get(get_origin(plain.type))
    if collection is not None:
        members = _samples(name, get_args(plain.type)[0], text, position, required=True)
        return collection([members[0]])
    return sample_of_type(name, plain)


def _letters(name: str, plain: PlainType) -> str:
    # Letters only, so that no sample contains a separator of a key.
    letters = "".join(filter(str.isalpha, name)) or "text"
    return letters.ljust(plain.min_length, "x")[: plain.max_length]
