"""Taking away items whose time has passed."""

from zataku.table.embedded.rows import expiry
from zataku.table.embedded.write_group import Found, Group

PORTION = 100
# DynamoDB leaves items alone whose time lies more than five years back: it is more likely a mistake than a wish.
_TOO_LONG_AGO = 5 * 365 * 24 * 60 * 60


def sweep(table: str, now: float, limit: int, group: Group) -> tuple[int, bool]:
    """Delete a portion of expired items; returns how many, and whether there may be more.

    It runs inside the write, so an item that was refreshed meanwhile is seen as it is now.
    """
    part = group.catalog.part(table)
    most = min(limit, PORTION)
    sql = (
        f"SELECT id, pk, sk, expires, item, size FROM {part.items} "
        "WHERE expires IS NOT NULL AND expires <= ? AND expires > ? ORDER BY expires LIMIT ?"
    )
    found = group.rows(sql, int(now), int(now) - _TOO_LONG_AGO, most)
    deleted = 0
    for row_id, pk, sk, expires, packed, size in found:
        old = Found(row_id, packed, size)
        truly = expiry(part.schema.ttl, old.item)
        if truly != expires:
            # The column still follows the TTL attribute of yesterday.
            group.change(f"UPDATE {part.items} SET expires = ? WHERE id = ?", truly, row_id)
            continue
        group.remove(part, pk, sk, old, expired=True)
        deleted += 1
    return deleted, len(found) == most
