"""A second process that holds an embedded store open and writes to it.

It writes notes continuously in the background. For each line `NUMBER NOTES` on its standard input it puts that member
and echoes the line as soon as the write is acknowledged.
"""

import asyncio
import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.reading_circle import circle, example, member
from zataku.table import Store, open_embedded

ROOT = Path(__file__).parents[2]


class WriterProcess:
    """Handle of the running process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.pid = process.pid

    def put(self, number: int, notes: int = 0) -> None:
        """Put a member in the other process and wait for the acknowledgement."""
        line = f"{number} {notes}\n"
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()
        assert self.process.stdout.readline() == line

    def kill(self) -> None:
        """Send SIGKILL and wait for the exit."""
        self.process.kill()
        self.process.wait()


@contextmanager
def writer_process(path: Path) -> Iterator[WriterProcess]:
    """The process while the block runs; stopped at its end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.writer_process", str(path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield WriterProcess(process)
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


async def write_notes(store: Store) -> None:
    """Put notes until the task is cancelled."""
    for number in itertools.count():
        await store.put(
            example.Note(
                book_id="walden",
                page=number % 9999,
                note_id=f"n{number}",
                writer="hana",
                text="x" * 500,
                written_at="2026-05-01T10:00:00Z",
            )
        )


async def main(path: Path) -> None:
    """Hold the store open until standard input ends."""
    async with await open_embedded(path, [circle]) as store:
        await store.put(member(0))
        writing = asyncio.create_task(write_notes(store))
        print("ready", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            number, notes = map(int, line.split())
            await store.put(member(number, notes))
            print(line, end="", flush=True)
        writing.cancel()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
