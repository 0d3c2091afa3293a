"""Writes as fast as it can and says so: what it is about to try, and what was acknowledged. It waits to be killed.

The process imports everything once and forks a writer for each line it reads: `file round token`. The writer says in
JSON: `["try", key, state]` before an attempt, `["done", key]` after it was acknowledged; a null state is a deletion.
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


def say(*words: object) -> None:
    """One line, at once and whole."""
    os.write(1, json.dumps(words).encode() + b"\n")


async def attempt(key: str, state: object, work: Callable[[], Awaitable[object]]) -> None:
    """Try something and say when it is acknowledged."""
    say("try", key, state)
    await work()
    say("done", key)


class Writer:
    """Several tasks on one store, each with cells of its own."""

    def __init__(self, store: Store, round_number: int) -> None:
        self.store = store
        self.chance = Random(round_number)
        self.last = round_number * STEPS
        self.round = round_number

    def cell(self, shelf: str, name: str) -> Cell:
        """New content for a cell, of another length each time."""
        self.last += 1
        return Cell(
            shelf=shelf,
            cell=name,
            value=self.last,
            owner=self.chance.choice([None, *OWNERS]),
            until=self.chance.choice([None, FAR]),
            filler=self.chance.choice("abc") * self.chance.randrange(3000),
        )

    async def put(self) -> None:
        """Put and delete whole cells."""
        while True:
            name = self.chance.choice(CELLS)
            if self.chance.random() < 0.15:
                await attempt(f"put/{name}", None, lambda name=name: self.store.delete(_key("put", name)))
            else:
                cell = self.cell("put", name)
                await attempt(f"put/{name}", cell.value, lambda cell=cell: self.store.put(cell))

    async def save(self) -> None:
        """Save what differs, each state from the one before."""
        states = dict(zip(CELLS, await self.store.get_many([_key("save", name) for name in CELLS]), strict=True))
        while True:
            name = self.chance.choice(CELLS)
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
            name = self.chance.choice(CELLS)
            left = self.cell("left", name)
            right = replace(left, shelf="right", filler=left.filler[::2])
            kind = self.chance.choice(["put", "update", "delete"])
            there = await self.store.get(_key("left", name), strong=True)
            if kind == "update" and there is None:
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

    async def count(self, unsure: str) -> None:
        """Count with tokens, each transaction twice; first the one of unknown outcome."""
        fresh = (f"{self.round}-{at}" for at in itertools.count())
        for name in fresh if unsure == "-" else itertools.chain([unsure], fresh):
            await attempt(f"token/{name}", 1, lambda name=name: self._count(name))
            await attempt(f"token/{name}", 1, lambda name=name: self._count(name))

    async def _count(self, name: str) -> None:
        async with self.store.transact(token=name) as tx:
            tx.put(Receipt(attempt=name))
            tx.update(Tally.key(name="tally"), count.add(1))


def _key(shelf: str, name: str):
    return Cell.key(shelf=shelf, cell=name)


async def write(file: Path, round_number: int, unsure: str) -> None:
    """Open the store and write until the end comes from outside."""
    store = await open_ledger(file)
    say("ready")
    writer = Writer(store, round_number)
    async with asyncio.TaskGroup() as tasks:
        for task in (writer.put(), writer.save(), writer.pair(), writer.count(unsure)):
            tasks.create_task(task)


def main() -> None:
    """Fork a writer for each line and say when it has gone."""
    for line in sys.stdin:
        file, round_number, unsure = line.split("\t")
        writer = os.fork()
        if writer == 0:
            asyncio.run(write(Path(file), int(round_number), unsure.strip()))
            os._exit(0)
        say("writer", writer)
        _, status = os.waitpid(writer, 0)
        say("gone", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
