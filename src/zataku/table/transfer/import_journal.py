"""What an import has done so far: a file in the export's folder, one for each store that it goes into."""

from pathlib import Path

import msgspec
from msgspec import Struct

from zataku.table.transfer.atomic_files import Journal, PathLock, whole_lines, writing


class _Header(Struct, frozen=True):
    export: str
    into: dict[str, str]
    merge: bool


class ImportJournal:
    """The parts that are in the store already. All of it is for threads.

    The file is there while an import is unfinished. One that belongs to another export, or to other tables, is worth
    nothing. `into` names the tables and what each is called in the export.
    """

    def __init__(self, folder: Path, target: str, export: str, into: dict[str, str]) -> None:
        self._path = folder / f"zataku-import-{target}.jsonl"
        self._export, self._into = export, into
        self._journal: Journal | None = None
        with writing(self._path):
            self._path.touch()
        self._lock = PathLock(self._path, shared=False).take()
        self._lines = whole_lines(self._path)
        header = _header(self._lines[0]) if self._lines else None
        self.resumed = header is not None and (header.export, header.into) == (export, into)
        self.merge = header is not None and header.merge
        self._done = {line.decode() for line in self._lines[1:]} if self.resumed else set[str]()

    def begin(self, merge: bool) -> None:
        """The next item is about to be written."""
        if not self.resumed:
            with writing(self._path):
                self._path.write_bytes(b"")
        self._journal = Journal(self._path)
        if not self.resumed:
            self.merge = merge
            self._journal.add(msgspec.json.encode(_Header(self._export, self._into, merge)))

    def has(self, part: str) -> bool:
        """True when every item of the part has been written."""
        return part in self._done

    def add(self, part: str) -> None:
        """Every item of the part has been written."""
        assert self._journal is not None
        self._journal.add(part.encode())

    def finished(self) -> None:
        """The import is over, so the next one begins anew."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Leave the file as it is, or none at all when nothing has begun."""
        if self._journal is not None:
            self._journal.close()
        elif not self._lines:
            self.finished()
        self._lock.release()


def _header(line: bytes) -> _Header | None:
    try:
        return msgspec.json.decode(line, type=_Header)
    except msgspec.DecodeError:
        return None
