"""Faults that the strict backend injects: conflicts, throttling, stale reads, short pages, unprocessed items."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.table.strict.room_fixtures import (  # noqa: F401 - pytest finds the fixtures among the names of this module
    BY_OWNER,
    ROOM,
    StrictFactory,
    fill,
    get,
    item,
    key,
    put,
    room_backend,
    seat,
    stored_seats,
    strict_backend_factory,
)
from zataku.table.backend import expression as ex
from zataku.table.backend.errors import (
    Conflict,
    ResultUnknown,
    SameItemTwice,
    Throttled,
    TooManyItems,
    TransactionCancelled,
)
from zataku.table.backend.port import (
    Backend,
    CheckItem,
    DeleteItem,
    Position,
    PutItem,
    QueryItems,
    Rows,
    ScanItems,
    UpdateItem,
    Write,
)
from zataku.table.backend.values import Item
from zataku.table.strict.strict_backend import Faults, StrictBackend


async def test_without_faults_the_strict_backend_behaves_like_the_wrapped_one(inner: Backend, tmp_path: Path) -> None:
    plain = StrictBackend(inner, random=Random(1))
    await plain.write(put(1))
    await plain.transact([put(2), CheckItem(ROOM, key(1), ex.Exists(("PK",)))])
    assert await plain.batch_write([put(3), DeleteItem(ROOM, key(1))]) == []
    assert item(await plain.get(get(2))) == seat(2)
    assert [item(row) for row in await plain.snapshot([get(1), get(3)])] == [None, seat(3)]
    assert (await plain.query(QueryItems(ROOM, "ROOM#1"))).count == 2
    assert plain.capabilities == inner.capabilities
    assert await plain.secret() == await inner.secret()
    assert await plain.index_states() == await inner.index_states()
    await plain.backup(tmp_path / "copy.db")
    await plain.write(put(9))
    await plain.restore(tmp_path / "copy.db")
    assert await stored_seats(plain) == {2, 3}
    assert plain.injected == Counter()


async def test_the_same_seed_and_calls_meet_the_same_faults(inner: Backend) -> None:
    async def outcomes(seed: int) -> list[str]:
        backend = StrictBackend(inner, random=Random(seed), faults=Faults(conflict=0.3, throttle=0.3, lost_reply=0.3))
        seen: list[str] = []
        for number in range(40):
            try:
                await backend.write(put(number))
                seen.append("done")
            except (Conflict, Throttled, ResultUnknown) as error:
                seen.append(error.code)
        return seen

    first = await outcomes(7)
    assert first == await outcomes(7)
    assert first != await outcomes(8)
    assert set(first) == {"done", "conflict", "throttled", "result_unknown"}


async def test_reading_a_stream_does_not_change_the_faults_of_other_calls(inner: Backend) -> None:
    async def outcomes(polls: int) -> list[bool]:
        backend = StrictBackend(inner, random=Random(3), faults=Faults(throttle=0.5))
        seen: list[bool] = []
        for _ in range(20):
            for _ in range(polls):
                await backend.changes(ROOM, "mirror", 10)
            try:
                await backend.get(get(1))
                seen.append(True)
            except Throttled:
                seen.append(False)
        return seen

    assert await outcomes(0) == await outcomes(2)


@pytest.mark.parametrize(
    "write", [put(1), UpdateItem(ROOM, key(1), (ex.Increase(("n",), 1),)), DeleteItem(ROOM, key(0))]
)
async def test_a_conflicting_write_changes_nothing(inner: Backend, strict: StrictFactory, write: Write) -> None:
    await inner.write(put(0))
    backend = strict(conflict=1)
    with pytest.raises(Conflict):
        await backend.write(write)
    assert await stored_seats(inner) == {0}
    assert backend.injected == {"conflict": 1}


async def test_a_conflicting_transaction_changes_nothing_and_names_the_conflicting_items(
    inner: Backend, strict: StrictFactory
) -> None:
    for seed in range(20):
        with pytest.raises(TransactionCancelled) as caught:
            await strict(seed, conflict=1).transact([put(1), put(2), put(3)], token=f"token-{seed}")
        assert caught.value.conflict
        codes = [reason.code for reason in caught.value.reasons]
        assert len(codes) == 3
        assert "conflict" in codes
        assert set(codes) <= {"conflict", None}
    assert await stored_seats(inner) == set()


async def test_a_snapshot_can_be_cancelled_by_a_conflict(strict: StrictFactory) -> None:
    with pytest.raises(TransactionCancelled) as caught:
        await strict(conflict=1).snapshot([get(1), get(2)])
    assert caught.value.conflict


async def test_a_throttled_call_changes_nothing(inner: Backend, strict: StrictFactory) -> None:
    backend = strict(throttle=1)
    calls = [
        lambda: backend.get(get(1)),
        lambda: backend.query(QueryItems(ROOM, "ROOM#1")),
        lambda: backend.scan(ScanItems(ROOM)),
        lambda: backend.batch_get([get(1)]),
        lambda: backend.snapshot([get(1)]),
        lambda: backend.write(put(1)),
        lambda: backend.batch_write([put(1)]),
        lambda: backend.transact([put(1)]),
    ]
    for call in calls:
        with pytest.raises(Throttled):
            await call()
    assert backend.injected == {"throttle": len(calls)}
    assert await stored_seats(inner) == set()


async def test_repeating_a_refused_write_succeeds_in_the_end(strict: StrictFactory) -> None:
    backend = strict(conflict=0.5, throttle=0.3)
    for number in range(10):
        while True:
            try:
                await backend.write(put(number))
                break
            except (Conflict, Throttled):
                continue
    assert backend.injected["conflict"]
    assert backend.injected["throttle"]
    assert await stored_seats(backend.inner) == set(range(10))


async def test_a_stale_read_returns_an_earlier_state_and_a_strong_read_never_does(strict: StrictFactory) -> None:
    backend, stale_reads = strict(stale_read=1), Counter[str]()
    for version in range(50):
        await backend.write(put(1, version=version))
        fresh = item(await backend.get(get(1)))
        assert fresh is not None
        assert fresh["version"] == version
        stale = item(await backend.get(get(1, strong=False)))
        assert stale is None or stale["version"] <= version
        stale_reads["get"] += stale != fresh
        for index in (None, BY_OWNER):
            page = await backend.query(QueryItems(ROOM, "aki" if index else "ROOM#1", index))
            rows = [item(row) for row in page.rows]
            assert all(row is not None and row["version"] <= version for row in rows)
            stale_reads[index.name if index else "table"] += rows != [fresh]
        exact = await backend.query(QueryItems(ROOM, "ROOM#1", strong=True))
        assert [item(row) for row in exact.rows] == [fresh]
    assert set(stale_reads) == {"get", "table", "ByOwner"}
    assert all(stale_reads.values())
    assert backend.injected["stale_read"] == 150


async def read_pages(
    read: Callable[[Position | None], QueryItems | ScanItems], backend: StrictBackend
) -> tuple[list[Rows], list[int]]:
    """All pages of a read, and the numbers of the seats on them."""
    pages: list[Rows] = []
    start: Position | None = None
    while True:
        request = read(start)
        page = await (backend.query(request) if isinstance(request, QueryItems) else backend.scan(request))
        pages.append(page)
        start = page.resume
        if start is None:
            return pages, [seat["number"] for page in pages for row in page.rows if (seat := item(row))]


ODD = ex.OneOf(ex.Attribute(("number",)), tuple(ex.Literally(number) for number in range(1, 30, 2)))


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda start: QueryItems(ROOM, "ROOM#1", start=start), list(range(30))),
        (lambda start: QueryItems(ROOM, "ROOM#1", start=start, limit=7), list(range(30))),
        (lambda start: QueryItems(ROOM, "ROOM#1", start=start, newest_first=True), list(range(29, -1, -1))),
        (lambda start: QueryItems(ROOM, "aki", BY_OWNER, start=start, limit=30), list(range(30))),
        (lambda start: QueryItems(ROOM, "ROOM#1", start=start, filter=ODD), list(range(1, 30, 2))),
        (lambda start: ScanItems(ROOM, start=start), list(range(30))),
        (lambda start: ScanItems(ROOM, start=start, limit=7, filter=ODD), list(range(1, 30, 2))),
    ],
)
async def test_short_pages_return_each_item_exactly_once(
    strict: StrictFactory, read: Callable[[Position | None], QueryItems | ScanItems], expected: list[int]
) -> None:
    backend = strict(short_page=0.9)
    await fill(backend, 30)
    pages, numbers = await read_pages(read, backend)
    assert (sorted(numbers) if isinstance(read(None), ScanItems) else numbers) == expected
    assert backend.injected["short_page"]
    assert len(pages) > 1
    assert all(page.count == len(page.rows) <= page.scanned for page in pages)
    assert sum(page.scanned for page in pages) == 30


async def test_a_count_over_short_pages_is_complete(strict: StrictFactory) -> None:
    backend = strict(short_page=1)
    await fill(backend, 30)
    pages, _ = await read_pages(lambda start: QueryItems(ROOM, "ROOM#1", start=start, count_only=True), backend)
    assert len(pages) > 2
    assert sum(page.count for page in pages) == 30


async def test_a_page_of_one_item_is_not_shortened(strict: StrictFactory) -> None:
    backend = strict(short_page=1)
    await fill(backend, 2)
    assert (await backend.query(QueryItems(ROOM, "ROOM#1", limit=1))).count == 1
    assert backend.injected["short_page"] == 0


async def test_unprocessed_writes_happen_when_they_are_sent_again(strict: StrictFactory) -> None:
    backend = strict(unprocessed=1)
    await fill(backend, 5)
    waiting: list[PutItem | DeleteItem] = [DeleteItem(ROOM, key(number)) for number in range(5)]
    waiting += [put(number) for number in range(5, 25)]
    rounds = 0
    while waiting:
        before = len(waiting)
        waiting = await backend.batch_write(waiting)
        rounds += 1
        assert len(waiting) < before
        undone = {int(w.item["number"] if isinstance(w, PutItem) else w.key[1][-3:]) for w in waiting}  # type: ignore[index]
        stored = await stored_seats(backend.inner)
        assert stored & set(range(5, 25)) == set(range(5, 25)) - undone
        assert stored & set(range(5)) == undone & set(range(5))
    assert rounds > 1
    assert backend.injected["unprocessed"] == rounds - 1


async def test_an_invalid_batch_changes_nothing(strict: StrictFactory) -> None:
    backend = strict(unprocessed=1)
    with pytest.raises(TooManyItems):
        await backend.batch_write([put(number) for number in range(26)])
    with pytest.raises(SameItemTwice):
        await backend.batch_write([put(1), put(2), DeleteItem(ROOM, key(1))])
    with pytest.raises(SameItemTwice):
        await backend.batch_get([get(1), get(2), get(1)])
    assert await stored_seats(backend.inner) == set()


async def test_unprocessed_reads_succeed_when_they_are_sent_again(strict: StrictFactory) -> None:
    backend = strict(unprocessed=1)
    await fill(backend, 20)
    missing, received, rounds = list(range(25)), dict[int, Item | None](), 0
    while missing:
        replies = await backend.batch_get([get(number) for number in missing])
        assert len(replies) == len(missing)
        done = {number: item(row) for number, row in zip(missing, replies, strict=True) if row != "unprocessed"}  # type: ignore[arg-type]
        assert done
        received |= done
        missing = [number for number in missing if number not in done]
        rounds += 1
    assert rounds > 1
    assert received == {number: seat(number) if number < 20 else None for number in range(25)}


def test_rough_faults_include_every_fault_and_no_faults_include_none() -> None:
    rough, quiet = Faults.rough(), Faults.none()
    assert all(0 < getattr(rough, name) < 1 for name in rough.__struct_fields__)
    assert not any(getattr(quiet, name) for name in quiet.__struct_fields__)


@pytest.mark.parametrize("probability", [-0.1, 1.1])
def test_a_probability_outside_0_to_1_is_refused(probability: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        Faults(throttle=probability)
