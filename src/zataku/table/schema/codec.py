"""Python values to attribute values and back."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import Struct

from zataku.table.backend.errors import WrongType
from zataku.table.backend.numbers import canonical
from zataku.table.backend.values import Item, Value, nesting_error, type_of
from zataku.table.schema.entity import KEPT_NULL, FieldMarker

T = TypeVar("T")


def field_markers(annotation: object) -> frozenset[FieldMarker]:
    """The marks on a field's annotation."""
    if get_origin(annotation) is not Annotated:
        return frozenset()
    inner, *notes = get_args(annotation)
    return frozenset(note for note in notes if isinstance(note, FieldMarker)) | field_markers(inner)


def unwrap_annotation(annotation: Any) -> Any:
    """The annotation without Annotated, NewType and an optional None."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        elif get_origin(annotation) in (Union, UnionType):
            options = [option for option in get_args(annotation) if option is not NoneType]
            if len(options) != 1:
                return annotation
            annotation = options[0]
        else:
            return annotation


def accepts_none(annotation: Any) -> bool:
    """True when the annotation allows None."""
    if get_origin(annotation) is Annotated:
        return accepts_none(get_args(annotation)[0])
    return get_origin(annotation) in (Union, UnionType) and NoneType in get_args(annotation)


def unconstrained_type(annotation: Any) -> type[Any] | None:
    """`str` or `int` when every such value fits the annotation, else None."""
    while True:
        if hasattr(annotation, "__supertype__"):
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
    known = _fields.get(struct)
    if known is None:
        known = _fields[struct] = tuple(
            StoredField(
                field.name, field.encode_name, field.type, KEPT_NULL in field_markers(field.type), field.required
            )
            for field in msgspec.structs.fields(struct)
        )
    return known


_fields: dict[type[Struct], tuple[StoredField, ...]] = {}


def to_value(thing: object) -> Value:
    """The attribute value of anything a field may hold."""
    convert = _CONVERT.get(type(thing))
    if convert is not None:
        return convert(thing)
    if isinstance(thing, Struct):
        return _struct(thing)
    try:
        # Dates, UUIDs, enums and the like, in msgspec's own spelling.
        return to_value(msgspec.to_builtins(thing))
    except (TypeError, RecursionError):
        raise WrongType(
            f"A table cannot hold a {type(thing).__name__}. Use text, numbers, bytes, lists or maps."
        ) from None


def _same(thing: Any) -> Value:
    return thing


def _struct(thing: Struct) -> Item:
    item: Item = {}
    tag = thing.__struct_config__
    if tag.tag_field is not None:
        item[tag.tag_field] = tag.tag
    for field in stored_fields(type(thing)):
        value = getattr(thing, field.name)
        if value is not None and not is_empty_set(value):
            item[field.attribute] = to_value(value)
        elif field.keeps_null:
            item[field.attribute] = None
    return item


def _list(things: Iterable[object]) -> Value:
    try:
        return [to_value(thing) for thing in things]
    except RecursionError:
        raise nesting_error() from None


def _map(things: Mapping[object, object]) -> Value:
    for name in things:
        if not isinstance(name, str):
            raise WrongType(f"Names in a map are strings, not {type(name).__name__}. Use strings.")
    try:
        return {cast("str", name): to_value(thing) for name, thing in things.items()}
    except RecursionError:
        raise nesting_error() from None


def _set(things: Iterable[object]) -> Value:
    try:
        members = frozenset(to_value(thing) for thing in things)
    except TypeError:
        raise WrongType("A set holds strings, numbers or bytes, not lists or maps.") from None
    type_of(members)
    return members


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
    """The value in the form msgspec converts from: floats for decimals where they are exact, lists for sets."""
    kind = cast("type[object]", type(value))
    if kind is Decimal:
        near = float(value)
        return near if Decimal(repr(near)) == value else str(value)
    if kind is dict:
        return {name: to_msgspec_input(part) for name, part in value.items()}
    if kind is list or kind is frozenset:
        return [to_msgspec_input(part) for part in value]
    return value


def convert(form: Any, to: type[T]) -> T:
    """The form as a typed value; raises msgspec.ValidationError."""
    return msgspec.convert(form, to, builtin_types=(bytes,))


def validated(value: Value, annotation: Any, what: str) -> Value:
    """The same value when the annotation allows it."""
    try:
        convert(to_msgspec_input(value), annotation)
    except msgspec.ValidationError as problem:
        raise WrongType(f"{what}: {problem}.") from None
    return value
