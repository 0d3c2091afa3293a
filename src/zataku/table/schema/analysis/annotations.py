"""Facts about a field's values from its annotation: plain types, choices and limits."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from math import ceil, floor
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

from zataku.table.backend.values import KeyType
from zataku.table.schema.codec import NUMBERS
from zataku.table.schema.entity import Derived
from zataku.table.schema.entity_bindings import Binding

LISTS = (list, tuple, Sequence)
SETS = (set, frozenset, AbstractSet)
MAPS = (dict, Mapping)


class PlainType(Struct, frozen=True):
    """One of the plain types that a value may have, with every limit declared on the way to it.

    `is_named` is True when a NewType names it.
    """

    type: Any
    metas: tuple[Meta, ...] = ()
    is_named: bool = False

    @property
    def max_length(self) -> int | None:
        """The largest number of characters, bytes or members."""
        return min((meta.max_length for meta in self.metas if meta.max_length is not None), default=None)

    @property
    def min_length(self) -> int:
        """The smallest number of characters, bytes or members."""
        return max((meta.min_length for meta in self.metas if meta.min_length is not None), default=0)

    @property
    def minimum(self) -> int | None:
        """The smallest whole number."""
        ends = [ceil(meta.ge) for meta in self.metas if meta.ge is not None]
        ends += [floor(meta.gt) + 1 for meta in self.metas if meta.gt is not None]
        return max(ends, default=None)

    @property
    def maximum(self) -> int | None:
        """The largest whole number."""
        ends = [floor(meta.le) for meta in self.metas if meta.le is not None]
        ends += [ceil(meta.lt) - 1 for meta in self.metas if meta.lt is not None]
        return min(ends, default=None)

    @property
    def choices(self) -> tuple[Any, ...] | None:
        """All values of the type, where it lists them: Literal, Enum, bool."""
        if self.type is bool:
            return (False, True)
        if get_origin(self.type) is Literal:
            return tuple(choice.value if isinstance(choice, Enum) else choice for choice in get_args(self.type))
        if isinstance(self.type, type) and issubclass(self.type, Enum):
            return tuple(member.value for member in self.type)
        return None


def plain_types(annotation: Any, metas: tuple[Meta, ...] = (), is_named: bool = False) -> Iterator[PlainType]:
    """The plain types behind Annotated, NewType and unions; None is one of them."""
    if get_origin(annotation) is Annotated:
        inner, *notes = get_args(annotation)
        own_metas = tuple(note for note in notes if isinstance(note, Meta))
        yield from plain_types(inner, (*metas, *own_metas), is_named)
    elif isinstance(annotation, NewType):
        yield from plain_types(annotation.__supertype__, metas, True)
    elif get_origin(annotation) in (Union, UnionType):
        for option in get_args(annotation):
            yield from plain_types(option, metas, is_named)
    else:
        yield PlainType(NoneType if annotation is None else annotation, metas, is_named)


def types_of_field(binding: Binding[Any], field: str) -> tuple[PlainType, ...]:
    """The types of a field or derived value, without None; empty when a derived value does not declare its type."""
    return tuple(
        plain
        for plain in plain_types(annotation_of_field(binding, field))
        if plain.type is not NoneType and plain.type is not Any
    )


def annotation_of_field(binding: Binding[Any], field: str) -> Any:
    """The annotation of a field or derived value; `Any` when a derived value does not declare its type."""
    stored = binding.fields.get(field)
    if stored is not None:
        return stored.annotation
    derived = getattr(binding.entity, field)
    if not isinstance(derived, Derived) or derived.fget is None:
        return Any
    try:
        return get_type_hints(derived.fget, include_extras=True).get("return", Any)
    except NameError:  # The annotation names something imported for the type checker only.
        return Any


def choices_of_field(binding: Binding[Any], field: str) -> tuple[Any, ...] | None:
    """The values a field can have where its type lists them all."""
    choices: list[Any] = []
    for plain in types_of_field(binding, field):
        if plain.choices is None:
            return None
        choices += plain.choices
    return tuple(choices) or None


def key_type(plain: PlainType) -> KeyType | None:
    """The key type a value of this type has, or None when it cannot be a key."""
    if plain.type is bool:
        return None
    if plain.type in NUMBERS:
        return "N"
    if plain.type in (bytes, bytearray):
        return "B"
    if plain.choices is not None:
        return "N" if all(isinstance(choice, int) for choice in plain.choices) else "S"
    if get_origin(plain.type) is not None or (isinstance(plain.type, type) and issubclass(plain.type, _COMPOUND)):
        return None
    return "S"


_COMPOUND = (list, tuple, dict, set, frozenset, Struct)
