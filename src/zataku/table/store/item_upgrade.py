"""Old items brought into today's shape where they lie, before a write that judges or edits them.

Conditions and edits are about today's attributes, so a write demands that the item has today's shape. When it is
refused only because the item is older, the item is upgraded and the write repeated; when the upgraded item would not
meet the condition either, the write is refused and nothing is touched.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import equal, holds
from zataku.table.backend.errors import ConditionFailed, Conflict
from zataku.table.backend.port import Backend, Row, TransactWrite, UpdateItem, Written
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import unpack
from zataku.table.schema.binding import Binding
from zataku.table.schema.revised_binding import ItemUpgrade, RevisedBinding
from zataku.table.store.metering import MeteredCalls


class OutdatedItem(Struct, frozen=True):
    """An item that stands in the way of a write by its shape alone."""

    table: TableSchema
    kind: str
    upgraded: ItemUpgrade


def find_outdated(binding: Binding[Any], write: TransactWrite, row: Row | None) -> OutdatedItem | None:
    """The old item that a write was refused for; None when it is refused for what the item says."""
    if not isinstance(binding, RevisedBinding) or row is None:
        return None
    item = unpack(row) if isinstance(row, bytes) else row
    upgraded = binding.upgraded(item) if binding.owns(item) else None
    if upgraded is None or not (write.condition is None or holds(write.condition, upgraded.new)):
        return None
    return OutdatedItem(write.table, _label(binding), upgraded)


def upgrade_request(table: TableSchema, upgraded: ItemUpgrade) -> UpdateItem:
    """The write that upgrades an item, unless anything of it has changed meanwhile."""
    old, new = upgraded.old, upgraded.new
    keys = [key.name for key in table.keys]
    demands: list[ex.Expression] = [ex.Exists((table.pk.name,))]
    demands += [
        ex.Compare(ex.Attribute((name,)), "=", ex.Literally(value)) for name, value in old.items() if name not in keys
    ]
    demands += [ex.Missing((name,)) for name in sorted(upgraded.absent) if name not in keys]
    actions: list[ex.Action] = [
        ex.Assign((name,), ex.Literally(value))
        for name, value in new.items()
        if name not in old or not equal(old[name], value)
    ]
    actions += [ex.Drop((name,)) for name in old if name not in new]
    place = (old[table.pk.name], None if table.sk is None else old[table.sk.name])
    return UpdateItem(table, place, tuple(actions), ex.All(tuple(demands)))


class ItemUpgrader:
    """Upgrades items in place."""

    def __init__(self, backend: Backend, calls: MeteredCalls) -> None:
        self._backend = backend
        self._calls = calls

    async def renew(self, binding: RevisedBinding[Any], table: TableSchema, upgraded: ItemUpgrade) -> Written:
        """Upgrade one item; raises `ConditionFailed` with the stored row when somebody else was faster."""
        return await self._renew(OutdatedItem(table, _label(binding), upgraded))

    async def clear(self, items: Sequence[OutdatedItem], tries: int) -> None:
        """Upgrade the items that stand in the way, before the write is tried for the next time."""
        retry = self._calls.retry
        if tries >= retry.tries:
            raise Conflict("Programs of two revisions are at work on the item. Nothing was written; try again.")
        if tries > 1:
            await retry.wait(tries)
        for item in items:
            try:
                await self._renew(item)
            except ConditionFailed:
                pass  # Another writer was faster; the write that is repeated sees what it left.

    async def _renew(self, item: OutdatedItem) -> Written:
        write = upgrade_request(item.table, item.upgraded)
        # Repeating it after a lost reply is safe: an item that has changed is refused.
        return await self._calls(item.kind, lambda consumed: self._backend.write(write, consumed), repeatable=True)


def _label(binding: Binding[Any]) -> str:
    return f"{binding.table.name}.upgrade {binding.entity.__name__}"
