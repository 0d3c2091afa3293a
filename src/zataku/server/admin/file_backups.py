"""Backup storage of an embedded store: files in the folder `backups` of the data folder."""

import asyncio
import errno
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import apsw

from zataku.errors import (
    STORAGE_FULL,
    Conflict,
    InvalidRequest,
    NotFound,
    PayloadTooLarge,
    RequestError,
    StorageFull,
    Unavailable,
)
from zataku.server.admin.messages import BackupView
from zataku.table import Progress, Store, StoreDamaged, TableError
from zataku.table.embedded.file import backup
from zataku.table.embedded.file.sqlite_errors import table_error

_BUFFER_BYTES = 1 << 20
_DAMAGED = "The file is damaged. Use another one."


class FileBackups:
    """Backups in one folder, by file name. Each file is verified once, and again when it has changed."""

    suffix = ".db"
    has_files = True

    def __init__(self, store: Store, folder: Path, max_upload_bytes: int) -> None:
        self.max_upload_bytes = max_upload_bytes
        self._store = store
        self._folder = folder
        # The size and modification time of each verified file, with what is wrong with it.
        self._verified: dict[str, tuple[tuple[int, int], str | None]] = {}
        self._verifying = asyncio.Lock()
        self._is_clean = False

    async def prepare(self) -> None:
        """Create the folder if it is missing, for the server's user alone."""
        try:
            await asyncio.to_thread(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _no_folder(self._folder, error) from error
        if not self._is_clean:
            self._is_clean = True
            await asyncio.to_thread(self._remove_partial_uploads)

    async def views(self) -> list[BackupView]:
        """All backups; those that are not verified yet are `unchecked`."""
        return await asyncio.to_thread(self._views)

    async def create(self, name: str, progress: Progress) -> None:
        """Back the store up into a new file, which the store verifies itself."""
        await self._store.backup(str(self._path(name)), progress)
        await asyncio.to_thread(self._record, name, None)

    async def find(self, name: str) -> Path:
        """The path of an existing backup."""
        path = self._path(name)
        if not await asyncio.to_thread(self._exists, name):
            raise NotFound(f"There is no backup {name}. Check the name.")
        return path

    async def upload(self, name: str, content: AsyncIterator[bytes], length: int | None) -> None:
        """Write the content to the disk as it arrives; it gets its name when it is complete and verified."""
        path = self._path(name)
        if length is not None and length > self.max_upload_bytes:
            raise self._too_large()
        await self.prepare()
        if await asyncio.to_thread(path.exists):
            raise _name_taken(name)
        part = self._folder / f".{name}.{os.urandom(6).hex()}.part"
        try:
            await self._receive(part, content)
            problem = await asyncio.to_thread(find_problem, part)
            if problem is not None:
                raise InvalidRequest(problem, code="not_a_backup")
            await asyncio.to_thread(_publish, part, path)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageFull(STORAGE_FULL) from error
            raise Unavailable(f"The file could not be written: {error.strerror}. Check the data folder.") from error
        finally:
            await asyncio.to_thread(backup.remove_files, part)
        await asyncio.to_thread(self._record, name, None)

    async def check_restorable(self, name: str) -> None:
        """Refuse a backup that does not exist."""
        await self.find(name)

    async def restore(self, name: str, progress: Progress) -> None:
        """Replace everything in the store by a backup."""
        await self._store.restore(self._path(name), progress)

    async def delete(self, name: str) -> None:
        """Delete a backup."""
        path = await self.find(name)
        await asyncio.to_thread(backup.remove_files, path)

    async def verify(self) -> None:
        """Verify the unchecked backups, one after the other."""
        async with self._verifying:
            for view in await self.views():
                if view.state == "unchecked":
                    await asyncio.to_thread(self._verify, view.name)

    def _path(self, name: str) -> Path:
        """The path of a backup of that name. Only names directly in the folder are accepted."""
        if not name.endswith(self.suffix) or Path(name).name != name or name.startswith("."):
            raise InvalidRequest(f"The name of a backup ends in {self.suffix}; {name!r} does not.")
        return self._folder / name

    def _exists(self, name: str) -> bool:
        path = self._path(name)
        return path.is_file() and not path.is_symlink()

    async def _receive(self, part: Path, content: AsyncIterator[bytes]) -> None:
        total, buffer = 0, bytearray()
        with await asyncio.to_thread(part.open, "xb") as file:
            async for chunk in content:
                total += len(chunk)
                if total > self.max_upload_bytes:
                    raise self._too_large()
                buffer += chunk
                if len(buffer) >= _BUFFER_BYTES:
                    await asyncio.to_thread(file.write, bytes(buffer))
                    buffer.clear()
            await asyncio.to_thread(file.write, bytes(buffer))

    def _remove_partial_uploads(self) -> None:
        """Delete uploads that ended with an earlier server process."""
        for part in self._folder.glob(".*.part"):
            backup.remove_files(part)

    def _too_large(self) -> PayloadTooLarge:
        return PayloadTooLarge(
            f"The file is larger than the limit of {self.max_upload_bytes:,} bytes. Copy it into {self._folder} "
            "by hand, or raise the limit.",
            most_bytes=self.max_upload_bytes,
        )

    def _views(self) -> list[BackupView]:
        views: list[BackupView] = []
        for path in self._folder.glob(f"*{self.suffix}") if self._folder.is_dir() else ():
            with suppress(FileNotFoundError):
                if not path.name.startswith(".") and self._exists(path.name):
                    views.append(self._view(path))
        return views

    def _view(self, path: Path) -> BackupView:
        stat = path.stat()
        version, problem = self._verified.get(path.name, (None, None))
        state = "unchecked" if version != _version(stat) else "ready" if problem is None else "damaged"
        at = stat.st_mtime_ns // 1_000_000
        shown = problem if state == "damaged" else None
        return BackupView(name=path.name, state=state, bytes=stat.st_size, at=at, problem=shown)

    def _verify(self, name: str) -> None:
        if self._exists(name):
            self._record(name, find_problem(self._path(name)))

    def _record(self, name: str, problem: str | None) -> None:
        with suppress(FileNotFoundError):
            self._verified[name] = (_version(self._path(name).stat()), problem)


def find_problem(path: Path) -> str | None:
    """What is wrong with a backup, by the store's own check of every page; None when nothing is."""
    try:
        backup.verify(path)
    except StoreDamaged:
        return _DAMAGED
    except TableError as problem:
        return problem.message.replace(str(path), "The file")
    except apsw.NotADBError:
        return "The file is not a backup of Zataku. Use another one."
    except apsw.Error as error:
        converted = table_error(error, path)
        if converted is None:
            raise
        return _DAMAGED if isinstance(converted, StoreDamaged) else converted.message.replace(str(path), "The file")
    return None


def _version(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_size, stat.st_mtime_ns


def _publish(part: Path, path: Path) -> None:
    """Give a file its name, unless another has it."""
    backup.sync_to_disk(part)
    try:
        os.link(part, path)
    except FileExistsError:
        raise _name_taken(path.name) from None
    backup.sync_to_disk(path.parent)


def _no_folder(folder: Path, error: OSError) -> RequestError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(STORAGE_FULL)
    return Unavailable(
        f"Backups cannot be kept in {folder}: {error.strerror}. Move away what is there, or check its permissions."
    )


def _name_taken(name: str) -> Conflict:
    return Conflict(f"There is a backup {name} already. Give the file another name.", code="name_taken")
