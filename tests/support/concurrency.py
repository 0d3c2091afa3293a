"""Many at once, and what became of each."""

import asyncio
from collections.abc import Awaitable
from typing import Generic, TypeVar

from msgspec import Struct

from zataku.table import ConditionFailed, ResultUnknown, TableError, TransactionCancelled

T = TypeVar("T")


class Race(Struct, Generic[T], frozen=True):
    """How a race ended: what the winners got, why the others were refused, and who was left without an answer.

    On a store that loses replies, a write without an answer may have happened or not: read before judging.
    """

    won: list[T]
    refused: list[TableError]
    unknown: list[ResultUnknown]

    def allows(self, number: int) -> bool:
        """True when so many can have won."""
        return len(self.won) <= number <= len(self.won) + len(self.unknown)


async def race(*attempts: Awaitable[T]) -> Race[T]:
    """All attempts at the same time. A refusal for any other reason than a condition is raised."""
    found = await asyncio.gather(*attempts, return_exceptions=True)
    made: Race[T] = Race([], [], [])
    for one in found:
        if isinstance(one, ResultUnknown):
            made.unknown.append(one)
        elif isinstance(one, ConditionFailed) or (isinstance(one, TransactionCancelled) and not one.conflict):
            made.refused.append(one)
        elif isinstance(one, BaseException):
            raise one
        else:
            made.won.append(one)
    return made
