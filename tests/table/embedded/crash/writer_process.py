"""Writer processes that write as fast as they can until they are killed, and report every attempt.

The process imports everything once and forks a writer for each line it reads: `file round token`. The writer reports
in JSON: `["try", key, state]` before an attempt, `["done", key]` after its acknowledgement; a null state is a deletion.
"""

import asyncio
import itertools
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

from msgspec.structs import replace

from tests.table.embedded.crash.ledger import CELLS, OWNERS, Cell, Receipt, Tally, open_ledger
from zataku.table import Store, path

STEPS = 1_000_000
FAR = 4_000_000_000

value = path(Cell, lambda it: it.value)
count = path(Tally, lambda it: it.count)


def report(*fields: object) -> None:
    """Write one report as a line, in one system call."""
    os.write(1, json.dumps(fields).encode() + b"\n")


async def attempt(key: str, state: object, write: Callable[[], Awaitable[object]]) -> None:
    """Report an attempt, make it, and report its acknowledgement."""
    report("try", key, state)
    await write()
    report("done", key)


class Writer:
    """Several tasks on one store, each with its own cells."""

    def __init__(self, store: Store, round_number: int) -> None:
        self.store = store
        self.random = Random(round_number)
        self.last_value = round_number * STEPS
        self.round = round_number

    def cell(self, shelf: str, name: str) -> Cell:
        """New content for a cell, of a random length."""
        self.last_value += 1
        return Cell(
            shelf=shelf,
            cell=name,
            value=self.last_value,
            owner=self.random.choice([None, *OWNERS]),
            until=self.random.choice([None, FAR]),
            filler=self.random.choice("abc") * self.random.randrange(3000),
        )

    async def put(self) -> None:
        """Put and delete whole cells."""
        while True:
            name = self.random.choice(CELLS)
            if self.random.random() < 0.15:
                await attempt(f"put/{name}", None, lambda name=name: self.store.delete(_key("put", name)))
            else:
                cell = self.cell("put", name)
                await attempt(f"put/{name}", cell.value, lambda cell=cell: self.store.put(cell))

    async def save(self) -> None:
        """Save cells, each state from the one before."""
        states = dict(zip(CELLS, await self.store.get_many([_key("save", name) for name in CELLS]), strict=True))
        while True:
            name = self.random.choice(CELLS)
            was, cell = states[name], self.cell("save", name)
            if was is None:
                await attempt(f"save/{name}", cell.value, lambda cell=cell: self.store.put(cell, if_absent=True))
                states[name] = cell
                continue
            cell = replace(cell, version=was.version)
            await attempt(f"save/{name}", cell.value, lambda cell=cell, was=was: self.store.save(cell, was=was))
            states[name] = replace(cell, version=was.version + 1)

    async def pair(self) -> None:
        """Change two cells together, so that both always have the same value."""
        while True:
            name = self.random.choice(CELLS)
            left = self.cell("left", name)
            right = replace(left, shelf="right", filler=left.filler[::2])
            kind = self.random.choice(["put", "update", "delete"])
            stored = await self.store.get(_key("left", name), strong=True)
            if kind == "update" and stored is None:
                kind = "put"
            state = None if kind == "delete" else left.value
            await attempt(f"pair/{name}", state, lambda kind=kind, cells=(left, right): self._pair(kind, cells))

    async def _pair(self, kind: str, cells: tuple[Cell, Cell]) -> None:
        async with self.store.transact() as tx:
            for cell in cells:
                key = _key(cell.shelf, cell.cell)
                if kind == "put":
                    tx.put(cell)
                elif kind == "delete":
                    tx.delete(key)
                else:
                    tx.update(key, value.set(cell.value))

    async def count(self, uncertain: str) -> None:
        """Count transactions with tokens, each sent twice; first the one of unknown outcome."""
        fresh = (f"{self.round}-{at}" for at in itertools.count())
        for name in fresh if uncertain == "-" else itertools.chain([uncertain], fresh):
            await attempt(f"token/{name}", 1, lambda name=name: self._count(name))
            await attempt(f"token/{name}", 1, lambda name=name: self._count(name))

    async def _count(self, name: str) -> None:
        async with self.store.transact(token=name) as tx:
            tx.put(Receipt(attempt=name))
            tx.update(Tally.key(name="tally"), count.add(1))


def _key(shelf: str, name: str):
    return Cell.key(shelf=shelf, cell=name)


async def write(file: Path, round_number: int, uncertain: str) -> None:
    """Open the store and write until the process is killed."""
    store = await open_ledger(file)
    report("ready")
    writer = Writer(store, round_number)
    async with asyncio.TaskGroup() as tasks:
        for task in (writer.put(), writer.save(), writer.pair(), writer.count(uncertain)):
            tasks.create_task(task)


def main() -> None:
    """Fork a writer for each line and report its exit."""
    for line in sys.stdin:
        file, round_number, uncertain = line.split("\t")
        pid = os.fork()
        if pid == 0:
            asyncio.run(write(Path(file), int(round_number), uncertain.strip()))
            os._exit(0)
        report("writer", pid)
        _, status = os.waitpid(pid, 0)
        report("exited", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
