"""Stores for the rankings."""

import pytest

from tests.opened import PRICED, RACES, START, STORES, opened
from zataku.clock import ManualClock
from zataku.ranking.design import TABLES


@pytest.fixture
def clock():
    return ManualClock(START)


@pytest.fixture(params=STORES)
async def store(request, tmp_path, clock):
    async with opened(request.param, tmp_path, TABLES, clock) as store:
        yield store


@pytest.fixture(params=RACES)
async def rough_store(request, tmp_path, clock):
    async with opened(request.param, tmp_path, TABLES, clock) as store:
        yield store


@pytest.fixture(params=PRICED)
async def priced_store(request, tmp_path, clock):
    async with opened(request.param, tmp_path, TABLES, clock) as store:
        yield store


@pytest.fixture
async def strict(tmp_path, clock):
    async with opened("strict", tmp_path, TABLES, clock) as store:
        yield store


@pytest.fixture
async def embedded(tmp_path, clock):
    async with opened("embedded", tmp_path, TABLES, clock) as store:
        yield store
