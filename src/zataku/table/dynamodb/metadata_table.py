"""The store's metadata table: cursor secret, stream checkpoints and usage, next to the host's tables."""

import asyncio
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

from zataku.clock import Clock
from zataku.table.backend.cost import Usage
from zataku.table.backend.errors import ConditionFailed, ResultUnknown, SchemaRefused, StoreUnreachable
from zataku.table.backend.table_parameters import table_parameters
from zataku.table.backend.table_schema import KeyAttribute, TableSchema
from zataku.table.backend.values import Item, Value
from zataku.table.backend.wire import WireItem, item_of, wire_item, wire_value
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.tables.description import describe_table

_SECRET = ("store", "secret")
_USAGE = "usage"
_SECRET_BYTES = 32
# An empty table is ready within seconds; a minute without it means that something is wrong.
_CREATION_SECONDS = 60
_MAX_CONCURRENT_UPDATES = 16


class MetadataTable:
    """Items with the keys pk and sk, written conditionally and read strongly, so that processes can share them."""

    def __init__(self, client: Client, name: str, clock: Clock) -> None:
        self.name = name
        self._client = client
        self._clock = clock
        self._secret: bytes | None = None

    async def start(self) -> None:
        """Create the table unless it exists. Any number of processes may do so at once."""
        status = await self._status()
        if status is None:
            await self._create()
        waited = 0
        while status != "ACTIVE":
            status = await self._status()
            if status == "ACTIVE":
                break
            if waited >= _CREATION_SECONDS:
                raise StoreUnreachable(f"{self.name} was not ready within {_CREATION_SECONDS} seconds. Try again.")
            await self._clock.sleep(1)
            waited += 1

    async def _status(self) -> str | None:
        description = await describe_table(self._client, self.name)
        return None if description is None else description["TableStatus"]

    async def _create(self) -> None:
        schema = TableSchema(self.name, KeyAttribute("pk"), KeyAttribute("sk"))
        try:
            await self._client.call("CreateTable", **table_parameters(schema))
        except SchemaRefused as refused:
            # Another process was first.
            if refused.details.get("code") != "ResourceInUseException":
                raise

    async def secret(self) -> bytes:
        """32 random bytes, made once, the same for every process of the store."""
        if self._secret is not None:
            return self._secret
        item = await self.item(*_SECRET)
        if item is None:
            # The first process decides; every process reads what was stored.
            with suppress(ResultUnknown):
                await self.put_new(*_SECRET, {"secret": secrets.token_bytes(_SECRET_BYTES)})
            item = await self.item(*_SECRET)
        if item is None:
            raise StoreUnreachable(f"{self.name} holds no secret. Try again, and check that nothing deletes it.")
        secret: bytes = item["secret"]
        self._secret = secret
        return secret

    async def add_usage(self, usage: Sequence[Usage]) -> None:
        """Add to the sums of each access pattern."""
        for start in range(0, len(usage), _MAX_CONCURRENT_UPDATES):
            await asyncio.gather(*(self._add(sums) for sums in usage[start : start + _MAX_CONCURRENT_UPDATES]))

    async def _add(self, usage: Usage) -> None:
        sums = {"calls": usage.calls, "reads": _exact(usage.reads), "writes": _exact(usage.writes)}
        await self.update(_USAGE, usage.pattern, "ADD #calls :calls, #reads :reads, #writes :writes", sums)

    async def usage(self) -> list[Usage]:
        """The sums of all access patterns."""
        return [
            Usage(str(item["sk"]), _whole(item.get("calls")), _float(item.get("reads")), _float(item.get("writes")))
            for item in await self.items(_USAGE)
        ]

    async def item(self, pk: str, sk: str) -> Item | None:
        """One item as it is now."""
        response = await self._client.call("GetItem", TableName=self.name, Key=_key(pk, sk), ConsistentRead=True)
        wire: WireItem | None = response.get("Item")
        return item_of(wire) if wire else None

    async def items(self, pk: str) -> list[Item]:
        """All items of a partition in the order of their sk."""
        items: list[Item] = []
        start: dict[str, Any] = {}
        while True:
            response = await self._client.call(
                "Query",
                TableName=self.name,
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": {"S": pk}},
                ConsistentRead=True,
                **start,
            )
            items += [item_of(item) for item in response["Items"]]
            if not response.get("LastEvaluatedKey"):
                return items
            start = {"ExclusiveStartKey": response["LastEvaluatedKey"]}

    async def put_new(self, pk: str, sk: str, attributes: Item) -> bool:
        """Write an item unless it exists; returns whether it was written."""
        try:
            await self._client.call(
                "PutItem",
                TableName=self.name,
                Item=_key(pk, sk) | wire_item(attributes),
                ConditionExpression="attribute_not_exists(pk)",
            )
        except ConditionFailed:
            return False
        return True

    async def update(self, pk: str, sk: str, change: str, values: Item, *, condition: str | None = None) -> Item:
        """Change an item and return its new state; raises `ConditionFailed`.

        In the expressions `#name` is the attribute of that name and `:name` the value.
        """
        parameters: dict[str, Any] = {"ConditionExpression": condition} if condition else {}
        if values:
            parameters["ExpressionAttributeValues"] = {f":{name}": wire_value(value) for name, value in values.items()}
        response = await self._client.call(
            "UpdateItem",
            TableName=self.name,
            Key=_key(pk, sk),
            UpdateExpression=change,
            ExpressionAttributeNames={name: name[1:] for name in re.findall(r"#\w+", f"{change} {condition}")},
            ReturnValues="ALL_NEW",
            **parameters,
        )
        return item_of(response["Attributes"])

    async def delete(self, pk: str, sk: str) -> None:
        """Delete an item; an absent one is not an error."""
        await self._client.call("DeleteItem", TableName=self.name, Key=_key(pk, sk))


def _key(pk: str, sk: str) -> WireItem:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def _exact(units: float) -> Decimal:
    # The shortest text of a float, so that halves and tenths add up as written.
    return Decimal(repr(units))


def _whole(value: Value) -> int:
    return int(value) if isinstance(value, int | Decimal) else 0


def _float(value: Value) -> float:
    return float(value) if isinstance(value, int | Decimal) else 0.0
