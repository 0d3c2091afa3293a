"""The golden table on third-party DynamoDB implementations over HTTP: the units they report are those we count.

AWS reports no units for refused calls; for those the units that the store computes are tested.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support.dynamodb_servers import ServerName, shared_server
from tests.support.plain_client import PlainClient
from tests.table.cost.case import INDEXED, PLAIN, Case, run_case
from tests.table.cost.departures import DYNOXIDE, departure
from tests.table.cost.golden_table import GOLDEN
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.port import Backend, DeleteItem, ScanItems
from zataku.table.dynamodb.backend import DynamoBackend

SERVERS: tuple[ServerName, ...] = ("dynoxide", "ministack")


def _cases() -> list[Any]:
    cases: list[Any] = []
    for name in SERVERS:
        for case in GOLDEN:
            reason = departure(name, case)
            marks = () if reason is None else pytest.mark.xfail(reason=reason, raises=AssertionError)
            cases.append(pytest.param(name, case, id=f"{name}-{case.name}", marks=marks))
    return cases


# Connecting a client takes longer than a case.
@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stores() -> AsyncIterator[dict[ServerName, Backend]]:
    stores: dict[ServerName, Backend] = {}
    for name in SERVERS:
        stores[name] = store = DynamoBackend(PlainClient(shared_server(name).endpoint), metadata_table="GoldenStore")
        await store.start([PLAIN, INDEXED])
    yield stores
    for store in stores.values():
        await store.close()


async def _empty(store: Backend) -> None:
    """Delete the items of the previous case."""
    for table in (PLAIN, INDEXED):
        start = None
        while True:
            page = await store.scan(ScanItems(table, start=start))
            for row in page.rows:
                assert isinstance(row, dict)
                await store.write(DeleteItem(table, (row["pk"], row["sk"])))
            start = page.resume
            if start is None:
                break


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("name", "case"), _cases())
async def test_a_server_reports_the_units_that_aws_charges(
    name: ServerName, case: Case, stores: dict[ServerName, Backend]
) -> None:
    await _empty(stores[name])
    consumed = ConsumedCapacity()
    await run_case(stores[name], case, consumed)
    # An index query is reported with 0 units of the table.
    used = {resource: units for resource, units in consumed.by_resource.items() if units != (0, 0)}
    assert used == case.costs, case.rule


def test_every_departure_names_a_case() -> None:
    assert DYNOXIDE.keys() <= {case.name for case in GOLDEN}
