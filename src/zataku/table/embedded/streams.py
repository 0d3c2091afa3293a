"""The stream of changes: records written with the change itself, and consumers that remember how far they came."""

import asyncio
from threading import Lock
from typing import Any

from zataku.table.backend.errors import BadInput
from zataku.table.backend.limits import STREAM_SECONDS
from zataku.table.backend.port import RawChange
from zataku.table.backend.values import unpack
from zataku.table.embedded.catalog import TablePart
from zataku.table.embedded.queue import wake
from zataku.table.embedded.reads.reader import ReadDesk
from zataku.table.embedded.write_group import INSERT, MODIFY, REMOVE, Group

TRIM_PORTION = 500
_DIGITS = 20
_KINDS = {INSERT: "INSERT", MODIFY: "MODIFY", REMOVE: "REMOVE"}
_POSITION = "SELECT position FROM consumers WHERE table_number = ? AND name = ?"


class Listeners:
    """Those who wait for the next change of a table, on any event loop."""

    def __init__(self) -> None:
        self._gate = Lock()
        self._waiting: dict[str, list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]]] = {}

    def listen(self, table: str) -> "asyncio.Future[None]":
        """A future that is answered at the next change."""
        loop = asyncio.get_running_loop()
        change: asyncio.Future[None] = loop.create_future()
        with self._gate:
            # Those who stopped waiting are let go here, so that a quiet table gathers none.
            still = [each for each in self._waiting.get(table, []) if not each[1].done()]
            self._waiting[table] = [*still, (loop, change)]
        return change

    def tell_all(self) -> None:
        """The store is closing: let everyone look, and find it closed."""
        self.tell(set(self._waiting))

    def tell(self, tables: set[str]) -> None:
        """These tables have changed."""
        if not self._waiting:
            return
        with self._gate:
            waiting = [each for table in tables for each in self._waiting.pop(table, [])]
        for loop, change in waiting:
            wake(loop, change)


def text(sequence: int) -> str:
    """A position as callers see it: of fixed width, so that it sorts as text."""
    return f"{sequence:0{_DIGITS}d}"


def number(position: str) -> int:
    """The position as it is kept."""
    if len(position) != _DIGITS or not (position.isascii() and position.isdigit()):
        raise BadInput(f"{position!r} is not a position of a stream. Pass one that came with a change.")
    return int(position)


def refuse_silent(part: TablePart) -> None:
    """Refuse a table that keeps no stream."""
    if part.schema.stream is None:
        raise BadInput(f"{part.schema.name} has no stream. Declare one and start the store again.")


def read(table: str, consumer: str, limit: int, desk: ReadDesk) -> list[RawChange] | None:
    """The next changes of a consumer, or None when it is not known yet."""
    part = desk.catalog.part(table)
    row = next(iter(desk.cursor.execute(_POSITION, (part.number, consumer)).fetchall()), None)
    if row is None:
        return None
    sql = f"SELECT seq, at, kind, expired, keys, old, new FROM {part.log} WHERE seq > ? ORDER BY seq LIMIT ?"
    return [_change(part, *record) for record in desk.cursor.execute(sql, (row[0], limit)).fetchall()]


def _change(part: TablePart, seq: int, at: float, kind: int, expired: int, own: Any, old: Any, new: Any) -> RawChange:
    image = unpack(own or new or old)
    keys = {key.name: image[key.name] for key in part.schema.keys}
    return RawChange(text(seq), _KINDS[kind], at, keys, old, new, bool(expired))  # pyright: ignore[reportArgumentType]


def register(table: str, consumer: str, group: Group) -> None:
    """A new consumer begins at the oldest record there is."""
    part = group.catalog.part(table)
    if group.row(_POSITION, part.number, consumer) is None:
        group.change("INSERT INTO consumers VALUES (?, ?, 0)", part.number, consumer)


def acknowledge(table: str, consumer: str, position: int, group: Group) -> None:
    """The consumer is done up to here. It never goes back: a late acknowledgement changes nothing."""
    part = group.catalog.part(table)
    if position > group.sequence:
        raise BadInput("The position lies behind the end of the stream. Pass one that came with a change.")
    row = group.row(_POSITION, part.number, consumer)
    if row is None or row[0] < position:
        group.change("INSERT OR REPLACE INTO consumers VALUES (?, ?, ?)", part.number, consumer, position)


def forget(table: str, consumer: str, group: Group) -> None:
    """The consumer is gone and nothing is kept for it."""
    part = group.catalog.part(table)
    group.change("DELETE FROM consumers WHERE table_number = ? AND name = ?", part.number, consumer)


def trim(table: str, group: Group) -> int:
    """Delete some records that are a day old and acknowledged by every consumer; returns how many."""
    part = group.catalog.part(table)
    row = group.row("SELECT min(position) FROM consumers WHERE table_number = ?", part.number)
    acknowledged = row[0] if row is not None and row[0] is not None else group.sequence
    oldest = group.now - STREAM_SECONDS
    last = None
    count = 0
    # Records lie in the order of time, so the first one that must stay ends the search.
    for seq, at in group.rows(f"SELECT seq, at FROM {part.log} ORDER BY seq LIMIT ?", TRIM_PORTION):
        if at >= oldest or seq > acknowledged:
            break
        last = seq
        count += 1
    if last is not None:
        group.change(f"DELETE FROM {part.log} WHERE seq <= ?", last)
    return count


class Trim:
    """Trims the stream of one table to its end, a portion at a time."""

    def __init__(self, table: str) -> None:
        self._table = table

    def portion(self, group: Group) -> bool:
        """Trim a portion; True when nothing is left to trim."""
        return trim(self._table, group) < TRIM_PORTION

    def committed(self, ended: bool) -> None:
        """Nothing is shown of it."""
