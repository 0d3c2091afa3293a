"""Evaluation of updates: all values are read from the old item, then all changes are applied."""

from typing import cast

from zataku.table.backend import expression as ex
from zataku.table.backend import numbers
from zataku.table.backend.condition_evaluation import ABSENT, find
from zataku.table.backend.errors import BadUpdate
from zataku.table.backend.limits import NESTING
from zataku.table.backend.values import Item, Value, nesting_depth, nesting_error, type_of


def apply_update(actions: tuple[ex.Action, ...], item: Item) -> Item:
    """A new item with the changes applied; the given one is not modified. Overlaps were refused before."""
    result = deep_copy(item)
    values = [_assigned(action.value, item) if isinstance(action, ex.Assign) else None for action in actions]
    changes: list[tuple[ex.Route, Value]] = []
    removals: list[ex.Route] = []
    for action, value in zip(actions, values, strict=True):
        if isinstance(action, ex.Assign):
            changes.append((action.route, deep_copy(value)))
        elif isinstance(action, ex.Drop):
            removals.append(action.route)
        elif isinstance(action, ex.Increase):
            changes.append((action.route, _increased(item, action)))
        elif isinstance(action, ex.Include):
            changes.append((action.route, _members(item, action.route, action.members) | action.members))
        elif remaining := _members(item, action.route, action.members) - action.members:
            changes.append((action.route, remaining))
        else:
            removals.append(action.route)
    # DynamoDB: values past the end of a list are appended in the order of their positions.
    if len(changes) > 1:
        changes.sort(key=lambda change: _sort_position(change[0]))
    for route, value in changes:
        _put(result, route, value)
    # Later positions of a list first, so that removing one does not move the others.
    for route in sorted(removals, key=_sort_position, reverse=True):
        _remove(result, route, was_there=find(item, route) is not ABSENT)
    return result


def _sort_position(route: ex.Route) -> list[tuple[bool, str | int]]:
    return [(isinstance(step, int), step) for step in route]


_NESTING: frozenset[type[object]] = frozenset({dict, list})


def deep_copy(value: Value) -> Value:
    """A copy that shares no list or map with the original."""
    if type(value) is dict:
        item = cast("Item", value)
        if _NESTING.isdisjoint(map(type, item.values())):
            return item.copy()
        return {name: deep_copy(part) for name, part in item.items()}
    if type(value) is list:
        return [deep_copy(part) for part in cast("list[Value]", value)]
    return value


def check_overlaps(actions: tuple[ex.Action, ...]) -> None:
    """Raise `BadUpdate` when an update changes a path twice, or counts from the end of a list."""
    routes = [action.route for action in actions]
    for at, route in enumerate(routes):
        if any(isinstance(step, int) and step < 0 for step in route):
            raise BadUpdate(f"{_text(route)} counts from the end, which a table cannot. Give a position from 0 on.")
        for other in routes[at + 1 :]:
            shorter = min(len(route), len(other))
            if route[:shorter] == other[:shorter]:
                raise BadUpdate(f"The update changes {_text(route)} and {_text(other)}, which overlap. Change one.")


def _text(route: ex.Route) -> str:
    text = str(route[0])
    for step in route[1:]:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text


def _assigned(value: ex.Attribute | ex.Literally | ex.IfMissing | ex.Sum | ex.Joined, item: Item) -> Value:
    if isinstance(value, ex.Literally):
        return value.value
    if isinstance(value, ex.Attribute):
        current = find(item, value.route)
        if current is ABSENT:
            raise BadUpdate(f"The update reads {_text(value.route)}, which is not in the item. Set it first.")
        return current
    if isinstance(value, ex.IfMissing):
        current = find(item, value.route)
        return value.otherwise.value if current is ABSENT else current
    left, right = _assigned(value.left, item), _assigned(value.right, item)
    if isinstance(value, ex.Sum):
        if type_of(left) != "N" or type_of(right) != "N":
            raise BadUpdate("Only numbers can be added. Give two numbers.")
        return numbers.added(left, right)
    if type_of(left) != "L" or type_of(right) != "L":
        raise BadUpdate("Only lists can be joined. Give two lists.")
    return left + right


def _increased(item: Item, action: ex.Increase) -> Value:
    current = find(item, action.route)
    if current is ABSENT:
        return action.by
    if type_of(current) != "N":
        raise BadUpdate(f"{_text(action.route)} is not a number, so nothing can be added to it. Set a number first.")
    return numbers.added(current, action.by)


def _members(item: Item, route: ex.Route, like: frozenset[Value]) -> frozenset[Value]:
    current = find(item, route)
    if current is ABSENT:
        return frozenset()
    if type_of(current) != type_of(like):
        raise BadUpdate(f"{_text(route)} is not a set of the same type as the members. Give members of its type.")
    return cast("frozenset[Value]", current)


def _parent(item: Item, route: ex.Route) -> Value:
    parent = item if len(route) == 1 else find(item, route[:-1])
    container = list if isinstance(route[-1], int) else dict
    if type(parent) is not container:
        raise BadUpdate(
            f"There is nothing at {_text(route[:-1])} to put {_text(route)} into. Set the whole of it first."
        )
    return cast("Value", parent)


def _put(item: Item, route: ex.Route, value: Value) -> None:
    parent, last = _parent(item, route), route[-1]
    if len(route) > 1 and len(route) - 1 + nesting_depth(value) > NESTING:
        raise nesting_error()
    if isinstance(last, int) and last >= len(parent):
        parent.append(value)  # DynamoDB: a position past the end appends.
    else:
        parent[last] = value


def _remove(item: Item, route: ex.Route, *, was_there: bool) -> None:
    parent = _parent(item, route)
    # DynamoDB: a position is that of an element before the update, not of one that the update appends.
    if was_there:
        del parent[route[-1]]
