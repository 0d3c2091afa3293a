"""Upgrades are tested on every store of the contract."""

import pytest

from tests.contract.conftest import OpenStore, clock, open_store, place, pytest_configure, pytest_generate_tests
from tests.upgrades.rooms import third
from zataku.table import Store

__all__ = ["clock", "open_store", "place", "pytest_configure", "pytest_generate_tests", "store"]


@pytest.fixture
async def store(open_store: OpenStore) -> Store:
    """Today's program on an empty store."""
    return await open_store(third)
