"""Transactions, and the execution of plans: one conditional write, or one transaction."""

from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from zataku.table.backend.errors import BadInput, Reason, TooManyItems, TransactionCancelled
from zataku.table.backend.limits import TRANSACTION_ITEMS
from zataku.table.backend.port import DeleteItem, Row, TransactWrite, UpdateItem
from zataku.table.backend.validation import check_token
from zataku.table.schema.entity import Entity, Key, binding_of
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.field_path import Condition, Edit
from zataku.table.schema.plan import Check, CheckAbsent, Delete, Plan, Put, Save, Step, Update, Upsert
from zataku.table.store import upsert_requests, write_requests
from zataku.table.store.conditional_writes import cancellation_of
from zataku.table.store.item_upgrade import OutdatedItem, find_outdated
from zataku.table.store.upsert_requests import expired_deletion

if TYPE_CHECKING:
    from zataku.table.store.store import Store

E = TypeVar("E", bound=Entity)


class Transaction:
    """Collects writes inside `async with` and commits them at its end, unless the block raised."""

    def __init__(self, store: "Store", token: str | None, now: float) -> None:
        check_token(token)
        self._store = store
        self._token = token
        self._now = now
        self._writes: list[TransactWrite] = []
        self._bindings: list[Binding[Any]] = []
        # The positions of upserts among the writes.
        self._upserts: set[int] = set()
        self._open = False

    async def __aenter__(self) -> "Transaction":
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        if problem is None and self._writes:
            await self._commit()

    def put(self, entity: E, *, when: Condition[E] | None = None, if_absent: bool = False) -> None:
        """Write a whole item."""
        request = write_requests.put(self._store.schema_of(type(entity)), entity, when, if_absent, self._now)
        self._add(type(entity), request)

    def save(self, entity: E, *, was: E) -> E:
        """Write the differences between two states of an item if the old one is current; returns the new state."""
        saved, request = write_requests.save(self._store.schema_of(type(entity)), entity, was)
        if request is None:
            # Nothing to write, but the transaction still requires the item to exist.
            self.check(binding_of(type(was)).key_of(was))
        else:
            self._add(type(entity), request)
        return saved

    def update(self, key: Key[E], *edits: Edit[E], when: Condition[E] | None = None) -> None:
        """Edit an existing item."""
        request = write_requests.update(self._store.schema_of(key.entity), key, edits, when, self._now)
        self._add(key.entity, request)

    def upsert(self, key: Key[E], *edits: Edit[E], when: Condition[E] | None = None) -> None:
        """Edit an item, or create it from the edits."""
        request = upsert_requests.upsert(self._store.schema_of(key.entity), key, edits, when, self._now)
        self._upserts.add(len(self._writes))
        self._add(key.entity, request)

    def delete(self, key: Key[E], *, when: Condition[E] | None = None) -> None:
        """Delete an item."""
        self._add(key.entity, write_requests.delete(self._store.schema_of(key.entity), key, when))

    def check(self, key: Key[E], when: Condition[E] | None = None) -> None:
        """Require that an item exists and meets a condition, without writing it."""
        self._add(key.entity, write_requests.check(self._store.schema_of(key.entity), key, when, self._now))

    def check_absent(self, key: Key[E]) -> None:
        """Require that an item is absent."""
        self._add(key.entity, write_requests.check_absent(self._store.schema_of(key.entity), key, self._now))

    def _add(self, entity: type[Entity], write: TransactWrite) -> None:
        if not self._open:
            raise BadInput("The transaction is not open. Use it inside its `async with` block.")
        if len(self._writes) >= TRANSACTION_ITEMS:
            raise TooManyItems(f"A transaction takes at most {TRANSACTION_ITEMS} items. Split it.")
        self._writes.append(write)
        self._bindings.append(binding_of(entity))

    async def _commit(self) -> None:
        store, token, attempts = self._store, self._token, 0
        while True:
            try:
                return await store.calls(
                    self._label(),
                    partial(store.backend.transact, self._writes, token),
                    repeatable=token is not None,
                )
            except TransactionCancelled as cancelled:
                removable = [self._obstacle(at, reason) for at, reason in enumerate(cancelled.reasons)]
                reasons = [
                    Reason() if item else reason for item, reason in zip(removable, cancelled.reasons, strict=True)
                ]
                # Repeated when only old or expired items, and perhaps concurrent writers, made it fail.
                if not any(removable) or not {reason.code for reason in reasons} <= {None, "conflict", "throttled"}:
                    raise cancellation_of(self._bindings, self._writes, reasons) from None
            attempts += 1
            outdated = [item for item in removable if isinstance(item, OutdatedItem)]
            await store.upgrader.upgrade_all(outdated, attempts)
            expired = [item for item in removable if isinstance(item, DeleteItem)]
            await store.writes.delete_expired(self._label(), expired)

    def _obstacle(self, position: int, reason: Reason) -> OutdatedItem | DeleteItem | None:
        """What alone made a write fail: an item of an earlier revision, or an expired one that it would replace."""
        if reason.code != "condition_failed":
            return None
        write, row = self._writes[position], cast("Row | None", reason.current)
        if position in self._upserts and isinstance(write, UpdateItem):
            deletion = expired_deletion(write, row, self._now)
            if deletion is not None:
                return deletion
        return find_outdated(self._bindings[position], write, row)

    def _label(self) -> str:
        kinds = sorted({binding.entity.__name__ for binding in self._bindings})
        return f"{self._bindings[0].table.name}.transact {' + '.join(kinds)}"


async def execute_plan(store: "Store", plan: Plan[E], token: str | None, at: float | None) -> E | None:
    """Execute a plan; returns the item of its first step where it is known."""
    with store.measured(plan.label):
        if len(plan.steps) == 1 and token is None:
            return await _execute_step(store, plan.steps[0])
        async with store.transact(token, at=at) as tx:
            results = [_add(tx, step) for step in plan.steps]
        return results[0]


async def _execute_step(store: "Store", step: Step[E]) -> E | None:
    match step:
        case Put():
            return await store.put(step.entity, when=step.when, if_absent=step.if_absent)
        case Save():
            return await store.save(step.entity, was=step.was)
        case Upsert():
            return await store.upsert(step.key, *step.edits, when=step.when)
        case Update():
            return await store.update(step.key, *step.edits, when=step.when)
        case Delete():
            return await store.delete(step.key, when=step.when)
        case Check() | CheckAbsent():  # pragma: no cover - no plan consists of these alone
            raise AssertionError(step)


def _add(tx: Transaction, step: Step[Any]) -> Any:
    match step:
        case Put():
            tx.put(step.entity, when=step.when, if_absent=step.if_absent)
            return step.entity
        case Save():
            return tx.save(step.entity, was=step.was)
        case Upsert():
            tx.upsert(step.key, *step.edits, when=step.when)
        case Update():
            tx.update(step.key, *step.edits, when=step.when)
        case Delete():
            tx.delete(step.key, when=step.when)
        case Check():
            tx.check(step.key, step.when)
        case CheckAbsent():
            tx.check_absent(step.key)
    return None
