"""The store in DynamoDB below the typed layer: it refuses what the embedded store refuses, before anything is sent."""

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
OTHER = TableSchema(f"NobodyHasThis-{MARK}", KeyAttribute("pk"))
KEY = ("p", "s")
CONDITION = ex.Exists(("pk",))


def thing(pk: str = "p", sk: str = "s", **more: object) -> Item:
    return {"pk": pk, "sk": sk, **more}


def assign(name: str, value: object) -> ex.Assign:
    return ex.Assign((name,), ex.Literally(value))


@pytest.fixture
async def proxy() -> AsyncIterator[FaultProxy]:
    async with FaultProxy(shared_server("dynoxide").endpoint) as made:
        yield made


@pytest.fixture
async def service(proxy: FaultProxy) -> AsyncIterator[DynamoBackend]:
    backend = DynamoBackend(Client(proxy.endpoint), metadata_table=f"RawStoreBook-{MARK}")
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
    "a sort key too many": lambda store: store.get(GetItem(NUMBERS, (1, "s"))),
    "a key of another type": lambda store: store.get(GetItem(NUMBERS, ("one", None))),
    "an empty key": lambda store: store.get(GetItem(THINGS, ("", "s"))),
    "a long key": lambda store: store.get(GetItem(THINGS, ("p", "s" * 1025))),
    "half a character in a key": lambda store: store.get(GetItem(THINGS, ("\ud834", "s"))),
    "an item without its key": put({"sk": "s"}),
    "an item with a number for a name": put({"pk": "p", "sk": "s", 3: "x"}),  # type: ignore[dict-item]
    "an item with a thing that is none": put(thing(x=object())),
    "an item with half a character": put(thing(x="\ud834")),
    "an item with half a character in a name": put(thing(**{"\ud834": 1})),
    "an item that is too deep": put(thing(x=deep(33))),
    "an item of 400 kilobytes": put(thing(x="x" * 409_600)),
    "an index key of another type": put(thing(name=3, at=1)),
    "an empty index key": put(thing(name="", at=1)),
    "an update of a key": update(assign("pk", "q")),
    "an update of nothing in particular": update(ex.Drop(())),
    "an update of one place twice": update(assign("a", 1), ex.Drop(("a", "b"))),
    "an update that counts from the end": update(ex.Drop(("a", -1))),
    "an update of an index key to another type": update(assign("name", 3)),
    "an update of an index key to nothing": update(assign("name", "")),
    "a condition without parts": lambda store: store.write(DeleteItem(THINGS, KEY, ex.All(()))),
    "a condition that compares a thing with itself": lambda store: store.write(
        DeleteItem(THINGS, KEY, ex.Compare(ex.Attribute(("a",)), "=", ex.Attribute(("a",))))
    ),
    "a page of no items": query(limit=0),
    "a strong page of a global index": query(index=BY_NAME, strong=True),
    "an index that is not there": query(index=IndexSchema("Nobody", KeyAttribute("x"))),
    "a range upside down": query(range=KeyRange("between", "b", "a")),
    "a range of another type": query(range=KeyRange("<", 3)),
    "the beginning of a number": query(index=BY_SCORE, range=KeyRange("begins", 3)),
    "a projection of nothing": query(attributes=()),
    "a projection of one name twice": query(attributes=("a", "a")),
    "what a global index lacks": query(index=BY_NAME, attributes=("score",)),
    "a filter on a key": query(filter=ex.Exists(("sk",))),
    "a position of another table": query(start={"id": 3}),
    "a position of another partition": query(start={"pk": "q", "sk": "s"}),
    "a position of another type": query(start={"pk": "p", "sk": 3}),
    "a segment that is none": lambda store: store.scan(ScanItems(THINGS, segment=2, segments=2)),
    "too many reads": lambda store: store.batch_get([GetItem(NUMBERS, (at, None)) for at in range(101)]),
    "one read twice": lambda store: store.batch_get(
        [GetItem(NUMBERS, (1, None)), GetItem(NUMBERS, (Decimal(1), None))]
    ),
    "one read twice in a snapshot": lambda store: store.snapshot([GetItem(THINGS, KEY), GetItem(THINGS, KEY)]),
    "too many writes": lambda store: store.batch_write([PutItem(NUMBERS, {"id": at}) for at in range(26)]),
    "a batch with a condition": lambda store: store.batch_write([PutItem(THINGS, thing(), CONDITION)]),
    "one write twice": lambda store: store.batch_write([PutItem(THINGS, thing()), DeleteItem(THINGS, KEY)]),
    "a transaction of nothing": lambda store: store.transact([]),
    "a transaction of too much": lambda store: store.transact([PutItem(NUMBERS, {"id": at}) for at in range(101)]),
    "a transaction of one item twice": lambda store: store.transact(
        [PutItem(THINGS, thing()), CheckItem(THINGS, KEY, CONDITION)]
    ),
    "a transaction with a long token": lambda store: store.transact([PutItem(THINGS, thing())], "t" * 37),
    "a stream that is not there": lambda store: store.changes(THINGS, "watcher", 10),
}


@pytest.mark.parametrize("name", BAD_CALLS)
async def test_a_bad_call_is_refused_alike_and_never_sent(
    proxy: FaultProxy, service: DynamoBackend, embedded: EmbeddedBackend, name: str
):
    with pytest.raises(TableError) as expected:
        await BAD_CALLS[name](embedded)
    proxy.seen.clear()
    with pytest.raises(TableError) as refused:
        await BAD_CALLS[name](service)
    assert type(refused.value) is type(expected.value)
    assert proxy.seen == []


async def test_an_item_comes_back_by_parts_and_as_a_whole(service: DynamoBackend):
    item = thing("get", a=1, b=frozenset({Decimal("1.5"), 2}))
    await service.write(PutItem(THINGS, item))
    assert await service.get(GetItem(THINGS, ("get", "s"), True)) == item
    assert await service.get(GetItem(THINGS, ("get", "s"), True, ("a", "gone"))) == {"a": 1}
    assert await service.get(GetItem(THINGS, ("get", "none"), True)) is None


async def test_a_batch_may_read_in_several_manners(service: DynamoBackend, proxy: FaultProxy):
    for at in range(4):
        await service.write(PutItem(NUMBERS, {"id": at, "a": at, "b": at}))
    proxy.seen.clear()
    found = await service.batch_get(
        [
            GetItem(NUMBERS, (0, None), strong=True),
            GetItem(NUMBERS, (1, None)),
            GetItem(NUMBERS, (2, None), True, ("a",)),
            GetItem(NUMBERS, (3, None), True),
            GetItem(NUMBERS, (-9, None)),
            GetItem(THINGS, ("no", "body")),
        ]
    )
    assert found == [
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


async def test_a_count_brings_no_items(service: DynamoBackend):
    for at in range(3):
        await service.write(PutItem(THINGS, thing("count", f"{at}", a=at)))
    above = ex.Compare(ex.Attribute(("a",)), ">", ex.Literally(0))
    rows = await service.query(QueryItems(THINGS, "count", filter=above, count_only=True, attributes=("a",)))
    assert (rows.rows, rows.count, rows.scanned, rows.resume) == ([], 2, 3, None)


async def test_a_page_goes_on_where_it_ended(service: DynamoBackend):
    for at in range(5):
        await service.write(PutItem(THINGS, thing("pages", f"{at}", name="n" + MARK, at=at)))
    for index, pk in ((None, "pages"), (BY_NAME, "n" + MARK)):
        found, start = [], None
        while True:
            rows = await service.query(QueryItems(THINGS, pk, index=index, limit=2, start=start, newest_first=True))
            found += [row["at"] for row in rows.rows if isinstance(row, dict)]
            start = rows.resume
            if start is None:
                break
        assert found == [4, 3, 2, 1, 0]


async def test_a_write_tells_the_state_that_its_caller_needs(service: DynamoBackend):
    key = ("told", "s")
    put_ = await service.write(PutItem(THINGS, thing("told", a=1)))
    assert put_.new == thing("told", a=1)
    updated = await service.write(UpdateItem(THINGS, key, (ex.Increase(("a",), 2),)))
    assert updated.new == thing("told", a=3)
    assert (await service.write(UpdateItem(THINGS, key, ()))).new == thing("told", a=3)
    deleted = await service.write(DeleteItem(THINGS, key))
    assert (deleted.old, deleted.new) == (thing("told", a=3), None)
    assert (await service.write(DeleteItem(THINGS, key))).old is None


async def test_a_failed_condition_returns_the_stored_item(service: DynamoBackend):
    await service.write(PutItem(THINGS, thing("lies", a=1)))
    for write in (
        PutItem(THINGS, thing("lies"), ex.Missing(("pk",))),
        UpdateItem(THINGS, ("lies", "s"), (assign("a", 2),), ex.Missing(("pk",))),
        DeleteItem(THINGS, ("lies", "s"), ex.Missing(("pk",))),
    ):
        with pytest.raises(ConditionFailed) as refused:
            await service.write(write)
        assert refused.value.current == thing("lies", a=1)
    with pytest.raises(ConditionFailed) as refused:
        await service.write(DeleteItem(THINGS, ("nobody", "s"), CONDITION))
    assert refused.value.current is None


async def test_tokens_of_two_stores_never_meet(proxy: FaultProxy, service: DynamoBackend):
    neighbour = DynamoBackend(Client(proxy.endpoint), metadata_table=f"NeighbourBook-{MARK}")
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


async def test_the_service_sweeps_by_itself(service: DynamoBackend):
    assert await service.sweep(THINGS, 0, 10) == 0


async def test_an_index_that_is_not_there_yet_is_not_ready(proxy: FaultProxy):
    table = fresh(THINGS)
    backend = DynamoBackend(Client(proxy.endpoint), metadata_table=f"RawStoreBook-{MARK}")
    await backend.start([table])
    async with connected(proxy.endpoint) as client:
        drop = {"Delete": {"IndexName": "ByName"}}
        await client.call("UpdateTable", TableName=table.name, GlobalSecondaryIndexUpdates=[drop])
    with pytest.raises(IndexNotReady):
        await backend.query(QueryItems(table, "n", index=BY_NAME))
    states = {state.index: state.status for state in await backend.index_states()}
    assert states == {"ByName": "creating", "ByScore": "active"}
    await backend.close()
