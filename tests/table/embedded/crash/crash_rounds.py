"""Rounds of kill -9 on one file: a writer is killed at a random moment, then everything in the file is checked."""

import asyncio
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct

from tests.table.embedded.crash.crash_checks import Content, History, Replay, problems
from tests.table.embedded.crash.ledger import OWNERS, SHELVES, Receipt, Tally, cells_of, ledger, open_ledger, values_on
from zataku.table import Change, Store, TableError

ROOT = Path(__file__).parents[4]


class CrashSummary(Struct):
    """What the rounds so far have shown. `problems` has a sentence for each lost write or other damage."""

    seed: int
    rounds: int = 0
    acknowledged: int = 0
    problems: list[str] = []


class WriterSpawner:
    """The process that forks a writer for each round."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.table.embedded.crash.writer_process"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, bufsize=0)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._commands, self._output = self.process.stdin, self.process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._buffer = b""

    def reports(self, until: float) -> Iterator[list[Any]]:
        """The reports that arrive before a monotonic time."""
        while True:
            while b"\n" in self._buffer:
                line, self._buffer = self._buffer.split(b"\n", 1)
                yield json.loads(line)
            if not self._selector.select(max(0.0, until - time.monotonic())):
                return
            chunk = os.read(self._output.fileno(), 1 << 16)
            assert chunk, "The spawner has exited."
            self._buffer += chunk

    def run_round(self, file: Path, number: int, uncertain: str, random: Random) -> list[list[Any]]:
        """Start a writer, kill it after a random time or number of reports, and return its reports."""
        self._commands.write(f"{file}\t{number}\t{uncertain}\n".encode())
        reports: list[list[Any]] = []
        pid, killed = 0, False
        lifetime, max_reports = random.uniform(0.01, 0.09), random.randint(1, 400)
        end = time.monotonic() + 30
        while True:
            for report in self.reports(end):
                if report[0] == "writer":
                    pid = report[1]
                elif report[0] == "ready":
                    end = time.monotonic() + lifetime
                elif report[0] == "exited":
                    assert killed, f"The writer exited by itself with {report[1]}."
                    return reports
                else:
                    reports.append(report)
                if len(reports) >= max_reports:
                    break
            if not killed:
                os.kill(pid, signal.SIGKILL)
                killed, max_reports, end = True, sys.maxsize, time.monotonic() + 30
            elif time.monotonic() > end:
                raise AssertionError("A killed writer has not exited.")

    def close(self) -> None:
        """Stop the process."""
        self._selector.close()
        self._commands.close()
        self._output.close()
        self.process.wait(10)


async def _unread_changes(store: Store, consumer: str) -> list[Change]:
    changes: list[Change] = []
    stream = store.stream(ledger, consumer)
    while batch := await stream.read(1000):
        changes += batch
        await stream.acknowledge(batch[-1])
    return changes


async def _read_content(store: Store, changes: list[Change]) -> Content:
    """All items and index entries, with the changes."""
    return Content(
        items=[item async for item in store.scan(ledger)],
        by_owner={owner: [cell async for cell in store.each(cells_of(owner))] for owner in OWNERS},
        by_value={shelf: [cell async for cell in store.each(values_on(shelf))] for shelf in SHELVES},
        changes=changes,
    )


async def _examine(file: Path, history: History, replay: Replay) -> list[str]:
    """The problems of the file; then delete the settled receipts for the next round."""
    async with await open_ledger(file) as store:
        content = await _read_content(store, await _unread_changes(store, "auditor"))
        found_problems = problems(history, replay, content)
        uncertain = [key for key in history.pending if key.startswith("token/")]
        history.settle(content)
        # The transaction of unknown outcome is repeated in the next round: its receipt and count must stay.
        settled = [name for name in content.receipts() if f"token/{name}" not in uncertain]
        remaining = len(content.receipts()) - len(settled)
        await store.write_many(put=[Tally(count=remaining)], delete=[Receipt.key(attempt=name) for name in settled])
        for name in settled:
            del history.acknowledged[f"token/{name}"]
        return found_problems


async def _examine_whole_stream(file: Path) -> list[str]:
    """The problems that a consumer finds that starts now and receives all changes from the first one, in batches."""
    found_problems: list[str] = []
    async with await open_ledger(file) as store:
        replay, stream = Replay(), store.stream(ledger, "late")
        while batch := await stream.read(1000):
            found_problems += replay.apply(batch)
            await stream.acknowledge(batch[-1])
        return [*found_problems, *replay.differences(await _read_content(store, []))]


def run_rounds(
    file: Path, rounds: int, seed: int, progress: Callable[[CrashSummary], object] = lambda _: None
) -> CrashSummary:
    """Kill writers on one file; ends early after a round with problems. `progress` is called after each round."""
    random, summary = Random(seed), CrashSummary(seed)
    history, replay, uncertain = History(), Replay(), "-"
    spawner = WriterSpawner()
    try:
        with asyncio.Runner() as runner:
            summary.problems += runner.run(_examine(file, history, replay))
            while summary.rounds < rounds and not summary.problems:
                for report in spawner.run_round(file, summary.rounds, uncertain, random):
                    history.record(report)
                    summary.acknowledged += report[0] == "done"
                tokens = (key.removeprefix("token/") for key in history.pending if key.startswith("token/"))
                uncertain = next(tokens, "-")
                summary.problems += runner.run(_examine(file, history, replay))
                summary.rounds += 1
                progress(summary)
            if not summary.problems:
                summary.problems += runner.run(_examine_whole_stream(file))
    except (AssertionError, TableError) as problem:
        # A writer that failed by itself, or a store that cannot be opened.
        summary.problems.append(f"Round {summary.rounds + 1}: {type(problem).__name__}: {problem}")
    finally:
        spawner.close()
    return summary
