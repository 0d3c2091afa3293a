"""Single writes, batches, and transactions whose outcome is known even when a reply is lost."""

import secrets
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, TypeAlias, cast

from zataku.table.backend.condition_evaluation import check_expression
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import (
    BadInput,
    ConditionFailed,
    Conflict,
    ResultUnknown,
    SameItemTwice,
    StoreUnreachable,
    TableError,
    Throttled,
    TooManyItems,
    TransactionCancelled,
)
from zataku.table.backend.expression_strings import Expressions
from zataku.table.backend.limits import BATCH_WRITES
from zataku.table.backend.port import DeleteItem, ItemKey, PutItem, TransactWrite, UpdateItem, Write, Written
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.validation import check_transaction, check_transaction_size
from zataku.table.backend.values import Item, item_size
from zataku.table.backend.wire import WireItem, item_of, wire_item
from zataku.table.dynamodb.client import Client, Response
from zataku.table.dynamodb.consumed_capacity import (
    REPORT_CAPACITY,
    charge_cancelled_transaction,
    charge_failed_write,
    charge_writes,
)
from zataku.table.dynamodb.validation import check_update, validated_item, validated_key, wire_key
from zataku.table.store.retry import Retry

Parameters: TypeAlias = dict[str, Any]

_TOKEN_BYTES = 16

# A failed condition returns the stored item.
_RETURN_STORED_ITEM = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
# The state that an accepted write returns; the service returns one at most.
_RETURN_VALUES = {"Put": "NONE", "Update": "ALL_NEW", "Delete": "ALL_OLD"}


class PreparedWrite:
    """A write checked as far as possible without the item, with the parameters of its call."""

    def __init__(self, write: TransactWrite) -> None:
        table = write.table
        self.write = write
        self.parameters: Parameters = {"TableName": table.name}
        self.item: Item | None = None
        expressions = Expressions()
        if isinstance(write, PutItem):
            self.operation = "Put"
            self.item = validated_item(table, write.item)
            self.key = table.key_of(self.item)
            self.parameters["Item"] = wire_item(self.item)
        else:
            self.key = validated_key(table, write.key)
            self.parameters["Key"] = wire_key(table, self.key)
            self.operation = "Delete" if isinstance(write, DeleteItem) else "ConditionCheck"
        if isinstance(write, UpdateItem):
            self.operation = "Update"
            check_update(table, write)
            if write.actions:
                self.parameters["UpdateExpression"] = expressions.update(write.actions)
        if write.condition is not None:
            check_expression(write.condition)
            self.parameters["ConditionExpression"] = expressions.condition(write.condition)
            self.parameters |= _RETURN_STORED_ITEM
        self.parameters |= expressions.parameters()

    @property
    def item_id(self) -> tuple[str, ItemKey]:
        """Table name and key of its item."""
        return self.write.table.name, self.key

    @property
    def size(self) -> int:
        """Bytes of the item that it puts."""
        return 0 if self.item is None else item_size(self.item)


def prepare_batch(writes: Sequence[TransactWrite]) -> list[PreparedWrite]:
    """Check writes that must name different items."""
    prepared = [PreparedWrite(write) for write in writes]
    if len({write.item_id for write in prepared}) < len(prepared):
        raise SameItemTwice("One item is named twice. Join the two writes into one.")
    return prepared


async def write(client: Client, request: Write, consumed: ConsumedCapacity | None) -> Written:
    """One conditional write."""
    prepared = PreparedWrite(request)
    return_values = _RETURN_VALUES[prepared.operation]
    try:
        response = await client.call(
            f"{prepared.operation}Item", **prepared.parameters, ReturnValues=return_values, **REPORT_CAPACITY
        )
    except ConditionFailed as refused:
        charge_failed_write(consumed, request.table.name, refused)
        raise
    charge_writes(consumed, response)
    attributes: WireItem | None = response.get("Attributes")
    state = item_of(attributes) if attributes else None
    if isinstance(request, PutItem):
        return Written(None, prepared.item)
    return Written(None, state) if isinstance(request, UpdateItem) else Written(state, None)


async def batch_write(
    client: Client, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None
) -> list[PutItem | DeleteItem]:
    """Unconditional writes, each independent; returns those that were not processed."""
    if len(writes) > BATCH_WRITES:
        raise TooManyItems(f"The batch has {len(writes)} writes; {BATCH_WRITES} are allowed. Split it.")
    if any(write.condition is not None for write in writes):
        raise BadInput("Writes in a batch have no conditions. Write them singly or in a transaction.")
    prepared = prepare_batch(writes)
    if not prepared:
        return []
    request: dict[str, list[Parameters]] = {}
    for part in prepared:
        content = {name: part.parameters[name] for name in ("Item", "Key") if name in part.parameters}
        request.setdefault(part.write.table.name, []).append({f"{part.operation}Request": content})
    response = await client.call("BatchWriteItem", RequestItems=request, **REPORT_CAPACITY)
    charge_writes(consumed, response)
    tables = {write.table.name: write.table for write in writes}
    unprocessed = {
        (name, _request_key(tables[name], rest))
        for name, requests in cast("dict[str, list[Parameters]]", response.get("UnprocessedItems") or {}).items()
        for rest in requests
    }
    return [write for write, part in zip(writes, prepared, strict=True) if part.item_id in unprocessed]


def _request_key(table: TableSchema, request: Parameters) -> ItemKey:
    """The key of the item of an unprocessed request."""
    (content,) = request.values()
    return table.key_of(item_of(content.get("Item") or content["Key"]))


class Transactions:
    """Carries out transactions, each under a token of its own.

    The service carries out a transaction once however often it is sent with the same token, so one whose reply was lost
    is sent again. A token is valid in a whole AWS account; ours are hashed with the store's name, so that two stores
    never use the same.
    """

    def __init__(self, client: Client, retry: Retry, store: str) -> None:
        self._client = client
        self._retry = retry
        self._store = store

    async def __call__(
        self, writes: Sequence[TransactWrite], token: str | None, consumed: ConsumedCapacity | None
    ) -> None:
        """Carry out all writes or none."""
        check_transaction(writes, token)
        prepared = prepare_batch(writes)
        check_transaction_size(sum(write.size for write in prepared))
        items = [{write.operation: write.parameters} for write in prepared]
        try:
            charge_writes(consumed, await self._send(items, self._token(token)))
        except TransactionCancelled as cancelled:
            charge_cancelled_transaction(consumed, [part.write for part in prepared], cancelled)
            raise

    def _token(self, token: str | None) -> str:
        if token is None:
            # Unique in the account, so not from a random source that a test may seed.
            return secrets.token_hex(_TOKEN_BYTES)
        return blake2b(f"{self._store}\0{token}".encode(), digest_size=_TOKEN_BYTES).hexdigest()

    async def _send(self, items: list[Response], token: str) -> Response:
        unknown: TableError | None = None
        for attempt in range(1, self._retry.max_attempts + 1):
            try:
                return await self._client.call(
                    "TransactWriteItems", TransactItems=items, ClientRequestToken=token, **REPORT_CAPACITY
                )
            except ResultUnknown as problem:
                unknown = problem
            except (Conflict, Throttled, StoreUnreachable, TransactionCancelled) as problem:
                # After a lost reply these say nothing about the first attempt, which may still be under way.
                if unknown is None or (isinstance(problem, TransactionCancelled) and not problem.conflict):
                    raise
            await self._retry.wait(attempt)
        assert unknown is not None
        raise unknown
