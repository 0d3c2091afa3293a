"""Stores for the record library."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.opened import PRICED, RACES, START, STORES, opened
from zataku.clock import ManualClock
from zataku.kifu.table import kifu_table
from zataku.table import Store


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """Every kind of store."""
    async with opened(request.param, tmp_path, [kifu_table], clock) as store:
        yield store


@pytest.fixture(params=RACES)
async def racing(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """Stores on a bad day."""
    async with opened(request.param, tmp_path, [kifu_table], clock) as store:
        yield store


@pytest.fixture(params=PRICED)
async def priced(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """Stores that say what a call costs."""
    async with opened(request.param, tmp_path, [kifu_table], clock) as store:
        yield store


@pytest.fixture
async def embedded(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """The store on its best day."""
    async with opened("embedded", tmp_path, [kifu_table], clock) as store:
        yield store
