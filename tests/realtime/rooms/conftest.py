"""Houses around one store: one alone, or two that hear each other."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.realtime.rooms.counter import Count, counters
from tests.realtime.rooms.house import House, HouseClock, house
from tests.support.stores import START, StoreName, temporary_store
from zataku.platform.design import TABLES
from zataku.realtime.local_bus import LocalBus, LocalNetwork
from zataku.table import Store


@pytest.fixture
def clock() -> HouseClock:
    """The time of the test, moved by hand."""
    return HouseClock(START)


@pytest.fixture
def kind() -> StoreName:
    """Which store; a test may choose another."""
    return "strict"


@pytest.fixture
async def store(kind: StoreName, tmp_path: Path, clock: HouseClock) -> AsyncIterator[Store]:
    """A store with two counters."""
    async with temporary_store(kind, tmp_path, (counters, *TABLES), clock) as made:
        await made.write_many(put=[Count(room_id="one"), Count(room_id="two")])
        yield made


@pytest.fixture
async def alone(store: Store, clock: HouseClock) -> AsyncIterator[House]:
    """A server that is one process."""
    async with house("web-0", LocalBus(), store, clock) as made:
        yield made


@pytest.fixture
async def two(store: Store, clock: HouseClock) -> AsyncIterator[tuple[House, House]]:
    """Two processes on one network."""
    network = LocalNetwork()
    async with house("web-1", network.bus(), store, clock) as one, house("web-2", network.bus(), store, clock) as other:
        yield one, other
