"""Reads of items and pages."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

from zataku.table.backend.condition_evaluation import check_expression
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import BadCursor, SameItemTwice
from zataku.table.backend.expression_strings import Expressions
from zataku.table.backend.port import GetItem, ItemKey, Position, QueryItems, Row, Rows, ScanItems
from zataku.table.backend.validation import (
    check_filter,
    check_page,
    check_projection,
    check_read_count,
    check_segment,
    checked_attributes,
)
from zataku.table.backend.wire import WireItem, item_of
from zataku.table.dynamodb.client import Client, Response
from zataku.table.dynamodb.consumed_capacity import REPORT_CAPACITY, charge_reads
from zataku.table.dynamodb.validation import (
    checked_partition_key,
    validated_key,
    validated_range,
    wire_key,
    wire_position,
)

Parameters: TypeAlias = dict[str, Any]
# Table name and key.
ItemId: TypeAlias = tuple[str, ItemKey]
# Consistency and attributes: one call reads the items of a table all with the same.
ReadOptions: TypeAlias = tuple[bool, tuple[str, ...] | None]


async def get(client: Client, read: GetItem, consumed: ConsumedCapacity | None) -> Row | None:
    """One item or None."""
    response = await client.call("GetItem", **_get_parameters(read), ConsistentRead=read.strong, **REPORT_CAPACITY)
    charge_reads(consumed, response)
    return _row(response)


def _get_parameters(read: GetItem) -> Parameters:
    """Parameters of a read of one item, as a call of its own or a part of a transaction."""
    key = wire_key(read.table, validated_key(read.table, read.key))
    return {"TableName": read.table.name, "Key": key} | _projection(Expressions(), checked_attributes(read.attributes))


def _projection(expressions: Expressions, attributes: Sequence[str] | None) -> Parameters:
    if attributes is None:
        return expressions.parameters()
    return {"ProjectionExpression": expressions.projection(attributes)} | expressions.parameters()


def _row(response: Response) -> Row | None:
    wire: WireItem | None = response.get("Item")
    return None if wire is None else item_of(wire)


async def snapshot(client: Client, reads: Sequence[GetItem], consumed: ConsumedCapacity | None) -> list[Row | None]:
    """Items as they were at one moment."""
    _item_ids(reads)
    if not reads:
        return []
    response = await client.call(
        "TransactGetItems", TransactItems=[{"Get": _get_parameters(read)} for read in reads], **REPORT_CAPACITY
    )
    charge_reads(consumed, response)
    return [_row(part) for part in cast("list[Response]", response["Responses"])]


def _item_ids(reads: Sequence[GetItem]) -> list[ItemId]:
    """Table and key of each item; none may be named twice."""
    check_read_count(len(reads))
    ids = [(read.table.name, validated_key(read.table, read.key)) for read in reads]
    if len(set(ids)) < len(ids):
        raise SameItemTwice("One item is named twice. Read it once.")
    return ids


async def batch_get(
    client: Client, reads: Sequence[GetItem], consumed: ConsumedCapacity | None
) -> list[Row | Literal["unprocessed"] | None]:
    """Items, read independently."""
    ids = _item_ids(reads)
    calls: list[dict[str, tuple[ReadOptions, list[int]]]] = []
    for at, read in enumerate(reads):
        _add_to_call(calls, at, read)
    rows: dict[ItemId, Row | Literal["unprocessed"]] = {}
    for call in calls:
        await _batch_call(client, reads, ids, call, rows, consumed)
    return [rows.get(item_id) for item_id in ids]


def _add_to_call(calls: list[dict[str, tuple[ReadOptions, list[int]]]], at: int, read: GetItem) -> None:
    """Add a read to the first call that reads its table with the same options."""
    options = (read.strong, checked_attributes(read.attributes))
    for call in calls:
        same = call.setdefault(read.table.name, (options, []))
        if same[0] == options:
            same[1].append(at)
            return
    calls.append({read.table.name: (options, [at])})


async def _batch_call(
    client: Client,
    reads: Sequence[GetItem],
    ids: list[ItemId],
    call: dict[str, tuple[ReadOptions, list[int]]],
    rows: dict[ItemId, Row | Literal["unprocessed"]],
    consumed: ConsumedCapacity | None,
) -> None:
    request: Parameters = {}
    for name, ((strong, attributes), positions) in call.items():
        table = reads[positions[0]].table
        # Keys are always read: without them the items could not be told apart.
        names = None if attributes is None else dict.fromkeys([*attributes, *(key.name for key in table.keys)])
        keys = [wire_key(table, ids[at][1]) for at in positions]
        projection = _projection(Expressions(), None if names is None else list(names))
        request[name] = {"Keys": keys, "ConsistentRead": strong} | projection
    response = await client.call("BatchGetItem", RequestItems=request, **REPORT_CAPACITY)
    charge_reads(consumed, response)
    for name, ((_, attributes), positions) in call.items():
        table = reads[positions[0]].table
        for wire in cast("list[WireItem]", response.get("Responses", {}).get(name, [])):
            item = item_of(wire)
            row = item if attributes is None else {key: item[key] for key in attributes if key in item}
            rows[name, table.key_of(item)] = row
        for key in cast("list[WireItem]", response.get("UnprocessedKeys", {}).get(name, {}).get("Keys", [])):
            rows[name, table.key_of(item_of(key))] = "unprocessed"


async def query(client: Client, read: QueryItems, consumed: ConsumedCapacity | None) -> Rows:
    """One page of a partition."""
    source = read.table if read.index is None else read.index
    pk = checked_partition_key(source.pk, read.pk)
    key_range = validated_range(source.sk, read.range)
    expressions = Expressions()
    parameters = _page(expressions, read)
    parameters["KeyConditionExpression"] = expressions.key(source.pk, pk, source.sk, key_range)
    parameters["ScanIndexForward"] = not read.newest_first
    if read.start is not None and read.start[source.pk.name] != pk:
        raise BadCursor("The position is in another partition. Start from the first page.")
    if read.filter is not None:
        check_filter(read.table, read.index, read.filter)
    if read.count_only:
        parameters["Select"] = "COUNT"
    return await _rows(client, "Query", parameters | expressions.parameters(), consumed)


async def scan(client: Client, read: ScanItems, consumed: ConsumedCapacity | None) -> Rows:
    """One page of a table or index."""
    check_segment(read.segment, read.segments)
    expressions = Expressions()
    parameters = _page(expressions, read)
    if read.segments > 1:
        parameters |= {"Segment": read.segment, "TotalSegments": read.segments}
    return await _rows(client, "Scan", parameters | expressions.parameters(), consumed)


def _page(expressions: Expressions, read: QueryItems | ScanItems) -> Parameters:
    """The parameters that queries and scans share."""
    index = read.index
    check_page(index, read.limit, read.strong)
    parameters: Parameters = {"TableName": read.table.name, "ConsistentRead": read.strong, **REPORT_CAPACITY}
    attributes = checked_attributes(read.attributes)
    if index is not None:
        parameters["IndexName"] = index.name
        if attributes is not None and not index.local:
            check_projection(read.table, index, attributes)
    if attributes is not None and not (isinstance(read, QueryItems) and read.count_only):
        parameters["ProjectionExpression"] = expressions.projection(attributes)
    if read.limit is not None:
        parameters["Limit"] = read.limit
    if read.start is not None:
        parameters["ExclusiveStartKey"] = wire_position(read.table, index, read.start)
    if read.filter is not None:
        check_expression(read.filter)
        parameters["FilterExpression"] = expressions.condition(read.filter)
    return parameters


async def _rows(client: Client, operation: str, parameters: Parameters, consumed: ConsumedCapacity | None) -> Rows:
    response = await client.call(operation, **parameters)
    charge_reads(consumed, response)
    rows: list[Row] = [item_of(wire) for wire in cast("list[WireItem]", response.get("Items") or [])]
    last: WireItem | None = response.get("LastEvaluatedKey")
    resume = cast("Position", item_of(last)) if last else None
    return Rows(rows, resume, response["Count"], response["ScannedCount"])
