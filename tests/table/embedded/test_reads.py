"""Gets, pages and scans."""

import asyncio

import pytest

from tests.table.embedded.tables import BY_NAME, BY_SCORE, BY_STATUS, GAMES, NUMBERED, PLAIN, TableClient, game, items
from zataku.table.backend import errors
from zataku.table.backend import expression as ex
from zataku.table.backend.port import GetItem, KeyRange, ScanItems
from zataku.table.embedded import EmbeddedBackend


async def filled(desk: TableClient, count: int = 10) -> None:
    for n in range(count):
        await desk.put(game("a", f"{n:02d}", status="OPEN", at=n // 2, name=f"n{n % 3}", score=-n, secret=n))


def sks(found: list) -> list[str]:
    return [item["SK"] for item in found]


@pytest.mark.parametrize(
    ("stretch", "expected"),
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
async def test_a_range_of_sort_keys(plain: TableClient, stretch: KeyRange, expected: str) -> None:
    await filled(plain)
    assert sks(await plain.query("a", range=stretch)) == expected.split()
    assert sks(await plain.query("a", range=stretch, newest_first=True)) == expected.split()[::-1]


async def test_a_beginning_reaches_the_last_character_there_is(plain: TableClient) -> None:
    for sk in ("x", "x\uffff", "x\U0010ffff", "y"):
        await plain.put(game("a", sk))
    assert sks(await plain.query("a", range=KeyRange("begins", "x"))) == ["x", "x\uffff", "x\U0010ffff"]


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
async def test_a_query_that_makes_no_sense_is_refused(
    plain: TableClient, options: dict, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await plain.page("a", **options)


async def test_numbers_have_no_beginning(store: EmbeddedBackend) -> None:
    with pytest.raises(errors.BadInput, match="between"):
        await TableClient(store, NUMBERED).page(1, range=KeyRange("begins", 1))


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("index", [None, BY_STATUS, BY_SCORE])
async def test_pages_join_without_gap_or_repeat(games: TableClient, newest_first: bool, index) -> None:
    await filled(games)
    pk = "OPEN" if index is BY_STATUS else "a"
    whole = await games.query(pk, index=index, newest_first=newest_first)
    assert len(whole) == 10
    for limit in (1, 3, 10):
        found, start = [], None
        while True:
            page = await games.page(pk, index=index, newest_first=newest_first, limit=limit, start=start)
            found += items(page)
            start = page.resume
            if start is None:
                break
        assert found == whole


async def test_a_page_goes_on_after_an_item_that_has_gone(games: TableClient) -> None:
    await filled(games)
    for index, pk in ((None, "a"), (BY_STATUS, "OPEN")):
        page = await games.page(pk, index=index, limit=4)
        last = items(page)[-1]
        await games.delete("a", last["SK"])
        assert sks(await games.query(pk, index=index, start=page.resume)) == ["04", "05", "06", "07", "08", "09"]
        await games.put(last)


async def test_a_page_that_met_its_limit_has_a_place_to_resume_even_at_the_end(plain: TableClient) -> None:
    await filled(plain, 3)
    page = await plain.page("a", limit=3)
    assert page.resume == {"PK": "a", "SK": "02"}
    rest = await plain.page("a", limit=3, start=page.resume)
    assert (rest.rows, rest.resume) == ([], None)
    assert (await plain.page("a", limit=4)).resume is None


async def test_a_resumed_range_keeps_its_ends(games: TableClient) -> None:
    await filled(games)
    stretch = KeyRange("between", 1, 3)
    for newest_first in (False, True):
        found, start = [], None
        while True:
            page = await games.page(
                "OPEN", index=BY_STATUS, range=stretch, limit=2, start=start, newest_first=newest_first
            )
            found += sks(items(page))
            start = page.resume
            if start is None:
                break
        assert sorted(found) == ["02", "03", "04", "05", "06", "07"]


async def test_a_page_ends_after_a_megabyte(plain: TableClient) -> None:
    for n in range(5):
        await plain.put(game("a", f"{n}", body="x" * 300_000))
    page = await plain.page("a")
    assert (page.count, page.scanned, page.resume) == (4, 4, {"PK": "a", "SK": "3"})
    page = await plain.page("a", count_only=True, limit=5)
    assert (page.rows, page.count, page.resume is not None) == ([], 4, True)
    assert len(await plain.every()) == 5


async def test_a_filter_comes_after_the_limit(plain: TableClient) -> None:
    await filled(plain)
    odd = ex.OneOf(ex.Attribute(("secret",)), tuple(ex.Literally(n) for n in (1, 3, 5, 7, 9)))
    page = await plain.page("a", limit=4, filter=odd)
    assert (page.count, page.scanned) == (2, 4)
    assert sks(items(page)) == ["01", "03"]
    page = await plain.page("a", filter=odd, count_only=True)
    assert (page.rows, page.count, page.scanned) == ([], 5, 10)


async def test_an_index_shows_what_it_holds(games: TableClient) -> None:
    await filled(games, 2)
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
    assert sks(await games.query("OPEN", index=BY_STATUS)) == ["1"]
    await games.update("a", "1", ex.Assign(("status",), ex.Literally("DONE")))
    assert await games.query("OPEN", index=BY_STATUS) == []
    assert sks(await games.query("DONE", index=BY_STATUS)) == ["1"]
    await games.update("a", "1", ex.Drop(("at",)))
    assert await games.query("DONE", index=BY_STATUS) == []
    await games.put(game("a", "1", status="OPEN", at=1))
    await games.delete("a", "1")
    assert await games.query("OPEN", index=BY_STATUS) == []


async def test_a_global_index_has_no_strong_reads(games: TableClient) -> None:
    with pytest.raises(errors.StrongReadRefused):
        await games.query("OPEN", index=BY_STATUS, strong=True)
    assert await games.query("a", index=BY_SCORE, strong=True) == []


async def test_segments_share_a_table_between_them(store: EmbeddedBackend, games: TableClient) -> None:
    for n in range(50):
        await games.put(game(f"g{n}", status="OPEN", at=n))
    for index in (None, BY_STATUS):
        parts = [await games.every(index=index, segment=n, segments=3, limit=7) for n in range(3)]
        assert all(parts)
        assert sorted(item["PK"] for part in parts for item in part) == sorted(f"g{n}" for n in range(50))
    with pytest.raises(errors.BadInput):
        await store.scan(ScanItems(GAMES, segment=3, segments=3))
    assert await games.every(filter=ex.Compare(ex.Attribute(("PK",)), "=", ex.Literally("g7"))) == [
        game("g7", status="OPEN", at=7)
    ]


async def test_a_batch_of_gets(store: EmbeddedBackend, plain: TableClient) -> None:
    await plain.put(game("a", n=1))
    reads = [GetItem(PLAIN, ("a", "META"), attributes=("n",)), GetItem(PLAIN, ("b", "META"))]
    assert await store.batch_get(reads) == [{"n": 1}, None]
    with pytest.raises(errors.SameItemTwice):
        await store.batch_get([reads[0], reads[0]])
    with pytest.raises(errors.TooManyItems):
        await store.snapshot([GetItem(PLAIN, (f"{n}", "META")) for n in range(101)])


async def test_a_snapshot_is_no_larger_than_a_transaction(store: EmbeddedBackend, plain: TableClient) -> None:
    for n in range(11):
        await plain.put(game(f"{n}", body="x" * 400_000))
    with pytest.raises(errors.TransactionTooLarge):
        await store.snapshot([GetItem(PLAIN, (f"{n}", "META")) for n in range(11)])


async def test_what_was_acknowledged_is_read(plain: TableClient) -> None:
    async def one(n: int) -> None:
        for turn in range(30):
            await plain.put(game(f"g{n}", turn=turn))
            assert await plain.get(f"g{n}") == game(f"g{n}", turn=turn)
            assert await plain.query(f"g{n}") == [game(f"g{n}", turn=turn)]

    await asyncio.gather(*(one(n) for n in range(8)))


async def test_a_snapshot_never_sees_half_a_transaction(store: EmbeddedBackend) -> None:
    pair = [GetItem(PLAIN, ("a", "META")), GetItem(PLAIN, ("b", "META"))]
    done = asyncio.Event()

    async def move() -> None:
        from zataku.table.backend.port import UpdateItem

        for _ in range(150):
            await store.transact(
                [
                    UpdateItem(PLAIN, ("a", "META"), (ex.Increase(("n",), -1),)),
                    UpdateItem(PLAIN, ("b", "META"), (ex.Increase(("n",), 1),)),
                ]
            )
        done.set()

    async def watch() -> int:
        seen = 0
        while not done.is_set():
            rows = [row for row in await store.snapshot(pair) if row is not None]
            from tests.table.embedded.tables import opened

            assert sum((opened(row) or {})["n"] for row in rows) == 0
            seen += 1
        return seen

    _, *seen = await asyncio.gather(move(), watch(), watch())
    assert all(seen)


async def test_lagging_reads_are_stale_but_never_go_far_back(store: EmbeddedBackend, plain: TableClient) -> None:
    behind = []
    for n in range(1, 300):
        await plain.put(game("a", n=n))
        late = await plain.get("a", lagging=True)
        assert late is not None
        behind.append(n - late["n"])
    assert min(behind) >= 0
    assert 0 < max(behind) <= 52
    page = await plain.page("a", lagging=True)
    assert 0 <= 299 - items(page)[0]["n"] <= 52
