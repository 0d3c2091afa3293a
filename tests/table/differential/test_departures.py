"""Each listed departure of dynoxide still occurs; one that does not is to be removed from the list."""

from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest

from tests.support.dynamodb_servers import shared_server
from tests.support.manual_clock import ManualClock
from tests.table.differential.departures import DEPARTURES
from tests.table.differential.outcome import Outcome, outcome
from tests.table.differential.sample_table import BY_WEIGHT, comparison_table
from zataku.table.backend.expression import Assign, Drop, Literally
from zataku.table.backend.port import Backend, DeleteItem, GetItem, PutItem, QueryItems, ScanItems, UpdateItem
from zataku.table.dynamodb.backend import DynamoBackend
from zataku.table.dynamodb.client import Client
from zataku.table.embedded import EmbeddedBackend

TABLE = comparison_table("ComparedTable-departures")
ITEM = {"PK": "p", "SK": "a", "weight": 1, "text": "t", "list": [1], "empty": None, "blob": b"x" * 5000}
_SHRINK = [UpdateItem(TABLE, ("p", "a"), (Drop(("blob",)),))]
REQUESTS = {
    "repeat-by-old-sizes": _SHRINK,
    # 1,024 bytes with a number of 5 bytes, 1,025 with one of 6.
    "number-alignment": PutItem(TABLE, {"PK": "p", "SK": "n", "t": "x" * 1011, "n": -417591 * 10**117}),
    "local-index-fetch": QueryItems(TABLE, "p", BY_WEIGHT, attributes=("text",)),
    "local-index-scan": ScanItems(TABLE, BY_WEIGHT),
    "partial-get": GetItem(TABLE, ("p", "a"), attributes=("text",)),
    "remove-below-missing": UpdateItem(TABLE, ("p", "a"), (Drop(("missing", "inside")),)),
    "set-below-null": UpdateItem(TABLE, ("p", "a"), (Assign(("empty", "inside"), Literally(2)),)),
    "list-past-the-end": UpdateItem(TABLE, ("p", "a"), (Assign(("list", 5), Literally(2)),)),
}


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[tuple[Backend, Backend]]:
    clock = ManualClock()
    ours = EmbeddedBackend(tmp_path / "store.db", clock=clock)
    theirs = DynamoBackend(Client(shared_server("dynoxide").endpoint), clock=clock, random=Random(1))
    for store in (ours, theirs):
        await store.start([TABLE])
        await store.write(PutItem(TABLE, ITEM))
    yield ours, theirs
    await ours.close()
    await theirs.close()


async def _outcome_of_repetition(store: Backend, plan: list[UpdateItem]) -> Outcome:
    token = str(uuid4())
    try:
        await store.transact(plan, token)
        return await outcome(lambda consumed: store.transact(plan, token, consumed))
    finally:
        await store.write(PutItem(TABLE, ITEM))


async def _outcome_of(
    store: Backend, request: GetItem | PutItem | QueryItems | ScanItems | UpdateItem | list[UpdateItem]
) -> Outcome:
    if isinstance(request, list):
        return await _outcome_of_repetition(store, request)
    if isinstance(request, GetItem):
        return await outcome(lambda consumed: store.get(request, consumed))
    if isinstance(request, QueryItems):
        return await outcome(lambda consumed: store.query(request, consumed))
    if isinstance(request, ScanItems):
        return await outcome(lambda consumed: store.scan(request, consumed))
    try:
        written = await outcome(lambda consumed: store.write(request, consumed))
        items = await outcome(lambda _: store.scan(ScanItems(TABLE)))
        answer = (written.answer, items.answer) if written.answer == "written" else written.answer
        return Outcome(answer, written.units)
    finally:
        if isinstance(request, PutItem):
            await store.write(DeleteItem(TABLE, TABLE.key_of(request.item)))
        await store.write(PutItem(TABLE, ITEM))


@pytest.mark.parametrize("departure", DEPARTURES, ids=lambda departure: departure.name)
async def test_a_departure_still_occurs(departure, stores: tuple[Backend, Backend]) -> None:
    request = REQUESTS[departure.name]
    ours, theirs = [await _outcome_of(store, request) for store in stores]
    assert ours != theirs
    assert departure.explains(request, ours, theirs)
