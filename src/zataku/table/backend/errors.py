"""Errors of the table layer, each with a code and a sentence that states what to do."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

# Sentences that several backends use.
THROTTLED_MESSAGE = "The table has no capacity left for the moment. Nothing was written; try again later."
CONFLICT_MESSAGE = "Another transaction is in progress on the item. Nothing was written; try again."
CONDITION_FAILED_MESSAGE = "The item does not meet the condition. Nothing was written."
TOKEN_REUSED_MESSAGE = "The token was used before with another transaction. Take a new token for new work."
REPLY_LOST_MESSAGE = "The reply was lost: the write may or may not have happened. Read before continuing."


class TableError(Exception):
    """The root of all errors of the table layer."""

    code: ClassVar[str] = "table_error"

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, object] = details


# Errors of a design, raised while it is being declared.


class DesignError(TableError):
    """The declaration of a table, entity or access pattern contradicts itself."""

    code = "design_error"


# Invalid requests: nothing was written, and the same call fails again.


class BadInput(TableError):
    """The request is invalid. Nothing was written."""

    code = "bad_input"


class WrongType(BadInput):
    """A value does not have the type of its attribute, or is outside the attribute's limits."""

    code = "wrong_type"


class UnknownAttribute(BadInput):
    """The entity has no such field."""

    code = "unknown_attribute"


class MissingKeyField(BadInput):
    """A key template needs a field that has no value."""

    code = "missing_key_field"


class BadKey(BadInput):
    """A key is empty or too long, or a value would make its key template ambiguous."""

    code = "bad_key"


class BadNumber(BadInput):
    """A number has more than 38 digits or is outside the range that a table can hold."""

    code = "bad_number"


class ItemTooLarge(BadInput):
    """An item is larger than 400 KB, attribute names included."""

    code = "item_too_large"


class TooManyItems(BadInput):
    """A transaction or batch names more items than one call may."""

    code = "too_many_items"


class TransactionTooLarge(BadInput):
    """The items of a transaction add up to more than 4 MB."""

    code = "transaction_too_large"


class SameItemTwice(BadInput):
    """A transaction or batch names one item twice."""

    code = "same_item_twice"


class BadUpdate(BadInput):
    """An update contradicts itself, or edits a path that does not exist."""

    code = "bad_update"


class StaleIndexKey(BadInput):
    """The update would leave an index key that no longer matches its item."""

    code = "stale_index_key"


class BadCursor(BadInput):
    """The cursor was tampered with or belongs to another query."""

    code = "bad_cursor"


class StrongReadRefused(BadInput):
    """A global index cannot be read with strong consistency."""

    code = "strong_read_refused"


class TokenReused(BadInput):
    """An idempotency token was reused with another transaction."""

    code = "token_reused"


# Errors that depend on stored data or on the state of the store.


class ConditionFailed(TableError):
    """The item does not meet the condition. Nothing was written; `current` is the stored item."""

    code = "condition_failed"

    def __init__(self, message: str, current: object = None, **details: object) -> None:
        super().__init__(message, **details)
        self.current = current


class OutOfBounds(TableError):
    """An edit would take a field out of its bounds. Nothing was written; `current` is the stored item.

    `entity`, `field`, `bound` and `operation` say which: Room, free_seats, "ge=0", "add". A field inside another has
    its whole path: shelf.free, prices['a'].
    """

    code = "out_of_bounds"

    def __init__(self, entity: str, field: str, bound: str, operation: str, current: object = None) -> None:
        super().__init__(
            f"`{operation}` would take {entity}.{field} out of its bounds ({bound}). Nothing was written; "
            "read the item and edit it by less.",
            entity=entity,
            field=field,
            bound=bound,
            operation=operation,
        )
        self.entity = entity
        self.field = field
        self.bound = bound
        self.operation = operation
        self.current = current


class Reason(Struct, frozen=True):
    """Why one item cancelled a transaction; `code` is None for an item that did not.

    The code is "condition_failed", "out_of_bounds", "conflict", "throttled" or "invalid". `entity` and `key`, by the
    names of its attributes, say which item it is, also of one that did not; `condition` is the part that fails.
    """

    code: str | None = None
    message: str = ""
    current: object = None
    entity: str | None = None
    key: Mapping[str, Any] = {}
    condition: str | None = None


class TransactionCancelled(TableError):
    """A transaction was cancelled. `reasons` has one entry for each item, in the order given."""

    code = "transaction_cancelled"

    def __init__(self, message: str, reasons: Sequence[Reason] = (), **details: object) -> None:
        super().__init__(message, **details)
        self.reasons = tuple(reasons)

    @property
    def conflict(self) -> bool:
        """True when only concurrent writers cancelled it, so that the same transaction may be retried."""
        codes = {reason.code for reason in self.reasons if reason.code}
        return bool(codes) and codes <= {"conflict", "throttled"}


class Throttled(TableError):
    """The table has no capacity left for the moment. Nothing was written; try again later."""

    code = "throttled"


class Conflict(TableError):
    """Another transaction is in progress on the item. Nothing was written; try again."""

    code = "conflict"


class LeaseLost(TableError):
    """Another process has taken over this shard of a stream. Nothing was acknowledged."""

    code = "lease_lost"


class ResultUnknown(TableError):
    """The reply was lost: the write may or may not have happened. Read before continuing."""

    code = "result_unknown"


class StoreUnreachable(TableError):
    """The store did not answer. Nothing was written; try again when it is back."""

    code = "store_unreachable"


class NotGranted(TableError):
    """The caller has no permission for this action. Nothing was written."""

    code = "not_granted"


class UnreadableItem(Struct, frozen=True):
    """A stored item that does not fit its entity: written by another program, of a later revision, or damaged.

    `entity` is the kind that its key and tag suggest, None when they match none. `reason` has no values of the key.
    """

    table: str
    key: Mapping[str, Any]
    entity: str | None
    reason: str
    item: Mapping[str, Any]


class ItemUnreadable(TableError):
    """A stored item does not fit its entity. It is left as it is.

    `unreadable` has the item as it is stored. Where a page could not be read, `cursor` continues after the item; it is
    None when the item is the last one.
    """

    code = "item_unreadable"

    def __init__(self, message: str, reason: str | None = None, **details: object) -> None:
        super().__init__(message, **details)
        self.reason = reason or message
        self.unreadable: UnreadableItem | None = None
        self.cursor: str | None = None


class WrittenUnreadable(ItemUnreadable):
    """An update was written, but the item does not fit its entity.

    Attributes that the update left alone did not fit before, or it breaks a rule in `__post_init__`.
    """

    code = "written_unreadable"


class IndexNotReady(TableError):
    """The index is still being filled."""

    code = "index_not_ready"


class SchemaRefused(TableError):
    """A stored table cannot be changed to match the design."""

    code = "schema_refused"


class LacksCapability(TableError):
    """The store lacks a capability that the design needs."""

    code = "lacks_capability"


class StoreFull(TableError):
    """The disk is full. Nothing of this call was written; acknowledged writes are safe."""

    code = "store_full"


class StoreDamaged(TableError):
    """The store's file is damaged or truncated. Reads and writes are refused."""

    code = "store_damaged"


class ExportDamaged(TableError):
    """An export is incomplete, or does not match its manifest. Nothing was imported."""

    code = "export_damaged"


class CopyDiffers(TableError):
    """The content of a store differs from the export that it was imported from."""

    code = "copy_differs"


class StoreClosed(TableError):
    """The store is closed or another process holds it."""

    code = "store_closed"
