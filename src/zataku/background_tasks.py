"""Work that goes on beside its caller, and is waited for or ended with whoever began it."""

import asyncio
from collections.abc import Coroutine

import structlog

_log = structlog.get_logger(__name__)


class BackgroundTasks:
    """Tasks that nobody awaits. What goes wrong in them is logged, and at the end none is left behind."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Begin something."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def stop(self) -> None:
        """End everything that still goes on."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            _log.error("Something in the background went wrong.", exc_info=problem)
