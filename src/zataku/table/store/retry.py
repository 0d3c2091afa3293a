"""Retries of calls that a busy store refused: a bounded number of attempts with growing, jittered delays."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from msgspec import Struct

from zataku.table.backend.errors import (
    Conflict,
    ResultUnknown,
    StoreUnreachable,
    TableError,
    Throttled,
    TransactionCancelled,
)

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]


class RetryPolicy(Struct, frozen=True):
    """Number of attempts, and the first and the longest delay in seconds."""

    max_attempts: int = 10
    first_delay: float = 0.01
    max_delay: float = 0.5


DEFAULT_POLICY = RetryPolicy()


class Retry:
    """Repeats calls that failed with a transient error."""

    def __init__(self, random: Random, policy: RetryPolicy = DEFAULT_POLICY, sleep: Sleep = asyncio.sleep) -> None:
        self._random = random
        self._policy = policy
        self._sleep = sleep

    async def __call__(self, call: Callable[[], Awaitable[T]], *, repeatable: bool = False) -> T:
        """The result of the call. `repeatable` marks an idempotent call, which is also retried after a lost reply."""
        try:
            return await call()
        except TableError as problem:
            error = problem
        return await self.after(error, call, repeatable=repeatable)

    async def after(self, error: TableError, call: Callable[[], Awaitable[T]], *, repeatable: bool = False) -> T:
        """The result of a call whose first attempt failed with `error`. Separate, to keep the common path short."""
        attempts = 1
        while attempts < self._policy.max_attempts and _is_transient(error, repeatable):
            await self.wait(attempts)
            try:
                return await call()
            except TableError as problem:
                error, attempts = problem, attempts + 1
        raise error

    async def wait(self, attempts: int) -> None:
        """Sleep for the delay after this number of attempts."""
        longest = min(self._policy.max_delay, self._policy.first_delay * 2**attempts)
        await self._sleep(self._random.uniform(0, longest))

    @property
    def max_attempts(self) -> int:
        """Largest number of attempts of one call."""
        return self._policy.max_attempts


def _is_transient(error: TableError, repeatable: bool) -> bool:
    if isinstance(error, TransactionCancelled):
        return error.conflict
    return isinstance(error, Throttled | Conflict | StoreUnreachable) or (
        repeatable and isinstance(error, ResultUnknown)
    )
