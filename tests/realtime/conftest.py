"""Room processes around one store: a single one, or two on one network."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.realtime.rooms.counter_room import Count, counters
from tests.realtime.rooms.room_process import ProcessClock, RoomProcess, run_process
from tests.support.stores import START, StoreName, temporary_store
from zataku.platform.design import TABLES
from zataku.realtime.bus.in_process import InProcessBus, InProcessNetwork
from zataku.table import Store


@pytest.fixture
def clock() -> ProcessClock:
    """The manual clock of the test."""
    return ProcessClock(START)


@pytest.fixture
def kind() -> StoreName:
    """The kind of store; a test may choose another."""
    return "strict"


@pytest.fixture
async def store(kind: StoreName, tmp_path: Path, clock: ProcessClock) -> AsyncIterator[Store]:
    """A store with two counters."""
    async with temporary_store(kind, tmp_path, (counters, *TABLES), clock) as store:
        await store.write_many(put=[Count(room_id="one"), Count(room_id="two")])
        yield store


@pytest.fixture
async def process(store: Store, clock: ProcessClock) -> AsyncIterator[RoomProcess]:
    """A server that is one process."""
    async with run_process("web-0", InProcessBus(), store, clock) as process:
        yield process


@pytest.fixture
async def two(store: Store, clock: ProcessClock) -> AsyncIterator[tuple[RoomProcess, RoomProcess]]:
    """Two processes on one network."""
    network = InProcessNetwork()
    async with (
        run_process("web-1", network.bus(), store, clock) as one,
        run_process("web-2", network.bus(), store, clock) as other,
    ):
        yield one, other
