"""Background tasks that are cancelled together with the object that started them."""

import asyncio
from collections.abc import Coroutine

import structlog

log = structlog.get_logger(__name__)


class BackgroundTasks:
    """Tasks that no caller awaits. Their errors are logged, and `stop` cancels those that still run."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Start a coroutine as a task and return the task."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    async def stop(self) -> None:
        """Cancel all running tasks and wait until they have ended."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("background_task_failed", exc_info=error)
