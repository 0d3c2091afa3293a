"""Backups on the admin page: the service behind the routes, with one operation at a time on either kind of storage."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, TypeAlias

import structlog
from msgspec.structs import replace

from zataku.background_tasks import BackgroundTasks
from zataku.clock import Clock, now_ms
from zataku.errors import Conflict, RequestError
from zataku.server.admin.messages import Backups, BackupView, RestoreProgress
from zataku.table import Progress, TableError

log = structlog.stdlib.get_logger()

RestoreListener: TypeAlias = Callable[[], Awaitable[None]]
"""Awaited when a backup has replaced everything, so that no earlier state stays in memory."""


class BackupStorage(Protocol):
    """The backups of one kind of store. Names are checked already; what the store cannot do raises a Conflict."""

    suffix: str
    """The end of the names of new backups."""
    has_files: bool
    """True when backups are files, which can be downloaded, uploaded, restored and deleted."""
    max_upload_bytes: int

    async def prepare(self) -> None:
        """Get ready to create a backup, or raise when this store has none."""
        ...

    async def views(self) -> list[BackupView]:
        """All stored backups, in any order."""
        ...

    async def create(self, name: str, progress: Progress) -> None:
        """Back the store up under a name that is free."""
        ...

    async def find(self, name: str) -> Path:
        """The file of an existing backup."""
        ...

    async def upload(self, name: str, content: AsyncIterator[bytes], length: int | None) -> None:
        """Store an uploaded backup, when it is complete and undamaged."""
        ...

    async def check_restorable(self, name: str) -> None:
        """Raise when the backup cannot be restored here."""
        ...

    async def restore(self, name: str, progress: Progress) -> None:
        """Replace everything in the store by a backup."""
        ...

    async def delete(self, name: str) -> None:
        """Delete a backup."""
        ...

    async def verify(self) -> None:
        """Check the backups whose state is `unchecked`."""
        ...


class BackupService:
    """Creates, lists, uploads, restores and deletes backups, with at most one creation or restore in progress."""

    def __init__(self, storage: BackupStorage, clock: Clock, on_restored: RestoreListener) -> None:
        self._storage = storage
        self._clock = clock
        self._on_restored = on_restored
        self._tasks = BackgroundTasks()
        self._operation: asyncio.Task[None] | None = None
        self._verification: asyncio.Task[None] | None = None
        self._busy_with: str | None = None
        # Backups that are being created, and those that failed since the server started.
        self._unfinished: dict[str, BackupView] = {}
        self._restore: RestoreProgress | None = None

    async def list(self) -> Backups:
        """All backups, the newest first. Unchecked ones are verified in the background."""
        views = {view.name: view for view in await self._storage.views()} | self._unfinished
        is_idle = self._verification is None or self._verification.done()
        if is_idle and any(view.state == "unchecked" for view in views.values()):
            self._verification = self._tasks.start(self._storage.verify())
        return Backups(
            backups=sorted(views.values(), key=lambda view: (-view.at, view.name)),
            files=self._storage.has_files,
            most_upload_bytes=self._storage.max_upload_bytes,
            restoring=self._restore,
        )

    async def start_backup(self) -> str:
        """Start to create a backup, and return its name."""
        name = await self._reserve_name()
        self._start(f"The backup {name} is being made.", self._create(name))
        return name

    async def file(self, name: str) -> Path:
        """The file of a backup, for a download."""
        return await self._storage.find(name)

    async def upload(self, name: str, content: AsyncIterator[bytes], length: int | None) -> BackupView:
        """Add a backup of another machine."""
        await self._storage.upload(name, content, length)
        return next(view for view in await self._storage.views() if view.name == name)

    async def start_restore(self, name: str) -> str:
        """Start to replace everything by a backup, and return the name of the backup that is made before."""
        self._refuse_when_busy()
        await self._storage.check_restorable(name)
        saved_as = await self._reserve_name()
        self._restore = RestoreProgress(name=name, state="saving", saved_as=saved_as, at=now_ms(self._clock))
        self._start(f"The backup {name} is being restored.", self._restore_from(name, self._restore))
        return saved_as

    async def delete(self, name: str) -> None:
        """Delete a backup, or the record of one that failed, unless a restore is in progress."""
        if self._restore is not None and self._restore.state in ("saving", "restoring"):
            raise Conflict("A backup is being restored. Wait until it is done.", code="busy")
        if name in self._unfinished and self._unfinished[name].state == "failed":
            del self._unfinished[name]
            return
        await self._storage.delete(name)

    async def wait_until_idle(self) -> None:
        """Wait for the operation and the verification in progress."""
        running = [task for task in (self._operation, self._verification) if task is not None]
        if running:
            await asyncio.wait(running)

    def _refuse_when_busy(self) -> None:
        """Raise while an operation is in progress: a backup of a store that is being replaced is useless."""
        if self._busy_with is not None:
            raise Conflict(f"{self._busy_with} Wait until it is done.", code="busy")

    async def _reserve_name(self) -> str:
        """A free name for a new backup. The caller starts the operation without another await."""
        self._refuse_when_busy()
        await self._storage.prepare()
        taken = {view.name for view in await self._storage.views()} | self._unfinished.keys()
        # Another request may have started an operation during the await.
        self._refuse_when_busy()
        stem = f"zataku-{datetime.fromtimestamp(self._clock.now(), UTC):%Y%m%dT%H%M%SZ}"
        numbers = ("", *(f"-{number}" for number in range(2, 1000)))
        return next(name for number in numbers if (name := f"{stem}{number}{self._storage.suffix}") not in taken)

    def _start(self, busy_with: str, operation: Coroutine[object, object, object]) -> None:
        self._busy_with = busy_with
        self._operation = self._tasks.start(self._run(operation))

    async def _run(self, operation: Coroutine[object, object, object]) -> None:
        try:
            await operation
        finally:
            self._busy_with = None

    async def _create(self, name: str) -> bool:
        """Create a backup and publish its progress; True when it succeeded."""
        self._unfinished[name] = BackupView(name=name, state="making", bytes=0, at=now_ms(self._clock))

        def progress(done: int, total: int) -> None:
            if name in self._unfinished:
                self._unfinished[name] = replace(self._unfinished[name], done=done, total=total)

        try:
            await self._storage.create(name, progress)
        except Exception as problem:
            log.warning("backup_failed", backup=name, exc_info=problem)
            self._unfinished[name] = replace(self._unfinished[name], state="failed", problem=_explain(problem))
            return False
        del self._unfinished[name]
        return True

    async def _restore_from(self, name: str, restore: RestoreProgress) -> None:
        if not await self._create(restore.saved_as):
            self._restore = replace(restore, state="failed", problem="The backup before the restore could not be made.")
            return
        self._restore = replace(restore, state="restoring")
        try:
            await self._storage.restore(name, self._restore_progress)
        except Exception as problem:
            log.warning("restore_failed", backup=name, exc_info=problem)
            self._restore = replace(self._restore, state="failed", problem=_explain(problem))
            return
        log.info("restore_done", backup=name, saved_as=restore.saved_as)
        self._restore = replace(self._restore, state="done")
        try:
            await self._on_restored()
        except RequestError as problem:
            log.warning("restore_unfinished", backup=name, problem=problem.message)
            self._restore = replace(self._restore, problem=problem.message)

    def _restore_progress(self, done: int, total: int) -> None:
        if self._restore is not None and self._restore.state == "restoring":
            self._restore = replace(self._restore, done=done, total=total)


def _explain(problem: Exception) -> str:
    """The sentence for an admin; details of an unexpected error are in the log only."""
    if isinstance(problem, OSError) and problem.filename is not None:
        return f"{problem.filename}: {problem.strerror}. Check what is there, and the space on its disk."
    return problem.message if isinstance(problem, TableError) else "It failed. The server's log says why."
