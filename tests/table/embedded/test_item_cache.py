"""Items in memory: always the last committed state, never too many, never in anybody's way."""

import asyncio
from pathlib import Path
from random import Random

import pytest

from tests.table.embedded.tables import PLAIN, Desk, game
from zataku.table.backend import port as port
from zataku.table.embedded import EmbeddedBackend
from zataku.table.embedded.item_cache import Recent

PLACE, OTHER = ("T", b"a", b""), ("T", b"b", b"")


def test_what_was_filled_is_found() -> None:
    recent = Recent()
    recent.fill(PLACE, (b"one", 3), recent.moment)
    assert recent.get(PLACE) == (b"one", 3)
    assert recent.get(OTHER) is None


def test_a_read_from_before_a_commit_leaves_nothing_behind() -> None:
    recent = Recent()
    before = recent.moment
    recent.changing([PLACE])
    during = recent.moment
    recent.fill(PLACE, (b"old", 3), before)
    recent.fill(OTHER, (b"old", 3), during)
    recent.changed([(PLACE, (b"new", 3))])
    recent.fill(PLACE, (b"old", 3), before)
    recent.fill(OTHER, (b"old", 3), during)
    assert recent.get(PLACE) == (b"new", 3)
    assert recent.get(OTHER) is None


def test_an_item_that_is_changing_is_not_here() -> None:
    recent = Recent()
    recent.fill(PLACE, (b"old", 3), recent.moment)
    recent.changing([PLACE])
    assert recent.get(PLACE) is None
    recent.changed([(PLACE, None)])
    assert recent.get(PLACE) is None


def test_after_a_failed_commit_reads_fill_again() -> None:
    recent = Recent()
    recent.changing([PLACE])
    recent.changed()
    recent.fill(PLACE, (b"old", 3), recent.moment)
    assert recent.get(PLACE) == (b"old", 3)


def test_the_least_used_make_room() -> None:
    recent = Recent(most=100_000)
    for number in range(1_000):
        recent.fill(("T", b"%d" % number, b""), (b"x" * 744, 744), recent.moment)
        assert recent.get(("T", b"0", b"")) is not None
    held = [number for number in range(1_000) if recent.get(("T", b"%d" % number, b"")) is not None]
    assert len(held) <= 101
    assert 0 in held
    assert 999 in held


def test_an_item_written_while_it_moves_up_does_not_come_back() -> None:
    recent = Recent(most=1_000)
    recent.fill(PLACE, (b"old", 3), recent.moment)
    recent.fill(("T", b"c", b""), (b"x" * 600, 600), recent.moment)
    recent.fill(("T", b"d", b""), (b"x" * 600, 600), recent.moment)
    recent.changing([PLACE])
    recent.changed([(PLACE, (b"new", 3))])
    assert recent.get(PLACE) == (b"new", 3)
    assert recent.get(PLACE) == (b"new", 3)


async def test_reading_again_asks_no_thread(
    store: EmbeddedBackend, plain: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await plain.put(game("a", n=1))
    monkeypatch.setattr(type(store._running().reader.line), "submit", None)
    assert await plain.get("a", strong=True) == game("a", n=1)
    assert await plain.get("a", attributes=("n",)) == {"n": 1}


async def test_a_strong_read_sees_every_acknowledged_write(plain: Desk) -> None:
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
            found = await plain.get(name, strong=True)
            if found is not None:
                assert found["n"] >= known
            await asyncio.sleep(0)

    writing = True
    readers = [asyncio.create_task(read()) for _ in range(8)]
    await asyncio.gather(*map(write, latest))
    writing = False
    await asyncio.gather(*readers)
    for name, number in latest.items():
        assert (await plain.get(name, strong=True)) == (game(name, n=number) if number > 0 else None)


async def test_a_long_loop_of_reads_lets_others_run(plain: Desk) -> None:
    await plain.put(game("a"))
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    watching = asyncio.create_task(other())
    for _ in range(320):
        await plain.get("a")
    watching.cancel()
    assert turns >= 10


async def test_a_batch_takes_some_from_memory_and_some_from_the_file(store: EmbeddedBackend, plain: Desk) -> None:
    for name in "abc":
        await plain.put(game(name))
    store._running().database.recent.clear()
    await plain.get("b")
    rows = await store.batch_get([port.GetItem(PLAIN, (name, "META")) for name in "cxba"])
    assert [row is not None for row in rows] == [True, False, True, True]


async def test_a_restored_store_remembers_nothing_of_the_other(
    store: EmbeddedBackend, plain: Desk, tmp_path: Path
) -> None:
    await plain.put(game("a", n=1))
    await store.backup(tmp_path / "backup.db")
    await plain.put(game("a", n=2))
    await plain.put(game("b"))
    await store.restore(tmp_path / "backup.db")
    assert await plain.get("a") == game("a", n=1)
    assert await plain.get("b") is None
