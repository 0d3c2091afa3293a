"""`/readyz` asks the store: once a second, for a bounded time, by a read and a write."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from tests.support.manual_clock import ManualClock
from tests.support.raw_items import raw_items
from tests.support.stores import METERED_STORES, START, StoreName, temporary_store
from zataku.platform.design import TABLES
from zataku.server.http.readiness import Readiness
from zataku.table import Store, StoreDamaged, StoreUnreachable


class ProbedStore:
    """A store that counts calls, fails with an error, or does not answer."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: list[str] = []
        self.failing: dict[str, Exception] = {}
        self.hangs = False

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any) -> Any:
            self.calls.append(name)
            if self.hangs:
                await asyncio.Event().wait()
            if name in self.failing:
                raise self.failing[name]
            return await getattr(self._store, name)(*args)

        return call


@pytest.mark.parametrize("name", METERED_STORES)
async def test_a_store_that_answers_is_ready_and_nothing_is_written(name: StoreName, tmp_path: Path):
    async with temporary_store(name, tmp_path, TABLES) as store:
        assert await Readiness(store, ManualClock(START)).is_ready()
        assert await raw_items(store) == []


@pytest.fixture
async def probed(tmp_path: Path) -> Any:
    async with temporary_store("embedded", tmp_path, TABLES) as store:
        yield ProbedStore(store)


@pytest.mark.parametrize("call", ["get", "write"])
@pytest.mark.parametrize("error", [StoreDamaged("/var/secret"), StoreUnreachable("no route")])
async def test_a_store_that_cannot_be_read_or_written_is_not_ready(probed: ProbedStore, call: str, error: Exception):
    clock = ManualClock(START)
    readiness = Readiness(cast("Store", probed), clock)
    probed.failing[call] = error
    with capture_logs() as logs:
        assert not await readiness.is_ready()
        await clock.advance(1)
        assert not await readiness.is_ready()
        probed.failing.clear()
        await clock.advance(1)
        assert await readiness.is_ready()
    assert [entry["event"] for entry in logs] == ["store_not_ready", "store_ready"]


async def test_a_store_whose_writer_has_stopped_is_not_ready(tmp_path: Path):
    async with temporary_store("embedded", tmp_path, TABLES) as store:
        database = cast("Any", store.backend)._engine.database
        database.damage = StoreDamaged("could not be written safely")
        assert not await Readiness(store, ManualClock(START)).is_ready()
        database.damage = None


async def test_a_store_that_does_not_answer_is_not_ready(probed: ProbedStore):
    probed.hangs = True
    assert not await Readiness(cast("Store", probed), ManualClock(START), timeout_seconds=0).is_ready()


async def test_many_callers_ask_the_store_once_a_second(probed: ProbedStore):
    clock = ManualClock(START)
    readiness = Readiness(cast("Store", probed), clock)
    assert all(await asyncio.gather(*(readiness.is_ready() for _ in range(100))))
    await clock.advance(0.9)
    assert await readiness.is_ready()
    assert probed.calls == ["get", "write"]
    await clock.advance(0.1)
    assert await readiness.is_ready()
    clock.set_back(3600)
    assert await readiness.is_ready()
    assert probed.calls == ["get", "write"] * 3


async def test_a_caller_that_leaves_does_not_end_the_check_of_others(probed: ProbedStore):
    readiness = Readiness(cast("Store", probed), ManualClock(START))
    leaving, staying = asyncio.create_task(readiness.is_ready()), asyncio.create_task(readiness.is_ready())
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying
