"""A fresh store for each test, closed at its end."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.table.embedded.tables import GAMES, Desk, started
from zataku.clock import ManualClock
from zataku.table.embedded import EmbeddedBackend


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
async def store(path: Path, clock: ManualClock) -> AsyncIterator[EmbeddedBackend]:
    store = await started(path, clock=clock)
    yield store
    await store.close()


@pytest.fixture
def plain(store: EmbeddedBackend) -> Desk:
    return Desk(store)


@pytest.fixture
def games(store: EmbeddedBackend) -> Desk:
    return Desk(store, GAMES)
