"""What a field's annotation says about its values: numbers, a few choices, limits."""

from collections.abc import Iterator
from decimal import Decimal
from enum import Enum
from math import ceil, floor
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

from zataku.table.backend.values import KeyType
from zataku.table.schema.binding import Binding
from zataku.table.schema.entity import Derived

NUMBERS = (int, float, Decimal)


class PlainType(Struct, frozen=True):
    """One of the plain types a value may have, with every limit on the way to it; `named` when a NewType names it."""

    kind: Any
    metas: tuple[Meta, ...] = ()
    named: bool = False

    @property
    def longest(self) -> int | None:
        """The largest number of characters, bytes or members."""
        return min((meta.max_length for meta in self.metas if meta.max_length is not None), default=None)

    @property
    def shortest(self) -> int:
        """The smallest number of characters, bytes or members."""
        return max((meta.min_length for meta in self.metas if meta.min_length is not None), default=0)

    @property
    def lowest(self) -> int | None:
        """The smallest whole number."""
        ends = [ceil(meta.ge) for meta in self.metas if meta.ge is not None]
        ends += [floor(meta.gt) + 1 for meta in self.metas if meta.gt is not None]
        return max(ends, default=None)

    @property
    def highest(self) -> int | None:
        """The largest whole number."""
        ends = [floor(meta.le) for meta in self.metas if meta.le is not None]
        ends += [ceil(meta.lt) - 1 for meta in self.metas if meta.lt is not None]
        return min(ends, default=None)

    @property
    def choices(self) -> tuple[Any, ...] | None:
        """The values themselves where the type lists them."""
        if self.kind is bool:
            return (False, True)
        if get_origin(self.kind) is Literal:
            return tuple(choice.value if isinstance(choice, Enum) else choice for choice in get_args(self.kind))
        if isinstance(self.kind, type) and issubclass(self.kind, Enum):
            return tuple(member.value for member in self.kind)
        return None


def plain_types(annotation: Any, metas: tuple[Meta, ...] = (), named: bool = False) -> Iterator[PlainType]:
    """The plain types behind Annotated, NewType and unions; None is one of them."""
    if get_origin(annotation) is Annotated:
        inner, *notes = get_args(annotation)
        found = tuple(note for note in notes if isinstance(note, Meta))
        yield from plain_types(inner, (*metas, *found), named)
    elif hasattr(annotation, "__supertype__"):
        yield from plain_types(annotation.__supertype__, metas, True)
    elif get_origin(annotation) in (Union, UnionType):
        for option in get_args(annotation):
            yield from plain_types(option, metas, named)
    else:
        yield PlainType(NoneType if annotation is None else annotation, metas, named)


def types_of_field(binding: Binding[Any], field: str) -> tuple[PlainType, ...]:
    """The types of a field or derived value, None left out; nothing when a derived value does not say its type."""
    return tuple(
        arm for arm in plain_types(_annotation(binding, field)) if arm.kind is not NoneType and arm.kind is not Any
    )


def _annotation(binding: Binding[Any], field: str) -> Any:
    stored = binding.fields.get(field)
    if stored is not None:
        return stored.annotation
    made = getattr(binding.entity, field)
    if not isinstance(made, Derived) or made.fget is None:
        return Any
    try:
        return get_type_hints(made.fget, include_extras=True).get("return", Any)
    except NameError:  # The annotation names something that exists for the type checker only.
        return Any


def choices_of_field(binding: Binding[Any], field: str) -> tuple[Any, ...] | None:
    """The values a field can have where its type lists them all."""
    found: list[Any] = []
    for arm in types_of_field(binding, field):
        if arm.choices is None:
            return None
        found += arm.choices
    return tuple(found) or None


def key_type(arm: PlainType) -> KeyType | None:
    """The key type a value of this type has, or None when it cannot be a key."""
    if arm.kind is bool:
        return None
    if arm.kind in NUMBERS:
        return "N"
    if arm.kind in (bytes, bytearray):
        return "B"
    if arm.choices is not None:
        return "N" if all(isinstance(choice, int) for choice in arm.choices) else "S"
    if get_origin(arm.kind) is not None or (isinstance(arm.kind, type) and issubclass(arm.kind, _COMPOUND)):
        return None
    return "S"


_COMPOUND = (list, tuple, dict, set, frozenset, Struct)
