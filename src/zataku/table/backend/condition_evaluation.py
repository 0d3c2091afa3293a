"""Evaluation of conditions on an item, with DynamoDB's semantics of every comparison."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Any, cast

from zataku.table.backend import expression as ex
from zataku.table.backend.errors import BadInput, WrongType
from zataku.table.backend.expression_strings import check_condition_size
from zataku.table.backend.values import Item, Value, type_of

# Distinct from None, which is a stored null.
ABSENT: Any = object()

# A condition with so many comparisons is well within DynamoDB's limits.
_SHORT_PARTS = 16
_ORDERED = {"S", "N", "B"}
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def find(item: Item, route: ex.Route) -> Value:
    """The value at the route, or ABSENT."""
    here: Value = item
    for step in route:
        if isinstance(step, str):
            if type(here) is not dict or step not in here:
                return ABSENT
            here = cast("dict[str, Value]", here)[step]
        else:
            if type(here) is not list or not 0 <= step < len(cast("list[Value]", here)):
                return ABSENT
            here = cast("list[Value]", here)[step]
    return here


def holds(condition: ex.Expression, item: Item) -> bool:
    """True when the condition holds for the item; a missing item is an empty one."""
    return _RULES[type(condition)](condition, item)


def broken_bound(condition: ex.Expression | None, item: Item) -> ex.Within | None:
    """The bound that alone made a condition fail for an item; None when another part of the condition fails too."""
    broken: ex.Within | None = None
    for part in conjuncts(condition):
        if not holds(part, item):
            if not isinstance(part, ex.Within):
                return None
            broken = broken or part
    return broken


def conjuncts(condition: ex.Expression | None) -> Iterator[ex.Expression]:
    """The parts that must all hold."""
    if isinstance(condition, ex.All):
        for part in condition.parts:
            yield from conjuncts(part)
    elif condition is not None:
        yield condition


def equal(left: Value, right: Value) -> bool:
    """Equal in type and value: True is not 1, and "1" is not 1."""
    if type(left) is type(right) and type(left) in (str, bytes, bool, frozenset):
        return bool(left == right)
    kind = type_of(left)
    if kind != type_of(right):
        return False
    # Values that differ in Python differ here, which is fast to check; equal ones may still be 1 and True.
    if left != right:
        return False
    if kind == "L":
        return len(left) == len(right) and all(map(equal, left, right))
    if kind == "M":
        return left.keys() == right.keys() and all(equal(part, right[name]) for name, part in left.items())
    return True


def _value(operand: ex.Operand, item: Item) -> Value:
    if isinstance(operand, ex.Literally):
        return operand.value
    value = find(item, operand.route)
    if isinstance(operand, ex.Attribute) or value is ABSENT:
        return value
    kind = type_of(value)
    if kind == "S":
        # DynamoDB counts UTF-16 units: one for most characters, two beyond the basic plane.
        return len(value) if value.isascii() else len(value.encode("utf-16-le")) // 2
    return ABSENT if kind in ("N", "BOOL", "NULL") else len(value)


def _compared(left: Value, sign: ex.Comparison, right: Value) -> bool:
    if left is ABSENT or right is ABSENT:
        # DynamoDB: a missing attribute is unequal to every value.
        return sign == "<>"
    if sign == "=":
        return equal(left, right)
    if sign == "<>":
        return not equal(left, right)
    kind = type_of(left)
    if kind != type_of(right) or kind not in _ORDERED:
        return False
    return _SIGNS[sign](_ordered(left), _ordered(right))


def _ordered(value: Value) -> str | bytes | int | Decimal:
    # Strings sort by UTF-8 bytes, which differs from Python's order in the surrogate range.
    return value.encode() if type(value) is str else value


def _compare(condition: ex.Compare, item: Item) -> bool:
    return _compared(_value(condition.left, item), condition.sign, _value(condition.right, item))


def _between(condition: ex.Between, item: Item) -> bool:
    value = _value(condition.value, item)
    low, high = _value(condition.low, item), _value(condition.high, item)
    if value is ABSENT or low is ABSENT or high is ABSENT:
        return False
    return _compared(value, ">=", low) and _compared(value, "<=", high)


def _one_of(condition: ex.OneOf, item: Item) -> bool:
    value = _value(condition.value, item)
    if value is ABSENT:
        return False
    options = (_value(option, item) for option in condition.options)
    return any(option is not ABSENT and equal(value, option) for option in options)


def _exists(condition: ex.Exists, item: Item) -> bool:
    return find(item, condition.route) is not ABSENT


def _missing(condition: ex.Missing, item: Item) -> bool:
    return find(item, condition.route) is ABSENT


def _has_type(condition: ex.HasType, item: Item) -> bool:
    value = find(item, condition.route)
    return value is not ABSENT and type_of(value) == condition.kind


def _begins_with(condition: ex.BeginsWith, item: Item) -> bool:
    value, prefix = find(item, condition.route), condition.prefix.value
    if type(value) is not type(prefix) or not isinstance(prefix, str | bytes):
        return False
    return bool(value.startswith(prefix))


def _contains(condition: ex.Contains, item: Item) -> bool:
    value, part = find(item, condition.route), _value(condition.part, item)
    if value is ABSENT or part is ABSENT:
        return False
    if isinstance(value, str | bytes):
        return type(part) is type(value) and cast("Any", part) in value
    if isinstance(value, list | frozenset):
        return any(equal(member, part) for member in cast("list[Value]", value))
    return False


def _all(condition: ex.All, item: Item) -> bool:
    return all(holds(part, item) for part in condition.parts)


def _either(condition: ex.Either, item: Item) -> bool:
    return any(holds(part, item) for part in condition.parts)


def _not(condition: ex.Not, item: Item) -> bool:
    return not holds(condition.part, item)


def _within(condition: ex.Within, item: Item) -> bool:
    return holds(condition.part, item)


_RULES: dict[type[object], Callable[[Any, Item], bool]] = {
    ex.Compare: _compare,
    ex.Between: _between,
    ex.OneOf: _one_of,
    ex.Exists: _exists,
    ex.Missing: _missing,
    ex.HasType: _has_type,
    ex.BeginsWith: _begins_with,
    ex.Contains: _contains,
    ex.All: _all,
    ex.Either: _either,
    ex.Not: _not,
    ex.Within: _within,
}


def check_expression(condition: ex.Expression) -> None:
    """Raise `BadInput` for a condition that DynamoDB refuses."""
    # Every write is checked, and few are anywhere near the limit.
    if _check_parts(condition) > _SHORT_PARTS:
        check_condition_size(condition)


def _check_parts(condition: ex.Expression) -> int:
    """Check every part; returns the number of comparisons."""
    if isinstance(condition, ex.All | ex.Either):
        if not condition.parts:
            raise BadInput("A condition has no parts. Give at least one.")
        return sum(map(_check_parts, condition.parts))
    if isinstance(condition, ex.Not | ex.Within):
        return _check_parts(condition.part)
    if isinstance(condition, ex.OneOf):
        if not 1 <= len(condition.options) <= 100:
            raise BadInput("`is_in` takes 1 to 100 values. Split the condition.")
        return len(condition.options)
    _check_comparison(condition)
    return 1


def _check_comparison(condition: ex.Expression) -> None:
    if isinstance(condition, ex.Compare):
        _check_compare(condition)
    elif isinstance(condition, ex.Between):
        _check_between(condition)
    elif isinstance(condition, ex.BeginsWith):
        if type_of(condition.prefix.value) not in ("S", "B"):
            raise WrongType("Only strings and bytes begin with something. Give a string or bytes.")
    elif isinstance(condition, ex.Contains) and condition.part == ex.Attribute(condition.route):
        raise BadInput("A condition tests whether an attribute contains itself. Name two different ones.")


# DynamoDB validates given values before it reads an item, so an invalid one is refused for every item.


def _check_compare(condition: ex.Compare) -> None:
    if isinstance(condition.left, ex.Attribute) and condition.left == condition.right:
        raise BadInput("A condition compares an attribute with itself. Name two different ones.")
    if condition.sign in _SIGNS:
        _check_ordered(condition.left, condition.right)


def _check_between(condition: ex.Between) -> None:
    low, high = condition.low, condition.high
    _check_ordered(condition.value, low, high)
    if isinstance(low, ex.Literally) and isinstance(high, ex.Literally):
        if type_of(low.value) != type_of(high.value):
            raise WrongType("The two ends of `between` have different types. Give two of one type.")
        if _compared(low.value, ">", high.value):
            raise BadInput("The lower end of `between` is above the upper one. Swap them.")


def _check_ordered(*operands: ex.Operand) -> None:
    for operand in operands:
        if isinstance(operand, ex.Literally) and type_of(operand.value) not in _ORDERED:
            raise WrongType("Only strings, numbers and bytes have an order. Compare with one of these.")
