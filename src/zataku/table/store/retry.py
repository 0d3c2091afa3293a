"""RetryPolicy with a store that is busy: bounded, with a pause that grows and differs between callers."""

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
Pause = Callable[[float], Awaitable[None]]


class RetryPolicy(Struct, frozen=True):
    """How often to try, and how long to wait at first and at most, in seconds."""

    tries: int = 10
    first: float = 0.01
    most: float = 0.5


DEFAULT_POLICY = RetryPolicy()


class Retry:
    """Tries again what was refused only for the moment."""

    def __init__(self, random: Random, patience: RetryPolicy = DEFAULT_POLICY, pause: Pause = asyncio.sleep) -> None:
        self._random = random
        self._patience = patience
        self._pause = pause

    async def __call__(self, call: Callable[[], Awaitable[T]], *, repeatable: bool = False) -> T:
        """The call's result. `repeatable` says that doing it twice is doing it once, so a lost reply is retried too."""
        try:
            return await call()
        except TableError as problem:
            refused = problem
        return await self.after(refused, call, repeatable=repeatable)

    async def after(self, refused: TableError, call: Callable[[], Awaitable[T]], *, repeatable: bool = False) -> T:
        """The call's result after its first try was refused; most calls never come here."""
        tries = 1
        while tries < self._patience.tries and _passing(refused, repeatable):
            await self.wait(tries)
            try:
                return await call()
            except TableError as problem:
                refused, tries = problem, tries + 1
        raise refused

    async def wait(self, tries: int) -> None:
        """The pause after so many tries."""
        most = min(self._patience.most, self._patience.first * 2**tries)
        await self._pause(self._random.uniform(0, most))

    @property
    def tries(self) -> int:
        """How often something is tried at most."""
        return self._patience.tries


def _passing(problem: TableError, repeatable: bool) -> bool:
    if isinstance(problem, TransactionCancelled):
        return problem.conflict
    return isinstance(problem, Throttled | Conflict | StoreUnreachable) or (
        repeatable and isinstance(problem, ResultUnknown)
    )
