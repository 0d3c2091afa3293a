"""Conditions and updates as plain values, the form in which backends receive them.

Systems build them with types through `path`. The embedded backend evaluates them, the DynamoDB backend compiles them to
expression strings. The class names are part of stored fingerprints (idempotency tokens, cursors): they never change.
"""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from zataku.table.backend.numbers import Number
from zataku.table.backend.values import Value, ValueType

# Path of a value inside an item: attribute name first, then names in maps and positions in lists.
Route: TypeAlias = tuple[str | int, ...]


class Attribute(Struct, frozen=True, tag=True):
    """The value at a path."""

    route: Route


class Literally(Struct, frozen=True, tag=True):
    """A value given by the caller."""

    value: Value


class SizeOf(Struct, frozen=True, tag=True):
    """Length of a string or bytes, number of members of a list, map or set."""

    route: Route


Operand: TypeAlias = Attribute | Literally | SizeOf
Comparison: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]


class Compare(Struct, frozen=True, tag=True):
    """Two values compared. Values of different types are never equal, less or greater."""

    left: Operand
    sign: Comparison
    right: Operand


class Between(Struct, frozen=True, tag=True):
    """A value within two others, both included."""

    value: Operand
    low: Operand
    high: Operand


class OneOf(Struct, frozen=True, tag=True):
    """A value equal to one of at most 100 others."""

    value: Operand
    options: tuple[Operand, ...]


class Exists(Struct, frozen=True, tag=True):
    """A value exists at the path, a null included."""

    route: Route


class Missing(Struct, frozen=True, tag=True):
    """No value exists at the path."""

    route: Route


class HasType(Struct, frozen=True, tag=True):
    """The value at the path has this type."""

    route: Route
    kind: ValueType


class BeginsWith(Struct, frozen=True, tag=True):
    """The string or bytes at the route begin with this prefix."""

    route: Route
    prefix: Literally


class Contains(Struct, frozen=True, tag=True):
    """The string at the route has this part, or the list or set this member."""

    route: Route
    part: Operand


class All(Struct, frozen=True, tag=True):
    """All parts hold."""

    parts: tuple["Expression", ...]


class Either(Struct, frozen=True, tag=True):
    """At least one part holds."""

    parts: tuple["Expression", ...]


class Not(Struct, frozen=True, tag=True):
    """The part does not hold."""

    part: "Expression"


class Within(Struct, frozen=True, tag=True):
    """The part holds, which keeps a field within its bounds. The other attributes name them in the error."""

    part: "Expression"
    entity: str
    field: str
    bound: str
    operation: str


Expression: TypeAlias = (
    Compare | Between | OneOf | Exists | Missing | HasType | BeginsWith | Contains | All | Either | Not | Within
)


class IfMissing(Struct, frozen=True, tag=True):
    """The value at the path, or the other value when there is none."""

    route: Route
    otherwise: Literally


class Sum(Struct, frozen=True, tag=True):
    """Two numbers added."""

    left: "Attribute | Literally | IfMissing"
    right: "Attribute | Literally | IfMissing"


class Joined(Struct, frozen=True, tag=True):
    """Two lists, one after the other."""

    left: "Attribute | Literally | IfMissing"
    right: "Attribute | Literally | IfMissing"


class Assign(Struct, frozen=True, tag=True):
    """SET: store a value at the path."""

    route: Route
    value: Attribute | Literally | IfMissing | Sum | Joined


class Drop(Struct, frozen=True, tag=True):
    """REMOVE the value at the path."""

    route: Route


class Increase(Struct, frozen=True, tag=True):
    """ADD a number; an absent value counts as 0. The path is a top-level attribute or inside a map."""

    route: Route
    by: Number


class Include(Struct, frozen=True, tag=True):
    """ADD members to a set; an absent value counts as an empty set."""

    route: Route
    members: frozenset[Value]


class Exclude(Struct, frozen=True, tag=True):
    """DELETE members from a set; an empty set is removed."""

    route: Route
    members: frozenset[Value]


Action: TypeAlias = Assign | Drop | Increase | Include | Exclude


def both(first: Expression | None, second: Expression | None) -> Expression | None:
    """Both conditions, either of which may be absent."""
    if first is None or second is None:
        return first or second
    return All((first, second))


def routes_in(condition: Expression | None) -> Iterator[Route]:
    """The routes of all attributes that a condition reads, in its order."""
    if condition is None:
        return
    if isinstance(condition, All | Either):
        for part in condition.parts:
            yield from routes_in(part)
        return
    if isinstance(condition, Not | Within):
        yield from routes_in(condition.part)
        return
    if isinstance(condition, Compare):
        operands = (condition.left, condition.right)
    elif isinstance(condition, Between):
        operands = (condition.value, condition.low, condition.high)
    elif isinstance(condition, OneOf):
        operands = (condition.value, *condition.options)
    else:
        yield condition.route
        operands = (condition.part,) if isinstance(condition, Contains) else ()
    for operand in operands:
        if not isinstance(operand, Literally):
            yield operand.route
