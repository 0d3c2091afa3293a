"""Outcome of a call in a form that can be compared between two stores."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from tests.table.strategies import exactly
from zataku.table.backend.cost import ConsumedCapacity, Resource
from zataku.table.backend.errors import BadInput, ConditionFailed, TableError, TransactionCancelled
from zataku.table.backend.port import Row, Rows, Written
from zataku.table.backend.values import unpack_row


class Outcome(Struct, frozen=True):
    """The answer or the error code, and the units used by table and index."""

    answer: object
    units: dict[Resource, tuple[float, float]]


def typed_item(row: Row | None) -> object:
    """A row with explicit types."""
    if row is None:
        return None
    return exactly(unpack_row(row))


def _answer(result: Any) -> object:
    if isinstance(result, Rows):
        return (
            [typed_item(row) for row in result.rows],
            result.resume and exactly(result.resume),
            result.count,
            result.scanned,
        )
    if isinstance(result, Written):
        return "written"
    if isinstance(result, list):
        return [typed_item(row) for row in result]
    return typed_item(result)


def _refusal(problem: TableError) -> object:
    if isinstance(problem, BadInput):
        # AWS has one error code for all of these; which of ours is raised depends on the order of the checks.
        return "bad input"
    if isinstance(problem, ConditionFailed):
        return problem.code, typed_item(problem.current)  # pyright: ignore[reportArgumentType]
    if isinstance(problem, TransactionCancelled):
        return problem.code, [(reason.code, typed_item(reason.current)) for reason in problem.reasons]  # pyright: ignore[reportArgumentType]
    return problem.code


async def outcome(call: Callable[[ConsumedCapacity], Awaitable[object]]) -> Outcome:
    """Make the call and return its outcome."""
    consumed = ConsumedCapacity()
    try:
        answer = _answer(await call(consumed))
    except TableError as problem:
        answer = _refusal(problem)
        if isinstance(problem, TransactionCancelled):
            # No service reports the units of a cancelled transaction; the golden table tests them.
            consumed = ConsumedCapacity()
    return Outcome(answer, {resource: units for resource, units in consumed.by_resource.items() if units != (0, 0)})
