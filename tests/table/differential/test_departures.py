"""Each departure of dynoxide is still there; one that has gone is struck off the list."""

from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest

from tests.support.dynamodb_servers import shared_server
from tests.table.differential.departures import DEPARTURES
from tests.table.differential.outcome import Outcome, outcome
from tests.table.differential.sample_table import BY_WEIGHT, comparison_table
from zataku.clock import ManualClock
from zataku.table.backend.expression import Assign, Drop, Literally
from zataku.table.backend.port import Backend, GetItem, PutItem, QueryItems, ScanItems, UpdateItem
from zataku.table.dynamodb.backend import DynamoBackend
from zataku.table.dynamodb.client import Client
from zataku.table.embedded import EmbeddedBackend

TABLE = comparison_table("TwinsTable-departing")
ITEM = {"PK": "p", "SK": "a", "weight": 1, "text": "t", "list": [1], "empty": None, "blob": b"x" * 5000}
_SMALLER = [UpdateItem(TABLE, ("p", "a"), (Drop(("blob",)),))]
SHOWN_BY = {
    "repeat-by-older-sizes": _SMALLER,
    "local-index-fetch": QueryItems(TABLE, "p", BY_WEIGHT, attributes=("text",)),
    "local-index-scan": ScanItems(TABLE, BY_WEIGHT),
    "part-of-an-item": GetItem(TABLE, ("p", "a"), attributes=("text",)),
    "remove-below-nothing": UpdateItem(TABLE, ("p", "a"), (Drop(("nowhere", "inside")),)),
    "set-below-null": UpdateItem(TABLE, ("p", "a"), (Assign(("empty", "inside"), Literally(2)),)),
    "list-past-the-end": UpdateItem(TABLE, ("p", "a"), (Assign(("list", 5), Literally(2)),)),
}


@pytest.fixture
async def twins(tmp_path: Path) -> AsyncIterator[tuple[Backend, Backend]]:
    clock = ManualClock()
    ours = EmbeddedBackend(tmp_path / "store.db", clock=clock)
    theirs = DynamoBackend(Client(shared_server("dynoxide").endpoint), clock=clock, random=Random(1))
    for store in (ours, theirs):
        await store.start([TABLE])
        await store.write(PutItem(TABLE, ITEM))
    yield ours, theirs
    await ours.close()
    await theirs.close()


async def _repeated(store: Backend, plan: list[UpdateItem]) -> Outcome:
    token = str(uuid4())
    try:
        await store.transact(plan, token)
        return await outcome(lambda consumed: store.transact(plan, token, consumed))
    finally:
        await store.write(PutItem(TABLE, ITEM))


async def _made(store: Backend, request: GetItem | QueryItems | ScanItems | UpdateItem | list[UpdateItem]) -> Outcome:
    if isinstance(request, list):
        return await _repeated(store, request)
    if isinstance(request, GetItem):
        return await outcome(lambda consumed: store.get(request, consumed))
    if isinstance(request, QueryItems):
        return await outcome(lambda consumed: store.query(request, consumed))
    if isinstance(request, ScanItems):
        return await outcome(lambda consumed: store.scan(request, consumed))
    try:
        done = await outcome(lambda consumed: store.write(request, consumed))
        left = await outcome(lambda _: store.scan(ScanItems(TABLE)))
        return Outcome((done.answer, left.answer) if done.answer == "written" else done.answer, done.units)
    finally:
        await store.write(PutItem(TABLE, ITEM))


@pytest.mark.parametrize("departure", DEPARTURES, ids=lambda departure: departure.name)
async def test_a_departure_still_shows(departure, twins: tuple[Backend, Backend]) -> None:
    request = SHOWN_BY[departure.name]
    ours, theirs = [await _made(store, request) for store in twins]
    assert ours != theirs
    assert departure.shows(request, ours, theirs)
