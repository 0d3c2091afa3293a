"""Conversion of Python values to attribute values and back, by the annotations of their fields."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from types import NoneType, UnionType
from typing import Annotated, Any, NewType, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import Struct

from zataku.table.backend.errors import WrongType
from zataku.table.backend.numbers import canonical
from zataku.table.backend.values import Item, Value, nesting_error, type_of
from zataku.table.schema.entity import KEPT_NULL, FieldMarker

T = TypeVar("T")
NUMBERS = (int, float, Decimal)


def field_markers(annotation: object) -> frozenset[FieldMarker]:
    """The markers in a field's annotation."""
    if get_origin(annotation) is not Annotated:
        return frozenset()
    inner, *notes = get_args(annotation)
    return frozenset(note for note in notes if isinstance(note, FieldMarker)) | field_markers(inner)


def unwrap_annotation(annotation: Any) -> Any:
    """The annotation without Annotated, NewType and an optional None."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif get_origin(annotation) in (Union, UnionType):
            options = [option for option in get_args(annotation) if option is not NoneType]
            if len(options) != 1:
                return annotation
            annotation = options[0]
        else:
            return annotation


def member_annotation(annotation: Any) -> Any:
    """The annotation of the members of a list, tuple of any length, or set; None for other types."""
    plain = unwrap_annotation(annotation)
    arguments = get_args(plain)
    if plain in _COLLECTIONS or (get_origin(plain) in _COLLECTIONS and not arguments):
        return Any
    if get_origin(plain) not in _COLLECTIONS or (get_origin(plain) is tuple and arguments[1:] != (...,)):
        return None
    return arguments[0]


_COLLECTIONS = (list, tuple, set, frozenset)


def accepts_none(annotation: Any) -> bool:
    """True when the annotation allows None."""
    if get_origin(annotation) is Annotated:
        return accepts_none(get_args(annotation)[0])
    return get_origin(annotation) in (Union, UnionType) and NoneType in get_args(annotation)


def is_numeric(annotation: Any) -> bool:
    """True when the annotation allows a number, also as one type of a union."""
    plain = unwrap_annotation(annotation)
    options = get_args(plain) if get_origin(plain) in (Union, UnionType) else (plain,)
    return any(unwrap_annotation(option) in NUMBERS for option in options)


def unconstrained_type(annotation: Any) -> type[Any] | None:
    """`str` or `int` when every such value fits the annotation, else None."""
    while True:
        if isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif get_origin(annotation) is Annotated:
            inner, *notes = get_args(annotation)
            if not all(isinstance(note, FieldMarker) for note in notes):
                return None
            annotation = inner
        else:
            return annotation if annotation in (str, int) else None


def is_empty_set(value: object) -> bool:
    """True for a set without members, which DynamoDB cannot hold: it is left out."""
    return not value and isinstance(value, set | frozenset)


class StoredField(Struct, frozen=True):
    """One field and the attribute it is stored as."""

    name: str
    attribute: str
    annotation: Any
    keeps_null: bool
    required: bool


def stored_fields(struct: type[Struct]) -> tuple[StoredField, ...]:
    """The fields of a struct with their names on disk."""
    stored = _stored_fields.get(struct)
    if stored is None:
        stored = _stored_fields[struct] = tuple(
            StoredField(
                field.name, field.encode_name, field.type, KEPT_NULL in field_markers(field.type), field.required
            )
            for field in msgspec.structs.fields(struct)
        )
    return stored


_stored_fields: dict[type[Struct], tuple[StoredField, ...]] = {}


def to_value(value: object) -> Value:
    """The attribute value of a field's value."""
    convert = _CONVERT.get(type(value))
    if convert is not None:
        return convert(value)
    if isinstance(value, Struct):
        return _struct(value)
    try:
        # Dates, UUIDs, enums and the like, as msgspec writes them.
        return to_value(msgspec.to_builtins(value))
    except (TypeError, RecursionError):
        raise WrongType(
            f"A table cannot hold a {type(value).__name__}. Use text, numbers, bytes, lists or maps."
        ) from None


def _same(value: Any) -> Value:
    return value


def _struct(struct: Struct) -> Item:
    item: Item = {}
    config = struct.__struct_config__
    if config.tag_field is not None:
        item[config.tag_field] = config.tag
    for field in stored_fields(type(struct)):
        value = getattr(struct, field.name)
        if value is not None and not is_empty_set(value):
            item[field.attribute] = to_value(value)
        elif field.keeps_null:
            item[field.attribute] = None
    return item


def _list(members: Iterable[object]) -> Value:
    try:
        return [to_value(member) for member in members]
    except RecursionError:
        raise nesting_error() from None


def _map(members: Mapping[object, object]) -> Value:
    for name in members:
        if not isinstance(name, str):
            raise WrongType(f"Names in a map are strings, not {type(name).__name__}. Use strings.")
    try:
        return {cast("str", name): to_value(member) for name, member in members.items()}
    except RecursionError:
        raise nesting_error() from None


def _set(members: Iterable[object]) -> Value:
    try:
        values = frozenset(to_value(member) for member in members)
    except TypeError:
        raise WrongType("A set holds strings, numbers or bytes, not lists or maps.") from None
    type_of(values)
    return values


_CONVERT: dict[type[object], Callable[[Any], Value]] = {
    str: _same,
    bool: _same,
    NoneType: _same,
    bytes: _same,
    bytearray: bytes,
    int: canonical,
    float: canonical,
    Decimal: canonical,
    list: _list,
    tuple: _list,
    dict: _map,
    set: _set,
    frozenset: _set,
}


def to_msgspec_input(value: Value) -> Any:
    """The value as msgspec converts it: floats for decimals where they are exact, lists for sets.

    A field of type float takes the nearest float of any other decimal.
    """
    kind = cast("type[object]", type(value))
    if kind is Decimal:
        rounded = float(value)
        return rounded if Decimal(repr(rounded)) == value else value
    if kind is dict:
        return {name: to_msgspec_input(part) for name, part in value.items()}
    if kind is list or kind is frozenset:
        return [to_msgspec_input(part) for part in value]
    return value


def convert(form: Any, to: type[T]) -> T:
    """The form as a typed value; raises msgspec.ValidationError."""
    return msgspec.convert(form, to, builtin_types=(bytes,))


def validated(value: Value, annotation: Any, subject: str) -> Value:
    """The same value when the annotation allows it."""
    try:
        convert(to_msgspec_input(value), annotation)
    except msgspec.ValidationError as problem:
        raise WrongType(f"{subject}: {problem}.") from None
    return value
