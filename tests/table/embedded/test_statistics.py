"""Sizes of tables and indexes, facts about the file, and usage sums that outlive the process."""

from pathlib import Path

import pytest

from tests.table.embedded.tables import GAMES, PLAIN, game, open_store
from zataku.table.backend import port as port
from zataku.table.backend.cost import Usage
from zataku.table.backend.port import Size
from zataku.table.backend.values import Item
from zataku.table.embedded import EmbeddedBackend, statistics
from zataku.table.embedded.file.connection import connect, register_checksums

# 2 + 1, 2 + 4, 6 + 4, 2 + 2, 4 + 3, 5 + 2, 4 + 9: 50 bytes.
MOVE = game("a", status="open", at=7, name="bob", score=3, body="123456789")


async def fill(store: EmbeddedBackend, *items: Item) -> None:
    for item in items:
        await store.write(port.PutItem(GAMES, item))


@pytest.fixture
async def store(tmp_path: Path):
    store = await open_store(tmp_path / "store.db", (GAMES, PLAIN))
    yield store
    await store.close()


async def sizes(store: EmbeddedBackend, table: str = GAMES.name) -> dict[str | None, tuple[int, int]]:
    return {size.index: (size.items, size.bytes) for size in await store.sizes() if size.table == table}


async def test_every_table_and_index_of_an_empty_store_has_size_zero(store: EmbeddedBackend) -> None:
    assert await store.sizes() == [
        Size("Games", None, 0, 0),
        Size("Games", "by_status", 0, 0),
        Size("Games", "by_name", 0, 0),
        Size("Games", "by_score", 0, 0),
        Size("Plain", None, 0, 0),
    ]


async def test_the_size_of_an_index_counts_the_attributes_it_projects(store: EmbeddedBackend) -> None:
    await fill(store, MOVE, game("b", name="ann"))
    assert await sizes(store) == {
        None: (2, 50 + 16),
        # Whole items; the second item lacks the key of the index.
        "by_status": (1, 50),
        # The table's keys and the name: 3 + 6 + 7 each.
        "by_name": (2, 16 + 16),
        # The table's keys, the score and the name: 3 + 6 + 7 + 7
        "by_score": (1, 23),
    }


async def test_sizes_counted_in_portions_are_complete(store: EmbeddedBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "PORTION_ROWS", 7)
    await fill(store, *(MOVE | {"PK": f"{number:04d}"} for number in range(21)))
    assert await sizes(store) == {
        None: (21, 21 * 53),
        "by_status": (21, 21 * 53),
        "by_name": (21, 21 * 19),
        "by_score": (21, 21 * 26),
    }


async def test_facts_name_the_file_its_size_and_the_free_space(store: EmbeddedBackend, tmp_path: Path) -> None:
    await fill(store, MOVE)
    facts = await store.facts()
    file = tmp_path / "store.db"
    assert facts["file"] == str(file)
    assert facts["bytes of the file"] == str(file.stat().st_size)
    assert facts["bytes of its log"] == str(file.with_name("store.db-wal").stat().st_size)
    assert int(facts["free bytes on the disk"]) > 0


async def test_facts_give_the_number_of_changes_each_consumer_is_behind(store: EmbeddedBackend) -> None:
    await fill(store, *(game(name) for name in "abcde"))
    first = await store.changes(GAMES, "mirror", 2)
    await store.acknowledge(GAMES, "mirror", first[-1].position)
    await store.changes(GAMES, "search", 1)
    facts = await store.facts()
    assert facts["changes kept of Games"] == "5"
    assert facts["changes of Games before mirror"] == "3"
    assert facts["changes of Games before search"] == "5"
    assert not any("Plain" in name for name in facts)


# Usage


async def test_usage_is_summed_over_restarts(tmp_path: Path) -> None:
    for _ in range(2):
        store = await open_store(tmp_path / "store.db")
        await store.add_usage([Usage("b", 1, 0.5, 0), Usage("a", 2, 0, 3)])
        await store.close()
    store = await open_store(tmp_path / "store.db")
    assert await store.usage() == [Usage("a", 4, 0.0, 6.0), Usage("b", 2, 1.0, 0.0)]
    await store.close()


async def test_usage_is_part_of_a_backup(store: EmbeddedBackend, tmp_path: Path) -> None:
    await store.add_usage([Usage("a", 1, 1, 1)])
    await store.backup(str(tmp_path / "copy.db"))
    await store.add_usage([Usage("a", 1, 1, 1)])
    await store.restore(str(tmp_path / "copy.db"))
    assert await store.usage() == [Usage("a", 1, 1.0, 1.0)]
    await store.add_usage([Usage("a", 1, 1, 1)])
    assert await store.usage() == [Usage("a", 2, 2.0, 2.0)]


async def test_a_file_without_a_usage_table_gets_one(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    await (await open_store(file)).close()
    register_checksums()
    connection = connect(file, writable=True)
    connection.execute("DROP TABLE IF EXISTS usage")
    connection.close()
    store = await open_store(file)
    assert await store.usage() == []
    await store.add_usage([Usage("a", 1, 1, 1)])
    assert await store.usage() == [Usage("a", 1, 1.0, 1.0)]
    await store.close()
