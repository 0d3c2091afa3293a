"""The big move: a filled embedded store into a DynamoDB that others wrote, and back into a fresh one."""

from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from tests.support.designs.board import board
from tests.support.designs.connections import connections
from tests.support.designs.kifu import kifu
from tests.support.designs.measures import blobs, measures, words
from tests.support.designs.pieces import pieces
from tests.support.designs.ranking import ranking
from tests.support.dynamodb_servers import ServerName, shared_server
from tests.support.plain_client import PlainClient
from tests.table.transfer.sample_items import FUTURE, fill, items_for, lines_in, lines_of, start_backend
from tests.table.transfer.store_comparison import compare_stores
from zataku.clock import SystemClock
from zataku.table.backend import port as port
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.backend.values import Item, KeyValue, unpack_row
from zataku.table.dynamodb.backend import DynamoBackend
from zataku.table.transfer import export_store, import_store
from zataku.table.transfer.dynamodb_json import encode_line

DESIGNS = (board, connections, kifu, measures, blobs, words, pieces, ranking)
ITEMS = 400
PARTITIONS = 8


def goods_of(table: TableSchema) -> list[Item]:
    """What is moved. Nothing that has expired, because these services delete that whenever they like."""
    return items_for(table, ITEMS, ends=(FUTURE,))


async def answers(store: port.Backend, tables: Sequence[TableSchema]) -> dict[tuple[str, str, str], list[bytes]]:
    """What the indexes answer for some partitions each, every answer in the order it came.

    Items with the same sort key come in no promised order, so such neighbours are put into one.
    """
    found: dict[tuple[str, str, str], list[bytes]] = {}
    for table in tables:
        goods = goods_of(table)
        for index in table.indexes:
            values = {item[index.pk.name]: None for item in goods if index.pk.name in item}
            for value in list(values)[:PARTITIONS]:
                rows = await _queried(store, table, index, value)
                found[table.name, index.name, repr(value)] = rows
    return found


async def _queried(store: port.Backend, table: TableSchema, index: IndexSchema, pk: KeyValue) -> list[bytes]:
    items: list[Item] = []
    start = None
    while True:
        page = await store.query(port.QueryItems(table, pk, index=index, start=start))
        items += [unpack_row(row) for row in page.rows]
        start = page.resume
        if start is None:
            break
    if index.sk is None:
        return sorted(map(encode_line, items))
    groups = groupby(items, key=lambda item: item[index.sk.name])
    return [line for _, group in groups for line in sorted(map(encode_line, group))]


@pytest.fixture
async def away(request: pytest.FixtureRequest) -> AsyncIterator[port.Backend]:
    """A store in somebody else's DynamoDB, with the tables of all designs."""
    name: ServerName = request.param
    store = DynamoBackend(PlainClient(shared_server(name).endpoint), metadata_table="ZatakuStore-moving")
    await store.start(schemas())
    yield store
    await store.close()


def schemas() -> list[TableSchema]:
    return [design.schema("moving") for design in DESIGNS]


@pytest.mark.parametrize("away", ["dynoxide", "ministack"], indirect=True)
async def test_a_store_moves_to_dynamodb_and_back_and_nothing_has_changed(away: port.Backend, tmp_path: Path):
    tables, clock = schemas(), SystemClock()
    home = await start_backend(tmp_path / "home.db", tables)
    for table in tables:
        await fill(home, table, goods_of(table))
    there, back = tmp_path / "there", tmp_path / "back"
    await export_store(home, tables, there, clock=clock, part_bytes=50_000, page_items=100)
    assert (await import_store(away, tables, there)).verified
    assert [difference async for difference in compare_stores(home, away, tables)] == []
    await export_store(away, tables, back, clock=clock, part_bytes=50_000, page_items=100, segments=2)
    fresh = await start_backend(tmp_path / "fresh.db", tables)
    assert (await import_store(fresh, tables, back)).verified
    for table in tables:
        assert await lines_in(fresh, table) == lines_of(goods_of(table))
    expected = await answers(home, tables)
    assert sum(map(len, expected.values())) > 500
    assert await answers(away, tables) == expected
    assert await answers(fresh, tables) == expected
    await home.close()
    await fresh.close()
