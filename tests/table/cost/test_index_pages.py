"""A page of an index ends after 1 MB of index entries, not of the items that they point to."""

from pathlib import Path

from tests.table.cost.case import INDEXED, SOME, item
from tests.table.embedded.tables import BY_NAME, BY_SCORE, GAMES, game, open_store
from zataku.table.backend import port as port
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.embedded import EmbeddedBackend


async def filled_store(path: Path, count: int, body: int) -> EmbeddedBackend:
    """A store with that many games, each with a body of that many bytes."""
    store = await open_store(path, (GAMES,))
    for number in range(count):
        new_game = game("a", f"{number:03d}", name="bob", score=number, body="x" * body)
        await store.write(port.PutItem(GAMES, new_game))
    return store


async def test_a_page_of_a_keys_only_index_may_cover_more_than_a_megabyte_of_items(tmp_path: Path) -> None:
    store = await filled_store(tmp_path / "store.db", 10, 300_000)
    consumed = ConsumedCapacity()
    page = await store.query(port.QueryItems(GAMES, "bob", BY_NAME), consumed)
    assert (page.count, page.resume) == (10, None)
    assert consumed.by_resource == {("Games", "by_name"): (0.5, 0)}
    assert [set(row) for row in page.rows] == [{"PK", "SK", "name"}] * 10
    await store.close()


async def test_a_page_of_an_index_ends_after_a_megabyte_of_entries(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "store.db", (INDEXED,))
    for number in range(6):
        # An entry of 300,000 bytes in an item of 400,000.
        large = item(str(number), s="t", note="x" * (300_000 - 12), pad="x" * (100_000 - 3))
        await store.write(port.PutItem(INDEXED, large))
    first = ConsumedCapacity()
    page = await store.query(port.QueryItems(INDEXED, "t", SOME), first)
    assert page.count == 4
    # 1,200,000 bytes are 293 times 4 KB.
    assert first.by_resource == {(INDEXED.name, "some"): (293 / 2, 0)}
    second = ConsumedCapacity()
    rest = await store.query(port.QueryItems(INDEXED, "t", SOME, start=page.resume), second)
    assert (rest.count, rest.resume) == (2, None)
    assert second.reads == 147 / 2
    await store.close()


async def test_items_fetched_for_a_local_index_count_towards_the_size_of_the_page(tmp_path: Path) -> None:
    store = await filled_store(tmp_path / "store.db", 10, 300_000)
    consumed = ConsumedCapacity()
    page = await store.query(port.QueryItems(GAMES, "a", BY_SCORE, attributes=("body",)), consumed)
    assert page.count == 4
    assert page.resume is not None
    # Items of 300,026 bytes are 74 times 4 KB.
    assert consumed.by_resource == {("Games", "by_score"): (0.5, 0), ("Games", None): (4 * 74 / 2, 0)}
    await store.close()


async def test_a_count_of_an_index_returns_no_rows_and_costs_its_entries(tmp_path: Path) -> None:
    store = await filled_store(tmp_path / "store.db", 3, 5_000)
    consumed = ConsumedCapacity()
    page = await store.query(port.QueryItems(GAMES, "bob", BY_NAME, count_only=True), consumed)
    assert (page.rows, page.count, consumed.reads) == ([], 3, 0.5)
    await store.close()
