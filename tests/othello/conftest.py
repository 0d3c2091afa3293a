"""The stores that the tests of Othello by vote run on."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.opened import PRICED, RACES, START, STORES, opened
from zataku.clock import ManualClock
from zataku.othello.design import board_game
from zataku.table import Store

TABLES = (board_game,)


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands still."""
    return ManualClock(START)


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """An empty store of each kind."""
    async with opened(request.param, tmp_path, TABLES, clock) as found:
        yield found


@pytest.fixture(params=RACES)
async def crowded(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """An empty store of each kind in which writers meet."""
    async with opened(request.param, tmp_path, TABLES, clock) as found:
        yield found


@pytest.fixture(params=PRICED)
async def priced(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """An empty store of each kind that counts units."""
    async with opened(request.param, tmp_path, TABLES, clock) as found:
        yield found
