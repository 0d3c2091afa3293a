"""Stores for the tests of systems: the embedded one, the same on a bad day, and a DynamoDB that others wrote."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.contract.stores import LATER, ROUGH, DynamoPlace, EmbeddedPlace
from tests.support.plain_client import PlainClient
from zataku.clock import ManualClock
from zataku.table import Store, Table
from zataku.table.strict import Faults

StoreName = Literal["embedded", "strict", "lossy", "dynoxide"]

# `strict` refuses, delays and shortens; `lossy` loses replies as well, so that a writer does not know what came of it.
STORES: tuple[StoreName, ...] = ("embedded", "strict", "dynoxide")
RACING_STORES: tuple[StoreName, ...] = ("strict", "lossy", "dynoxide")
METERED_STORES: tuple[StoreName, ...] = ("embedded", "dynoxide")

# A service deletes what has expired by its own clock, so tests take place where none of them comes.
START = LATER


@asynccontextmanager
async def temporary_store(
    name: StoreName, folder: Path, tables: Sequence[Table], clock: ManualClock | None = None
) -> AsyncIterator[Store]:
    """An empty store of that kind, closed at the end."""
    faults = {"strict": ROUGH, "lossy": Faults.rough()}.get(name)
    place = DynamoPlace("dynoxide", PlainClient) if name == "dynoxide" else EmbeddedPlace(folder, faults)
    try:
        async with await place.open(tuple(tables), clock or ManualClock(START)) as store:
            yield store
    finally:
        await place.clear()


def store_fixture(names: Sequence[StoreName], tables: Sequence[Table]) -> Any:
    """A fixture, called as the variable it is given to: an empty store of each kind, with the clock of the test."""

    @pytest.fixture(params=names)
    async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
        async with temporary_store(request.param, tmp_path, tables, clock) as made:
            yield made

    return store
