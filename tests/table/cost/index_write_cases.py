"""Golden cases of index maintenance: Developer Guide, "Write capacity units" of global and local secondary indexes."""

from typing import Any

from tests.table.cost.case import INDEXED, BatchWrite, Call, Case, Costs, item, writes
from zataku.table.backend.expression import Assign, Drop, Literally, Missing
from zataku.table.backend.port import DeleteItem, PutItem, UpdateItem
from zataku.table.backend.values import Item

_NEW = "An item with the index key gets an entry in the index: one write of the entry."
_SPARSE = "An item that is in the index neither before nor after the write costs the index nothing."
_ENTRY = "The size of the entry counts: index keys, table keys and projected attributes, rounded up to 1 KB."
_MOVED = "A change of the index key is two writes: the old entry is deleted and the new one put."
_IN_PLACE = "A change of a projected attribute is one write, of the larger entry."
_UNTOUCHED = "A write that does not change the entry costs the index nothing."
_LEFT = "An item that loses the index key is deleted from the index: one write of the old entry."
_REFUSED = "A refused write costs the table alone."

_KEY = ("p", "s")
_DELETE = DeleteItem(INDEXED, _KEY)


def _put(**attributes: Any) -> PutItem:
    return PutItem(INDEXED, item(**attributes))


def _set(**attributes: Any) -> UpdateItem:
    return UpdateItem(INDEXED, _KEY, tuple(Assign((name,), Literally(value)) for name, value in attributes.items()))


def _drop(name: str) -> UpdateItem:
    return UpdateItem(INDEXED, _KEY, (Drop((name,)),))


def _case(name: str, rule: str, call: Call, costs: Costs, *stored: Item) -> Case:
    return Case(name, rule, call, costs, stored, INDEXED)


def _text(length: int) -> str:
    return "x" * length


GLOBAL = (
    _case("put outside every index", _SPARSE, _put(pad="x"), writes(1, none=0)),
    _case("put with half of an index key", _SPARSE, _put(b="t"), writes(1, none=0)),
    _case("put into an index of whole items", _NEW, _put(w="t"), writes(1, whole=1)),
    # 6 + 2 + 3 + 1013 = 1024
    _case("put an entry of 1024 bytes", _ENTRY, _put(w="t", pad=_text(1013)), writes(1, whole=1)),
    _case("put an entry of 1025 bytes", _ENTRY, _put(w="t", pad=_text(1014)), writes(2, whole=2)),
    _case("put into an index of keys", _ENTRY, _put(b="t", n=1, pad=_text(3000)), writes(3, bare=1)),
    # The entry in `some`: 6 + 2 + 4 + 1012 = 1024
    _case("put a projected 1024 bytes", _ENTRY, _put(s="t", note=_text(1012), pad=_text(3000)), writes(4, some=1)),
    _case("put a projected 1025 bytes", _ENTRY, _put(s="t", note=_text(1013), pad=_text(3000)), writes(4, some=2)),
    _case("put the same into an index", _UNTOUCHED, _put(w="t", pad="x"), writes(1, none=0), item(w="t", pad="x")),
    _case(
        "change an attribute that is not projected", _UNTOUCHED, _set(pad="y"), writes(1, none=0), item(s="t", pad="x")
    ),
    _case("change a whole item", _IN_PLACE, _set(pad="y"), writes(1, whole=1), item(w="t", pad="x")),
    _case("change beside an index of keys", _UNTOUCHED, _set(pad="y"), writes(1, none=0), item(b="t", n=1)),
    _case("change a projected attribute", _IN_PLACE, _set(note="y"), writes(1, some=1), item(s="t", note="x")),
    _case("add a projected attribute", _IN_PLACE, _set(note="y"), writes(1, some=1), item(s="t")),
    _case("shrink a projected attribute", _IN_PLACE, _set(note="y"), writes(3, some=3), item(s="t", note=_text(3000))),
    _case("grow a projected attribute", _IN_PLACE, _set(note=_text(3000)), writes(3, some=3), item(s="t", note="y")),
    _case("move in an index", _MOVED, _set(w="u"), writes(1, whole=2), item(w="t")),
    _case("move by the index sort key", _MOVED, _set(n=2), writes(1, bare=2), item(b="t", n=1)),
    # Both entries have 1517 bytes: 6 + 2 + 3 + 1506
    _case("move a large entry", _MOVED, _set(w="u"), writes(2, whole=4), item(w="t", pad=_text(1506))),
    # From an entry of 2012 bytes to one of 13.
    _case("move and shrink", _MOVED, _put(s="u", note="y"), writes(2, some=3), item(s="t", note=_text(2000))),
    _case("leave an index", _LEFT, _drop("w"), writes(1, whole=1), item(w="t")),
    _case("leave an index with a large entry", _LEFT, _drop("w"), writes(2, whole=2), item(w="t", pad=_text(1506))),
    _case("enter an index by update", _NEW, _set(w="t"), writes(2, whole=2), item(pad=_text(1506))),
    _case("replace by an item outside", _LEFT, _put(pad="x"), writes(1, some=1), item(s="t", note="x")),
    _case("delete from an index", _LEFT, _DELETE, writes(3, some=1), item(s="t", pad=_text(3000))),
    _case("delete a large entry", _LEFT, _DELETE, writes(3, some=3), item(s="t", note=_text(3000))),
    _case("delete an item that is in no index", _SPARSE, _DELETE, writes(1, none=0), item(pad="x")),
    _case("delete an absent item from an indexed table", _SPARSE, _DELETE, writes(1, none=0)),
)

LOCAL = (
    _case("put into a local index", _NEW, _put(l="t"), writes(1, near=1)),
    _case("put 1025 bytes into a local index", _ENTRY, _put(m="t", pad=_text(1014)), writes(2, near_all=2)),
    _case("put a narrow local entry", _ENTRY, _put(l="t", pad=_text(3000)), writes(3, near=1)),
    _case("move in a local index", _MOVED, _set(l="u"), writes(1, near=2), item(l="t")),
    _case("change a local projection", _IN_PLACE, _set(note="y"), writes(1, near=1), item(l="t", note="x")),
    _case("change beside a local projection", _UNTOUCHED, _set(pad="y"), writes(1, none=0), item(l="t", pad="x")),
    _case("leave a local index", _LEFT, _drop("l"), writes(1, near=1), item(l="t")),
    _case("delete from a local index", _LEFT, _DELETE, writes(1, near=1), item(l="t")),
)

ALL = item(w="t", b="t", n=1, s="t", l="t", m="t")
SEVERAL = (
    _case("put into every index", _NEW, PutItem(INDEXED, ALL), writes(1, whole=1, bare=1, some=1, near=1, near_all=1)),
    _case("change in every index", _IN_PLACE, _set(note="x"), writes(1, whole=1, some=1, near=1, near_all=1), ALL),
    _case("delete from every index", _LEFT, _DELETE, writes(1, whole=1, bare=1, some=1, near=1, near_all=1), ALL),
    _case(
        "batch put into indexes",
        _NEW,
        BatchWrite((PutItem(INDEXED, item("a", w="t")), PutItem(INDEXED, item("b", w="u", s="t")))),
        writes(2, whole=2, some=1),
    ),
    Case(
        "refused put into an index",
        _REFUSED,
        PutItem(INDEXED, item(w="u"), Missing(("pk",))),
        writes(1, none=0),
        (item(w="t"),),
        INDEXED,
        refused=True,
    ),
)

INDEX_WRITES = (*GLOBAL, *LOCAL, *SEVERAL)
