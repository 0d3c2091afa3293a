"""The sums per access pattern that outlive the process."""

from collections.abc import Sequence

from zataku.table.backend.cost import Usage
from zataku.table.embedded.file import layout
from zataku.table.embedded.reads.reader import ReadDesk
from zataku.table.embedded.write_group import Group

_THERE = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'usage'"
_ADD = (
    "INSERT INTO usage VALUES (?, ?, ?, ?) ON CONFLICT (pattern) DO UPDATE SET "
    "calls = calls + excluded.calls, reads = reads + excluded.reads, writes = writes + excluded.writes"
)


def add(usage: Sequence[Usage], group: Group) -> None:
    """Add to the sums. A file from before there were any gets its place for them now."""
    group.change(layout.USAGE)
    for each in usage:
        group.change(_ADD, each.pattern, each.calls, each.reads, each.writes)


def read(desk: ReadDesk) -> list[Usage]:
    """The sums, by the names of the patterns."""
    if not desk.cursor.execute(_THERE).fetchall()[0][0]:
        return []
    rows = desk.cursor.execute("SELECT pattern, calls, reads, writes FROM usage ORDER BY pattern").fetchall()
    return [Usage(*row) for row in rows]
