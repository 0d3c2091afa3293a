"""Queries return items in the order of their sort keys; a range narrows a span."""

from decimal import Decimal

import pytest
import pytest_asyncio

from tests.support.designs.measures import (
    Blob,
    Measure,
    Word,
    blobs,
    measures,
    measures_from,
    measures_in,
    measures_within,
    parts_beginning,
    parts_of,
    stamped,
    words,
    words_back,
    words_in,
    words_narrowed,
)
from tests.support.store_reads import assert_query_returns, read_page_by_page
from zataku.table import BadInput, BadKey, DesignError, Store, WrongType

# In the order of UTF-8: characters beyond the basic plane come last, unlike in UTF-16.
WORDS = ["\0", "\0\0", "A", "B", "Z", "a", "a\0", "a#", "aa", "ab", "b", "é", "が", "ハ", "\ud7ff", "\uffff", "𝄞", "😀"]

NUMBERS = [
    Decimal("-9.9999999999999999999999999999999999999E+125"),
    Decimal(-12345678901234567890123456789012345678),
    Decimal(-100),
    Decimal(-10),
    Decimal("-9.5"),
    Decimal(-9),
    Decimal(-1),
    Decimal("-0.5"),
    Decimal("-0.05"),
    Decimal("-1E-130"),
    Decimal(0),
    Decimal("1E-130"),
    Decimal("0.1"),
    Decimal("0.10000000000000000000000000000000000001"),
    Decimal("0.5"),
    Decimal(1),
    Decimal("1.5"),
    Decimal(2),
    Decimal(9),
    Decimal(10),
    Decimal("99.99"),
    Decimal(100),
    Decimal(9007199254740992),
    Decimal(9007199254740993),
    Decimal(18446744073709551616),
    Decimal(12345678901234567890123456789012345678),
    Decimal("1E+38"),
    Decimal("9.9999999999999999999999999999999999999E+125"),
]

BYTES = [
    b"\x00",
    b"\x00\x00",
    b"\x00\xff",
    b"\x01",
    b"a",
    b"a\x00",
    b"ab",
    b"\x7f",
    b"\x80",
    b"\xfe",
    b"\xff",
    b"\xff\x00",
]


def scattered(values: list) -> list:
    """The same values in another order, which is the same in every run."""
    return sorted(values, key=lambda value: str(value)[::-1])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def dictionary(open_shared_store) -> Store:
    store = await open_shared_store(words)
    await store.write_many(put=[Word(language="all", word=word) for word in scattered(WORDS)])
    return store


@pytest.mark.asyncio(loop_scope="module")
async def test_strings_are_ordered_by_their_utf_8_bytes(dictionary: Store):
    assert sorted(word.encode() for word in WORDS) == [word.encode() for word in WORDS]
    await assert_query_returns(dictionary, words_in("all"), *(Word(language="all", word=word) for word in WORDS))


@pytest.mark.asyncio(loop_scope="module")
async def test_newest_first_reverses_the_order(dictionary: Store):
    await assert_query_returns(
        dictionary, words_back("all"), *(Word(language="all", word=word) for word in reversed(WORDS))
    )


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_pages_keep_the_order_in_both_directions(dictionary: Store, limit: int):
    assert [entry.word for entry in await read_page_by_page(dictionary, words_in("all"), limit)] == WORDS
    assert [entry.word for entry in await read_page_by_page(dictionary, words_back("all"), limit)] == WORDS[::-1]


async def test_numbers_are_ordered_by_value(open_store):
    store = await open_store(measures)
    await store.write_many(put=[Measure(room=1, at=number) for number in scattered(NUMBERS)])
    await assert_query_returns(store, measures_in(1), *(Measure(room=1, at=number) for number in NUMBERS))
    assert [measure.at for measure in await read_page_by_page(store, measures_in(1), 3)] == NUMBERS
    within = NUMBERS[4:-4]
    times = [measure.at async for measure in store.each(measures_within(1, within[0], within[-1]))]
    assert times == within


async def test_numbers_in_an_index_are_ordered_by_value(open_store):
    store = await open_store(measures)
    items = [
        Measure(room=at, at=Decimal(at), device=b"\x00", level=number) for at, number in enumerate(scattered(NUMBERS))
    ]
    await store.write_many(put=items)
    await assert_query_returns(store, measures_from(b"\x00"), *sorted(items, key=lambda it: it.level))


async def test_numbers_written_differently_are_one_key_when_equal(open_store):
    store = await open_store(measures)
    await store.put(Measure(room=1, at=Decimal("1.50"), stamp=b"old"))
    await store.put(Measure(room=1, at=Decimal("15E-1"), stamp=b"new"))
    stored = await store.get(Measure.key(room=1, at=Decimal("1.5")), strong=True)
    assert stored == Measure(room=1, at=Decimal("1.5"), stamp=b"new")
    await assert_query_returns(store, measures_in(1), stored)


async def test_bytes_are_ordered_by_value(open_store):
    store = await open_store(blobs, measures)
    assert sorted(BYTES) == BYTES
    await store.write_many(put=[Blob(digest=b"d\x00", part=part) for part in scattered(BYTES)])
    await assert_query_returns(store, parts_of(b"d\x00"), *(Blob(digest=b"d\x00", part=part) for part in BYTES))
    await assert_query_returns(store, parts_of(b"d"))
    stamps = [Measure(room=1, at=Decimal(len(BYTES) - at), stamp=part) for at, part in enumerate(BYTES)]
    await store.write_many(put=stamps)
    await assert_query_returns(store, stamped(1), *stamps)


async def test_a_prefix_of_bytes_may_end_with_the_highest_byte(open_store):
    store = await open_store(blobs)
    await store.write_many(put=[Blob(digest=b"d", part=part) for part in BYTES])
    for prefix in (b"\x00", b"a", b"\xff", b"\xff\xff"):
        expected = [Blob(digest=b"d", part=part) for part in BYTES if part.startswith(prefix)]
        await assert_query_returns(store, parts_beginning(b"d", prefix), *expected)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("method", "low", "high", "expected"),
    [
        ("begins_with", "a", "", ["a", "a\0", "a#", "aa", "ab"]),
        ("begins_with", "ab", "", ["ab"]),
        ("begins_with", "\uffff", "", ["\uffff"]),
        ("begins_with", "😀", "", ["😀"]),
        ("begins_with", "q", "", []),
        ("between", "Z", "aa", ["Z", "a", "a\0", "a#", "aa"]),
        ("between", "b", "b", ["b"]),
        ("between", "c", "d", []),
        ("equals", "a", "", ["a"]),
        ("equals", "c", "", []),
        ("after", "ハ", "", ["\ud7ff", "\uffff", "𝄞", "😀"]),
        ("since", "ハ", "", ["ハ", "\ud7ff", "\uffff", "𝄞", "😀"]),
        ("after", "😀", "", []),
        ("before", "B", "", ["\0", "\0\0", "A"]),
        ("until", "B", "", ["\0", "\0\0", "A", "B"]),
        ("before", "\0", "", []),
        ("after", "a", "", WORDS[WORDS.index("a") + 1 :]),
    ],
)
async def test_a_span_is_narrowed_by_each_kind_of_range(
    dictionary: Store, method: str, low: str, high: str, expected: list[str]
):
    query = words_narrowed("all", method, low, high)
    assert [entry.word async for entry in dictionary.each(query)] == expected
    assert [entry.word for entry in await read_page_by_page(dictionary, query, 2)] == expected
    assert await dictionary.count(query) == len(expected)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_range_with_its_ends_in_the_wrong_order_is_refused(dictionary: Store):
    with pytest.raises(BadInput):
        await dictionary.page(words_narrowed("all", "between", "b", "a"))


def test_a_range_of_another_type_is_refused():
    for narrow in (
        lambda: words.partition("a").equals(3),
        lambda: words.partition(3),
        lambda: measures.partition(1).since("a"),
        lambda: measures.partition(1).begins_with("1"),
        lambda: measures.partition(True),
        lambda: blobs.partition(b"d").between(b"a", "b"),
    ):
        with pytest.raises(WrongType):
            narrow()


def test_a_range_with_an_empty_or_overlong_key_is_refused():
    for narrow in (
        lambda: words.partition(""),
        lambda: words.partition("a" * 2049),
        lambda: words.partition("a").equals(""),
        lambda: words.partition("a").begins_with("a" * 1025),
    ):
        with pytest.raises(BadKey):
            narrow()


def test_a_span_accepts_only_one_range():
    with pytest.raises(DesignError, match="between"):
        words.partition("a").since("b").until("c")


async def test_items_with_equal_index_keys_have_a_stable_order(open_store):
    store = await open_store(measures)
    same = [Measure(room=room, at=Decimal(1), device=b"d", level=Decimal(5)) for room in range(-10, 11)]
    await store.write_many(put=[*same, Measure(room=99, at=Decimal(1), device=b"d", level=Decimal(6))])
    for _ in range(60):
        whole = [measure async for measure in store.each(measures_from(b"d"))]
        if len(whole) == len(same) + 1:
            break
    assert {measure.room for measure in whole[:-1]} == {measure.room for measure in same}
    assert whole[-1].room == 99
    for limit in (1, 4, 7):
        for _ in range(60):
            items = await read_page_by_page(store, measures_from(b"d"), limit)
            if items == whole:
                break
        assert items == whole
