"""Golden cases of reading a table: Developer Guide, "Capacity unit consumption for read operations"."""

from tests.table.cost.case import INDEXED, PLAIN, BatchGet, Case, Snapshot, item, padded, reads
from zataku.table.backend.expression import Attribute, Compare, Literally
from zataku.table.backend.port import GetItem, KeyRange, QueryItems, ScanItems
from zataku.table.backend.values import Item

_KEY = ("p", "s")
_STRONG = GetItem(PLAIN, _KEY, strong=True)
_EVENTUAL = GetItem(PLAIN, _KEY)
_ROUNDED = "An item's size is rounded up to the next 4 KB; a strong read of each 4 KB is one unit."
_HALF = "An eventually consistent read costs half."
_ABSENT = "Reading an absent item costs as much as the smallest item."
_PROJECTED = "Requesting only some attributes does not reduce the size that counts."
_BATCH = "Each item of a batch is rounded up separately."
_TWICE = "A transactional read of each 4 KB is two units."
_SUMMED = "All items that a query evaluates are one read: their sizes are added, then rounded up to 4 KB."
_FILTERED = "The evaluated items count, not the returned ones."
_EMPTY = "A query or scan without results still costs the smallest read."
_SIZE = "Names and values count, in UTF-8 bytes; see "


def _boundary(name: str, rule: str, fits: Item, over: Item) -> tuple[Case, Case]:
    """Two items, one of exactly 4096 bytes and one a byte larger."""
    return (
        Case(f"{name} of 4096 bytes", rule, _STRONG, reads(1), (fits,)),
        Case(f"{name} of 4097 bytes", rule, _STRONG, reads(2), (over,)),
    )


GETS = (
    Case("get a small item", _HALF, _EVENTUAL, reads(0.5), (padded(100),)),
    Case("get a small item strongly", _ROUNDED, _STRONG, reads(1), (padded(100),)),
    *_boundary("get an item", _ROUNDED, padded(4096), padded(4097)),
    Case("get 4097 bytes", _HALF, _EVENTUAL, reads(1), (padded(4097),)),
    Case("get 8193 bytes", _HALF, _EVENTUAL, reads(1.5), (padded(8193),)),
    Case("get 8192 bytes strongly", _ROUNDED, _STRONG, reads(2), (padded(8192),)),
    Case("get the largest item", _ROUNDED, _STRONG, reads(100), (padded(409_600),)),
    Case("get an absent item", _ABSENT, _EVENTUAL, reads(0.5)),
    Case("get an absent item strongly", _ABSENT, _STRONG, reads(1)),
    Case("get one attribute", _PROJECTED, GetItem(PLAIN, _KEY, True, attributes=("sk",)), reads(2), (padded(4097),)),
)

# 6 bytes are the keys of each item.
SIZES = (
    *_boundary("a long name in an item", _SIZE + "names", item(**{"n" * 4089: "x"}), item(**{"n" * 4090: "x"})),
    # 3 bytes each: 6 + 1 + 3 * 1363 = 4096
    *_boundary("text in an item", _SIZE + "UTF-8", item(u="あ" * 1363), item(u="あ" * 1363 + "x")),
    # The name has 4 bytes.
    *_boundary("a name outside ASCII in an item", _SIZE + "UTF-8", item(üü="x" * 4086), item(üü="x" * 4087)),
    # A number takes a byte for two digits and one more: 6 + (1 + 4) + (3 + 4082)
    *_boundary("a number in an item", "numbers", item(n=12345, pad="x" * 4082), item(n=12345, pad="x" * 4083)),
    # ... and another for the sign: 6 + (1 + 5) + (3 + 4081)
    *_boundary(
        "a negative number in an item", "numbers", item(n=-12345, pad="x" * 4081), item(n=-12345, pad="x" * 4082)
    ),
    # 38 digits are 20 bytes: 6 + (1 + 20) + (3 + 4066)
    *_boundary(
        "a long number in an item",
        "numbers",
        item(n=int("12" * 19), pad="x" * 4066),
        item(n=int("12" * 19), pad="x" * 4067),
    ),
    *_boundary("bytes in an item", "Raw bytes count", item(b=b"\xff" * 4089), item(b=b"\xff" * 4090)),
    # A boolean and a null are a byte each: 6 + (1 + 1) + (1 + 1) + (3 + 4083)
    *_boundary(
        "a boolean and a null in an item",
        "1 byte",
        item(t=True, z=None, pad="x" * 4083),
        item(t=True, z=None, pad="x" * 4084),
    ),
    # A set is its members: 6 + (1 + 2 + 3) + (3 + 4081)
    *_boundary(
        "a set in an item",
        "members",
        item(e=frozenset({"ab", "cde"}), pad="x" * 4081),
        item(e=frozenset({"ab", "cde"}), pad="x" * 4082),
    ),
    # A list is 3 bytes and one for each element: 6 + (1 + 3 + (1 + 2) + (1 + 2)) + (3 + 4077)
    *_boundary("a list in an item", "3 + 1", item(e=["ab", 7], pad="x" * 4077), item(e=["ab", 7], pad="x" * 4078)),
    # A map likewise, with its names: 6 + (1 + 3 + (1 + 1 + 2)) + (3 + 4079)
    *_boundary("a map in an item", "3 + 1", item(e={"k": "vw"}, pad="x" * 4079), item(e={"k": "vw"}, pad="x" * 4080)),
    # Both, one in the other: 6 + (1 + 3 + (1 + 1 + (3 + (1 + 1) + (1 + 3)))) + (3 + 4072)
    *_boundary(
        "nested lists in an item",
        "3 + 1 on every level",
        item(e={"k": ["v", []]}, pad="x" * 4072),
        item(e={"k": ["v", []]}, pad="x" * 4073),
    ),
)


def _gets(*names: str, strong: bool = False) -> tuple[GetItem, ...]:
    return tuple(GetItem(PLAIN, ("p", sk), strong) for sk in names)


BATCHES = (
    # The guide's example: 1.5 KB and 6.5 KB are 4 KB and 8 KB.
    Case("batch get", _BATCH, BatchGet(_gets("a", "b")), reads(1.5), (padded(1536, "a"), padded(6656, "b"))),
    Case(
        "batch get strongly",
        _BATCH,
        BatchGet(_gets("a", "b", strong=True)),
        reads(3),
        (padded(1536, "a"), padded(6656, "b")),
    ),
    Case("batch get with an absent item", _ABSENT, BatchGet(_gets("a", "b")), reads(1), (padded(100, "a"),)),
    Case(
        "batch get from two tables",
        _BATCH,
        BatchGet((*_gets("a"), GetItem(INDEXED, _KEY))),
        {(PLAIN.name, None): (1, 0), (INDEXED.name, None): (0.5, 0)},
        (padded(5000, "a"),),
    ),
    Case("snapshot", _TWICE, Snapshot(_gets("a", strong=True)), reads(2), (padded(100, "a"),)),
    Case("snapshot of 4097 bytes", _TWICE, Snapshot(_gets("a", strong=True)), reads(4), (padded(4097, "a"),)),
    Case("snapshot of an absent item", _TWICE, Snapshot(_gets("a", strong=True)), reads(2)),
    Case(
        "snapshot of two items",
        _TWICE,
        Snapshot(_gets("a", "b", "c", strong=True)),
        reads(8),
        (padded(100, "a"), padded(5000, "b")),
    ),
)

_THREE_FIT = (padded(1365, "a"), padded(1365, "b"), padded(1366, "c"))
_THREE = (padded(1365, "a"), padded(1366, "b"), padded(1366, "c"))
_TEN = tuple(padded(4178, sk) for sk in "abcdefghij")
_QUERY = QueryItems(PLAIN, "p")
_NO_MATCH = Compare(Attribute(("pad",)), "=", Literally("no such text"))

PAGES = (
    Case("query 4096 bytes", _SUMMED, QueryItems(PLAIN, "p", strong=True), reads(1), _THREE_FIT),
    Case("query 4097 bytes", _SUMMED, QueryItems(PLAIN, "p", strong=True), reads(2), _THREE),
    Case("query eventually", _HALF, _QUERY, reads(1), _THREE),
    # The guide's example: ten items of 40.8 KB together are 44 KB.
    Case("query ten items", _SUMMED, QueryItems(PLAIN, "p", strong=True), reads(11), _TEN),
    Case("query ten items eventually", _HALF, _QUERY, reads(5.5), _TEN),
    Case("query an empty partition", _EMPTY, _QUERY, reads(0.5)),
    Case("query an empty partition strongly", _EMPTY, QueryItems(PLAIN, "p", strong=True), reads(1)),
    Case("query with a filter", _FILTERED, QueryItems(PLAIN, "p", filter=_NO_MATCH), reads(5.5), _TEN),
    Case("query one attribute", _PROJECTED, QueryItems(PLAIN, "p", attributes=("sk",)), reads(5.5), _TEN),
    Case("count", "Counting reads every item.", QueryItems(PLAIN, "p", count_only=True), reads(5.5), _TEN),
    Case("query with a limit", _FILTERED, QueryItems(PLAIN, "p", limit=1), reads(1), _TEN),
    Case("query a range", _SUMMED, QueryItems(PLAIN, "p", range=KeyRange("<=", "b")), reads(1.5), _TEN),
    Case("query backwards", _SUMMED, QueryItems(PLAIN, "p", newest_first=True, limit=2), reads(1.5), _TEN),
    Case("scan", _SUMMED, ScanItems(PLAIN), reads(5.5), _TEN),
    Case("scan strongly", _SUMMED, ScanItems(PLAIN, strong=True), reads(11), _TEN),
    Case("scan with a filter", _FILTERED, ScanItems(PLAIN, filter=_NO_MATCH), reads(5.5), _TEN),
    Case("scan an empty table", _EMPTY + " A table is one partition here.", ScanItems(PLAIN), reads(0.5)),
)

READS = (*GETS, *SIZES, *BATCHES, *PAGES)
