"""Bounds of fields as conditions of the writes that could exceed them.

An edit such as `add` or `append` depends on the stored value, so its result is known only to the store. The limits in
the field's annotation become a condition on the value before the write: `n.add(-1)` on a field with `ge=0` requires
`n >= 1`. Conditions are exact, with two exceptions, where they refuse more than they must:

- More than four members included in (or excluded from) a bounded set at once, or members of one bounded list or map
  edited at once, count as new (or stored) ones unless all of them are stored (or none is).
- A bounded set with a `min_length` of 2 or more cannot be emptied by `exclude`, even where the field is optional.
"""

from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from itertools import combinations
from math import inf, nextafter
from typing import Any, TypeAlias

import msgspec.inspect
from msgspec import Struct
from msgspec.inspect import (
    DecimalType,
    DictType,
    FloatType,
    FrozenSetType,
    IntType,
    ListType,
    SetType,
    Type,
    UnionType,
    VarTupleType,
)
from msgspec.structs import replace

from zataku.table.backend import expression as ex
from zataku.table.backend.errors import WrongType
from zataku.table.backend.limits import NUMBER_DIGITS, NUMBER_LARGEST_EXPONENT, NUMBER_SMALLEST_EXPONENT
from zataku.table.backend.numbers import Number, canonical
from zataku.table.backend.values import Value

_LARGEST = Decimal((0, (9,) * NUMBER_DIGITS, NUMBER_LARGEST_EXPONENT - NUMBER_DIGITS + 1))
_SMALLEST = Decimal((0, (1,), NUMBER_SMALLEST_EXPONENT))
# Wide enough for every difference of a limit, which may be any float, and a number of a table.
_WIDE = Context(prec=1000)
# The exact condition for k members has 2**k cases.
_EXACT_MEMBERS = 4


class NumberEdit(Struct, frozen=True):
    """A number that is added to a field with limits."""

    route: ex.Route
    by: Number
    low: Decimal | None
    high: Decimal | None
    bound: str
    operation: str = "add"

    def condition(self) -> ex.Expression | None:
        """Condition that the sum is within the limits; None where no stored value can exceed them."""
        stored, start = ex.Attribute(self.route), Decimal(self.by)
        bounded: ex.Expression | None = None
        if self.by < 0 and self.low is not None:
            least = _table_number(_WIDE.subtract(self.low, start), ROUND_CEILING)
            bounded = ex.Compare(stored, ">=", ex.Literally(least))
        if self.by > 0 and self.high is not None:
            most = _table_number(_WIDE.subtract(self.high, start), ROUND_FLOOR)
            bounded = ex.Compare(stored, "<=", ex.Literally(most))
        # A missing number counts as 0.
        if (self.low is None or start >= self.low) and (self.high is None or start <= self.high):
            return None if bounded is None else ex.Either((ex.Missing(self.route), bounded))
        return bounded or ex.Exists(self.route)


class SizeEdit(Struct, frozen=True):
    """A change to the number of members of a list, map or set with limits.

    `grows` members are appended. Each of `unless` holds where one of the edited members leaves the size as it is:
    it is stored already, or, where the edit `removes`, is not stored. `from_missing` tells whether the edit may start
    from a missing value.
    """

    route: ex.Route
    low: int
    high: int | None
    bound: str
    operation: str
    grows: int = 0
    unless: tuple[ex.Expression, ...] = ()
    removes: bool = False
    from_missing: bool = True

    def condition(self) -> ex.Expression | None:
        """Condition that the size is within the limits; None where no stored value can exceed them."""
        size, parts = ex.SizeOf(self.route), len(self.unless)
        if self.removes:
            if self.low == 0:
                return None
            low = self.low
            return _counted(self.unless, lambda kept: ex.Compare(size, ">=", ex.Literally(low + parts - kept)))
        if self.high is None:
            return None if self.from_missing else ex.Exists(self.route)
        room = self.high - self.grows

        def fits(stored: int) -> ex.Expression | None:
            largest = room - parts + stored
            return ex.Compare(size, "<=", ex.Literally(largest)) if largest >= 0 else None

        bounded = _counted(self.unless, fits)
        if not self.from_missing:
            return bounded
        return _either([ex.Missing(self.route), *(() if bounded is None else (bounded,))])


FieldEdit: TypeAlias = NumberEdit | SizeEdit


def _counted(unless: Sequence[ex.Expression], fits: Callable[[int], ex.Expression | None]) -> ex.Expression | None:
    """Condition that the size fits, given how many of the edited members leave it as it is."""
    total = len(unless)
    if not total:
        return fits(0)
    options: list[ex.Expression] = []
    counts = range(total) if total <= _EXACT_MEMBERS else (0,)
    for count in counts:
        size = fits(count)
        if size is not None:
            cases = [_all(case) for case in combinations(unless, count)] if count else []
            options.append(ex.All((size, _either(cases))) if cases else size)
    # All of them: the size stays.
    options.append(_all(unless))
    return _either(options)


def _all(parts: Sequence[ex.Expression]) -> ex.Expression:
    return parts[0] if len(parts) == 1 else ex.All(tuple(parts))


def _either(parts: Sequence[ex.Expression]) -> ex.Expression:
    return parts[0] if len(parts) == 1 else ex.Either(tuple(parts))


def bound_conditions(entity: type[Any], edits: Iterable[tuple[str, FieldEdit]]) -> list[ex.Expression]:
    """The conditions that keep the fields of an entity within their bounds, from the edits and the fields they touch.

    Edits of several members of one list or map count together.
    """
    merged: dict[tuple[ex.Route, bool], tuple[str, FieldEdit]] = {}
    for field, edit in edits:
        place = edit.route, isinstance(edit, SizeEdit) and edit.removes
        earlier = merged.get(place)
        if earlier is not None and isinstance(edit, SizeEdit) and isinstance(earlier[1], SizeEdit):
            edit = replace(edit, unless=earlier[1].unless + edit.unless, operation=earlier[1].operation)
        merged[place] = field, edit
    conditions: list[ex.Expression] = []
    for field, edit in merged.values():
        condition = edit.condition()
        if condition is not None:
            conditions.append(ex.Within(condition, entity.__name__, field, edit.bound, edit.operation))
    return conditions


# The limits of an annotation


class NumberLimits(Struct, frozen=True):
    """The limits of a number, computed once for a field."""

    low: Decimal | None
    high: Decimal | None
    text: str
    is_whole: bool
    steps: tuple[float, ...]

    def add(self, route: ex.Route, by: Number, subject: str) -> NumberEdit | None:
        """The edit that adds to the number; None without limits. Raises `WrongType` where no sum can be of the type."""
        if self.is_whole and not isinstance(by, int):
            raise WrongType(f"{subject} holds whole numbers, so {by} cannot be added to it.")
        for step in self.steps:
            if Decimal(repr(step)) != Decimal(step):
                raise WrongType(
                    f"{subject} is a multiple of {step}, which no float equals, so a sum may not be one. "
                    "Load the item and `save` it, or store whole numbers."
                )
            if _WIDE.remainder(Decimal(by), Decimal(step)):
                raise WrongType(f"{subject} is a multiple of {step}, so {by} cannot be added to it.")
        return None if self.low is None and self.high is None else NumberEdit(route, by, self.low, self.high, self.text)


def number_limits(annotation: Any) -> NumberLimits:
    """The limits of a number. In a union of several numbers, those of all of them."""
    kinds = [kind for kind in _options(annotation) if isinstance(kind, IntType | FloatType | DecimalType)]
    limited = [kind for kind in kinds if not isinstance(kind, DecimalType)]
    lows = [low for kind in limited if (low := _low(kind)) is not None]
    highs = [high for kind in limited if (high := _high(kind)) is not None]
    texts = dict.fromkeys(text for kind in limited for text in _limit_texts(kind, ("ge", "gt", "le", "lt")))
    steps = tuple(kind.multiple_of for kind in limited if kind.multiple_of is not None)
    is_whole = all(isinstance(kind, IntType) for kind in kinds)
    return NumberLimits(max(lows, default=None), min(highs, default=None), ", ".join(texts), is_whole, steps)


def _low(kind: IntType | FloatType) -> Decimal | None:
    """The least value. A sum above a float's limit could be read as the limit, so the next float is the least."""
    if kind.ge is not None:
        return _exact(kind.ge)
    if kind.gt is None:
        return None
    return _exact(nextafter(kind.gt, inf)) if isinstance(kind, FloatType) else _exact(kind.gt + 1)


def _high(kind: IntType | FloatType) -> Decimal | None:
    if kind.le is not None:
        return _exact(kind.le)
    if kind.lt is None:
        return None
    return _exact(nextafter(kind.lt, -inf)) if isinstance(kind, FloatType) else _exact(kind.lt - 1)


def _exact(limit: float) -> Decimal:
    return Decimal(repr(limit))


def _table_number(exact: Decimal, rounding: str) -> Number:
    """The nearest number that a table can hold, in the direction of the rounding."""
    if exact and abs(exact) < _SMALLEST:
        away = ROUND_CEILING if exact > 0 else ROUND_FLOOR
        return canonical(_SMALLEST.copy_sign(exact)) if rounding == away else 0
    rounded = Context(prec=NUMBER_DIGITS, rounding=rounding).plus(exact)
    return canonical(max(-_LARGEST, min(_LARGEST, rounded)))


class SizeLimits(Struct, frozen=True):
    """The limits of the number of members of a list, map or set, computed once for a field."""

    low: int = 0
    high: int | None = None
    text: str = ""

    def append(self, route: ex.Route, operation: str, count: int, subject: str) -> SizeEdit:
        """The edit that appends to a list."""
        self._check_count(count, subject)
        return self._edit(route, operation, grows=count, from_missing=count >= self.low)

    def include(self, route: ex.Route, members: frozenset[Value], subject: str) -> SizeEdit:
        """The edit that adds members to a set."""
        self._check_count(len(members), subject)
        return self._edit(route, "include", unless=_stored(route, members), from_missing=len(members) >= self.low)

    def exclude(self, route: ex.Route, members: frozenset[Value], required: bool) -> SizeEdit:
        """The edit that removes members from a set."""
        # An empty set is removed: a required field may not become empty, an optional one may.
        low = max(self.low, 1) if required else self.low if self.low > 1 else 0
        absent = tuple(ex.Not(stored) for stored in _stored(route, members))
        return SizeEdit(route, low, None, self.text or "required", "exclude", unless=absent, removes=True)

    def change_member(self, route: ex.Route, operation: str, removes: bool) -> SizeEdit:
        """The edit that stores or removes one member of a list or map."""
        unless = (ex.Missing(route) if removes else ex.Exists(route),)
        return self._edit(route[:-1], operation, unless=unless, removes=removes)

    def _edit(
        self,
        route: ex.Route,
        operation: str,
        grows: int = 0,
        unless: tuple[ex.Expression, ...] = (),
        removes: bool = False,
        from_missing: bool = True,
    ) -> SizeEdit:
        return SizeEdit(route, self.low, self.high, self.text, operation, grows, unless, removes, from_missing)

    def _check_count(self, count: int, subject: str) -> None:
        if self.high is not None and count > self.high:
            raise WrongType(f"{subject} holds at most {self.high} members, so {count} do not fit.")


def size_limits(annotation: Any) -> SizeLimits:
    """The limits of a list, map or set; none for other types. In a union of several of these, those of all of them."""
    kinds = [kind for kind in _options(annotation) if isinstance(kind, _Sized)]
    highs = [kind.max_length for kind in kinds if kind.max_length is not None]
    texts = dict.fromkeys(text for kind in kinds for text in _limit_texts(kind, ("min_length", "max_length")))
    return SizeLimits(
        max((kind.min_length or 0 for kind in kinds), default=0), min(highs, default=None), ", ".join(texts)
    )


_Sized = ListType | VarTupleType | SetType | FrozenSetType | DictType


def _stored(route: ex.Route, members: frozenset[Value]) -> tuple[ex.Contains, ...]:
    # In a stable order, so that equal edits make equal conditions.
    return tuple(ex.Contains(route, ex.Literally(member)) for member in sorted(members))


def _options(annotation: Any) -> tuple[Type, ...]:
    kind = msgspec.inspect.type_info(annotation)
    return kind.types if isinstance(kind, UnionType) else (kind,)


def _limit_texts(kind: Type, names: Iterable[str]) -> list[str]:
    return [f"{name}={limit}" for name in names if (limit := getattr(kind, name)) is not None]
