"""Single writes with conditions, and failed conditions told apart: the caller's, and the bounds of edited fields."""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from msgspec.structs import replace

from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import broken_bound
from zataku.table.backend.condition_text import failed_condition
from zataku.table.backend.errors import (
    ConditionFailed,
    Conflict,
    ItemUnreadable,
    OutOfBounds,
    Reason,
    TransactionCancelled,
)
from zataku.table.backend.port import Backend, DeleteItem, PutItem, Row, TransactWrite, UpdateItem, Write, Written
from zataku.table.backend.values import Item, unpack_row
from zataku.table.schema.entity import Entity, binding_of
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.revised_bindings import RevisedBinding
from zataku.table.store.capacity_meter import MeteredCalls
from zataku.table.store.item_upgrade import ItemUpgrader, find_outdated
from zataku.table.store.row_readers import item_or_problem
from zataku.table.store.upsert_requests import expired_deletion


class ConditionalWrites:
    """Makes single writes. An item of an earlier revision is upgraded first."""

    def __init__(self, backend: Backend, calls: MeteredCalls, upgrader: ItemUpgrader) -> None:
        self._backend = backend
        self._calls = calls
        self._upgrader = upgrader

    async def __call__(self, operation: str, entity: type[Entity], write: Write, *, keeps_row: bool = False) -> Written:
        """The states of the item; raises `ConditionFailed` or `OutOfBounds` with the current item.

        With `keeps_row` the error is the backend's own, with the row as it is stored.
        """
        binding, attempts = binding_of(entity), 0
        label = f"{binding.table.name}.{operation} {entity.__name__}"
        while True:
            try:
                return await self._calls(label, partial(self._backend.write, write))
            except ConditionFailed as error:
                row, attempts = cast("Row | None", error.current), attempts + 1
                outdated = find_outdated(binding, write, row)
                if outdated is None and keeps_row:
                    raise
                if outdated is None:
                    raise failure_of(binding, write, error) from None
            await self._upgrader.upgrade_all([outdated], attempts)

    async def upsert(self, entity: type[Entity], write: UpdateItem, now: float) -> Written:
        """Make an upsert. An expired item counts as absent, so it is deleted first."""
        for _ in range(self._calls.retry.max_attempts):
            try:
                return await self("upsert", entity, write, keeps_row=True)
            except ConditionFailed as failed:
                deletion = expired_deletion(write, cast("Row | None", failed.current), now)
                if deletion is None:
                    raise failure_of(binding_of(entity), write, failed) from None
            await self.delete_expired(f"{binding_of(entity).table.name}.upsert {entity.__name__}", [deletion])
        raise Conflict("Other writers keep changing the item. Nothing was written; try again.")

    async def delete_expired(self, label: str, deletions: Sequence[DeleteItem]) -> None:
        """Delete expired items; one that a concurrent writer has replaced stays."""
        for deletion in deletions:
            try:
                await self._calls(label, partial(self._backend.write, deletion), repeatable=True)
            except ConditionFailed:
                pass


def failure_of(binding: Binding[Any], write: TransactWrite, failed: ConditionFailed) -> ConditionFailed | OutOfBounds:
    """The error of a single write whose condition failed, with the current item as an entity."""
    row = cast("Row | None", failed.current)
    current, bound = item_or_problem(binding.table, row), _exceeded_bound(binding, write, row)
    if bound is not None:
        return OutOfBounds(bound.entity, bound.field, bound.bound, bound.operation, current)
    return ConditionFailed(failed.message, current, **failed.details)


def cancellation_of(
    bindings: Sequence[Binding[Any]], writes: Sequence[TransactWrite], reasons: Sequence[Reason]
) -> TransactionCancelled:
    """The error of a cancelled transaction, which names each item that cancelled it and the condition it fails."""
    named = list(map(_reason_of, bindings, writes, reasons))
    causes = "; ".join(map(_cause, [reason for reason in named if reason.code is not None]))
    return TransactionCancelled(f"The transaction was cancelled, nothing was written: {causes}.", named)


def _reason_of(binding: Binding[Any], write: TransactWrite, reason: Reason) -> Reason:
    """The reason of one write, with its item and the current one as an entity."""
    row = cast("Row | None", reason.current)
    key = write.table.key_of(write.item) if isinstance(write, PutItem) else write.key
    named = replace(
        reason,
        current=item_or_problem(binding.table, row),
        entity=binding.entity.__name__,
        key={attribute.name: part for attribute, part in zip(write.table.keys, key, strict=False)},
    )
    if reason.code != "condition_failed":
        return named
    bound = _exceeded_bound(binding, write, row)
    if bound is not None:
        error = OutOfBounds(bound.entity, bound.field, bound.bound, bound.operation)
        named = replace(named, code=error.code, message=error.message)
    item: Item = {} if row is None else unpack_row(row)
    return replace(named, condition=failed_condition(write.condition, item, write.table) or None)


def _cause(reason: Reason) -> str:
    key = ", ".join(f"{name} = {value!r}" for name, value in reason.key.items())
    item = f"{reason.entity} ({key})"
    if reason.condition is not None:
        return f"{item} does not meet: {reason.condition}"
    return f"{item}: {reason.code}" + (f", {reason.message.rstrip('.')}" if reason.message else "")


def _exceeded_bound(binding: Binding[Any], write: TransactWrite, row: Row | None) -> ex.Within | None:
    """The bound that alone made a write fail. An old item is judged in its current shape, as the write would see it."""
    item: Item = {} if row is None else unpack_row(row)
    if row is not None and isinstance(binding, RevisedBinding) and binding.owns(item):
        try:
            upgraded = binding.upgrade_of(item)
        except ItemUnreadable:
            return None
        item = item if upgraded is None else upgraded.new
    return broken_bound(write.condition, item)
