"""A store with the platform's table, a manual clock, and processes that run jobs."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.jobs.job_processes import Process
from tests.support.manual_clock import ManualClock
from tests.support.stores import START, store_fixture, temporary_store
from zataku.platform.design import TABLES
from zataku.table import Store

strict = store_fixture(["strict"], TABLES)
contested = store_fixture(["strict", "lossy"], TABLES)

Processes: TypeAlias = Callable[..., Process]


@pytest.fixture
def clock() -> ManualClock:
    """The manual clock of the test."""
    return ManualClock(START)


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    """The embedded store without injected faults."""
    async with temporary_store("embedded", tmp_path, TABLES, clock) as opened:
        yield opened


@pytest.fixture
async def processes(clock: ManualClock) -> AsyncIterator[Processes]:
    """Creates processes that are stopped at the end of the test."""
    created: list[Process] = []

    def create(store: Store, name: str, **options: object) -> Process:
        created.append(Process(store, clock, name, **options))
        return created[-1]

    yield create
    for process in created:
        await process.stop()
