"""Gets, queries, pages and scans."""

import asyncio

import pytest

from tests.table.embedded.tables import (
    BY_NAME,
    BY_SCORE,
    BY_STATUS,
    GAMES,
    NUMBERED,
    PLAIN,
    TableClient,
    game,
    items,
    unpacked,
)
from zataku.table.backend import errors
from zataku.table.backend import expression as ex
from zataku.table.backend.port import GetItem, KeyRange, ScanItems, UpdateItem
from zataku.table.embedded import EmbeddedBackend


async def fill(client: TableClient, count: int = 10) -> None:
    for n in range(count):
        await client.put(game("a", f"{n:02d}", status="OPEN", at=n // 2, name=f"n{n % 3}", score=-n, secret=n))


def sort_keys(rows: list) -> list[str]:
    return [item["SK"] for item in rows]


@pytest.mark.parametrize(
    ("key_range", "expected"),
    [
        (KeyRange("=", "03"), "03"),
        (KeyRange("<", "02"), "00 01"),
        (KeyRange("<=", "02"), "00 01 02"),
        (KeyRange(">", "07"), "08 09"),
        (KeyRange(">=", "07"), "07 08 09"),
        (KeyRange("between", "03", "05"), "03 04 05"),
        (KeyRange("begins", "0"), "00 01 02 03 04 05 06 07 08 09"),
        (KeyRange("begins", "09"), "09"),
        (KeyRange("begins", "1"), ""),
    ],
)
async def test_a_query_returns_the_items_in_a_range_of_sort_keys(
    plain: TableClient, key_range: KeyRange, expected: str
) -> None:
    await fill(plain)
    assert sort_keys(await plain.query("a", range=key_range)) == expected.split()
    assert sort_keys(await plain.query("a", range=key_range, newest_first=True)) == expected.split()[::-1]


async def test_a_prefix_matches_up_to_the_highest_character(plain: TableClient) -> None:
    for sk in ("x", "x\uffff", "x\U0010ffff", "y"):
        await plain.put(game("a", sk))
    assert sort_keys(await plain.query("a", range=KeyRange("begins", "x"))) == ["x", "x\uffff", "x\U0010ffff"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"range": KeyRange("=", 1)}, errors.WrongType),
        ({"range": KeyRange("=", "")}, errors.BadKey),
        ({"range": KeyRange("between", "b", "a")}, errors.BadInput),
        ({"limit": 0}, errors.BadInput),
        ({"start": {"PK": "a"}}, errors.BadCursor),
        ({"start": {"PK": "b", "SK": "1"}}, errors.BadCursor),
        ({"start": {"PK": "a", "SK": 1}}, errors.BadCursor),
        ({"start": {"PK": "a", "SK": "1", "more": "1"}}, errors.BadCursor),
        ({"filter": ex.Compare(ex.Attribute(("SK",)), "=", ex.Literally("1"))}, errors.BadInput),
        ({"filter": ex.All(())}, errors.BadInput),
        ({"attributes": ()}, errors.BadInput),
    ],
)
async def test_an_invalid_query_is_refused(plain: TableClient, options: dict, error: type[Exception]) -> None:
    with pytest.raises(error):
        await plain.page("a", **options)


async def test_a_prefix_of_a_number_is_refused(store: EmbeddedBackend) -> None:
    with pytest.raises(errors.BadInput, match="between"):
        await TableClient(store, NUMBERED).page(1, range=KeyRange("begins", 1))


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("index", [None, BY_STATUS, BY_SCORE])
async def test_pages_join_without_gaps_or_repetitions(games: TableClient, newest_first: bool, index) -> None:
    await fill(games)
    pk = "OPEN" if index is BY_STATUS else "a"
    whole = await games.query(pk, index=index, newest_first=newest_first)
    assert len(whole) == 10
    for limit in (1, 3, 10):
        collected, start = [], None
        while True:
            page = await games.page(pk, index=index, newest_first=newest_first, limit=limit, start=start)
            collected += items(page)
            start = page.resume
            if start is None:
                break
        assert collected == whole


async def test_a_page_continues_after_its_last_item_is_deleted(games: TableClient) -> None:
    await fill(games)
    for index, pk in ((None, "a"), (BY_STATUS, "OPEN")):
        page = await games.page(pk, index=index, limit=4)
        last = items(page)[-1]
        await games.delete("a", last["SK"])
        assert sort_keys(await games.query(pk, index=index, start=page.resume)) == ["04", "05", "06", "07", "08", "09"]
        await games.put(last)


async def test_a_page_that_reached_its_limit_can_be_resumed_even_at_the_end(plain: TableClient) -> None:
    await fill(plain, 3)
    page = await plain.page("a", limit=3)
    assert page.resume == {"PK": "a", "SK": "02"}
    rest = await plain.page("a", limit=3, start=page.resume)
    assert (rest.rows, rest.resume) == ([], None)
    assert (await plain.page("a", limit=4)).resume is None


async def test_a_resumed_range_keeps_its_ends(games: TableClient) -> None:
    await fill(games)
    key_range = KeyRange("between", 1, 3)
    for newest_first in (False, True):
        collected, start = [], None
        while True:
            page = await games.page(
                "OPEN", index=BY_STATUS, range=key_range, limit=2, start=start, newest_first=newest_first
            )
            collected += sort_keys(items(page))
            start = page.resume
            if start is None:
                break
        assert sorted(collected) == ["02", "03", "04", "05", "06", "07"]


async def test_a_page_ends_after_a_megabyte(plain: TableClient) -> None:
    for n in range(5):
        await plain.put(game("a", f"{n}", body="x" * 300_000))
    page = await plain.page("a")
    assert (page.count, page.scanned, page.resume) == (4, 4, {"PK": "a", "SK": "3"})
    page = await plain.page("a", count_only=True, limit=5)
    assert (page.rows, page.count, page.resume is not None) == ([], 4, True)
    assert len(await plain.scan_all()) == 5


async def test_a_filter_is_applied_after_the_limit(plain: TableClient) -> None:
    await fill(plain)
    odd = ex.OneOf(ex.Attribute(("secret",)), tuple(ex.Literally(n) for n in (1, 3, 5, 7, 9)))
    page = await plain.page("a", limit=4, filter=odd)
    assert (page.count, page.scanned) == (2, 4)
    assert sort_keys(items(page)) == ["01", "03"]
    page = await plain.page("a", filter=odd, count_only=True)
    assert (page.rows, page.count, page.scanned) == ([], 5, 10)


async def test_an_index_returns_the_attributes_that_it_projects(games: TableClient) -> None:
    await fill(games, 2)
    assert await games.query("n0", index=BY_NAME) == [{"PK": "a", "SK": "00", "name": "n0"}]
    assert await games.query("a", index=BY_SCORE, limit=1) == [{"PK": "a", "SK": "01", "score": -1, "name": "n1"}]
    assert await games.query("a", index=BY_SCORE, limit=1, attributes=("secret",)) == [{"secret": 1}]
    with pytest.raises(errors.BadInput, match="secret"):
        await games.query("n0", index=BY_NAME, attributes=("PK", "secret"))
    hidden = ex.Exists(("secret",))
    assert await games.query("n0", index=BY_NAME, filter=hidden) == []


async def test_an_item_is_in_an_index_only_with_all_of_its_keys(games: TableClient) -> None:
    await games.put(game("a", "1", status="OPEN"))
    assert await games.query("OPEN", index=BY_STATUS) == []
    await games.update("a", "1", ex.Assign(("at",), ex.Literally(5)))
    assert sort_keys(await games.query("OPEN", index=BY_STATUS)) == ["1"]
    await games.update("a", "1", ex.Assign(("status",), ex.Literally("DONE")))
    assert await games.query("OPEN", index=BY_STATUS) == []
    assert sort_keys(await games.query("DONE", index=BY_STATUS)) == ["1"]
    await games.update("a", "1", ex.Drop(("at",)))
    assert await games.query("DONE", index=BY_STATUS) == []
    await games.put(game("a", "1", status="OPEN", at=1))
    await games.delete("a", "1")
    assert await games.query("OPEN", index=BY_STATUS) == []


async def test_a_strong_read_of_a_global_index_is_refused(games: TableClient) -> None:
    with pytest.raises(errors.StrongReadRefused):
        await games.query("OPEN", index=BY_STATUS, strong=True)
    assert await games.query("a", index=BY_SCORE, strong=True) == []


async def test_the_segments_of_a_scan_together_return_every_item_once(
    store: EmbeddedBackend, games: TableClient
) -> None:
    for n in range(50):
        await games.put(game(f"g{n}", status="OPEN", at=n))
    for index in (None, BY_STATUS):
        parts = [await games.scan_all(index=index, segment=n, segments=3, limit=7) for n in range(3)]
        assert all(parts)
        assert sorted(item["PK"] for part in parts for item in part) == sorted(f"g{n}" for n in range(50))
    with pytest.raises(errors.BadInput):
        await store.scan(ScanItems(GAMES, segment=3, segments=3))
    assert await games.scan_all(filter=ex.Compare(ex.Attribute(("PK",)), "=", ex.Literally("g7"))) == [
        game("g7", status="OPEN", at=7)
    ]


async def test_a_batch_of_gets_names_each_item_once_and_has_a_limit(store: EmbeddedBackend, plain: TableClient) -> None:
    await plain.put(game("a", n=1))
    reads = [GetItem(PLAIN, ("a", "META"), attributes=("n",)), GetItem(PLAIN, ("b", "META"))]
    assert await store.batch_get(reads) == [{"n": 1}, None]
    with pytest.raises(errors.SameItemTwice):
        await store.batch_get([reads[0], reads[0]])
    with pytest.raises(errors.TooManyItems):
        await store.snapshot([GetItem(PLAIN, (f"{n}", "META")) for n in range(101)])


async def test_a_snapshot_has_the_size_limit_of_a_transaction(store: EmbeddedBackend, plain: TableClient) -> None:
    for n in range(11):
        await plain.put(game(f"{n}", body="x" * 400_000))
    with pytest.raises(errors.TransactionTooLarge):
        await store.snapshot([GetItem(PLAIN, (f"{n}", "META")) for n in range(11)])


async def test_every_acknowledged_write_is_read(plain: TableClient) -> None:
    async def write_and_read(n: int) -> None:
        for turn in range(30):
            await plain.put(game(f"g{n}", turn=turn))
            assert await plain.get(f"g{n}") == game(f"g{n}", turn=turn)
            assert await plain.query(f"g{n}") == [game(f"g{n}", turn=turn)]

    await asyncio.gather(*(write_and_read(n) for n in range(8)))


async def test_a_snapshot_never_shows_part_of_a_transaction(store: EmbeddedBackend) -> None:
    pair = [GetItem(PLAIN, ("a", "META")), GetItem(PLAIN, ("b", "META"))]
    done = asyncio.Event()

    async def transfer() -> None:
        for _ in range(150):
            await store.transact(
                [
                    UpdateItem(PLAIN, ("a", "META"), (ex.Increase(("n",), -1),)),
                    UpdateItem(PLAIN, ("b", "META"), (ex.Increase(("n",), 1),)),
                ]
            )
        done.set()

    async def take_snapshots() -> int:
        count = 0
        while not done.is_set():
            rows = [row for row in await store.snapshot(pair) if row is not None]
            assert sum((unpacked(row) or {})["n"] for row in rows) == 0
            count += 1
        return count

    _, *counts = await asyncio.gather(transfer(), take_snapshots(), take_snapshots())
    assert all(counts)


async def test_lagging_reads_are_stale_within_a_limit(store: EmbeddedBackend, plain: TableClient) -> None:
    lags = []
    for n in range(1, 300):
        await plain.put(game("a", n=n))
        stale = await plain.get("a", lagging=True)
        assert stale is not None
        lags.append(n - stale["n"])
    assert min(lags) >= 0
    assert 0 < max(lags) <= 52
    page = await plain.page("a", lagging=True)
    assert 0 <= 299 - items(page)[0]["n"] <= 52
