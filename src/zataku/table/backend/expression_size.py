"""The length of conditions and updates as DynamoDB counts it: 4 KB of text, 300 operators and functions.

Every store refuses longer ones, though only one of them sends text: a write that works on one works on all of them.
"""

from collections.abc import Iterable
from typing import cast

from zataku.table.backend import expression as ex
from zataku.table.backend.errors import BadInput
from zataku.table.backend.limits import EXPRESSION_BYTES, EXPRESSION_OPERATORS
from zataku.table.backend.values import Value

# Texts of conditions without their operands.
_TEXTS: dict[type[object], str] = {
    ex.Between: " BETWEEN  AND ",
    ex.OneOf: " IN ()",
    ex.Exists: "attribute_exists()",
    ex.Missing: "attribute_not_exists()",
    ex.HasType: "attribute_type(, )",
    ex.BeginsWith: "begins_with(, )",
    ex.Contains: "contains(, )",
}
_CLAUSES = {ex.Assign: "SET ", ex.Drop: "REMOVE ", ex.Increase: "ADD ", ex.Include: "ADD ", ex.Exclude: "DELETE "}


def check_condition_size(condition: ex.Expression) -> None:
    """Raise `BadInput` for a condition or filter that is too long for DynamoDB."""
    measure = ExpressionSize()
    measure.add_condition(condition)
    measure.check("condition")


def check_update_size(actions: Iterable[ex.Action]) -> None:
    """Raise `BadInput` for an update that is too long for DynamoDB."""
    measure = ExpressionSize()
    measure.add_update(actions)
    measure.check("update")


class ExpressionSize:
    """Bytes, operators and functions of an expression, whose names and values are placeholders such as `#n0`."""

    def __init__(self) -> None:
        self.size = 0
        self.operators = 0
        self._placeholders: dict[object, int] = {}

    def check(self, kind: str) -> None:
        """Raise `BadInput` when the expression is too long."""
        if self.size > EXPRESSION_BYTES or self.operators > EXPRESSION_OPERATORS:
            raise BadInput(
                f"The {kind} has {self.size} bytes and {self.operators} operators; DynamoDB takes {EXPRESSION_BYTES} "
                f"and {EXPRESSION_OPERATORS}. The bounds of edited fields are part of the condition. Make fewer edits "
                "at once, or give a shorter condition.",
                size=self.size,
                operators=self.operators,
            )

    def add_condition(self, condition: ex.Expression) -> None:
        """Add the text of a condition."""
        if isinstance(condition, ex.Within):
            self.add_condition(condition.part)
        elif isinstance(condition, ex.Not):
            self._add("NOT ()", 1)
            self.add_condition(condition.part)
        elif isinstance(condition, ex.All | ex.Either):
            between = len(condition.parts) - 1
            self._add((" AND " if isinstance(condition, ex.All) else " OR ") * between, between)
            for part in condition.parts:
                self._add("()" if between and _is_compound(part) else "")
                self.add_condition(part)
        else:
            self._add_comparison(condition)

    def _add_comparison(self, condition: ex.Expression) -> None:
        if isinstance(condition, ex.Compare):
            self._add(f" {condition.sign} ", 1)
            operands = (condition.left, condition.right)
        else:
            self._add(_TEXTS[type(condition)], 1)
            operands = _operands(condition)
        for operand in operands:
            self._add_operand(operand)
        if isinstance(condition, ex.OneOf):
            self._add(", " * (len(condition.options) - 1))

    def _add_operand(self, operand: ex.Operand) -> None:
        if isinstance(operand, ex.Literally):
            self._add_value(operand.value)
            return
        if isinstance(operand, ex.SizeOf):
            self._add("size()", 1)
        self._add_route(operand.route)

    def add_update(self, actions: Iterable[ex.Action]) -> None:
        """Add the text of an update."""
        clauses: set[str] = set()
        for action in actions:
            is_nested_sum = isinstance(action, ex.Increase) and len(action.route) > 1
            clause = "SET " if is_nested_sum else _CLAUSES[type(action)]
            # Further actions of a clause follow a comma, further clauses a space.
            self._add(", " if clause in clauses else f" {clause}")
            clauses.add(clause)
            self._add_route(action.route)
            if isinstance(action, ex.Assign):
                self._add(" = ")
                self._add_assigned(action.value)
            elif isinstance(action, ex.Increase) and is_nested_sum:
                self._add(" = ")
                self._add_assigned(ex.Sum(ex.IfMissing(action.route, ex.Literally(0)), ex.Literally(action.by)))
            elif not isinstance(action, ex.Drop):
                self._add(" ")
                self._add_value(action.by if isinstance(action, ex.Increase) else action.members)

    def _add_assigned(self, value: ex.Attribute | ex.Literally | ex.IfMissing | ex.Sum | ex.Joined) -> None:
        if isinstance(value, ex.Literally):
            self._add_value(value.value)
        elif isinstance(value, ex.Attribute):
            self._add_route(value.route)
        elif isinstance(value, ex.IfMissing):
            self._add("if_not_exists(, )", 1)
            self._add_route(value.route)
            self._add_value(value.otherwise.value)
        else:
            self._add(" + " if isinstance(value, ex.Sum) else "list_append(, )", 1)
            self._add_assigned(value.left)
            self._add_assigned(value.right)

    def _add_route(self, route: ex.Route) -> None:
        for at, step in enumerate(route):
            if isinstance(step, int):
                self._add(f"[{step}]")
            else:
                self._add_placeholder(("#", step))
                self._add("." if at else "")

    def _add_value(self, value: Value) -> None:
        # Lists and maps are taken to differ, which counts a digit too many at most.
        kind = cast("type[object]", type(value))
        self._add_placeholder((":", len(self._placeholders)) if kind in (list, dict) else (":", kind, value))

    def _add_placeholder(self, key: tuple[object, ...]) -> None:
        # Two digits at least: the placeholders of an update come before those of its condition.
        number = self._placeholders.setdefault(key, len(self._placeholders) + 10)
        self._add(f"#n{number}")

    def _add(self, text: str, operators: int = 0) -> None:
        self.size += len(text)
        self.operators += operators


def _operands(condition: ex.Expression) -> tuple[ex.Operand, ...]:
    match condition:
        case ex.Between(value, low, high):
            return value, low, high
        case ex.OneOf(value, options):
            return value, *options
        case ex.Contains(route, part):
            return ex.Attribute(route), part
        case ex.BeginsWith(route, prefix):
            return ex.Attribute(route), prefix
        case ex.HasType(route, kind):
            return ex.Attribute(route), ex.Literally(kind)
        case ex.Exists(route) | ex.Missing(route):
            return (ex.Attribute(route),)
        case _:
            raise TypeError(f"{condition!r} is not a condition.")


def _is_compound(part: ex.Expression) -> bool:
    while isinstance(part, ex.Within):
        part = part.part
    return isinstance(part, ex.All | ex.Either) and len(part.parts) > 1
