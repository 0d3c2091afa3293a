"""Pages of an index end where 1 MB of its own entries have been looked at, not of the items behind them."""

from pathlib import Path

from tests.table.cost.case import INDEXED, SOME, item
from tests.table.embedded.tables import BY_NAME, BY_SCORE, GAMES, game, open_store
from zataku.table.backend import port as port
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.embedded import EmbeddedBackend


async def filled(path: Path, count: int, body: int) -> EmbeddedBackend:
    store = await open_store(path, (GAMES,))
    for number in range(count):
        thing = game("a", f"{number:03d}", name="bob", score=number, body="x" * body)
        await store.write(port.PutItem(GAMES, thing))
    return store


async def test_a_page_of_keys_holds_more_than_a_megabyte_of_items(tmp_path: Path) -> None:
    store = await filled(tmp_path / "store.db", 10, 300_000)
    consumed = ConsumedCapacity()
    page = await store.query(port.QueryItems(GAMES, "bob", BY_NAME), consumed)
    assert (page.count, page.resume) == (10, None)
    assert consumed.by_resource == {("Games", "by_name"): (0.5, 0)}
    assert [set(row) for row in page.rows] == [{"PK", "SK", "name"}] * 10
    await store.close()


async def test_a_page_of_entries_ends_at_a_megabyte_of_them(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "store.db", (INDEXED,))
    for number in range(6):
        # An entry of 300,000 bytes in an item of 400,000.
        thing = item(str(number), s="t", note="x" * (300_000 - 12), pad="x" * (100_000 - 3))
        await store.write(port.PutItem(INDEXED, thing))
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


async def test_what_is_fetched_takes_room_in_the_page(tmp_path: Path) -> None:
    store = await filled(tmp_path / "store.db", 10, 300_000)
    consumed = ConsumedCapacity()
    page = await store.query(port.QueryItems(GAMES, "a", BY_SCORE, attributes=("body",)), consumed)
    assert page.count == 4
    assert page.resume is not None
    # Items of 300,026 bytes are 74 times 4 KB.
    assert consumed.by_resource == {("Games", "by_score"): (0.5, 0), ("Games", None): (4 * 74 / 2, 0)}
    await store.close()


async def test_counting_an_index_shows_nothing_and_costs_its_entries(tmp_path: Path) -> None:
    store = await filled(tmp_path / "store.db", 3, 5_000)
    consumed = ConsumedCapacity()
    page = await store.query(port.QueryItems(GAMES, "bob", BY_NAME, count_only=True), consumed)
    assert (page.rows, page.count, consumed.reads) == ([], 3, 0.5)
    await store.close()
