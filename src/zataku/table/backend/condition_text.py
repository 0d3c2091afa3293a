"""Conditions in words, for errors: the part that an item does not meet."""

from decimal import Decimal

from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import conjuncts, holds
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Item, Value

_MAX_TEXT = 24


def failed_condition(condition: ex.Expression | None, item: Item, table: TableSchema) -> str:
    """The parts of a condition that an item does not meet, in words; an empty item stands for none."""
    failed = [part for part in conjuncts(condition) if not holds(part, item)]
    return " and ".join(condition_text(part, table) for part in failed)


def condition_text(condition: ex.Expression, table: TableSchema) -> str:
    """A condition in words. Long texts are shortened."""
    if table.ttl is not None and isinstance(condition, ex.Either | ex.Not) and _reads_expiry(condition, table.ttl):
        # An expired item counts as absent.
        is_absent = isinstance(condition, ex.Either)
        return "the item does not exist" if is_absent else "the item has not expired"
    match condition:
        case ex.Compare():
            return f"{_operand(condition.left)} {condition.sign} {_operand(condition.right)}"
        case ex.Between():
            return f"{_operand(condition.value)} between {_operand(condition.low)} and {_operand(condition.high)}"
        case ex.OneOf():
            return f"{_operand(condition.value)} in ({', '.join(map(_operand, condition.options))})"
        case ex.Exists() if condition.route == (table.pk.name,):
            return "the item exists"
        case ex.Missing() if condition.route == (table.pk.name,):
            return "the item does not exist"
        case ex.Exists():
            return f"{_route(condition.route)} exists"
        case ex.Missing():
            return f"{_route(condition.route)} is missing"
        case ex.HasType():
            return f"{_route(condition.route)} has the type {condition.kind}"
        case ex.BeginsWith():
            return f"{_route(condition.route)} begins with {_operand(condition.prefix)}"
        case ex.Contains():
            return f"{_route(condition.route)} contains {_operand(condition.part)}"
        case ex.All():
            return _joined(condition.parts, " and ", table)
        case ex.Either():
            return _joined(condition.parts, " or ", table)
        case ex.Not():
            return f"not ({condition_text(condition.part, table)})"
        case ex.Within():
            return f"{condition.field} stays within {condition.bound}"


def _reads_expiry(condition: ex.Either | ex.Not, ttl: str) -> bool:
    parts = condition.parts[1:] if isinstance(condition, ex.Either) else (condition.part,)
    return all(isinstance(part, ex.Compare) and part.left == ex.Attribute((ttl,)) for part in parts) and (
        isinstance(condition, ex.Not) or isinstance(condition.parts[0], ex.Missing)
    )


def _joined(parts: tuple[ex.Expression, ...], word: str, table: TableSchema) -> str:
    texts = [condition_text(part, table) for part in parts]
    return texts[0] if len(texts) == 1 else f"({word.join(texts)})"


def _operand(operand: ex.Operand) -> str:
    match operand:
        case ex.Attribute():
            return _route(operand.route)
        case ex.SizeOf():
            return f"size of {_route(operand.route)}"
        case ex.Literally():
            return value_text(operand.value)


def value_text(value: Value) -> str:
    """A value in an error, shortened where it is long."""
    text = str(value) if isinstance(value, int | Decimal) else repr(value)
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def _route(route: ex.Route) -> str:
    first, *rest = route
    return str(first) + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in rest)
