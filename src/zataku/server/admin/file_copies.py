"""Backups of an embedded store: files in the folder `backups` of the data."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import structlog
from msgspec.structs import replace

from zataku.background_tasks import BackgroundTasks
from zataku.clock import Clock
from zataku.errors import Conflict
from zataku.server.admin.backups import Making, Restored, new_name, told
from zataku.server.admin.file_backups import ENDING, BackupFiles
from zataku.server.admin.messages import Backups, BackupView, Restoring
from zataku.table import Store

log = structlog.stdlib.get_logger()


class FileCopies:
    """Takes, keeps and restores files. One thing at a time; `restored` is told when everything was replaced."""

    def __init__(self, store: Store, clock: Clock, folder: Path, most_bytes: int, restored: Restored) -> None:
        self._store = store
        self._clock = clock
        self._most_bytes = most_bytes
        self._files = BackupFiles(folder, most_bytes)
        self._making = Making(store, clock)
        self._restored = restored
        self._restoring: Restoring | None = None
        self._chores = BackgroundTasks()
        self._checking: asyncio.Task[None] | None = None

    async def listed(self) -> Backups:
        """All of them, the newest first. Those that were copied here by hand are looked through meanwhile."""
        views = {view.name: view for view in await self._files.listed()} | self._making.views
        idle = self._checking is None or self._checking.done()
        if idle and any(view.state == "unchecked" for view in views.values()):
            self._checking = self._chores.start(self._files.look_through())
        return Backups(
            backups=sorted(views.values(), key=lambda view: (-view.at, view.name)),
            files=True,
            most_upload_bytes=self._most_bytes,
            restoring=self._restoring,
        )

    async def begin(self) -> str:
        """Start to take one."""
        self._making.refuse_when_busy()
        name = await self._new_name()
        # Somebody else may have begun while the folder was looked at.
        self._making.refuse_when_busy()
        self._making.start(f"The backup {name} is being made.", self._take(name))
        return name

    async def file(self, name: str) -> Path:
        """Where one lies."""
        return await self._files.found(name)

    async def bring(self, name: str, content: AsyncIterator[bytes], length: int | None) -> BackupView:
        """Add one that somebody has elsewhere."""
        await self._files.bring(name, content, length)
        return next(view for view in await self._files.listed() if view.name == name)

    async def restore(self, name: str) -> str:
        """Start to replace everything by one, after a backup of now."""
        self._making.refuse_when_busy()
        path = await self._files.found(name)
        saved_as = await self._new_name()
        self._making.refuse_when_busy()
        at = round(self._clock.now() * 1000)
        self._restoring = Restoring(name=name, state="saving", saved_as=saved_as, at=at)
        self._making.start(f"The backup {name} is being restored.", self._restore(path, self._restoring))
        return saved_as

    async def delete(self, name: str) -> None:
        """Take one away for good, unless it is being restored from."""
        if self._restoring is not None and self._restoring.state in ("saving", "restoring"):
            raise Conflict("A backup is being restored. Wait until it is done.", code="busy")
        if self._making.views.get(name) is not None and self._making.views[name].state == "failed":
            del self._making.views[name]
            return
        await self._files.delete(name)

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        await self._making.wait()
        if self._checking is not None:
            await asyncio.wait([self._checking])

    async def _new_name(self) -> str:
        await self._files.made()
        return await asyncio.to_thread(
            new_name, self._clock, lambda name: name in self._making.views or self._files.exists(name), ENDING
        )

    async def _take(self, name: str) -> bool:
        if not await self._making.take(name, str(self._files.path(name))):
            return False
        await self._files.trust(name)
        return True

    async def _restore(self, path: Path, begun: Restoring) -> None:
        if not await self._take(begun.saved_as):
            self._restoring = replace(begun, state="failed", problem="No backup of now could be made first.")
            return
        self._restoring = replace(begun, state="restoring")
        try:
            await self._store.restore(path, self._tell)
        except Exception as problem:
            log.warning("restore_failed", backup=begun.name, exc_info=problem)
            self._restoring = replace(self._restoring, state="failed", problem=told(problem))
            return
        log.info("restore_done", backup=begun.name, saved_as=begun.saved_as)
        self._restoring = replace(self._restoring, state="done")
        await self._restored()

    def _tell(self, done: int, total: int) -> None:
        if self._restoring is not None and self._restoring.state == "restoring":
            self._restoring = replace(self._restoring, done=done, total=total)
