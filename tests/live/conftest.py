"""Stores with the tables of live rooms."""

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.stores import METERED_STORES, RACING_STORES, START, STORES, store_fixture
from zataku.live.design import TABLES

store = store_fixture(STORES, TABLES)
contested = store_fixture(RACING_STORES, TABLES)
priced = store_fixture(METERED_STORES, TABLES)
embedded = store_fixture(["embedded"], TABLES)
strict = store_fixture(["strict"], TABLES)


@pytest.fixture
def clock() -> ManualClock:
    """The time of the test, moved by hand."""
    return ManualClock(START)
