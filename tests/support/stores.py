"""Stores for the tests of systems: embedded, embedded with injected faults, and dynoxide over HTTP."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.contract.stores import FAR_FUTURE, ROUGH, DynamoLocation, EmbeddedLocation
from tests.support.manual_clock import ManualClock
from tests.support.plain_client import PlainClient
from zataku.table import Store, Table
from zataku.table.strict.strict_backend import Faults

StoreName = Literal["embedded", "strict", "lossy", "dynoxide"]

# `strict` throttles, delays and shortens pages; `lossy` also loses replies, so a write can have an unknown outcome.
STORES: tuple[StoreName, ...] = ("embedded", "strict", "dynoxide")
RACING_STORES: tuple[StoreName, ...] = ("strict", "lossy", "dynoxide")
METERED_STORES: tuple[StoreName, ...] = ("embedded", "dynoxide")

# A DynamoDB server deletes expired items by its own clock, so tests run at a time far in its future.
START = FAR_FUTURE


@asynccontextmanager
async def temporary_store(
    name: StoreName, folder: Path, tables: Sequence[Table], clock: ManualClock | None = None
) -> AsyncIterator[Store]:
    """An empty store of that kind, closed at the end of the block."""
    faults = {"strict": ROUGH, "lossy": Faults.rough()}.get(name)
    location = DynamoLocation("dynoxide", PlainClient) if name == "dynoxide" else EmbeddedLocation(folder, faults)
    try:
        async with await location.open(tuple(tables), clock or ManualClock(START)) as store:
            yield store
    finally:
        await location.clear()


def store_fixture(names: Sequence[StoreName], tables: Sequence[Table]) -> Any:
    """A parametrised fixture of empty stores, with the test's clock; its name is the variable it is assigned to."""

    @pytest.fixture(params=names)
    async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
        async with temporary_store(request.param, tmp_path, tables, clock) as opened:
            yield opened

    return store
