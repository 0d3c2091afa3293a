"""The item cache: it holds the last committed state, within its size, and never blocks the event loop."""

import asyncio
from pathlib import Path
from random import Random

import pytest

from tests.table.embedded.tables import PLAIN, TableClient, game
from zataku.table.backend import port as port
from zataku.table.embedded import EmbeddedBackend
from zataku.table.embedded.database import ItemCache

KEY, OTHER_KEY = ("T", b"a", b""), ("T", b"b", b"")


def test_a_cached_item_is_returned() -> None:
    cache = ItemCache()
    cache.add(KEY, (b"one", 3), cache.generation)
    assert cache.get(KEY) == (b"one", 3)
    assert cache.get(OTHER_KEY) is None


def test_a_read_from_before_a_commit_is_not_cached() -> None:
    cache = ItemCache()
    before = cache.generation
    cache.begin_commit([KEY])
    during = cache.generation
    cache.add(KEY, (b"old", 3), before)
    cache.add(OTHER_KEY, (b"old", 3), during)
    cache.end_commit([(KEY, (b"new", 3))])
    cache.add(KEY, (b"old", 3), before)
    cache.add(OTHER_KEY, (b"old", 3), during)
    assert cache.get(KEY) == (b"new", 3)
    assert cache.get(OTHER_KEY) is None


def test_an_item_is_not_cached_while_it_is_committed() -> None:
    cache = ItemCache()
    cache.add(KEY, (b"old", 3), cache.generation)
    cache.begin_commit([KEY])
    assert cache.get(KEY) is None
    cache.end_commit([(KEY, None)])
    assert cache.get(KEY) is None


def test_after_a_failed_commit_reads_are_cached_again() -> None:
    cache = ItemCache()
    cache.begin_commit([KEY])
    cache.end_commit()
    cache.add(KEY, (b"old", 3), cache.generation)
    assert cache.get(KEY) == (b"old", 3)


def test_the_least_recently_used_items_are_dropped() -> None:
    cache = ItemCache(max_bytes=100_000)
    for number in range(1_000):
        cache.add(("T", b"%d" % number, b""), (b"x" * 744, 744), cache.generation)
        assert cache.get(("T", b"0", b"")) is not None
    cached = [number for number in range(1_000) if cache.get(("T", b"%d" % number, b"")) is not None]
    assert len(cached) <= 101
    assert 0 in cached
    assert 999 in cached


def test_a_written_item_is_never_returned_in_its_old_state() -> None:
    cache = ItemCache(max_bytes=1_000)
    cache.add(KEY, (b"old", 3), cache.generation)
    cache.add(("T", b"c", b""), (b"x" * 600, 600), cache.generation)
    cache.add(("T", b"d", b""), (b"x" * 600, 600), cache.generation)
    cache.begin_commit([KEY])
    cache.end_commit([(KEY, (b"new", 3))])
    assert cache.get(KEY) == (b"new", 3)
    assert cache.get(KEY) == (b"new", 3)


async def test_a_cached_item_is_read_without_a_thread(
    store: EmbeddedBackend, plain: TableClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await plain.put(game("a", n=1))
    monkeypatch.setattr(type(store._running().reader.queue), "submit", None)
    assert await plain.get("a", strong=True) == game("a", n=1)
    assert await plain.get("a", attributes=("n",)) == {"n": 1}


async def test_a_strong_read_sees_every_acknowledged_write(plain: TableClient) -> None:
    random = Random(3)
    latest = dict.fromkeys("abcdefgh", 0)

    async def write(name: str) -> None:
        for number in range(1, 60):
            if random.random() < 0.2:
                await plain.delete(name)
                latest[name] = -number
            else:
                await plain.put(game(name, n=number))
                latest[name] = number

    async def read() -> None:
        while writing:
            name = random.choice("abcdefgh")
            known = abs(latest[name])
            item = await plain.get(name, strong=True)
            if item is not None:
                assert item["n"] >= known
            await asyncio.sleep(0)

    writing = True
    readers = [asyncio.create_task(read()) for _ in range(8)]
    await asyncio.gather(*map(write, latest))
    writing = False
    await asyncio.gather(*readers)
    for name, number in latest.items():
        assert (await plain.get(name, strong=True)) == (game(name, n=number) if number > 0 else None)


async def test_a_long_loop_of_cached_reads_lets_other_tasks_run(plain: TableClient) -> None:
    await plain.put(game("a"))
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    for _ in range(320):
        await plain.get("a")
    counting.cancel()
    assert turns >= 10


async def test_a_batch_reads_some_items_from_the_cache_and_some_from_the_file(
    store: EmbeddedBackend, plain: TableClient
) -> None:
    for name in "abc":
        await plain.put(game(name))
    store._running().database.item_cache.clear()
    await plain.get("b")
    rows = await store.batch_get([port.GetItem(PLAIN, (name, "META")) for name in "cxba"])
    assert [row is not None for row in rows] == [True, False, True, True]


async def test_a_restore_clears_the_item_cache(store: EmbeddedBackend, plain: TableClient, tmp_path: Path) -> None:
    await plain.put(game("a", n=1))
    await store.backup(tmp_path / "backup.db")
    await plain.put(game("a", n=2))
    await plain.put(game("b"))
    await store.restore(tmp_path / "backup.db")
    assert await plain.get("a") == game("a", n=1)
    assert await plain.get("b") is None
