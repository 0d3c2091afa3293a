"""Expiry of items: deleting those whose time to live has passed, and following a changed TTL attribute."""

from zataku.table.backend.values import unpack
from zataku.table.embedded.catalog import StoredTable
from zataku.table.embedded.rows import StoredRow, expiry_second
from zataku.table.embedded.writer import WriteGroup

PORTION_ITEMS = 100
# DynamoDB ignores an expiry more than five years back: it is probably a mistake.
_MAX_EXPIRED_SECONDS = 5 * 365 * 24 * 60 * 60


def delete_expired(table_name: str, now: float, limit: int, group: WriteGroup) -> tuple[int, bool]:
    """Delete a portion of expired items; returns how many, and whether there may be more.

    It runs inside the write, so an item that was refreshed before it is seen in its current state.
    """
    table = group.catalog[table_name]
    portion = min(limit, PORTION_ITEMS)
    sql = (
        f"SELECT id, pk, sk, expires, item, size FROM {table.items} "
        "WHERE expires IS NOT NULL AND expires <= ? AND expires > ? ORDER BY expires LIMIT ?"
    )
    rows = group.fetch_all(sql, int(now), int(now) - _MAX_EXPIRED_SECONDS, portion)
    deleted = 0
    for row_id, pk, sk, expires, packed, size in rows:
        row = StoredRow(row_id, packed, size)
        current = expiry_second(table.schema.ttl, row.item)
        if current != expires:
            # The column still follows the former TTL attribute.
            group.execute(f"UPDATE {table.items} SET expires = ? WHERE id = ?", current, row_id)
            continue
        group.delete(table, pk, sk, row, expired=True)
        deleted += 1
    return deleted, len(rows) == portion


class ExpiryBackfill:
    """Reads the expiry of every item again after the TTL attribute of its table has changed."""

    def __init__(self, table: StoredTable) -> None:
        self._table = table

    def run_portion(self, group: WriteGroup) -> bool:
        """Update the next items; True when there are no more."""
        table = self._table
        row = group.fetch_one("SELECT ttl_walked FROM tables WHERE number = ?", table.number)
        if row is None or row[0] is None:
            return True
        sql = f"SELECT id, expires, item FROM {table.items} WHERE id > ? ORDER BY id LIMIT ?"
        rows = group.fetch_all(sql, row[0], PORTION_ITEMS)
        for row_id, old, packed in rows:
            new = expiry_second(table.schema.ttl, unpack(packed))
            if new != old:
                group.execute(f"UPDATE {table.items} SET expires = ? WHERE id = ?", new, row_id)
        is_done = len(rows) < PORTION_ITEMS
        last = None if is_done else rows[-1][0]
        group.execute("UPDATE tables SET ttl_walked = ? WHERE number = ?", last, table.number)
        return is_done

    def portion_committed(self, is_done: bool) -> None:
        """Nothing to publish."""
