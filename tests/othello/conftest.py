"""Stores with the table of Othello by vote."""

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.stores import METERED_STORES, RACING_STORES, START, STORES, store_fixture
from zataku.othello.design import board_game

TABLES = (board_game,)

store = store_fixture(STORES, TABLES)
contested = store_fixture(RACING_STORES, TABLES)
priced = store_fixture(METERED_STORES, TABLES)
embedded = store_fixture(["embedded"], TABLES)
strict = store_fixture(["strict"], TABLES)


@pytest.fixture
def clock() -> ManualClock:
    """The clock of the test, advanced by hand."""
    return ManualClock(START)
