"""Golden cases of reading indexes: Developer Guide, "Read capacity units" of global and local secondary indexes."""

from typing import Any

from tests.table.cost.case import BARE, INDEXED, NEAR, NEAR_ALL, SOME, WHOLE, Case, Costs, item, reads
from zataku.table.backend.expression import Attribute, Compare, Literally
from zataku.table.backend.port import KeyRange, QueryItems, ScanItems
from zataku.table.backend.table_schema import IndexSchema
from zataku.table.backend.values import Item

_ENTRIES = "A query of an index counts the sizes of its entries, not of the items; the units are the index's."
_LOCAL = "A local index has strong reads at full price; with all attributes projected its entries are the items."
_FETCH = "What a local index lacks is fetched: each whole item is charged to the table, rounded up separately."
_NO_FETCH = "Requesting only projected attributes reads the index alone."
_EMPTY = "A query without results still costs the smallest read."


def _some(note: int, sk: str = "s") -> Item:
    """In `some`: an entry of 6 + 2 + 4 + note bytes, and an item of 1000 more."""
    return item(sk, s="t", note="x" * note, pad="x" * 997)


def _near(note: int, pad: int, sk: str = "s") -> Item:
    """In `near`: an entry of 6 + 2 + 4 + note bytes, and an item of 3 + pad more."""
    return item(sk, l="t", note="x" * note, pad="x" * pad)


def _case(name: str, rule: str, call: QueryItems | ScanItems, costs: Costs, *stored: Item) -> Case:
    return Case(name, rule, call, costs, stored, INDEXED)


def _query(index: IndexSchema, pk: str, **options: Any) -> QueryItems:
    return QueryItems(INDEXED, pk, index, **options)


# The guide's example: 4 items of 300 bytes, of which 200 are projected.
_FOUR = tuple(_near(188, 97, sk) for sk in "abcd")
_EIGHT = tuple(item(sk, w="t", pad="x" * 1989) for sk in "abcdefgh")
_PAD = Compare(Attribute(("pad",)), "=", Literally("no such text"))
_NOTE = Compare(Attribute(("note",)), "=", Literally("no such text"))

INDEX_READS = (
    # The guide's example: 8 items of 2000 bytes are 16 KB, eventually consistent.
    _case("query an index of whole items", _ENTRIES, _query(WHOLE, "t"), reads(whole=2), *_EIGHT),
    _case("query a part of an index", _ENTRIES, _query(WHOLE, "t", limit=3), reads(whole=1), *_EIGHT),
    _case("query an index of keys", _ENTRIES, _query(BARE, "t"), reads(bare=0.5), item(b="t", n=1, pad="x" * 9000)),
    _case("query entries of 4096 bytes", _ENTRIES, _query(SOME, "t"), reads(some=0.5), _some(4084)),
    _case("query entries of 4097 bytes", _ENTRIES, _query(SOME, "t"), reads(some=1), _some(4085)),
    _case(
        "query entries that fit together", _ENTRIES, _query(SOME, "t"), reads(some=0.5), _some(2000), _some(2072, "t")
    ),
    _case(
        "query an index for one attribute", _ENTRIES, _query(SOME, "t", attributes=("sk",)), reads(some=1), _some(4085)
    ),
    _case("count an index", _ENTRIES, _query(SOME, "t", count_only=True), reads(some=1), _some(4085)),
    _case("query an index with a filter", _ENTRIES, _query(SOME, "t", filter=_NOTE), reads(some=1), _some(4085)),
    _case("query an index without results", _EMPTY, _query(SOME, "t"), reads(some=0.5)),
    _case("scan an index", _ENTRIES, ScanItems(INDEXED, SOME), reads(some=1), _some(2000), _some(2085, "t"), item("x")),
    _case("query a local index", _LOCAL, _query(NEAR_ALL, "p"), reads(near_all=1), item(m="t", pad="x" * 5000)),
    _case(
        "query a local index strongly",
        _LOCAL,
        _query(NEAR_ALL, "p", strong=True),
        reads(near_all=2),
        item(m="t", pad="x" * 5000),
    ),
    _case("query what a local index holds", _NO_FETCH, _query(NEAR, "p", strong=True), reads(near=1), _near(10, 9000)),
    _case(
        "query attributes that a local index holds",
        _NO_FETCH,
        _query(NEAR, "p", strong=True, attributes=("note", "l")),
        reads(near=2),
        _near(5000, 9000),
    ),
    _case("query a local index without results", _EMPTY, _query(NEAR, "p", attributes=("pad",)), reads(near=0.5)),
    _case("count a local index", _NO_FETCH, _query(NEAR, "p", count_only=True), reads(near=0.5), *_FOUR),
    _case("fetch four items", _FETCH, _query(NEAR, "p", strong=True, attributes=("pad",)), reads(4, near=1), *_FOUR),
    _case("fetch four items eventually", _FETCH, _query(NEAR, "p", attributes=("pad",)), reads(2, near=0.5), *_FOUR),
    _case(
        "fetch two large items",
        _FETCH,
        # Entries of 22 bytes; items of 4096 and 4097 bytes.
        _query(NEAR, "p", strong=True, attributes=("note", "pad")),
        reads(3, near=1),
        _near(10, 4071),
        _near(10, 4072, "t"),
    ),
    _case(
        "fetch a part of the items",
        _FETCH,
        _query(NEAR, "p", attributes=("pad",), limit=2, range=KeyRange(">=", "a")),
        reads(1, near=0.5),
        *_FOUR,
    ),
    _case(
        "fetch for a filter",
        _FETCH + " A filter on such an attribute needs the item, too.",
        _query(NEAR, "p", attributes=("note",), filter=_PAD),
        reads(2, near=0.5),
        *_FOUR,
    ),
)
