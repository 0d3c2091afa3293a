"""Reading items and pages."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

from zataku.table.backend.condition_evaluation import check_expression
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import BadCursor, SameItemTwice
from zataku.table.backend.port import GetItem, ItemKey, Position, QueryItems, Row, Rows, ScanItems
from zataku.table.backend.validation import (
    check_filter,
    check_page,
    check_projection,
    check_read_count,
    check_segment,
    checked_attributes,
)
from zataku.table.dynamodb.client import Answer, Client
from zataku.table.dynamodb.consumed_capacity import REPORTED, charge_reads
from zataku.table.dynamodb.expressions import Expressions
from zataku.table.dynamodb.validation import key_of, partition_value, whole_key, whole_range, wire_key, wire_position
from zataku.table.dynamodb.wire import WireItem, item_of

Parameters: TypeAlias = dict[str, Any]
ItemId: TypeAlias = tuple[str, ItemKey]
# Reads of one table that one call can make: all strong or none, all of the same attributes.
Manner: TypeAlias = tuple[bool, tuple[str, ...] | None]


async def get(client: Client, read: GetItem, consumed: ConsumedCapacity | None) -> Row | None:
    """One item or None."""
    answer = await client.call("GetItem", **_single(read), ConsistentRead=read.strong, **REPORTED)
    charge_reads(consumed, answer)
    return _row(answer)


def _single(read: GetItem) -> Parameters:
    """One item by its key, as a call of its own or a part of a transaction."""
    key = wire_key(read.table, whole_key(read.table, read.key))
    return {"TableName": read.table.name, "Key": key} | _projection(Expressions(), checked_attributes(read.attributes))


def _projection(expressions: Expressions, attributes: Sequence[str] | None) -> Parameters:
    if attributes is None:
        return expressions.parameters()
    return {"ProjectionExpression": expressions.projection(attributes)} | expressions.parameters()


def _row(answer: Answer) -> Row | None:
    found: WireItem | None = answer.get("Item")
    return None if found is None else item_of(found)


async def snapshot(client: Client, reads: Sequence[GetItem], consumed: ConsumedCapacity | None) -> list[Row | None]:
    """Some items of one moment."""
    _places(reads)
    if not reads:
        return []
    answer = await client.call("TransactGetItems", TransactItems=[{"Get": _single(read)} for read in reads], **REPORTED)
    charge_reads(consumed, answer)
    return [_row(each) for each in cast("list[Answer]", answer["Responses"])]


def _places(reads: Sequence[GetItem]) -> list[ItemId]:
    """Where the items lie; each is named once."""
    check_read_count(len(reads))
    places = [(read.table.name, whole_key(read.table, read.key)) for read in reads]
    if len(set(places)) < len(places):
        raise SameItemTwice("One item is named twice. Read it once.")
    return places


async def batch_get(
    client: Client, reads: Sequence[GetItem], consumed: ConsumedCapacity | None
) -> list[Row | Literal["unprocessed"] | None]:
    """Some items, each by itself."""
    places = _places(reads)
    calls: list[dict[str, tuple[Manner, list[int]]]] = []
    for at, read in enumerate(reads):
        _join(calls, at, read)
    found: dict[ItemId, Row | Literal["unprocessed"]] = {}
    for call in calls:
        await _batch(client, reads, places, call, found, consumed)
    return [found.get(place) for place in places]


def _join(calls: list[dict[str, tuple[Manner, list[int]]]], at: int, read: GetItem) -> None:
    """Put a read into the first call whose reads of the same table go in the same manner."""
    manner = (read.strong, checked_attributes(read.attributes))
    for call in calls:
        same = call.setdefault(read.table.name, (manner, []))
        if same[0] == manner:
            same[1].append(at)
            return
    calls.append({read.table.name: (manner, [at])})


async def _batch(
    client: Client,
    reads: Sequence[GetItem],
    places: list[ItemId],
    call: dict[str, tuple[Manner, list[int]]],
    found: dict[ItemId, Row | Literal["unprocessed"]],
    consumed: ConsumedCapacity | None,
) -> None:
    request: Parameters = {}
    for name, ((strong, attributes), every) in call.items():
        table = reads[every[0]].table
        # Keys come along in any case: without them nobody could tell the items apart.
        shown = None if attributes is None else dict.fromkeys([*attributes, *(key.name for key in table.keys)])
        keys = [wire_key(table, places[at][1]) for at in every]
        projection = _projection(Expressions(), None if shown is None else list(shown))
        request[name] = {"Keys": keys, "ConsistentRead": strong} | projection
    answer = await client.call("BatchGetItem", RequestItems=request, **REPORTED)
    charge_reads(consumed, answer)
    for name, ((_, attributes), every) in call.items():
        table = reads[every[0]].table
        for wire in cast("list[WireItem]", answer.get("Responses", {}).get(name, [])):
            item = item_of(wire)
            shown = item if attributes is None else {each: item[each] for each in attributes if each in item}
            found[name, key_of(table, item)] = shown
        for key in cast("list[WireItem]", answer.get("UnprocessedKeys", {}).get(name, {}).get("Keys", [])):
            found[name, key_of(table, item_of(key))] = "unprocessed"


# Pages


async def query(client: Client, read: QueryItems, consumed: ConsumedCapacity | None) -> Rows:
    """One page of a partition."""
    place = read.table if read.index is None else read.index
    pk = partition_value(place.pk, read.pk)
    stretch = whole_range(place.sk, read.range)
    expressions = Expressions()
    parameters = _page(expressions, read)
    parameters["KeyConditionExpression"] = expressions.key(place.pk, pk, place.sk, stretch)
    parameters["ScanIndexForward"] = not read.newest_first
    if read.start is not None and read.start[place.pk.name] != pk:
        raise BadCursor("The position lies in another partition. Start from the first page.")
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
    """What queries and scans have in common, checked."""
    index = read.index
    check_page(index, read.limit, read.strong)
    parameters: Parameters = {"TableName": read.table.name, "ConsistentRead": read.strong, **REPORTED}
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
    answer = await client.call(operation, **parameters)
    charge_reads(consumed, answer)
    rows: list[Row] = [item_of(wire) for wire in cast("list[WireItem]", answer.get("Items") or [])]
    last: WireItem | None = answer.get("LastEvaluatedKey")
    resume = cast("Position", item_of(last)) if last else None
    return Rows(rows, resume, answer["Count"], answer["ScannedCount"])
