"""Conditions, updates and key ranges as DynamoDB's expression strings.

Names and values are always replaced by placeholders, the same one for the same name or value, so that reserved words,
special characters and long values need no special case.

DynamoDB takes strings of 4 KB with 300 operators and functions. Every store refuses longer ones, though only one of
them sends strings: a write that works on one works on all of them.
"""

import re
from collections.abc import Iterable
from typing import Any

from zataku.table.backend import expression as ex
from zataku.table.backend.errors import BadInput
from zataku.table.backend.limits import EXPRESSION_BYTES, EXPRESSION_OPERATORS
from zataku.table.backend.port import KeyRange
from zataku.table.backend.table_schema import KeyAttribute
from zataku.table.backend.values import KeyValue, Value, normalize
from zataku.table.backend.wire import WireValue, wire_value

Assigned = ex.Attribute | ex.Literally | ex.IfMissing | ex.Sum | ex.Joined

_FUNCTIONS = r"[a-z_]+\("
# BETWEEN is counted by its AND.
_CONDITION_OPERATORS = re.compile(rf"\b(?:AND|OR|NOT|IN)\b|[<>=]+|{_FUNCTIONS}")
_UPDATE_OPERATORS = re.compile(rf" \+ |{_FUNCTIONS}")
_LATER_PLACEHOLDER = 10
"""The number of a first placeholder that is not shorter than others: those of a condition follow its update's."""


def check_condition_size(condition: ex.Expression) -> None:
    """Raise `BadInput` for a condition or filter that is too long for DynamoDB."""
    text = Expressions(_LATER_PLACEHOLDER).condition(condition)
    _check_size("condition", text, len(_CONDITION_OPERATORS.findall(text)))


def check_update_size(actions: Iterable[ex.Action]) -> None:
    """Raise `BadInput` for an update that is too long for DynamoDB."""
    text = Expressions(_LATER_PLACEHOLDER).update(actions)
    _check_size("update", text, len(_UPDATE_OPERATORS.findall(text)))


def _check_size(kind: str, text: str, operators: int) -> None:
    if len(text) > EXPRESSION_BYTES or operators > EXPRESSION_OPERATORS:
        raise BadInput(
            f"The {kind} has {len(text)} bytes and {operators} operators; DynamoDB takes {EXPRESSION_BYTES} and "
            f"{EXPRESSION_OPERATORS}. The bounds of edited fields are part of the condition. Make fewer edits at once, "
            "or give a shorter condition.",
            size=len(text),
            operators=operators,
        )


class Expressions:
    """Expressions of one call, with the placeholders that they share, numbered from `first`."""

    def __init__(self, first: int = 0) -> None:
        self._first = first
        self._names: dict[str, str] = {}
        self._values: dict[str, tuple[str, WireValue]] = {}

    def parameters(self) -> dict[str, Any]:
        """The placeholders as parameters of the call; empty ones are left out, as the service requires."""
        parameters: dict[str, Any] = {}
        if self._names:
            parameters["ExpressionAttributeNames"] = {placeholder: name for name, placeholder in self._names.items()}
        if self._values:
            parameters["ExpressionAttributeValues"] = dict(self._values.values())
        return parameters

    def name(self, name: str) -> str:
        """The placeholder of an attribute name."""
        return self._names.setdefault(name, f"#n{self._first + len(self._names)}")

    def value(self, value: Value) -> str:
        """The placeholder of a value."""
        wire = wire_value(normalize(value))
        # Sets are sorted on the wire, so that equal values have equal text.
        return self._values.setdefault(repr(wire), (f":v{self._first + len(self._values)}", wire))[0]

    def route(self, route: ex.Route) -> str:
        """A path into an item."""
        text = ""
        for step in route:
            if isinstance(step, int):
                text += f"[{step}]"
            else:
                text += f"{'.' if text else ''}{self.name(step)}"
        return text

    def condition(self, condition: ex.Expression) -> str:
        """A condition or filter."""
        condition = _unwrapped(condition)
        if isinstance(condition, ex.All | ex.Either):
            operator = " AND " if isinstance(condition, ex.All) else " OR "
            return operator.join(map(self._part, condition.parts))
        if isinstance(condition, ex.Not):
            return f"NOT ({self.condition(condition.part)})"
        return self._comparison(condition)

    def _part(self, part: ex.Expression) -> str:
        text = self.condition(part)
        # NOT binds tighter than AND and OR, and the service refuses parentheses that are not needed twice.
        return f"({text})" if isinstance(_unwrapped(part), ex.All | ex.Either) else text

    def _comparison(self, condition: ex.Expression) -> str:
        match condition:
            case ex.Compare(left, sign, right):
                return f"{self._operand(left)} {sign} {self._operand(right)}"
            case ex.Between(value, low, high):
                return f"{self._operand(value)} BETWEEN {self._operand(low)} AND {self._operand(high)}"
            case ex.OneOf(value, options):
                return f"{self._operand(value)} IN ({', '.join(map(self._operand, options))})"
            case ex.Exists(route):
                return f"attribute_exists({self.route(route)})"
            case ex.Missing(route):
                return f"attribute_not_exists({self.route(route)})"
            case ex.HasType(route, kind):
                return f"attribute_type({self.route(route)}, {self.value(kind)})"
            case ex.BeginsWith(route, prefix):
                return f"begins_with({self.route(route)}, {self.value(prefix.value)})"
            case ex.Contains(route, part):
                return f"contains({self.route(route)}, {self._operand(part)})"
            case _:
                raise TypeError(f"{condition!r} is not a condition.")

    def _operand(self, operand: ex.Operand) -> str:
        if isinstance(operand, ex.Literally):
            return self.value(operand.value)
        path = self.route(operand.route)
        return f"size({path})" if isinstance(operand, ex.SizeOf) else path

    def update(self, actions: Iterable[ex.Action]) -> str:
        """An update expression, with each of the four clauses at most once."""
        clauses: dict[str, list[str]] = {}
        # Later positions of a list go first. They refer to the list before the update, but not in every implementation.
        for action in sorted(actions, key=_position, reverse=True):
            clause, text = self._change(action)
            clauses.setdefault(clause, []).append(text)
        return " ".join(f"{clause} {', '.join(texts)}" for clause, texts in clauses.items())

    def _change(self, action: ex.Action) -> tuple[str, str]:
        path = self.route(action.route)
        match action:
            case ex.Assign(_, value):
                return "SET", f"{path} = {self._assigned(value)}"
            case ex.Drop():
                return "REMOVE", path
            case ex.Increase(route, by):
                if len(route) > 1:
                    # ADD is documented for top-level attributes only; this means the same.
                    return "SET", f"{path} = if_not_exists({path}, {self.value(0)}) + {self.value(by)}"
                return "ADD", f"{path} {self.value(by)}"
            case ex.Include(_, members):
                return "ADD", f"{path} {self.value(members)}"
            case ex.Exclude(_, members):
                return "DELETE", f"{path} {self.value(members)}"

    def _assigned(self, value: Assigned) -> str:
        match value:
            case ex.Literally(literal):
                return self.value(literal)
            case ex.Attribute(route):
                return self.route(route)
            case ex.IfMissing(route, otherwise):
                return f"if_not_exists({self.route(route)}, {self.value(otherwise.value)})"
            case ex.Sum(left, right):
                return f"{self._assigned(left)} + {self._assigned(right)}"
            case ex.Joined(left, right):
                return f"list_append({self._assigned(left)}, {self._assigned(right)})"

    def key(self, pk: KeyAttribute, value: KeyValue, sk: KeyAttribute | None, key_range: KeyRange | None) -> str:
        """One partition, or a range of it."""
        text = f"{self.name(pk.name)} = {self.value(value)}"
        if key_range is None or sk is None:
            return text
        path, low = self.name(sk.name), self.value(key_range.low)
        if key_range.sign == "between":
            return f"{text} AND {path} BETWEEN {low} AND {self.value(key_range.high)}"
        if key_range.sign == "begins":
            return f"{text} AND begins_with({path}, {low})"
        return f"{text} AND {path} {key_range.sign} {low}"

    def projection(self, attributes: Iterable[str]) -> str:
        """Only these attributes."""
        return ", ".join(map(self.name, attributes))


def _position(action: ex.Action) -> int:
    last = action.route[-1]
    return last if isinstance(action, ex.Drop) and isinstance(last, int) else -1


def _unwrapped(condition: ex.Expression) -> ex.Expression:
    """The condition inside bounds of a field and joins of a single part, which have no text of their own."""
    while True:
        match condition:
            case ex.Within(part=inner) | ex.All(parts=(inner,)) | ex.Either(parts=(inner,)):
                condition = inner
            case _:
                return condition
