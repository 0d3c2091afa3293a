"""A writer is killed at random moments, over and over on the same file; nothing acknowledged may ever be missing."""

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


class Nursery:
    """The process that brings writers up."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.table.embedded.crash.writer_process"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, bufsize=0)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._orders, self._lines = self.process.stdin, self.process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._lines, selectors.EVENT_READ)
        self._rest = b""

    def lines(self, until: float) -> Iterator[list[Any]]:
        """What is said until some moment."""
        while True:
            while b"\n" in self._rest:
                line, self._rest = self._rest.split(b"\n", 1)
                yield json.loads(line)
            if not self._selector.select(max(0.0, until - time.monotonic())):
                return
            heard = os.read(self._lines.fileno(), 1 << 16)
            assert heard, "The nursery has gone."
            self._rest += heard

    def round(self, file: Path, number: int, unsure: str, chance: Random) -> list[list[Any]]:
        """Let a writer live for a moment; all it said."""
        self._orders.write(f"{file}\t{number}\t{unsure}\n".encode())
        said: list[list[Any]] = []
        pid, killed = 0, False
        lifetime, most = chance.uniform(0.01, 0.09), chance.randint(1, 400)
        end = time.monotonic() + 30
        while True:
            for line in self.lines(end):
                if line[0] == "writer":
                    pid = line[1]
                elif line[0] == "ready":
                    end = time.monotonic() + lifetime
                elif line[0] == "gone":
                    assert killed, f"The writer ended by itself with {line[1]}."
                    return said
                else:
                    said.append(line)
                if len(said) >= most:
                    break
            if not killed:
                os.kill(pid, signal.SIGKILL)
                killed, most, end = True, sys.maxsize, time.monotonic() + 30
            elif time.monotonic() > end:
                raise AssertionError("A killed writer has not gone.")

    def close(self) -> None:
        """No more writers."""
        self._selector.close()
        self._orders.close()
        self._lines.close()
        self.process.wait(10)


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()


async def everything_in(store: Store, consumer: str) -> Content:
    """All that the store says, and what the consumer has not been told yet."""
    changes = []
    stream = store.stream(ledger, consumer)
    while found := await stream.read(1000):
        changes += found
        await stream.acknowledge(found[-1])
    return Content(
        items=[item async for item in store.scan(ledger)],
        by_owner={owner: [cell async for cell in store.each(cells_of(owner))] for owner in OWNERS},
        by_value={shelf: [cell async for cell in store.each(values_on(shelf))] for shelf in SHELVES},
        changes=changes,
    )


async def examine(file: Path, history: History, replay: Replay, consumer: str = "auditor") -> list[str]:
    """What is wrong with the file, if anything; then make room for the next round."""
    async with await open_ledger(file) as store:
        content = await everything_in(store, consumer)
        found = problems(history, replay, content)
        unsure = [key for key in history.trying if key.startswith("token/")]
        history.settle(content)
        # The transaction of unknown outcome is repeated in the next round: its receipt and count must stay.
        old = [name for name in content.receipts() if f"token/{name}" not in unsure]
        kept = len(content.receipts()) - len(old)
        await store.write_many(put=[Tally(count=kept)], delete=[Receipt.key(attempt=name) for name in old])
        for name in old:
            del history.kept[f"token/{name}"]
        return found


def test_nothing_acknowledged_is_lost_whenever_the_writer_dies(tmp_path: Path, nursery: Nursery):
    chance = Random(SEED)
    file = tmp_path / "ledger.db"
    history, replay = History(), Replay()
    acknowledged, unsure = 0, "-"
    with asyncio.Runner() as runner:
        assert runner.run(examine(file, history, replay)) == []
        for number in range(ROUNDS):
            for line in nursery.round(file, number, unsure, chance):
                history.hear(line)
                acknowledged += line[0] == "done"
            unsure = next((key.removeprefix("token/") for key in history.trying if key.startswith("token/")), "-")
            found = runner.run(examine(file, history, replay))
            assert found == [], f"Round {number}; run again with ZATAKU_CRASH_SEED={SEED}."
        # Somebody who begins only now is told the same story from its start.
        assert runner.run(examine(file, history, Replay(), consumer="latecomer")) == []
    assert acknowledged > 5 * ROUNDS, "The writers were killed before they wrote anything worth checking."
