"""The units that the service reports, on the bill of the call."""

from typing import Any, cast

from zataku.table.backend import cost
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import ConditionFailed, TransactionCancelled
from zataku.table.backend.port import TransactWrite
from zataku.table.backend.values import Item, item_size

REPORTED: dict[str, Any] = {"ReturnConsumedCapacity": "INDEXES"}


def charge_reads(consumed: ConsumedCapacity | None, answer: dict[str, Any]) -> None:
    """What a read used."""
    _charge(consumed, answer, reading=True)


def charge_writes(consumed: ConsumedCapacity | None, answer: dict[str, Any]) -> None:
    """What a write used."""
    _charge(consumed, answer, reading=False)


def charge_refusal(consumed: ConsumedCapacity | None, table: str, refused: ConditionFailed) -> None:
    """A refused write is paid by the item that lies there; the service does not report it."""
    if consumed is not None:
        consumed.add(table, writes=cost.failed_write(_size(refused.current)))


def charge_cancellation(
    consumed: ConsumedCapacity | None, writes: list[TransactWrite], cancelled: TransactionCancelled
) -> None:
    """A cancelled transaction is paid too, by what is known of its items; the service does not report it."""
    if consumed is not None:
        for write, reason in zip(writes, cancelled.reasons, strict=False):
            consumed.add(write.table.name, writes=cost.transact_write(_size(reason.current), 0))


def _size(current: object) -> int:
    return item_size(cast("Item", current)) if isinstance(current, dict) else 0


def _charge(consumed: ConsumedCapacity | None, answer: dict[str, Any], *, reading: bool) -> None:
    if consumed is None:
        return
    told: Any = answer.get("ConsumedCapacity") or []
    for place in cast("list[dict[str, Any]]", [told] if isinstance(told, dict) else told):
        indexes: dict[str, dict[str, Any]] = {
            **(place.get("LocalSecondaryIndexes") or {}),
            **(place.get("GlobalSecondaryIndexes") or {}),
        }
        table = str(place.get("TableName", ""))
        reads, writes = _units(place, reading)
        for index, used in indexes.items():
            index_reads, index_writes = _units(used, reading)
            consumed.add(table, index, reads=index_reads, writes=index_writes)
            reads, writes = reads - index_reads, writes - index_writes
        own: dict[str, Any] | None = place.get("Table")
        if own is not None:
            reads, writes = _units(own, reading)
        # An implementation may report more for the indexes than in all.
        reads, writes = max(reads, 0.0), max(writes, 0.0)
        if reads or writes or not indexes:
            consumed.add(table, reads=reads, writes=writes)


def _units(told: dict[str, Any], reading: bool) -> tuple[float, float]:
    """Reads and writes of one place; only transactions tell them apart."""
    if "ReadCapacityUnits" in told or "WriteCapacityUnits" in told:
        return float(told.get("ReadCapacityUnits") or 0), float(told.get("WriteCapacityUnits") or 0)
    units = float(told.get("CapacityUnits") or 0)
    return (units, 0.0) if reading else (0.0, units)
