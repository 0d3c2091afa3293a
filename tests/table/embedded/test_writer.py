"""Batches that share a commit, callers on several event loops, and closing a store."""

import asyncio
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.table.embedded.tables import PLAIN, TableClient, game, open_store
from zataku.table.backend import errors
from zataku.table.backend import expression as ex
from zataku.table.backend.port import GetItem, PutItem
from zataku.table.embedded import EmbeddedBackend, queue, writer
from zataku.table.embedded.reads import reader


def commit_count(store: EmbeddedBackend) -> int:
    assert store._engine is not None
    return store._engine.database.commits


async def test_concurrent_writes_share_a_commit(store: EmbeddedBackend, plain: TableClient) -> None:
    before = commit_count(store)
    await asyncio.gather(*(plain.put(game(f"{n}")) for n in range(200)))
    assert commit_count(store) - before <= 20
    assert len(await plain.scan_all()) == 200


async def test_each_write_of_a_batch_sees_the_writes_before_it(store: EmbeddedBackend, plain: TableClient) -> None:
    absent = ex.Missing(("PK",))
    results = await asyncio.gather(
        *(plain.put(game("seat", owner=n), absent) for n in range(50)), return_exceptions=True
    )
    assert results[0].old is None
    assert {type(result) for result in results[1:]} == {errors.ConditionFailed}
    await asyncio.gather(*(plain.update("counter", "META", ex.Increase(("n",), 1)) for _ in range(100)))
    assert await plain.get("counter") == game("counter", n=100)


async def test_refused_writes_commit_nothing(store: EmbeddedBackend, plain: TableClient) -> None:
    await plain.put(game("a"))
    before = commit_count(store)
    with pytest.raises(errors.ConditionFailed):
        await plain.put(game("a", n=1), ex.Missing(("PK",)))
    await plain.put(game("a"))
    assert commit_count(store) == before


async def test_a_cancelled_call_does_not_affect_the_others(plain: TableClient) -> None:
    tasks = [asyncio.create_task(plain.put(game(f"{n}"))) for n in range(20)]
    await asyncio.sleep(0)
    tasks[3].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results[3], asyncio.CancelledError)
    assert len(await plain.scan_all()) >= 19


async def test_calls_beyond_a_full_queue_wait(plain: TableClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MAX_QUEUED_CALLS", 5)
    await asyncio.gather(*(plain.put(game(f"{n}")) for n in range(300)))
    assert len(await plain.scan_all()) == 300


async def test_callers_on_several_event_loops_share_a_store(store: EmbeddedBackend, plain: TableClient) -> None:
    async def write_and_read(name: str) -> None:
        for n in range(20):
            await asyncio.gather(*(store.write(PutItem(PLAIN, game(f"{name}-{n}-{m}"))) for m in range(5)))
            assert await store.get(GetItem(PLAIN, (f"{name}-{n}-0", "META"))) is not None

    threads = [threading.Thread(target=lambda name=f"t{n}": asyncio.run(write_and_read(name))) for n in range(3)]
    for thread in threads:
        thread.start()
    await write_and_read("main")
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert len(await plain.scan_all()) == 400


async def test_closing_finishes_accepted_calls_and_refuses_later_ones(path: Path) -> None:
    store = await open_store(path, [PLAIN])
    writing = [asyncio.create_task(TableClient(store).put(game(f"{n}"))) for n in range(100)]
    reading = [asyncio.create_task(TableClient(store).get(f"{n}")) for n in range(10)]
    await asyncio.sleep(0)
    await asyncio.gather(store.close(), store.close())
    await asyncio.gather(*writing, *reading)
    for call in (TableClient(store).put(game("late")), TableClient(store).get("0"), TableClient(store).scan_all()):
        with pytest.raises(errors.StoreClosed):
            await call
    await store.close()
    assert not path.with_name(path.name + "-wal").exists() or path.with_name(path.name + "-wal").stat().st_size == 0
    store = await open_store(path, [PLAIN])
    assert len(await TableClient(store).scan_all()) == 100
    await store.close()


async def test_a_call_before_the_start_is_refused(path: Path) -> None:
    store = EmbeddedBackend(path)
    with pytest.raises(errors.StoreClosed, match="Start it first"):
        await TableClient(store).get("a")
    await store.close()


async def test_a_failed_start_releases_the_file(path: Path) -> None:
    store = await open_store(path, [PLAIN])
    await store.close()
    with pytest.raises(errors.SchemaRefused):
        await open_store(path, [replace(PLAIN, sk=None)])
    store = await open_store(path, [PLAIN])
    await store.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_writer_that_breaks_fails_every_queued_call(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await open_store(path, [PLAIN])
    engine = store._engine
    assert engine is not None

    def broken(group: object) -> None:
        raise MemoryError("no more memory")

    monkeypatch.setattr(engine.writer, "_commit", broken)
    results = await asyncio.gather(*(TableClient(store).put(game(f"{n}")) for n in range(20)), return_exceptions=True)
    assert {type(result) for result in results} == {errors.StoreClosed}
    with pytest.raises(errors.StoreClosed):
        await TableClient(store).put(game("later"))
    await store.close()


async def test_the_log_is_checkpointed_under_load(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "CHECKPOINT_PAGES", 50)
    monkeypatch.setattr(reader, "_MAX_LAG_SECONDS", 0.01)
    store = await open_store(path, [PLAIN])
    client = TableClient(store)
    engine = store._engine
    assert engine is not None
    done = asyncio.Event()

    async def read() -> None:
        while not done.is_set():
            await client.get("0")

    readers = [asyncio.create_task(read()) for _ in range(3)]
    lengths = []
    for n in range(100):
        # A snapshot that lags holds the log only until it is too old, even without further reads.
        await client.get("0", lagging=True) if n < 5 else None
        await asyncio.gather(*(client.put(game(f"{m}", body=f"{n}" * 5000)) for m in range(20)))
        lengths.append(engine.writer._log_pages)
    done.set()
    await asyncio.gather(*readers)
    assert sum(after < before for before, after in pairwise(lengths)) >= 3
    await store.close()
