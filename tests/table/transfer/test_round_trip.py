"""A round trip: an embedded store to an independent DynamoDB server and back into a new embedded store."""

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


def unexpired_items(table: TableSchema) -> list[Item]:
    """The items to transfer; none is expired, because the servers may delete expired items at any time."""
    return items_for(table, ITEMS, expiries=(FUTURE,))


async def query_indexes(store: port.Backend, tables: Sequence[TableSchema]) -> dict[tuple[str, str, str], list[bytes]]:
    """The items of some partitions of every index, in the order of the query.

    The order of items with the same sort key is undefined, so they are sorted.
    """
    results: dict[tuple[str, str, str], list[bytes]] = {}
    for table in tables:
        items = unexpired_items(table)
        for index in table.indexes:
            values = {item[index.pk.name]: None for item in items if index.pk.name in item}
            for value in list(values)[:PARTITIONS]:
                results[table.name, index.name, repr(value)] = await _query_partition(store, table, index, value)
    return results


async def _query_partition(store: port.Backend, table: TableSchema, index: IndexSchema, pk: KeyValue) -> list[bytes]:
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
async def remote(request: pytest.FixtureRequest) -> AsyncIterator[port.Backend]:
    """A backend on an independent DynamoDB server, with the tables of all designs."""
    name: ServerName = request.param
    store = DynamoBackend(PlainClient(shared_server(name).endpoint), metadata_table="ZatakuStore-moving")
    await store.start(schemas())
    yield store
    await store.close()


def schemas() -> list[TableSchema]:
    return [design.schema("moving") for design in DESIGNS]


@pytest.mark.parametrize("remote", ["dynoxide", "ministack"], indirect=True)
async def test_a_store_transferred_to_dynamodb_and_back_is_unchanged(remote: port.Backend, tmp_path: Path):
    tables, clock = schemas(), SystemClock()
    local = await start_backend(tmp_path / "local.db", tables)
    for table in tables:
        await fill(local, table, unexpired_items(table))
    outbound, inbound = tmp_path / "outbound", tmp_path / "inbound"
    await export_store(local, tables, outbound, clock=clock, part_bytes=50_000, page_items=100)
    assert (await import_store(remote, tables, outbound)).verified
    assert await compare_stores(local, remote, tables) == []
    await export_store(remote, tables, inbound, clock=clock, part_bytes=50_000, page_items=100, segments=2)
    fresh = await start_backend(tmp_path / "fresh.db", tables)
    assert (await import_store(fresh, tables, inbound)).verified
    for table in tables:
        assert await lines_in(fresh, table) == lines_of(unexpired_items(table))
    expected = await query_indexes(local, tables)
    assert sum(map(len, expected.values())) > 500
    assert await query_indexes(remote, tables) == expected
    assert await query_indexes(fresh, tables) == expected
    await local.close()
    await fresh.close()
