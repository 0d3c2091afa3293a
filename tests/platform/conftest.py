"""Stores with the platform's table."""

import pytest

from tests.opened import PRICED, RACES, START, STORES, stores_of
from zataku.clock import ManualClock
from zataku.platform.design import TABLES

NOW = int(START) * 1000
store = stores_of(STORES, TABLES)
contested = stores_of(RACES, TABLES)
priced = stores_of(PRICED, TABLES)
embedded = stores_of(["embedded"], TABLES)
strict = stores_of(["strict"], TABLES)


@pytest.fixture
def clock() -> ManualClock:
    """The time of the test, moved by hand."""
    return ManualClock(START)
