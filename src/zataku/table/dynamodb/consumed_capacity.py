"""Capacity units that the service reports, added to the consumed capacity of the call."""

from typing import Any, cast

from zataku.table.backend import cost
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import ConditionFailed, TransactionCancelled
from zataku.table.backend.port import TransactWrite
from zataku.table.backend.values import Item, item_size

REPORT_CAPACITY: dict[str, Any] = {"ReturnConsumedCapacity": "INDEXES"}


def charge_reads(consumed: ConsumedCapacity | None, response: dict[str, Any]) -> None:
    """Charge the units of a read."""
    _charge(consumed, response, is_read=True)


def charge_writes(consumed: ConsumedCapacity | None, response: dict[str, Any]) -> None:
    """Charge the units of a write."""
    _charge(consumed, response, is_read=False)


def charge_failed_write(consumed: ConsumedCapacity | None, table: str, refused: ConditionFailed) -> None:
    """Charge a write whose condition failed, by the size of the stored item; the service does not report it."""
    if consumed is not None:
        consumed.add(table, writes=cost.failed_write(_size(refused.current)))


def charge_cancelled_transaction(
    consumed: ConsumedCapacity | None, writes: list[TransactWrite], cancelled: TransactionCancelled
) -> None:
    """Charge a cancelled transaction by what is known of its items; the service does not report it."""
    if consumed is not None:
        for write, reason in zip(writes, cancelled.reasons, strict=False):
            consumed.add(write.table.name, writes=cost.transact_write(_size(reason.current), 0))


def _size(current: object) -> int:
    return item_size(cast("Item", current)) if isinstance(current, dict) else 0


def _charge(consumed: ConsumedCapacity | None, response: dict[str, Any], *, is_read: bool) -> None:
    if consumed is None:
        return
    reported: Any = response.get("ConsumedCapacity") or []
    for usage in cast("list[dict[str, Any]]", [reported] if isinstance(reported, dict) else reported):
        indexes: dict[str, dict[str, Any]] = {
            **(usage.get("LocalSecondaryIndexes") or {}),
            **(usage.get("GlobalSecondaryIndexes") or {}),
        }
        table = str(usage.get("TableName", ""))
        reads, writes = _units(usage, is_read)
        for index, used in indexes.items():
            index_reads, index_writes = _units(used, is_read)
            consumed.add(table, index, reads=index_reads, writes=index_writes)
            reads, writes = reads - index_reads, writes - index_writes
        own: dict[str, Any] | None = usage.get("Table")
        if own is not None:
            reads, writes = _units(own, is_read)
        # An implementation may report more for the indexes than in total.
        reads, writes = max(reads, 0.0), max(writes, 0.0)
        if reads or writes or not indexes:
            consumed.add(table, reads=reads, writes=writes)


def _units(usage: dict[str, Any], is_read: bool) -> tuple[float, float]:
    """Read and write units of a table or index; only transactions report both."""
    if "ReadCapacityUnits" in usage or "WriteCapacityUnits" in usage:
        return float(usage.get("ReadCapacityUnits") or 0), float(usage.get("WriteCapacityUnits") or 0)
    units = float(usage.get("CapacityUnits") or 0)
    return (units, 0.0) if is_read else (0.0, units)
