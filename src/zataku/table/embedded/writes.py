"""Writes in two steps: decide against the stored item what a write does, then apply it; and what each one costs."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple, cast

import msgspec

from zataku.table.backend import cost, port
from zataku.table.backend.condition_evaluation import check_expression, equal, holds
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import (
    CONDITION_FAILED_MESSAGE,
    TOKEN_REUSED_MESSAGE,
    BadInput,
    ConditionFailed,
    Reason,
    SameItemTwice,
    TokenReused,
    TransactionCancelled,
    WrongType,
)
from zataku.table.backend.limits import TOKEN_SECONDS
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.update_evaluation import apply_update
from zataku.table.backend.validation import check_changes, check_transaction, check_transaction_size
from zataku.table.embedded.catalog import Catalog, StoredIndex, StoredTable
from zataku.table.embedded.rows import (
    NewRow,
    StoredRow,
    UpdatedRow,
    has_same_index_key,
    index_key_if_valid,
    key_only_item,
    table_key,
)
from zataku.table.embedded.writer import WriteGroup

# Size of an update or delete in the write queue, where the item itself is not known yet.
_ASSUMED_BYTES = 256
_MAX_EXPIRED_TOKENS = 20


class PreparedWrite(NamedTuple):
    """A write checked as far as possible without reading the item."""

    write: port.TransactWrite
    pk: bytes
    sk: bytes
    row: NewRow | None

    @property
    def size(self) -> int:
        """Approximate bytes that it writes."""
        return _ASSUMED_BYTES if self.row is None else self.row.size


class Effect(NamedTuple):
    """What a write does: `new` replaces `old`, None deletes it; with `is_unchanged` nothing is written."""

    table: StoredTable
    pk: bytes
    sk: bytes
    old: StoredRow | None
    new: NewRow | None
    is_unchanged: bool = False

    def written(self) -> port.Written:
        """The states that the caller gets."""
        old = None if self.old is None else self.old.packed
        return port.Written(old, None if self.new is None else self.new.packed)


def prepare(catalog: Catalog, write: port.TransactWrite) -> PreparedWrite:
    """Check a write on the caller's thread, which leaves little to do on the writer's."""
    table = catalog[write.table.name]
    if write.condition is not None:
        check_expression(write.condition)
    if isinstance(write, port.PutItem):
        row = NewRow(table, write.item)
        return PreparedWrite(write, row.pk, row.sk, row)
    pk, sk = table_key(table.schema, write.key)
    if isinstance(write, port.UpdateItem):
        check_changes(table.schema, write)
    return PreparedWrite(write, pk, sk, None)


def prepare_batch(catalog: Catalog, writes: Sequence[port.TransactWrite]) -> list[PreparedWrite]:
    """Check writes that must name different items."""
    prepared = [prepare(catalog, write) for write in writes]
    if len({(request.write.table.name, request.pk, request.sk) for request in prepared}) < len(prepared):
        raise SameItemTwice("One item is named twice. Join the two writes into one.")
    return prepared


def write_one(prepared: PreparedWrite, old_sizes: list[int], group: WriteGroup) -> Effect:
    """Carry out one write."""
    return _apply(group, _decide(group, prepared, old_sizes))


def write_each(prepared: list[PreparedWrite], group: WriteGroup) -> list[Effect]:
    """Carry out unconditional writes one after the other."""
    return [_apply(group, _decide(group, request, [])) for request in prepared]


def _decide(group: WriteGroup, prepared: PreparedWrite, old_sizes: list[int]) -> Effect:
    """The effect on the item as it is now; raises when the write is refused.

    The size of the stored item is added to `old_sizes` in any case: a refused write is charged too.
    """
    write, pk, sk, row = prepared
    table = group.catalog[write.table.name]
    old = group.find(table, pk, sk)
    old_sizes.append(0 if old is None else old.size)
    if write.condition is not None and not holds(write.condition, {} if old is None else old.item):
        raise ConditionFailed(CONDITION_FAILED_MESSAGE, current=None if old is None else old.packed)
    if row is not None:
        return Effect(table, pk, sk, old, row.for_table(table))
    if isinstance(write, port.UpdateItem):
        return Effect(table, pk, sk, old, _updated_row(table, prepared, write, old))
    return Effect(table, pk, sk, old, None, isinstance(write, port.CheckItem))


def _updated_row(table: StoredTable, prepared: PreparedWrite, write: port.UpdateItem, old: StoredRow | None) -> NewRow:
    try:
        if old is None:
            return NewRow(table, apply_update(write.actions, key_only_item(table.schema, write.key)))
        named = frozenset(action.route[0] for action in write.actions)
        before = UpdatedRow(old.item, old.size, prepared.pk, prepared.sk, named)
        return NewRow(table, apply_update(write.actions, old.item), before)
    except TypeError as error:
        raise WrongType(f"The update mixes values that do not go together: {error}") from error


def _apply(group: WriteGroup, effect: Effect) -> Effect:
    """Write the effect; returns it marked as unchanged when the item already was as it should be."""
    table, pk, sk, old, new, is_unchanged = effect
    if new is not None:
        return effect if group.put(table, old, new) else effect._replace(is_unchanged=True)
    if old is not None and not is_unchanged:
        group.delete(table, pk, sk, old)
    return effect


class Transaction:
    """Writes that happen together or not at all, each decided against the state before all of them."""

    __slots__ = ("_digest", "_token", "_writes", "old_sizes", "size")

    def __init__(self, catalog: Catalog, writes: Sequence[port.TransactWrite], token: str | None) -> None:
        check_transaction(writes, token)
        self._writes = prepare_batch(catalog, writes)
        self._token = token
        self._digest = b"" if token is None else digest(writes)
        self.old_sizes: list[int] = []
        self.size = sum(write.size for write in self._writes)
        check_transaction_size(sum(write.row.size for write in self._writes if write.row is not None))

    def __call__(self, group: WriteGroup) -> list[Effect] | None:
        """Carry it out in the writer's group; None for a repetition, which changes nothing."""
        if self._token is not None and self._is_repetition(group, self._token):
            rows = [
                group.find(group.catalog[request.write.table.name], request.pk, request.sk) for request in self._writes
            ]
            self.old_sizes += [0 if row is None else row.size for row in rows]
            return None
        effects = self._decide_all(group)
        check_transaction_size(sum(effect.new.size for effect in effects if effect.new is not None))
        done = [_apply(group, effect) for effect in effects]
        if self._token is not None:
            group.execute("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)", self._token, self._digest, group.now)
        return done

    def _is_repetition(self, group: WriteGroup, token: str) -> bool:
        oldest = group.now - TOKEN_SECONDS
        row = group.fetch_one("SELECT digest FROM tokens WHERE token = ? AND at > ?", token, oldest)
        if row is None:
            expired = "SELECT token FROM tokens WHERE at <= ? LIMIT ?"
            # Not counted as a change: a transaction that is refused afterwards need not be committed for it.
            group.fetch_one(f"DELETE FROM tokens WHERE token IN ({expired})", oldest, _MAX_EXPIRED_TOKENS)
            return False
        if row[0] != self._digest:
            raise TokenReused(TOKEN_REUSED_MESSAGE)
        return True

    def _decide_all(self, group: WriteGroup) -> list[Effect]:
        effects: list[Effect] = []
        reasons: list[Reason] = []
        for write in self._writes:
            try:
                effects.append(_decide(group, write, self.old_sizes))
                reasons.append(Reason())
            except ConditionFailed as error:
                reasons.append(Reason("condition_failed", error.message, error.current))
            except BadInput as error:
                reasons.append(Reason("invalid", error.message))
        if len(effects) < len(reasons):
            codes = ", ".join(reason.code or "none" for reason in reasons)
            raise TransactionCancelled(f"The transaction was cancelled, nothing was written: {codes}.", reasons)
        return effects


def digest(writes: object) -> bytes:
    """Bytes that are equal for equal writes, in this process and the next."""
    return blake2b(_canonical_text(writes).encode("utf-8", "surrogatepass"), digest_size=20).digest()


def _canonical_text(value: object) -> str:
    if isinstance(value, TableSchema):
        return repr(value.name)
    if isinstance(value, msgspec.Struct):
        return f"{type(value).__name__}({_canonical_text(msgspec.structs.astuple(value))})"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_canonical_text, cast("list[object]", value))) + "]"
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return "{" + ",".join(sorted(f"{name!r}:{_canonical_text(part)}" for name, part in pairs)) + "}"
    if isinstance(value, set | frozenset):
        return "<" + ",".join(sorted(map(_canonical_text, cast("set[object]", value)))) + ">"
    return repr(value)


# Charges are computed on the caller's thread: the writer has less to do, and only one thread touches the result.


def charge_write(consumed: ConsumedCapacity, effect: Effect, phases: int = 1) -> None:
    """Charge a write that was carried out; `phases` is 2 in a transaction."""
    table, _, _, old, new, is_unchanged = effect
    units = cost.write(0 if old is None else old.size, 0 if new is None else new.size)
    name = table.schema.name
    consumed.add(name, writes=phases * units)
    if is_unchanged:
        return
    for at, index in enumerate(table.indexes):
        if (
            index.projected is None
            and new is not None
            and (old is None or has_same_index_key(index.schema, old.item, new.item))
        ):
            # Most writes: the item is new or keeps its index key, and the entry is as large as the item.
            used = 0 if new.index_keys[at] is None else units
        else:
            used = _entry_units(index, old, new, at)
        if used:
            consumed.add(name, index.schema.name, writes=used)


def _entry_units(index: StoredIndex, old: StoredRow | None, new: NewRow | None, at: int) -> float:
    has_new = new is not None and new.index_keys[at] is not None
    same_key = old is not None and new is not None and has_same_index_key(index.schema, old.item, new.item)
    has_old = has_new if same_key else old is not None and index_key_if_valid(index.schema, old.item) is not None
    if not has_old and not has_new:
        return 0
    names = index.projected
    if names is None:
        old_size, new_size = old.size if has_old and old else None, new.size if has_new and new else None
        return cost.entry_write(old_size, new_size, not same_key)
    old_entry = {name: old.item[name] for name in names if name in old.item} if has_old and old else None
    new_entry = {name: new.item[name] for name in names if name in new.item} if has_new and new else None
    if old_entry is not None and new_entry is not None and equal(old_entry, new_entry):
        return 0
    old_size = None if old_entry is None else cost.entry_size(old_entry, old_entry)
    new_size = None if new_entry is None else cost.entry_size(new_entry, new_entry)
    return cost.entry_write(old_size, new_size, not same_key)


def charge_refused(
    consumed: ConsumedCapacity, writes: Sequence[port.TransactWrite], old_sizes: Sequence[int], phases: int = 1
) -> None:
    """Charge writes whose conditions failed, by the sizes of the stored items."""
    # An error may have ended a transaction before all of its items were read.
    for write, size in zip(writes, old_sizes, strict=False):
        consumed.add(write.table.name, writes=phases * cost.failed_write(size))


def charge_repetition(
    consumed: ConsumedCapacity, writes: Sequence[port.TransactWrite], old_sizes: Sequence[int]
) -> None:
    """Charge a repeated transaction, which costs the reading of its items by AWS's page on transactions."""
    for write, size in zip(writes, old_sizes, strict=True):
        consumed.add(write.table.name, reads=cost.snapshot_read(size))
