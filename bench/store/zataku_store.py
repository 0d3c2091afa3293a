"""Zataku's typed `Store` on the embedded backend: entities in, entities out."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.store.cases import CaseName, Edit, Pair, Run
from bench.store.pinboard import BATCH, PAGE, Note, body, likes, notes_by, notes_of, pinboard, status
from zataku.table import Store, open_embedded


class ZatakuStore:
    """The typed store. Keys, conditions and edits are created during the measurement, as in a service."""

    name = "zataku"

    def __init__(self, folder: Path) -> None:
        self._path = folder / "zataku.db"

    async def open(self) -> None:
        self._store: Store = await open_embedded(self._path, [pinboard])

    async def load(self, notes: list[Note]) -> None:
        step = BATCH * 40
        for at in range(0, len(notes), step):
            parts = [notes[first : first + BATCH] for first in range(at, min(at + step, len(notes)), BATCH)]
            await asyncio.gather(*(self._store.write_many(put=part) for part in parts))

    async def page_of(self, board: str) -> list[str]:
        return [note.body for note in (await self._store.page(notes_of(board), limit=PAGE)).items]

    def prepare(self, case: CaseName, work: list[Any]) -> Run:
        call = self._calls()[case]

        async def run(callers: int, deadline: float) -> int:
            remaining, completed = iter(work), 0

            async def caller() -> None:
                nonlocal completed
                for call_input in remaining:
                    await call(call_input)
                    completed += 1
                    if perf_counter() > deadline:
                        return

            await asyncio.gather(*(caller() for _ in range(callers)))
            return completed

        return run

    async def close(self) -> None:
        await self._store.close()

    def _calls(self) -> dict[CaseName, Callable[[Any], Awaitable[object]]]:
        store = self._store

        async def update(edit: Edit) -> None:
            key = Note.key(board=edit.board, number=edit.number)
            await store.update(key, body.set(edit.body), when=status.equals("open"))

        async def transaction(pair: Pair) -> None:
            async with store.transact() as tx:
                tx.put(pair.note, if_absent=True)
                tx.update(Note.key(board=pair.board, number=pair.number), likes.add(1))

        async def get(key: tuple[str, int]) -> None:
            if await store.get(Note.key(board=key[0], number=key[1])) is None:
                raise LookupError(key)

        async def query(board: str) -> None:
            if len((await store.page(notes_of(board), limit=PAGE)).items) != PAGE:
                raise LookupError(board)

        async def index_query(author: str) -> None:
            if len((await store.page(notes_by(author), limit=PAGE)).items) != PAGE:
                raise LookupError(author)

        async def batch_write(notes: list[Note]) -> None:
            await store.write_many(put=notes)

        async def batch_get(keys: list[tuple[str, int]]) -> None:
            if None in await store.get_many([Note.key(board=board, number=number) for board, number in keys]):
                raise LookupError(keys)

        return {
            "put": store.put,
            "update": update,
            "transaction": transaction,
            "get": get,
            "query": query,
            "index query": index_query,
            "batch write": batch_write,
            "batch get": batch_get,
        }
