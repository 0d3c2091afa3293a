"""Items that do not fit their entity: written by another program, or damaged. They hold up nothing else."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.contract.conftest import OpenStore
from tests.support.designs.pieces import Lid, pieces
from tests.support.designs.stock import (
    Keepers,
    Placed,
    Stock,
    by_place,
    count,
    labels,
    level,
    placed_at,
    shop_of,
    stocks,
    stocks_of,
)
from tests.support.store_reads import drain, eventually
from zataku.table import (
    ConditionFailed,
    Entity,
    ItemUnreadable,
    Page,
    Store,
    TransactionCancelled,
    UnreadableItem,
    WrittenUnreadable,
)
from zataku.table.backend.port import PutItem
from zataku.table.schema.entity import binding_of

NAMES = ("a", "b", "c", "d", "e")
GOOD = [Stock(name=name, place="hall") for name in NAMES if name not in "bd"]
NEGATIVE = {**binding_of(Stock).encode(Stock(name="b", place="hall")), "count": -1}
UNTAGGED = {**binding_of(Stock).encode(Stock(name="d", place="hall")), "kind": "CRATE"}
B, C = Stock.key(shop="s", name="b"), Stock.key(shop="s", name="c")


async def put_raw(store: Store, item: dict[str, Any]) -> None:
    """Write an item as another program would."""
    write = PutItem(store.schema(stocks), item)
    await store.calls("foreign", lambda consumed: store.backend.write(write, consumed))


@pytest.fixture
async def shop(open_store: OpenStore) -> Store:
    """A shop with five stocks, of which the second and the fourth do not fit."""
    store = await open_store(stocks)
    await store.write_many(put=GOOD)
    for item in (NEGATIVE, UNTAGGED):
        await put_raw(store, item)
    return store


def names(stocked: list[Any]) -> list[str]:
    return [item.name for item in stocked]


async def test_get_names_the_item_and_the_reason(shop: Store):
    with pytest.raises(ItemUnreadable, match=r"'SHOP#s', 'STOCK#b'.*does not fit Stock.*>= 0.*count") as refused:
        await shop.get(B, strong=True)
    unreadable = refused.value.unreadable
    assert unreadable is not None
    assert unreadable.key == {"PK": "SHOP#s", "SK": "STOCK#b"}
    assert (unreadable.entity, unreadable.item) == ("Stock", NEGATIVE)
    assert "count" in unreadable.reason
    assert "STOCK#b" not in unreadable.reason
    assert await shop.get(C, strong=True) == Stock(name="c", place="hall")


async def test_many_items_are_read_without_such_an_item(shop: Store):
    keys = [Stock.key(shop="s", name=name) for name in "abc"]
    with pytest.raises(ItemUnreadable, match="STOCK#b"):
        await shop.get_many(keys, strong=True)
    reported: list[UnreadableItem] = []
    assert await shop.get_many(keys, strong=True, unreadable=reported.append) == [GOOD[0], None, GOOD[1]]
    assert [item.item for item in reported] == [NEGATIVE]


async def test_such_an_item_that_has_expired_is_absent(open_store: OpenStore):
    store, key = await open_store(pieces), Lid.key(box="a")
    write = PutItem(store.schema(pieces), {"PK": "BOX#a", "SK": "LID", "kind": "LID", "text": 5, "until": 5})
    await store.calls("foreign", lambda consumed: store.backend.write(write, consumed))
    assert await store.get(key, strong=True) is None
    assert await store.get_many([key], strong=True) == [None]
    assert await store.snapshot(key) == [None]


@pytest.mark.parametrize("limit", [1, 2, 50])
async def test_a_page_ends_before_such_an_item_and_goes_on_after_it(shop: Store, limit: int):
    read: list[Stock | Keepers] = []
    problems: list[object] = []
    after = None
    while True:
        try:
            page: Page[Stock | Keepers] = await shop.page(shop_of("s"), limit=limit, after=after)
        except ItemUnreadable as problem:
            problems.append(problem.unreadable and problem.unreadable.key["SK"])
            after = problem.cursor
        else:
            read += page.items
            after = page.cursor
        if after is None:
            break
    assert read == GOOD
    assert problems == ["STOCK#b", "STOCK#d"]


@pytest.mark.parametrize("limit", [1, 2, 50])
async def test_pages_skip_and_report_such_items(shop: Store, limit: int):
    reported: list[UnreadableItem] = []
    read: list[Stock | Keepers] = []
    after = None
    while True:
        page = await shop.page(shop_of("s"), limit=limit, after=after, unreadable=reported.append)
        read += page.items
        after = page.cursor
        if after is None:
            break
    assert read == GOOD
    assert [(item.key["SK"], item.entity) for item in reported] == [("STOCK#b", "Stock"), ("STOCK#d", None)]
    assert reported[0].item == NEGATIVE
    assert "none of Stock, Keepers" in reported[1].reason


async def test_the_last_item_of_a_query_leaves_no_cursor(open_store: OpenStore):
    store = await open_store(stocks)
    await put_raw(store, NEGATIVE)
    cursors: list[str | None] = []
    after = None
    for _ in range(2):
        try:
            page = await store.page(stocks_of("s"), after=after)
            cursors.append(page.cursor)
        except ItemUnreadable as problem:
            cursors.append(problem.cursor)
        after = cursors[-1]
        if after is None:
            break
    # A store may not know that a page was the last one.
    assert cursors[-1] is None


async def test_an_iteration_raises_at_such_an_item_or_reports_it(shop: Store):
    read: list[Any] = []
    with pytest.raises(ItemUnreadable):
        async for item in shop.each(stocks_of("s")):
            read = [*read, item]
    assert names(read) == ["a"]
    reported: list[UnreadableItem] = []
    read = [item async for item in shop.each(shop_of("s"), unreadable=reported.append)]
    assert (read, len(reported)) == (GOOD, 2)


async def test_a_scan_reports_such_items(shop: Store):
    reported: list[UnreadableItem] = []

    async def scan() -> list[Entity]:
        reported.clear()
        read = [item async for item in shop.scan(stocks, unreadable=reported.append)]
        return sorted(read, key=lambda item: item.name)  # pyright: ignore[reportAttributeAccessIssue]

    await eventually(scan, GOOD)
    assert sorted(item.key["SK"] for item in reported) == ["STOCK#b", "STOCK#d"]
    with pytest.raises(ItemUnreadable):
        _ = [item async for item in shop.scan(stocks)]


async def test_a_view_of_such_an_item_is_reported_with_its_key(shop: Store):
    reported: list[UnreadableItem] = []

    async def page() -> list[Placed]:
        reported.clear()
        return (await shop.page(placed_at("hall"), unreadable=reported.append)).items

    # The index holds no tag, so that the view of the fourth stock fits.
    await eventually(page, [Placed(count=5)] * 4)
    assert [item.key for item in reported] == [{"PK": "SHOP#s", "SK": "STOCK#b"}]

    async def scan() -> list[Placed]:
        reported.clear()
        return [view async for view in shop.scan_index(by_place, Placed, unreadable=reported.append)]

    await eventually(scan, [Placed(count=5)] * 4)
    assert [item.key for item in reported] == [{"PK": "SHOP#s", "SK": "STOCK#b"}]


async def test_pages_of_an_index_go_on_after_such_an_item(shop: Store):
    async def read() -> tuple[int, int]:
        read, problems, after = 0, 0, None
        for _ in range(20):
            try:
                page = await shop.page(placed_at("hall"), limit=2, after=after)
                read, after = read + len(page.items), page.cursor
            except ItemUnreadable as problem:
                problems, after = problems + 1, problem.cursor
            if after is None:
                break
        return read, problems

    await eventually(read, (4, 1))


async def test_a_failed_condition_reports_such_an_item(shop: Store):
    with pytest.raises(ConditionFailed) as refused:
        await shop.put(Stock(name="b"), if_absent=True)
    assert isinstance(refused.value.current, UnreadableItem)
    assert refused.value.current.item == NEGATIVE


@pytest.mark.needs("transactions")
async def test_a_cancelled_transaction_reports_such_an_item(shop: Store):
    with pytest.raises(TransactionCancelled) as cancelled:
        async with shop.transact() as tx:
            tx.put(Stock(name="b"), if_absent=True)
            tx.put(Stock(name="z"))
    current = cancelled.value.reasons[0].current
    assert isinstance(current, UnreadableItem)
    assert current.item == NEGATIVE


async def test_an_update_that_mends_such_an_item_returns_it(shop: Store):
    assert (await shop.update(B, count.set(3))).count == 3
    assert await shop.get(B, strong=True) == Stock(name="b", place="hall", count=3, version=1)


async def test_an_update_elsewhere_in_such_an_item_says_that_it_was_written(shop: Store):
    with pytest.raises(WrittenUnreadable, match="The update was written"):
        await shop.update(B, labels.append("x"))
    with pytest.raises(ItemUnreadable) as still:
        await shop.get(B, strong=True)
    assert still.value.unreadable is not None
    assert still.value.unreadable.item["labels"] == ["x"]


async def test_such_an_item_is_replaced_and_deleted(shop: Store):
    await shop.put(Stock(name="b", count=1))
    assert await shop.get(B, strong=True) == Stock(name="b", count=1)
    await put_raw(shop, NEGATIVE)
    assert await shop.delete(B) is None
    assert await shop.get(B, strong=True) is None


@pytest.mark.needs("streams")
async def test_a_stream_delivers_such_a_change_with_its_images_and_goes_on(open_store: OpenStore):
    store = await open_store(stocks)
    await store.put(Stock(name="b"))
    await put_raw(store, NEGATIVE)
    await store.put(Stock(name="b", count=2))
    await store.put(Stock(name="b", count=3))
    inserted, damaged, mended, last = await drain(store.stream(stocks, "watcher"))
    assert (inserted.problem, inserted.new, inserted.raw_new) == (None, Stock(name="b"), None)
    assert (damaged.kind, damaged.old, damaged.new) == ("MODIFY", Stock(name="b"), None)
    assert damaged.problem is not None
    assert "count" in damaged.problem
    assert damaged.raw_old == binding_of(Stock).encode(Stock(name="b"))
    assert damaged.raw_new == NEGATIVE
    assert (mended.old, mended.new, mended.raw_old) == (None, Stock(name="b", count=2), NEGATIVE)
    assert mended.problem is not None
    assert (last.problem, last.new) == (None, Stock(name="b", count=3))
    assert await store.stream(stocks, "watcher").read() == []


async def test_a_decimal_that_no_float_equals_is_read_as_the_nearest(open_store: OpenStore):
    store = await open_store(stocks)
    stock = Stock(name="b", level=1.0)
    await store.put(stock)
    updated = await store.update(B, level.add(1e-20))
    assert updated == replace(stock, version=1)
    assert await store.get(B, strong=True) == updated
