"""Change streams: records written in the same commit as the change, and the checkpoints of their consumers."""

from typing import Any

from zataku.table.backend.errors import BadInput
from zataku.table.backend.limits import STREAM_SECONDS
from zataku.table.backend.port import RawChange
from zataku.table.backend.values import unpack
from zataku.table.embedded.catalog import StoredTable
from zataku.table.embedded.reads.reader import ReadSession
from zataku.table.embedded.writer import INSERT, MODIFY, REMOVE, WriteGroup

TRIM_PORTION_RECORDS = 500
_POSITION_DIGITS = 20
_KINDS = {INSERT: "INSERT", MODIFY: "MODIFY", REMOVE: "REMOVE"}
_SELECT_POSITION = "SELECT position FROM consumers WHERE table_number = ? AND name = ?"


def parse_position(position: str) -> int:
    """The sequence number of a position."""
    if len(position) != _POSITION_DIGITS or not (position.isascii() and position.isdigit()):
        raise BadInput(f"{position!r} is not a position of a stream. Pass one that came with a change.")
    return int(position)


def _format_position(sequence: int) -> str:
    # Of fixed width, so that positions sort as text.
    return f"{sequence:0{_POSITION_DIGITS}d}"


def check_stream(table: StoredTable) -> None:
    """Refuse a table without a stream."""
    if table.schema.stream is None:
        raise BadInput(f"{table.schema.name} has no stream. Declare one and start the store again.")


def read_changes(table_name: str, consumer: str, limit: int, session: ReadSession) -> list[RawChange] | None:
    """The next changes of a consumer, or None for one that is not registered."""
    table = session.catalog[table_name]
    row = next(iter(session.cursor.execute(_SELECT_POSITION, (table.number, consumer)).fetchall()), None)
    if row is None:
        return None
    sql = f"SELECT seq, at, kind, expired, keys, old, new FROM {table.log} WHERE seq > ? ORDER BY seq LIMIT ?"
    return [_change(table, *record) for record in session.cursor.execute(sql, (row[0], limit)).fetchall()]


def _change(
    table: StoredTable, seq: int, at: float, kind: int, expired: int, own_keys: Any, old: Any, new: Any
) -> RawChange:
    image = unpack(own_keys or new or old)
    keys = {key.name: image[key.name] for key in table.schema.keys}
    return RawChange(_format_position(seq), _KINDS[kind], at, keys, old, new, bool(expired))  # pyright: ignore[reportArgumentType]


def register_consumer(table_name: str, consumer: str, group: WriteGroup) -> None:
    """Add a consumer, which begins at the oldest record."""
    table = group.catalog[table_name]
    if group.fetch_one(_SELECT_POSITION, table.number, consumer) is None:
        group.execute("INSERT INTO consumers VALUES (?, ?, 0)", table.number, consumer)


def acknowledge(table_name: str, consumer: str, sequence: int, group: WriteGroup) -> None:
    """Move the consumer's checkpoint forward. A late acknowledgement does not move it back."""
    table = group.catalog[table_name]
    if sequence > group.sequence:
        raise BadInput("The position is after the end of the stream. Pass one that came with a change.")
    row = group.fetch_one(_SELECT_POSITION, table.number, consumer)
    if row is None or row[0] < sequence:
        group.execute("INSERT OR REPLACE INTO consumers VALUES (?, ?, ?)", table.number, consumer, sequence)


def remove_consumer(table_name: str, consumer: str, group: WriteGroup) -> None:
    """Delete a consumer and its checkpoint."""
    table = group.catalog[table_name]
    group.execute("DELETE FROM consumers WHERE table_number = ? AND name = ?", table.number, consumer)


def trim(table_name: str, group: WriteGroup) -> int:
    """Delete a portion of the records that are a day old and acknowledged by every consumer; returns how many."""
    table = group.catalog[table_name]
    row = group.fetch_one("SELECT min(position) FROM consumers WHERE table_number = ?", table.number)
    acknowledged = row[0] if row is not None and row[0] is not None else group.sequence
    oldest = group.now - STREAM_SECONDS
    last = None
    count = 0
    # Records are in order of time, so the first one that must stay ends the search.
    for seq, at in group.fetch_all(f"SELECT seq, at FROM {table.log} ORDER BY seq LIMIT ?", TRIM_PORTION_RECORDS):
        if at >= oldest or seq > acknowledged:
            break
        last = seq
        count += 1
    if last is not None:
        group.execute(f"DELETE FROM {table.log} WHERE seq <= ?", last)
    return count


class StreamTrim:
    """Background task that trims the stream of one table."""

    def __init__(self, table_name: str) -> None:
        self._table_name = table_name

    def run_portion(self, group: WriteGroup) -> bool:
        """Trim a portion; True when nothing is left to trim."""
        return trim(self._table_name, group) < TRIM_PORTION_RECORDS

    def portion_committed(self, is_done: bool) -> None:
        """Nothing to publish."""
