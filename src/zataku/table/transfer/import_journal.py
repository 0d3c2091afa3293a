"""Journal of an unfinished import: a file in the export's folder, one for each target store."""

from pathlib import Path

import msgspec
from msgspec import Struct

from zataku.table.transfer.atomic_files import Journal, PathLock, read_complete_lines, write_errors


class _Header(Struct, frozen=True):
    export: str
    into: dict[str, str]
    merge: bool


class ImportJournal:
    """The parts that are imported already. Its methods block: call them in threads.

    The file exists while an import is unfinished. One of another export, or of other tables, is ignored. `into` maps
    each table to its name in the export.
    """

    def __init__(self, folder: Path, target: str, export: str, into: dict[str, str]) -> None:
        self._path = folder / f"zataku-import-{target}.jsonl"
        self._export, self._into = export, into
        self._journal: Journal | None = None
        with write_errors(self._path):
            self._path.touch()
        self._lock = PathLock(self._path, shared=False).acquire()
        self._lines = read_complete_lines(self._path)
        header = _header(self._lines[0]) if self._lines else None
        self.resumed = header is not None and (header.export, header.into) == (export, into)
        self.merge = header is not None and header.merge
        self._done = {line.decode() for line in self._lines[1:]} if self.resumed else set[str]()

    def begin(self, merge: bool) -> None:
        """Record the start of the import, before its first write."""
        if not self.resumed:
            with write_errors(self._path):
                self._path.write_bytes(b"")
        self._journal = Journal(self._path)
        if not self.resumed:
            self.merge = merge
            self._journal.add(msgspec.json.encode(_Header(self._export, self._into, merge)))

    def has(self, part: str) -> bool:
        """True when every item of the part was written."""
        return part in self._done

    def add(self, part: str) -> None:
        """Record that every item of the part was written."""
        assert self._journal is not None
        self._journal.add(part.encode())

    def delete(self) -> None:
        """Delete the journal of a finished import."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the journal; deletes the file when nothing was started."""
        if self._journal is not None:
            self._journal.close()
        elif not self._lines:
            self.delete()
        self._lock.release()


def _header(line: bytes) -> _Header | None:
    try:
        return msgspec.json.decode(line, type=_Header)
    except msgspec.DecodeError:
        return None
