"""Concurrent calls and their outcomes."""

import asyncio
from collections.abc import Awaitable
from typing import Generic, TypeVar

from msgspec import Struct

from zataku.table import ConditionFailed, ResultUnknown, TableError, TransactionCancelled

T = TypeVar("T")


class Race(Struct, Generic[T], frozen=True):
    """Outcomes of concurrent calls: results of the winners, errors of the losers, and calls whose outcome is unknown.

    On a store that loses replies, a write of unknown outcome may have happened: read before asserting.
    """

    won: list[T]
    refused: list[TableError]
    unknown: list[ResultUnknown]

    def allows(self, number: int) -> bool:
        """True when exactly `number` calls can have succeeded."""
        return len(self.won) <= number <= len(self.won) + len(self.unknown)


async def race(*attempts: Awaitable[T]) -> Race[T]:
    """Run all attempts concurrently. Any error other than a failed condition is raised."""
    results = await asyncio.gather(*attempts, return_exceptions=True)
    outcome: Race[T] = Race([], [], [])
    for result in results:
        if isinstance(result, ResultUnknown):
            outcome.unknown.append(result)
        elif isinstance(result, ConditionFailed) or (isinstance(result, TransactionCancelled) and not result.conflict):
            outcome.refused.append(result)
        elif isinstance(result, BaseException):
            raise result
        else:
            outcome.won.append(result)
    return outcome
