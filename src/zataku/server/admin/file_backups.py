"""The folder of backups beside an embedded store: what lies in it, and whether each is whole."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import apsw

from zataku.errors import Conflict, InvalidRequest, NotFound, PayloadTooLarge, Unavailable
from zataku.server.admin.messages import BackupView
from zataku.table import StoreDamaged, TableError
from zataku.table.embedded.file import backup
from zataku.table.embedded.file.sqlite_errors import judged

ENDING = ".db"
_AT_ONCE = 1 << 20
_DAMAGED = "The file is damaged. Take another one."


class BackupFiles:
    """Files in one folder, by name. Each is looked through once, and again when it has changed."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._looked: dict[str, tuple[tuple[int, int], str | None]] = {}
        self._gate = asyncio.Lock()
        self._tidy = False

    def path(self, name: str) -> Path:
        """Where a backup of that name lies, or would. Nothing that is not directly in the folder has a name."""
        if not name.endswith(ENDING) or Path(name).name != name or name.startswith("."):
            raise InvalidRequest(f"A backup is a file of its folder whose name ends in {ENDING}. {name!r} is none.")
        return self._folder / name

    def exists(self, name: str) -> bool:
        """True when there is one. For use in a thread."""
        path = self.path(name)
        return path.is_file() and not path.is_symlink()

    async def made(self) -> None:
        """Make the folder if it is missing, for nobody but the one who runs the server."""
        await asyncio.to_thread(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        if not self._tidy:
            self._tidy = True
            await asyncio.to_thread(self._remove_parts)

    async def found(self, name: str) -> Path:
        """Where an existing one lies."""
        path = self.path(name)
        if not await asyncio.to_thread(self.exists, name):
            raise NotFound(f"There is no backup {name}. Take one, or bring one.")
        return path

    async def listed(self) -> list[BackupView]:
        """All of them; those nobody has looked through say so."""
        return await asyncio.to_thread(self._listed)

    async def look_through(self) -> None:
        """Check what is unchecked, one after the other."""
        async with self._gate:
            for view in await self.listed():
                if view.state == "unchecked":
                    await asyncio.to_thread(self._look, view.name)

    async def delete(self, name: str) -> None:
        """Take one away for good."""
        path = await self.found(name)
        await asyncio.to_thread(backup.remove, path)

    async def bring(self, name: str, content: AsyncIterator[bytes], length: int | None) -> None:
        """Write what comes to the disk as it comes; it has its name when it is whole and was looked through."""
        path = self.path(name)
        if length is not None and length > self._most_bytes:
            raise self._too_large()
        await self.made()
        if await asyncio.to_thread(path.exists):
            raise _taken(name)
        part = self._folder / f".{name}.{os.urandom(6).hex()}.part"
        try:
            await self._receive(part, content)
            problem = await asyncio.to_thread(looked_through, part)
            if problem is not None:
                raise InvalidRequest(problem, code="not_a_backup")
            await asyncio.to_thread(_named, part, path)
        except OSError as error:
            raise Unavailable(f"The file could not be written: {error.strerror}. Free some space.") from error
        finally:
            await asyncio.to_thread(backup.remove, part)
        await asyncio.to_thread(self._note, name, None)

    async def _receive(self, part: Path, content: AsyncIterator[bytes]) -> None:
        total, waiting = 0, bytearray()
        with await asyncio.to_thread(part.open, "xb") as file:
            async for piece in content:
                total += len(piece)
                if total > self._most_bytes:
                    raise self._too_large()
                waiting += piece
                if len(waiting) >= _AT_ONCE:
                    await asyncio.to_thread(file.write, bytes(waiting))
                    waiting.clear()
            await asyncio.to_thread(file.write, bytes(waiting))

    def _remove_parts(self) -> None:
        """Take away what was being brought when an earlier server was killed."""
        for part in self._folder.glob(".*.part"):
            backup.remove(part)

    def _too_large(self) -> PayloadTooLarge:
        return PayloadTooLarge(
            f"The file is larger than the {self._most_bytes:,} bytes that are taken. Copy it into {self._folder} "
            "by hand, or raise the limit.",
            most_bytes=self._most_bytes,
        )

    def _listed(self) -> list[BackupView]:
        views: list[BackupView] = []
        for path in self._folder.glob(f"*{ENDING}") if self._folder.is_dir() else ():
            with suppress(FileNotFoundError):
                if not path.name.startswith(".") and self.exists(path.name):
                    views.append(self._view(path))
        return views

    def _view(self, path: Path) -> BackupView:
        stat = path.stat()
        mark, problem = self._looked.get(path.name, (None, None))
        state = "unchecked" if mark != _mark(stat) else "ready" if problem is None else "damaged"
        at = stat.st_mtime_ns // 1_000_000
        told = problem if state == "damaged" else None
        return BackupView(name=path.name, state=state, bytes=stat.st_size, at=at, problem=told)

    def _look(self, name: str) -> None:
        if self.exists(name):
            self._note(name, looked_through(self.path(name)))

    def _note(self, name: str, problem: str | None) -> None:
        with suppress(FileNotFoundError):
            self._looked[name] = (_mark(self.path(name).stat()), problem)

    async def trust(self, name: str) -> None:
        """The store has looked through this one itself."""
        await asyncio.to_thread(self._note, name, None)


def looked_through(path: Path) -> str | None:
    """What is wrong with a backup, by the store's own check of every page; None when nothing is."""
    try:
        backup.check(path)
    except StoreDamaged:
        return _DAMAGED
    except TableError as problem:
        return problem.message.replace(str(path), "The file")
    except apsw.NotADBError:
        return "The file is no backup of Zataku. Take another one."
    except apsw.Error as error:
        known = judged(error, path)
        if known is None:
            raise
        return _DAMAGED if isinstance(known, StoreDamaged) else known.message.replace(str(path), "The file")
    return None


def _mark(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_size, stat.st_mtime_ns


def _named(part: Path, path: Path) -> None:
    """Give a file its name, unless another has it."""
    backup.make_lasting(part)
    try:
        os.link(part, path)
    except FileExistsError:
        raise _taken(path.name) from None
    backup.make_lasting(path.parent)


def _taken(name: str) -> Conflict:
    return Conflict(f"There is a backup {name} already. Give the file another name.", code="name_taken")
