"""Lock around every call of the backend: shared by calls, exclusive for a restore, closed with the store."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import TracebackType

from zataku.table.backend.errors import StoreClosed


class CallLock:
    """Any number of calls hold it together: `async with lock: ...`; `exclusive` waits for them and keeps others out."""

    def __init__(self) -> None:
        self._calls = 0
        self._closed = False
        self._admitting = asyncio.Event()
        self._admitting.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._exclusive = asyncio.Lock()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed("The store is closed. Open it first.")

    async def __aenter__(self) -> None:
        self._check_open()
        while not self._admitting.is_set():
            await self._admitting.wait()
            self._check_open()
        self._calls += 1
        self._idle.clear()

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._calls -= 1
        if not self._calls:
            self._idle.set()

    @asynccontextmanager
    async def exclusive(self) -> AsyncGenerator[None]:
        """Hold the lock alone: earlier calls have ended, later ones wait."""
        async with self._exclusive:
            self._admitting.clear()
            try:
                await self._idle.wait()
                self._check_open()
                yield
            finally:
                self._admitting.set()

    async def close(self) -> None:
        """Refuse further calls and wait for those under way."""
        self._closed = True
        async with self._exclusive:
            await self._idle.wait()
