"""A writer process is killed at random moments, many times on the same file; no acknowledged write may be lost."""

import asyncio
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.table.embedded.crash.crash_checks import Content, History, Replay, problems
from tests.table.embedded.crash.ledger import OWNERS, SHELVES, Receipt, Tally, cells_of, ledger, open_ledger, values_on
from zataku.table import Store

ROUNDS = int(os.environ.get("ZATAKU_CRASH_ROUNDS", "100"))
SEED = int(os.environ.get("ZATAKU_CRASH_SEED", "0")) or Random().randrange(1, 2**31)
ROOT = Path(__file__).parents[4]


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


@pytest.fixture
def spawner() -> Iterator[WriterSpawner]:
    started = WriterSpawner()
    yield started
    started.close()


async def read_content(store: Store, consumer: str) -> Content:
    """All items and index entries, and the changes that the consumer has not acknowledged."""
    changes = []
    stream = store.stream(ledger, consumer)
    while batch := await stream.read(1000):
        changes += batch
        await stream.acknowledge(batch[-1])
    return Content(
        items=[item async for item in store.scan(ledger)],
        by_owner={owner: [cell async for cell in store.each(cells_of(owner))] for owner in OWNERS},
        by_value={shelf: [cell async for cell in store.each(values_on(shelf))] for shelf in SHELVES},
        changes=changes,
    )


async def examine(file: Path, history: History, replay: Replay, consumer: str = "auditor") -> list[str]:
    """The problems of the file; then delete the settled receipts for the next round."""
    async with await open_ledger(file) as store:
        content = await read_content(store, consumer)
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


def test_no_acknowledged_write_is_lost_when_the_writer_is_killed(tmp_path: Path, spawner: WriterSpawner):
    random = Random(SEED)
    file = tmp_path / "ledger.db"
    history, replay = History(), Replay()
    acknowledged, uncertain = 0, "-"
    with asyncio.Runner() as runner:
        assert runner.run(examine(file, history, replay)) == []
        for number in range(ROUNDS):
            for report in spawner.run_round(file, number, uncertain, random):
                history.record(report)
                acknowledged += report[0] == "done"
            uncertain = next((key.removeprefix("token/") for key in history.pending if key.startswith("token/")), "-")
            found_problems = runner.run(examine(file, history, replay))
            assert found_problems == [], f"Round {number}; run again with ZATAKU_CRASH_SEED={SEED}."
        # A consumer that starts now receives the same changes from the first one.
        assert runner.run(examine(file, history, Replay(), consumer="late")) == []
    assert acknowledged > 5 * ROUNDS, "The writers were killed before they wrote anything worth checking."
