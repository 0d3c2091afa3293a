"""Fixtures for transfers: a filled store, an empty one, an export folder and a clock."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.manual_clock import ManualClock
from tests.table.transfer.sample_items import CURTAINS, FURNITURE, fill, items_for, start_backend
from zataku.table.embedded import EmbeddedBackend


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "export"


@pytest.fixture
async def source_store(tmp_path: Path) -> AsyncIterator[EmbeddedBackend]:
    """A store with 300 items of furniture and 40 curtains."""
    store = await start_backend(tmp_path / "old.db")
    await fill(store, FURNITURE, items_for(FURNITURE, 300))
    await fill(store, CURTAINS, items_for(CURTAINS, 40))
    yield store
    await store.close()


@pytest.fixture
async def target_store(tmp_path: Path) -> AsyncIterator[EmbeddedBackend]:
    """An empty store with the same tables."""
    store = await start_backend(tmp_path / "new.db")
    yield store
    await store.close()
