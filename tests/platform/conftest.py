"""Stores with the platform's table."""

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.stores import METERED_STORES, RACING_STORES, START, STORES, store_fixture
from zataku.platform.design import TABLES

NOW = int(START) * 1000
store = store_fixture(STORES, TABLES)
contested = store_fixture(RACING_STORES, TABLES)
priced = store_fixture(METERED_STORES, TABLES)
embedded = store_fixture(["embedded"], TABLES)
strict = store_fixture(["strict"], TABLES)


@pytest.fixture
def clock() -> ManualClock:
    """The manual clock of the test."""
    return ManualClock(START)
