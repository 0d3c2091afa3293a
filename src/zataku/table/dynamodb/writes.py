"""Single writes and batches."""

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from zataku.table.backend.condition_evaluation import check_expression
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import BadInput, ConditionFailed, SameItemTwice, TooManyItems
from zataku.table.backend.limits import BATCH_WRITES
from zataku.table.backend.port import DeleteItem, ItemKey, PutItem, TransactWrite, UpdateItem, Write, Written
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Item, item_size
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.consumed_capacity import REPORTED, charge_refusal, charge_writes
from zataku.table.dynamodb.expressions import Expressions
from zataku.table.dynamodb.validation import check_update, key_of, whole_item, whole_key, wire_key
from zataku.table.dynamodb.wire import WireItem, item_of, wire_item

Parameters: TypeAlias = dict[str, Any]


_LYING_THERE = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
# What an accepted write says beside being accepted; one state at most can be had.
_TOLD = {"Put": "NONE", "Update": "ALL_NEW", "Delete": "ALL_OLD"}


class Checked:
    """A write that has been checked as far as that is possible without the item, ready to be sent."""

    def __init__(self, write: TransactWrite) -> None:
        table = write.table
        self.write = write
        self.parameters: Parameters = {"TableName": table.name}
        self.item: Item | None = None
        expressions = Expressions()
        if isinstance(write, PutItem):
            self.operation = "Put"
            self.item = whole_item(table, write.item)
            self.key = key_of(table, self.item)
            self.parameters["Item"] = wire_item(self.item)
        else:
            self.key = whole_key(table, write.key)
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
            self.parameters |= _LYING_THERE
        self.parameters |= expressions.parameters()

    @property
    def place(self) -> tuple[str, ItemKey]:
        """Where it writes."""
        return self.write.table.name, self.key

    @property
    def size(self) -> int:
        """Bytes of the item it puts."""
        return 0 if self.item is None else item_size(self.item)


def checked(writes: Sequence[TransactWrite]) -> list[Checked]:
    """Several writes, each to another item."""
    every = [Checked(write) for write in writes]
    if len({each.place for each in every}) < len(every):
        raise SameItemTwice("One item is named twice. Join the two writes into one.")
    return every


async def write(client: Client, given: Write, consumed: ConsumedCapacity | None) -> Written:
    """One conditional write."""
    ready = Checked(given)
    told = _TOLD[ready.operation]
    try:
        answer = await client.call(f"{ready.operation}Item", **ready.parameters, ReturnValues=told, **REPORTED)
    except ConditionFailed as refused:
        charge_refusal(consumed, given.table.name, refused)
        raise
    charge_writes(consumed, answer)
    attributes: WireItem | None = answer.get("Attributes")
    state = item_of(attributes) if attributes else None
    if isinstance(given, PutItem):
        return Written(None, ready.item)
    return Written(None, state) if isinstance(given, UpdateItem) else Written(state, None)


async def batch_write(
    client: Client, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None
) -> list[PutItem | DeleteItem]:
    """Unconditional writes, each by itself; gives those that were not processed."""
    if len(writes) > BATCH_WRITES:
        raise TooManyItems(f"The batch has {len(writes)} writes; {BATCH_WRITES} are allowed. Split it.")
    if any(write.condition is not None for write in writes):
        raise BadInput("Writes in a batch have no conditions. Write them singly or in a transaction.")
    every = checked(writes)
    if not every:
        return []
    request: dict[str, list[Parameters]] = {}
    for each in every:
        content = {name: each.parameters[name] for name in ("Item", "Key") if name in each.parameters}
        request.setdefault(each.write.table.name, []).append({f"{each.operation}Request": content})
    answer = await client.call("BatchWriteItem", RequestItems=request, **REPORTED)
    charge_writes(consumed, answer)
    tables = {each.write.table.name: each.write.table for each in every}
    left = {
        (name, _key(tables[name], part))
        for name, parts in cast("dict[str, list[Parameters]]", answer.get("UnprocessedItems") or {}).items()
        for part in parts
    }
    return [each for each, ready in zip(writes, every, strict=True) if ready.place in left]


def _key(table: TableSchema, request: Parameters) -> ItemKey:
    """The key of an unprocessed request."""
    (content,) = request.values()
    return key_of(table, item_of(content.get("Item") or content["Key"]))
