"""A live room on every store: where patterns are tried, where people race, and where units are counted."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.opened import PRICED, RACES, START, STORES, opened
from zataku.clock import ManualClock
from zataku.live.design import TABLES
from zataku.table import Store


@pytest.fixture
def clock() -> ManualClock:
    """The time of the test, moved by hand."""
    return ManualClock(START)


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """An empty store, also one that refuses, delays and shortens."""
    async with opened(request.param, tmp_path, TABLES, clock) as store:
        yield store


@pytest.fixture(params=RACES)
async def contested(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """An empty store for many at once, also one that loses replies."""
    async with opened(request.param, tmp_path, TABLES, clock) as store:
        yield store


@pytest.fixture(params=PRICED)
async def priced(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """An empty store without faults, which would be paid for."""
    async with opened(request.param, tmp_path, TABLES, clock) as store:
        yield store


@pytest.fixture
async def embedded(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """An empty file."""
    async with opened("embedded", tmp_path, TABLES, clock) as store:
        yield store
