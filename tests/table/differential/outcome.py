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


def plain(row: Row | None) -> object:
    """A row with explicit types."""
    if row is None:
        return None
    return exactly(unpack_row(row))


def _answer(result: Any) -> object:
    if isinstance(result, Rows):
        return (
            [plain(row) for row in result.rows],
            result.resume and exactly(result.resume),
            result.count,
            result.scanned,
        )
    if isinstance(result, Written):
        return "written"
    if isinstance(result, list):
        return [plain(row) for row in result]
    return plain(result)


def _refusal(problem: TableError) -> object:
    if isinstance(problem, BadInput):
        # AWS has one name for all of these; which of ours it is depends on who notices first.
        return "bad input"
    if isinstance(problem, ConditionFailed):
        return problem.code, plain(problem.current)  # pyright: ignore[reportArgumentType]
    if isinstance(problem, TransactionCancelled):
        return problem.code, [(reason.code, plain(reason.current)) for reason in problem.reasons]  # pyright: ignore[reportArgumentType]
    return problem.code


async def outcome(call: Callable[[ConsumedCapacity], Awaitable[object]]) -> Outcome:
    """Make the call and return its outcome."""
    consumed = ConsumedCapacity()
    try:
        answer = _answer(await call(consumed))
    except TableError as problem:
        answer = _refusal(problem)
        if isinstance(problem, TransactionCancelled):
            # No service says what a cancelled transaction used; the golden table does.
            consumed = ConsumedCapacity()
    return Outcome(answer, {place: units for place, units in consumed.by_resource.items() if units != (0, 0)})
