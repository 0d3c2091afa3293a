"""In-place upgrade of items of an earlier revision, before a write that evaluates or edits them.

Conditions and edits refer to the current attributes, so a write requires the current revision. When it fails only
because the item is older, the item is upgraded and the write repeated; when the upgraded item would not meet the
condition either, the write fails and nothing changes.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import equal, holds
from zataku.table.backend.errors import ConditionFailed, Conflict, ItemUnreadable
from zataku.table.backend.port import Backend, Row, TransactWrite, UpdateItem, Written
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import unpack_row
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.revised_bindings import ItemUpgrade, RevisedBinding
from zataku.table.store.capacity_meter import MeteredCalls
from zataku.table.store.row_readers import unreadable_item


class OutdatedItem(Struct, frozen=True):
    """An item that makes a write fail by its revision alone."""

    table: TableSchema
    label: str
    upgraded: ItemUpgrade


def find_outdated(binding: Binding[Any], write: TransactWrite, row: Row | None) -> OutdatedItem | None:
    """The old item that made a write fail; None when the write fails because of the item's content.

    Raises `ItemUnreadable` with the item when it cannot be upgraded, or is of a later revision.
    """
    if not isinstance(binding, RevisedBinding) or row is None:
        return None
    item = unpack_row(row)
    try:
        upgraded = binding.upgrade_of(item) if binding.owns(item) else None
    except ItemUnreadable as problem:
        problem.unreadable = unreadable_item(binding.table, row, problem)
        raise
    if upgraded is None or not (write.condition is None or holds(write.condition, upgraded.new)):
        return None
    return OutdatedItem(write.table, _label(binding), upgraded)


def upgrade_request(table: TableSchema, upgraded: ItemUpgrade) -> UpdateItem:
    """The request that upgrades an item, on condition that nothing of it has changed."""
    old, new = upgraded.old, upgraded.new
    keys = [key.name for key in table.keys]
    conditions: list[ex.Expression] = [ex.Exists((table.pk.name,))]
    conditions += [
        ex.Compare(ex.Attribute((name,)), "=", ex.Literally(value)) for name, value in old.items() if name not in keys
    ]
    conditions += [ex.Missing((name,)) for name in sorted(upgraded.absent) if name not in keys]
    actions: list[ex.Action] = [
        ex.Assign((name,), ex.Literally(value))
        for name, value in new.items()
        if name not in old or not equal(old[name], value)
    ]
    actions += [ex.Drop((name,)) for name in old if name not in new]
    return UpdateItem(table, table.key_of(old), tuple(actions), ex.All(tuple(conditions)))


class ItemUpgrader:
    """Upgrades items in place."""

    def __init__(self, backend: Backend, calls: MeteredCalls) -> None:
        self._backend = backend
        self._calls = calls

    async def upgrade(self, binding: RevisedBinding[Any], table: TableSchema, upgraded: ItemUpgrade) -> Written:
        """Upgrade one item; raises `ConditionFailed` with the stored row after a concurrent write."""
        return await self._upgrade(OutdatedItem(table, _label(binding), upgraded))

    async def upgrade_all(self, items: Sequence[OutdatedItem], attempts: int) -> None:
        """Upgrade the items that made a write fail, before its next attempt."""
        retry = self._calls.retry
        if attempts >= retry.max_attempts:
            raise Conflict("Programs of two revisions keep changing the item. Nothing was written; try again.")
        if attempts > 1:
            await retry.wait(attempts)
        for item in items:
            try:
                await self._upgrade(item)
            except ConditionFailed:
                pass  # A concurrent write came first; the repeated write sees its result.

    async def _upgrade(self, item: OutdatedItem) -> Written:
        write = upgrade_request(item.table, item.upgraded)
        # Repeating it after a lost reply is safe: the condition fails on an item that has changed.
        return await self._calls(item.label, lambda consumed: self._backend.write(write, consumed), repeatable=True)


def _label(binding: Binding[Any]) -> str:
    return f"{binding.table.name}.upgrade {binding.entity.__name__}"
