"""An empty store for each test, closed at its end."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.manual_clock import ManualClock
from tests.table.embedded.tables import GAMES, TableClient, open_store
from zataku.table.embedded import EmbeddedBackend


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
async def store(path: Path, clock: ManualClock) -> AsyncIterator[EmbeddedBackend]:
    store = await open_store(path, clock=clock)
    yield store
    await store.close()


@pytest.fixture
def plain(store: EmbeddedBackend) -> TableClient:
    return TableClient(store)


@pytest.fixture
def games(store: EmbeddedBackend) -> TableClient:
    return TableClient(store, GAMES)
