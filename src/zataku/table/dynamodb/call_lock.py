"""The gate that every call goes through: shut while everything is replaced, and for good when the store closes."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import TracebackType

from zataku.table.backend.errors import StoreClosed


class Gate:
    """Counts the calls inside: `async with gate: ...`."""

    def __init__(self) -> None:
        self._inside = 0
        self._closed = False
        self._free = asyncio.Event()
        self._free.set()
        self._empty = asyncio.Event()
        self._empty.set()
        self._holding = asyncio.Lock()

    def check(self) -> None:
        """Refuse calls of a closed store."""
        if self._closed:
            raise StoreClosed("The store is closed. Open it first.")

    async def __aenter__(self) -> None:
        self.check()
        while not self._free.is_set():
            await self._free.wait()
            self.check()
        self._inside += 1
        self._empty.clear()

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inside -= 1
        if not self._inside:
            self._empty.set()

    @asynccontextmanager
    async def alone(self) -> AsyncGenerator[None]:
        """Be the only one inside: those before have left, those after wait."""
        async with self._holding:
            self._free.clear()
            try:
                await self._empty.wait()
                self.check()
                yield
            finally:
                self._free.set()

    async def close(self) -> None:
        """Let nobody in any more and wait until all have left."""
        self._closed = True
        async with self._holding:
            await self._empty.wait()
