"""Conditions and updates as DynamoDB expressions, and their results on a server and in the embedded store."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.table.dynamodb.server_tables import apply_schemas, client_of, fresh
from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import holds
from zataku.table.backend.expression_strings import Expressions
from zataku.table.backend.port import KeyRange
from zataku.table.backend.table_schema import KeyAttribute, TableSchema
from zataku.table.backend.update_evaluation import apply_update
from zataku.table.backend.values import Item
from zataku.table.backend.wire import item_of, wire_item
from zataku.table.dynamodb.client import Client

A, B, DEEP = ex.Attribute(("a",)), ex.Attribute(("b",)), ex.Attribute(("map", "list", 1))
ITEM: Item = {
    "pk": "p",
    "a": 3,
    "b": 4,
    "text": "hello",
    "name": "size",
    "bytes": b"\x01\x02",
    "tags": frozenset({"x", "y"}),
    "map": {"list": ["one", "two"], "count": 1, "odd name": True, "none": None},
    "list": [1, 2, 3, 4],
}


def literally(value: Any) -> ex.Literally:
    return ex.Literally(value)


def equals(name: str, value: Any) -> ex.Compare:
    return ex.Compare(ex.Attribute((name,)), "=", literally(value))


CONDITIONS: dict[str, ex.Expression] = {
    "#n0 = :v0": ex.Compare(A, "=", literally(3)),
    "#n0 <> :v0": ex.Compare(A, "<>", literally(3)),
    "#n0 < #n1": ex.Compare(A, "<", B),
    "#n0 <= :v0": ex.Compare(A, "<=", literally(2)),
    "#n0 > :v0": ex.Compare(A, ">", literally(2)),
    ":v0 >= #n0": ex.Compare(literally(3), ">=", A),
    "#n0.#n1[1] = :v0": ex.Compare(DEEP, "=", literally("two")),
    "#n0.#n1 = :v0": ex.Compare(ex.Attribute(("map", "odd name")), "=", literally(True)),
    "size(#n0) = :v0": ex.Compare(ex.SizeOf(("text",)), "=", literally(5)),
    "size(#n0.#n1) > #n2": ex.Compare(ex.SizeOf(("map", "list")), ">", A),
    "#n0 BETWEEN :v0 AND :v1": ex.Between(A, literally(1), literally(3)),
    "#n0 BETWEEN #n1 AND :v0": ex.Between(B, A, literally(9)),
    "#n0 IN (:v0, :v1, #n1)": ex.OneOf(A, (literally(8), literally(9), B)),
    "#n0 IN (:v0)": ex.OneOf(ex.Attribute(("text",)), (literally("hello"),)),
    "attribute_exists(#n0.#n1)": ex.Exists(("map", "none")),
    "attribute_not_exists(#n0[9])": ex.Missing(("list", 9)),
    "attribute_type(#n0, :v0)": ex.HasType(("tags",), "SS"),
    "begins_with(#n0, :v0)": ex.BeginsWith(("text",), literally("he")),
    "contains(#n0, :v0)": ex.Contains(("tags",), literally("x")),
    "contains(#n0, #n1)": ex.Contains(("list",), A),
    "NOT (#n0 = :v0)": ex.Not(equals("a", 3)),
    "NOT (#n0 = :v0 AND #n1 = :v1)": ex.Not(ex.All((equals("a", 3), equals("b", 5)))),
    "NOT (NOT (#n0 = :v0))": ex.Not(ex.Not(equals("a", 3))),
    "#n0 = :v0 AND #n1 = :v1 AND #n2 = :v2": ex.All((equals("a", 3), equals("b", 4), equals("text", "hello"))),
    "#n0 = :v0 OR #n1 = :v0": ex.Either((equals("a", 4), equals("b", 4))),
    "(#n0 = :v0 OR #n1 = :v0) AND #n2 = :v1": ex.All(
        (ex.Either((equals("a", 4), equals("b", 4))), equals("text", "hello"))
    ),
    "(#n0 = :v0 AND #n1 = :v0) OR NOT (#n0 = :v1)": ex.Either(
        (ex.All((equals("a", 4), equals("b", 4))), ex.Not(equals("a", 9)))
    ),
    "attribute_exists(#n0)": ex.All((ex.Either((ex.Exists(("a",)),)),)),
    "#n0 = :v0 AND (#n1 = :v1 OR #n1 = :v2)": ex.All(
        (equals("a", 9), ex.All((ex.Either((equals("b", 5), equals("b", 6))),)))
    ),
    "#n0 = :v0 AND (#n0 = :v1 OR attribute_exists(#n1))": ex.All(
        (
            equals("a", 9),
            ex.Within(ex.All((ex.Either((equals("a", 3), ex.Exists(("b",)))),)), "Thing", "a", "ge=0", "add"),
        )
    ),
    "#n0 BETWEEN :v0 AND :v1 AND #n1 = :v2": ex.All(
        (ex.Between(A, literally(1), literally(3)), equals("text", "hello"))
    ),
}

UPDATES: dict[str, tuple[ex.Action, ...]] = {
    "SET #n0 = :v0": (ex.Assign(("a",), literally(9)),),
    "SET #n0 = #n1": (ex.Assign(("new",), ex.Attribute(("text",))),),
    "SET #n0 = if_not_exists(#n1, :v0)": (ex.Assign(("new",), ex.IfMissing(("gone",), literally("x"))),),
    "SET #n0 = #n0 + :v0": (ex.Assign(("a",), ex.Sum(A, literally(2))),),
    "SET #n0 = if_not_exists(#n0, :v0) + #n1": (
        ex.Assign(("gone",), ex.Sum(ex.IfMissing(("gone",), literally(10)), A)),
    ),
    "SET #n0 = list_append(#n0, :v0)": (ex.Assign(("list",), ex.Joined(ex.Attribute(("list",)), literally([5]))),),
    "SET #n0 = list_append(:v0, if_not_exists(#n1, :v1))": (
        ex.Assign(("list",), ex.Joined(literally([5]), ex.IfMissing(("gone",), literally([])))),
    ),
    "SET #n0.#n1[1] = :v0, #n0.#n2 = :v1": (
        ex.Assign(("map", "list", 1), literally("zwei")),
        ex.Assign(("map", "odd name"), literally(None)),
    ),
    "REMOVE #n0, #n1.#n2": (ex.Drop(("a",)), ex.Drop(("map", "count"))),
    "REMOVE #n0[3], #n0[1], #n0[0]": (ex.Drop(("list", 1)), ex.Drop(("list", 0)), ex.Drop(("list", 3))),
    "ADD #n0 :v0": (ex.Increase(("a",), 4),),
    "ADD #n0 :v0, #n1 :v1": (ex.Increase(("gone",), -4), ex.Include(("tags",), frozenset({"z", "x"}))),
    "SET #n0.#n1 = if_not_exists(#n0.#n1, :v0) + :v1": (ex.Increase(("map", "count"), 5),),
    "SET #n0.#n1 = if_not_exists(#n0.#n1, :v0) + :v1 ADD #n2 :v1": (
        ex.Increase(("map", "fresh"), 5),
        ex.Increase(("a",), 5),
    ),
    "DELETE #n0 :v0": (ex.Exclude(("tags",), frozenset({"x"})),),
    "SET #n0 = :v0, #n3 = :v2 REMOVE #n1 ADD #n2 :v1 DELETE #n4 :v3": (
        ex.Assign(("a",), literally(0)),
        ex.Drop(("b",)),
        ex.Increase(("count",), 1),
        ex.Assign(("text",), literally("bye")),
        ex.Exclude(("tags",), frozenset({"y"})),
    ),
}

KEYS: dict[str, KeyRange | None] = {
    "#n0 = :v0": None,
    "#n0 = :v0 AND #n1 = :v1": KeyRange("=", "b"),
    "#n0 = :v0 AND #n1 < :v1": KeyRange("<", "b"),
    "#n0 = :v0 AND #n1 <= :v1": KeyRange("<=", "b"),
    "#n0 = :v0 AND #n1 > :v1": KeyRange(">", "b"),
    "#n0 = :v0 AND #n1 >= :v1": KeyRange(">=", "b"),
    "#n0 = :v0 AND #n1 BETWEEN :v1 AND :v2": KeyRange("between", "b", "c"),
    "#n0 = :v0 AND begins_with(#n1, :v1)": KeyRange("begins", "b"),
}
MATCHING_SORT_KEYS = {
    None: "abcd",
    "=": "b",
    "<": "a",
    "<=": "ab",
    ">": "cd",
    ">=": "bcd",
    "between": "bc",
    "begins": "b",
}

PLAIN = fresh(TableSchema("PlainExpressions", KeyAttribute("pk")))
SORTED = fresh(TableSchema("SortedExpressions", KeyAttribute("pk"), KeyAttribute("sk")))
_filled_servers: set[str] = set()


@pytest.fixture(params=["dynoxide", "ministack"])
async def client(request) -> AsyncIterator[Client]:
    async with client_of(request.param) as client:
        if request.param not in _filled_servers:
            await apply_schemas(client, PLAIN, SORTED)
            await client.call("PutItem", TableName=PLAIN.name, Item=wire_item(ITEM))
            for sk in "abcd":
                await client.call("PutItem", TableName=SORTED.name, Item=wire_item({"pk": "p", "sk": sk}))
            _filled_servers.add(request.param)
        yield client


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_is_rendered_with_placeholders_only(text: str):
    assert Expressions().condition(CONDITIONS[text]) == text


@pytest.mark.parametrize("text", CONDITIONS)
async def test_the_service_evaluates_a_condition_as_the_embedded_store_does(client: Client, text: str):
    expressions = Expressions()
    condition = expressions.condition(CONDITIONS[text])
    response = await client.call(
        "Scan", TableName=PLAIN.name, FilterExpression=condition, ConsistentRead=True, **expressions.parameters()
    )
    assert bool(response["Count"]) == holds(CONDITIONS[text], ITEM)


@pytest.mark.parametrize("text", UPDATES)
def test_an_update_has_each_clause_once(text: str):
    assert Expressions().update(UPDATES[text]) == text


@pytest.mark.parametrize("text", UPDATES)
async def test_the_service_applies_an_update_as_the_embedded_store_does(client: Client, text: str):
    item = ITEM | {"pk": f"update {text}"}
    await client.call("PutItem", TableName=PLAIN.name, Item=wire_item(item))
    expressions = Expressions()
    update = expressions.update(UPDATES[text])
    key = wire_item({"pk": item["pk"]})
    response = await client.call(
        "UpdateItem",
        TableName=PLAIN.name,
        Key=key,
        UpdateExpression=update,
        ReturnValues="ALL_NEW",
        **expressions.parameters(),
    )
    await client.call("DeleteItem", TableName=PLAIN.name, Key=key)
    assert item_of(response["Attributes"]) == apply_update(UPDATES[text], item)


@pytest.mark.parametrize("text", KEYS)
async def test_a_key_range_is_rendered_and_returns_its_sort_keys(client: Client, text: str):
    key_range = KEYS[text]
    expressions = Expressions()
    assert expressions.key(SORTED.pk, "p", SORTED.sk, key_range) == text
    response = await client.call(
        "Query", TableName=SORTED.name, KeyConditionExpression=text, **expressions.parameters()
    )
    sort_keys = [item_of(item)["sk"] for item in response["Items"]]
    assert sort_keys == list(MATCHING_SORT_KEYS[None if key_range is None else key_range.sign])


async def test_a_projection_returns_the_named_attributes(client: Client):
    expressions = Expressions()
    projection = expressions.projection(["text", "name", "gone"])
    assert projection == "#n0, #n1, #n2"
    response = await client.call(
        "GetItem",
        TableName=PLAIN.name,
        Key={"pk": {"S": "p"}},
        ProjectionExpression=projection,
        **expressions.parameters(),
    )
    assert item_of(response["Item"]) == {"text": "hello", "name": "size"}


def test_names_and_equal_values_share_their_placeholders():
    expressions = Expressions()
    condition = expressions.condition(
        ex.All((equals("a", 1), equals("a", True), equals("b", 1), equals("b", frozenset({"y", "x"}))))
    )
    update = expressions.update((ex.Assign(("a",), literally(1)), ex.Include(("b",), frozenset({"x", "y"}))))
    assert condition == "#n0 = :v0 AND #n0 = :v1 AND #n1 = :v0 AND #n1 = :v2"
    assert update == "SET #n0 = :v0 ADD #n1 :v2"
    assert expressions.parameters() == {
        "ExpressionAttributeNames": {"#n0": "a", "#n1": "b"},
        "ExpressionAttributeValues": {":v0": {"N": "1"}, ":v1": {"BOOL": True}, ":v2": {"SS": ["x", "y"]}},
    }


def test_an_expression_without_placeholders_has_no_parameters():
    assert Expressions().parameters() == {}
