"""Backups as the admin page has them, whichever store they are of, and the one that is under way."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import structlog
from msgspec.structs import replace

from zataku.background_tasks import BackgroundTasks
from zataku.clock import Clock
from zataku.errors import Conflict
from zataku.server.admin.messages import Backups, BackupView
from zataku.table import Progress, Store, TableError

log = structlog.stdlib.get_logger()

Restored: TypeAlias = Callable[[], Awaitable[None]]
"""Called when everything was replaced, so that nothing of before is held on to."""


class Copies(Protocol):
    """The backups of a store. Names are checked already; what is not possible is refused."""

    async def listed(self) -> Backups:
        """All of them, and what is under way."""
        ...

    async def begin(self) -> str:
        """Start to take one; gives its name."""
        ...

    async def file(self, name: str) -> Path:
        """Where one lies, for a download."""
        ...

    async def bring(self, name: str, content: AsyncIterator[bytes], length: int | None) -> BackupView:
        """Add one that somebody has elsewhere. It counts when it is whole and has been looked through."""
        ...

    async def restore(self, name: str) -> str:
        """Start to replace everything by one; gives the name of the backup that is taken before."""
        ...

    async def delete(self, name: str) -> None:
        """Take one away for good."""
        ...


class Making:
    """The backup that is being made, one at a time, and those that failed since the server started."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._chores = BackgroundTasks()
        self._task: asyncio.Task[None] | None = None
        self._busy: str | None = None
        self.views: dict[str, BackupView] = {}

    def refuse_when_busy(self) -> None:
        """One thing at a time: a copy of a store that is being replaced is worth nothing."""
        if self._busy is not None:
            raise Conflict(f"{self._busy} Wait until it is done.", code="busy")

    def start(self, doing: str, work: Coroutine[object, object, object]) -> None:
        """Have it done in the background."""
        self._busy = doing
        self._task = self._chores.start(self._until_done(work))

    async def wait(self) -> None:
        """Until nothing is under way."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def take(self, name: str, destination: str) -> bool:
        """Take a backup and keep its progress; True when it was made."""
        self.views[name] = BackupView(name=name, state="making", bytes=0, at=round(self._clock.now() * 1000))
        try:
            await self._store.backup(destination, self._progress(name))
        except Exception as problem:
            log.warning("backup_failed", backup=name, exc_info=problem)
            self.views[name] = replace(self.views[name], state="failed", problem=told(problem))
            return False
        del self.views[name]
        return True

    def _progress(self, name: str) -> Progress:
        def tell(done: int, total: int) -> None:
            if name in self.views:
                self.views[name] = replace(self.views[name], done=done, total=total)

        return tell

    async def _until_done(self, work: Coroutine[object, object, object]) -> None:
        try:
            await work
        finally:
            self._busy = None


def told(problem: Exception) -> str:
    """What an admin is told of a failure; what nobody foresaw is in the log alone."""
    return problem.message if isinstance(problem, TableError) else "It failed. The server's log says why."


def new_name(clock: Clock, taken: Callable[[str], bool], ending: Literal[".db", ""]) -> str:
    """A name that says when it was, and that no other has."""
    stem = f"zataku-{datetime.fromtimestamp(clock.now(), UTC):%Y%m%dT%H%M%SZ}"
    names = (f"{stem}{part}{ending}" for part in ("", *(f"-{number}" for number in range(2, 1000))))
    return next(name for name in names if not taken(name))
