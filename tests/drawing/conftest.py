"""Stores with the drawing game's table, and games in them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.opened import PRICED, RACES, START, STORES, opened
from zataku.clock import ManualClock
from zataku.drawing.design import esiritori
from zataku.table import Store

TABLES = [esiritori]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    async with opened(request.param, tmp_path, TABLES, clock) as store:
        yield store


@pytest.fixture(params=RACES)
async def contested(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    async with opened(request.param, tmp_path, TABLES, clock) as store:
        yield store


@pytest.fixture(params=PRICED)
async def priced(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    async with opened(request.param, tmp_path, TABLES, clock) as store:
        yield store
