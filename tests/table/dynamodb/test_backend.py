"""The DynamoDB backend below the typed store: its reads, writes and units, and the calls it rejects without sending."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from decimal import Decimal
from pathlib import Path

import pytest

from tests.support.dynamodb_servers import shared_server
from tests.table.dynamodb.fault_proxy import FaultProxy
from tests.table.dynamodb.server_tables import connected, fresh
from zataku.table.backend import expression as ex
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import ConditionFailed, IndexNotReady, TableError, TokenReused, TransactionCancelled
from zataku.table.backend.port import (
    Backend,
    CheckItem,
    DeleteItem,
    GetItem,
    KeyRange,
    PutItem,
    QueryItems,
    ScanItems,
    UpdateItem,
)
from zataku.table.backend.table_schema import KEYS_ONLY, IndexSchema, KeyAttribute, TableSchema, include
from zataku.table.backend.values import Item
from zataku.table.dynamodb.backend import DynamoBackend
from zataku.table.dynamodb.client import Client
from zataku.table.embedded import EmbeddedBackend

MARK = secrets.token_hex(5)
BY_NAME = IndexSchema("ByName", KeyAttribute("name"), KeyAttribute("at", "N"), include("note"))
BY_SCORE = IndexSchema("ByScore", KeyAttribute("pk"), KeyAttribute("score", "N"), KEYS_ONLY, local=True)
THINGS = TableSchema(f"ThingsRaw-{MARK}", KeyAttribute("pk"), KeyAttribute("sk"), (BY_NAME, BY_SCORE))
NUMBERS = TableSchema(f"NumbersRaw-{MARK}", KeyAttribute("id", "N"))
OTHER = TableSchema(f"NotStarted-{MARK}", KeyAttribute("pk"))
KEY = ("p", "s")
CONDITION = ex.Exists(("pk",))


def thing(pk: str = "p", sk: str = "s", **more: object) -> Item:
    return {"pk": pk, "sk": sk, **more}


def assign(name: str, value: object) -> ex.Assign:
    return ex.Assign((name,), ex.Literally(value))


@pytest.fixture
async def proxy() -> AsyncIterator[FaultProxy]:
    async with FaultProxy(shared_server("dynoxide").endpoint) as proxy:
        yield proxy


@pytest.fixture
async def service(proxy: FaultProxy) -> AsyncIterator[DynamoBackend]:
    backend = DynamoBackend(Client(proxy.endpoint), metadata_table=f"RawStoreMetadata-{MARK}")
    await backend.start([THINGS, NUMBERS])
    yield backend
    await backend.close()


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[EmbeddedBackend]:
    backend = EmbeddedBackend(tmp_path / "store.db")
    await backend.start([THINGS, NUMBERS])
    yield backend
    await backend.close()


Call = Callable[[Backend], Awaitable[object]]


def put(item: Item, table: TableSchema = THINGS) -> Call:
    return lambda store: store.write(PutItem(table, item))


def update(*actions: ex.Action) -> Call:
    return lambda store: store.write(UpdateItem(THINGS, KEY, actions))


def query(**options: object) -> Call:
    options = {"pk": "p"} | options
    return lambda store: store.query(QueryItems(THINGS, **options))  # type: ignore[arg-type]


def deep(levels: int) -> object:
    return [deep(levels - 1)] if levels > 1 else 0


BAD_CALLS: dict[str, Call] = {
    "a table that was not started": lambda store: store.get(GetItem(OTHER, ("p", None))),
    "a write to a table that was not started": put({"pk": "p"}, OTHER),
    "a key without its sort key": lambda store: store.get(GetItem(THINGS, ("p", None))),
    "a sort key in a table without one": lambda store: store.get(GetItem(NUMBERS, (1, "s"))),
    "a key of another type": lambda store: store.get(GetItem(NUMBERS, ("one", None))),
    "an empty key": lambda store: store.get(GetItem(THINGS, ("", "s"))),
    "a long key": lambda store: store.get(GetItem(THINGS, ("p", "s" * 1025))),
    "a lone surrogate in a key": lambda store: store.get(GetItem(THINGS, ("\ud834", "s"))),
    "an item without its key": put({"sk": "s"}),
    "an item with a number for a name": put({"pk": "p", "sk": "s", 3: "x"}),  # type: ignore[dict-item]
    "an item with an unsupported type": put(thing(x=object())),
    "an item with a lone surrogate": put(thing(x="\ud834")),
    "an item with a lone surrogate in a name": put(thing(**{"\ud834": 1})),
    "an item that is too deep": put(thing(x=deep(33))),
    "an item of 400 kilobytes": put(thing(x="x" * 409_600)),
    "an index key of another type": put(thing(name=3, at=1)),
    "an empty index key": put(thing(name="", at=1)),
    "an update of a key": update(assign("pk", "q")),
    "an update of an empty path": update(ex.Drop(())),
    "an update of overlapping paths": update(assign("a", 1), ex.Drop(("a", "b"))),
    "an update with a negative list index": update(ex.Drop(("a", -1))),
    "an update of an index key to another type": update(assign("name", 3)),
    "an update of an index key to an empty string": update(assign("name", "")),
    "a condition without parts": lambda store: store.write(DeleteItem(THINGS, KEY, ex.All(()))),
    "a condition that compares an attribute with itself": lambda store: store.write(
        DeleteItem(THINGS, KEY, ex.Compare(ex.Attribute(("a",)), "=", ex.Attribute(("a",))))
    ),
    "a page of no items": query(limit=0),
    "a strong page of a global index": query(index=BY_NAME, strong=True),
    "an index that does not exist": query(index=IndexSchema("Missing", KeyAttribute("x"))),
    "a range with its bounds reversed": query(range=KeyRange("between", "b", "a")),
    "a range of another type": query(range=KeyRange("<", 3)),
    "a prefix of a number": query(index=BY_SCORE, range=KeyRange("begins", 3)),
    "a projection of nothing": query(attributes=()),
    "a projection of one name twice": query(attributes=("a", "a")),
    "an attribute that a global index lacks": query(index=BY_NAME, attributes=("score",)),
    "a filter on a key": query(filter=ex.Exists(("sk",))),
    "a position of another table": query(start={"id": 3}),
    "a position of another partition": query(start={"pk": "q", "sk": "s"}),
    "a position of another type": query(start={"pk": "p", "sk": 3}),
    "a segment out of range": lambda store: store.scan(ScanItems(THINGS, segment=2, segments=2)),
    "too many reads": lambda store: store.batch_get([GetItem(NUMBERS, (at, None)) for at in range(101)]),
    "the same read twice": lambda store: store.batch_get(
        [GetItem(NUMBERS, (1, None)), GetItem(NUMBERS, (Decimal(1), None))]
    ),
    "the same read twice in a snapshot": lambda store: store.snapshot([GetItem(THINGS, KEY), GetItem(THINGS, KEY)]),
    "too many writes": lambda store: store.batch_write([PutItem(NUMBERS, {"id": at}) for at in range(26)]),
    "a batch with a condition": lambda store: store.batch_write([PutItem(THINGS, thing(), CONDITION)]),
    "two writes to one item": lambda store: store.batch_write([PutItem(THINGS, thing()), DeleteItem(THINGS, KEY)]),
    "an empty transaction": lambda store: store.transact([]),
    "a transaction with too many writes": lambda store: store.transact(
        [PutItem(NUMBERS, {"id": at}) for at in range(101)]
    ),
    "a transaction with two operations on one item": lambda store: store.transact(
        [PutItem(THINGS, thing()), CheckItem(THINGS, KEY, CONDITION)]
    ),
    "a transaction with a long token": lambda store: store.transact([PutItem(THINGS, thing())], "t" * 37),
    "a table without a stream": lambda store: store.changes(THINGS, "watcher", 10),
}


@pytest.mark.parametrize("name", BAD_CALLS)
async def test_a_bad_call_raises_the_same_error_as_the_embedded_backend_and_is_not_sent(
    proxy: FaultProxy, service: DynamoBackend, embedded: EmbeddedBackend, name: str
):
    with pytest.raises(TableError) as expected:
        await BAD_CALLS[name](embedded)
    proxy.seen.clear()
    with pytest.raises(TableError) as raised:
        await BAD_CALLS[name](service)
    assert type(raised.value) is type(expected.value)
    assert proxy.seen == []


async def test_a_get_returns_the_item_or_its_projection(service: DynamoBackend):
    item = thing("get", a=1, b=frozenset({Decimal("1.5"), 2}))
    await service.write(PutItem(THINGS, item))
    assert await service.get(GetItem(THINGS, ("get", "s"), True)) == item
    assert await service.get(GetItem(THINGS, ("get", "s"), True, ("a", "gone"))) == {"a": 1}
    assert await service.get(GetItem(THINGS, ("get", "none"), True)) is None


async def test_a_batch_mixes_strong_eventual_and_projected_reads(service: DynamoBackend, proxy: FaultProxy):
    for at in range(4):
        await service.write(PutItem(NUMBERS, {"id": at, "a": at, "b": at}))
    proxy.seen.clear()
    items = await service.batch_get(
        [
            GetItem(NUMBERS, (0, None), strong=True),
            GetItem(NUMBERS, (1, None)),
            GetItem(NUMBERS, (2, None), True, ("a",)),
            GetItem(NUMBERS, (3, None), True),
            GetItem(NUMBERS, (-9, None)),
            GetItem(THINGS, ("no", "body")),
        ]
    )
    assert items == [
        {"id": 0, "a": 0, "b": 0},
        {"id": 1, "a": 1, "b": 1},
        {"a": 2},
        {"id": 3, "a": 3, "b": 3},
        None,
        None,
    ]
    assert proxy.seen == ["BatchGetItem"] * 3
    assert await service.batch_get([]) == []
    assert await service.snapshot([]) == []
    assert await service.batch_write([]) == []


async def test_a_count_returns_no_items(service: DynamoBackend):
    for at in range(3):
        await service.write(PutItem(THINGS, thing("count", f"{at}", a=at)))
    above = ex.Compare(ex.Attribute(("a",)), ">", ex.Literally(0))
    rows = await service.query(QueryItems(THINGS, "count", filter=above, count_only=True, attributes=("a",)))
    assert (rows.rows, rows.count, rows.scanned, rows.resume) == ([], 2, 3, None)


async def test_a_page_resumes_where_the_previous_one_ended(service: DynamoBackend):
    for at in range(5):
        await service.write(PutItem(THINGS, thing("pages", f"{at}", name="n" + MARK, at=at)))
    for index, pk in ((None, "pages"), (BY_NAME, "n" + MARK)):
        numbers, start = [], None
        while True:
            rows = await service.query(QueryItems(THINGS, pk, index=index, limit=2, start=start, newest_first=True))
            numbers += [row["at"] for row in rows.rows if isinstance(row, dict)]
            start = rows.resume
            if start is None:
                break
        assert numbers == [4, 3, 2, 1, 0]


async def test_a_write_returns_the_new_or_the_deleted_item(service: DynamoBackend):
    key = ("write", "s")
    written = await service.write(PutItem(THINGS, thing("write", a=1)))
    assert written.new == thing("write", a=1)
    updated = await service.write(UpdateItem(THINGS, key, (ex.Increase(("a",), 2),)))
    assert updated.new == thing("write", a=3)
    assert (await service.write(UpdateItem(THINGS, key, ()))).new == thing("write", a=3)
    deleted = await service.write(DeleteItem(THINGS, key))
    assert (deleted.old, deleted.new) == (thing("write", a=3), None)
    assert (await service.write(DeleteItem(THINGS, key))).old is None


async def test_a_failed_condition_returns_the_stored_item(service: DynamoBackend):
    await service.write(PutItem(THINGS, thing("stored", a=1)))
    for write in (
        PutItem(THINGS, thing("stored"), ex.Missing(("pk",))),
        UpdateItem(THINGS, ("stored", "s"), (assign("a", 2),), ex.Missing(("pk",))),
        DeleteItem(THINGS, ("stored", "s"), ex.Missing(("pk",))),
    ):
        with pytest.raises(ConditionFailed) as raised:
            await service.write(write)
        assert raised.value.current == thing("stored", a=1)
    with pytest.raises(ConditionFailed) as raised:
        await service.write(DeleteItem(THINGS, ("missing", "s"), CONDITION))
    assert raised.value.current is None


async def test_the_same_token_in_two_stores_does_not_collide(proxy: FaultProxy, service: DynamoBackend):
    neighbour = DynamoBackend(Client(proxy.endpoint), metadata_table=f"NeighbourMetadata-{MARK}")
    await neighbour.start([THINGS])
    await service.transact([PutItem(THINGS, thing("token", a=1))], "one")
    await neighbour.transact([PutItem(THINGS, thing("token", a=2))], "one")
    assert await service.get(GetItem(THINGS, ("token", "s"), True)) == thing("token", a=2)
    with pytest.raises(TokenReused):
        await service.transact([PutItem(THINGS, thing("token", a=3))], "one")
    await neighbour.close()


async def test_units_are_billed_by_table_and_index(service: DynamoBackend):
    consumed = ConsumedCapacity()
    item = thing("consumed", name="consumed" + MARK, at=1, score=2, note="x" * 2100)
    await service.write(PutItem(THINGS, item), consumed)
    assert consumed.by_resource == {
        (THINGS.name, None): (0, 3),
        (THINGS.name, "ByName"): (0, 3),
        (THINGS.name, "ByScore"): (0, 1),
    }
    consumed = ConsumedCapacity()
    await service.get(GetItem(THINGS, ("consumed", "s"), True), consumed)
    await service.query(QueryItems(THINGS, "consumed" + MARK, index=BY_NAME), consumed)
    await service.snapshot([GetItem(THINGS, ("consumed", "s"))], consumed)
    assert consumed.by_resource == {(THINGS.name, None): (3, 0), (THINGS.name, "ByName"): (0.5, 0)}
    consumed = ConsumedCapacity()
    await service.transact([PutItem(NUMBERS, {"id": 77}), DeleteItem(NUMBERS, (78, None))], consumed=consumed)
    assert consumed.by_resource == {(NUMBERS.name, None): (0, 4)}


async def test_failed_writes_are_charged_by_the_stored_item(service: DynamoBackend):
    await service.write(PutItem(THINGS, thing("heavy", note="x" * 3000)))
    consumed = ConsumedCapacity()
    with pytest.raises(ConditionFailed):
        await service.write(DeleteItem(THINGS, ("heavy", "s"), ex.Missing(("pk",))), consumed)
    assert consumed.by_resource == {(THINGS.name, None): (0, 3)}
    consumed = ConsumedCapacity()
    with pytest.raises(TransactionCancelled):
        await service.transact([CheckItem(THINGS, ("heavy", "s"), ex.Missing(("pk",)))], consumed=consumed)
    assert consumed.by_resource == {(THINGS.name, None): (0, 6)}


async def test_a_sweep_deletes_nothing_because_the_service_expires_items(service: DynamoBackend):
    assert await service.sweep(THINGS, 0, 10) == 0


async def test_a_query_of_an_index_still_to_be_created_raises_index_not_ready(proxy: FaultProxy):
    table = fresh(THINGS)
    backend = DynamoBackend(Client(proxy.endpoint), metadata_table=f"RawStoreMetadata-{MARK}")
    await backend.start([table])
    async with connected(proxy.endpoint) as client:
        drop = {"Delete": {"IndexName": "ByName"}}
        await client.call("UpdateTable", TableName=table.name, GlobalSecondaryIndexUpdates=[drop])
    with pytest.raises(IndexNotReady):
        await backend.query(QueryItems(table, "n", index=BY_NAME))
    states = {state.index: state.status for state in await backend.index_states()}
    assert states == {"ByName": "creating", "ByScore": "active"}
    await backend.close()
