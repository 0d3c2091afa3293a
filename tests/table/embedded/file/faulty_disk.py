"""A disk that fails on request, for a child process: `python -m tests.table.embedded.file.faulty_disk <path> <fault>`.

It is a VFS below that of the checksums, so the store runs unchanged. Prints the outcome of each call.
"""

import asyncio
import errno
import sys
from pathlib import Path

import apsw

from tests.table.embedded.tables import PLAIN, TableClient, game

# The fault injected into the next calls: "sync", "checkpoint", "full", "quota", "broken", or "" for none.
FAULT = {"now": ""}


class FaultyFile(apsw.VFSFile):
    def __init__(self, filename: object, flags: list[int]) -> None:
        self.is_log = bool(flags[0] & apsw.SQLITE_OPEN_WAL)
        super().__init__("unix", filename, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802 - apsw's name
        if FAULT["now"] == "sync" and self.is_log:
            raise apsw.exception_for(apsw.SQLITE_IOERR_FSYNC)
        if FAULT["now"] == "checkpoint" and not self.is_log:
            raise apsw.exception_for(apsw.SQLITE_IOERR_FSYNC)
        super().xSync(flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - apsw's name
        if FAULT["now"] == "full" and self.is_log:
            raise apsw.exception_for(apsw.SQLITE_FULL)
        if FAULT["now"] in ("quota", "broken") and self.is_log:
            raise apsw.exception_for(apsw.SQLITE_IOERR_WRITE)
        super().xWrite(data, offset)


class FaultyDisk(apsw.VFS):
    def __init__(self) -> None:
        super().__init__("faulty", "unix", makedefault=True)

    def xGetLastError(self) -> tuple[int, str]:  # noqa: N802 - apsw's name
        return (errno.EDQUOT if FAULT["now"] == "quota" else errno.EIO), ""

    def xOpen(self, name: object, flags: list[int]) -> FaultyFile:  # noqa: N802 - apsw's name
        return FaultyFile(name, flags)


async def attempt(name: str, call: object) -> None:
    try:
        result = await call
        print(name, "ok" if result is None or not isinstance(result, dict) else result.get("n"))
    except Exception as error:  # noqa: BLE001 - every error is printed
        print(name, type(error).__name__)


async def main(path: Path, fault: str) -> None:
    from zataku.table.embedded import EmbeddedBackend

    store = EmbeddedBackend(path)
    await store.start([PLAIN])
    client = TableClient(store)
    await attempt("before", client.put(game("a", n=1)))
    FAULT["now"] = fault
    await asyncio.gather(*(attempt("during", client.put(game("a", n=2))) for _ in range(2)))
    FAULT["now"] = ""
    await attempt("after", client.put(game("b", n=3)))
    await attempt("read", client.get("a"))
    await attempt("close", store.close())
    await store.start([PLAIN])
    await attempt("reopened", client.get("a"))
    await store.close()


if __name__ == "__main__":
    disk = FaultyDisk()
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
