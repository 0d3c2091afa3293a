"""Golden cases of writing a table: Developer Guide, "Capacity unit consumption for write operations"."""

from tests.table.cost.case import PLAIN, BatchWrite, Case, padded, writes
from zataku.table.backend.expression import Assign, Drop, Exists, Expression, Increase, Literally, Missing
from zataku.table.backend.port import DeleteItem, PutItem, UpdateItem
from zataku.table.backend.values import Item

_ROUNDED = "An item's size is rounded up to the next 1 KB; each is one unit."
_LARGER = "The larger of the item before and after the write counts."
_WHOLE = "Updating a part of an item costs the whole item."
_DELETED = "Deleting costs by the size of the deleted item."
_ABSENT = "Deleting an absent item costs one unit."
_PASSED = "A condition that holds adds no cost."
_REFUSED = "A write whose condition fails costs by the size of the stored item."
_REFUSED_ABSENT = "A write whose condition fails costs one unit when no item is stored."
_BATCH = "Each write of a batch costs as much as a single put or delete."

_KEY = ("p", "s")
_EXISTS, _MISSING = Exists(("pk",)), Missing(("pk",))


def _put(size: int, condition: Expression | None = None, sk: str = "s") -> PutItem:
    return PutItem(PLAIN, padded(size, sk), condition)


def _pad(size: int, condition: Expression | None = None) -> UpdateItem:
    """An update that pads the item to that many bytes."""
    return UpdateItem(PLAIN, _KEY, (Assign(("pad",), Literally(padded(size)["pad"])),), condition)


def _case(name: str, rule: str, call: PutItem | UpdateItem | DeleteItem, units: float, *stored: Item) -> Case:
    return Case(name, rule, call, writes(units), stored)


def _refused(name: str, rule: str, call: PutItem | UpdateItem | DeleteItem, units: float, *stored: Item) -> Case:
    return Case(name, rule, call, writes(units), stored, refused=True)


SINGLE = (
    _case("put a small item", _ROUNDED, _put(100), 1),
    _case("put 1024 bytes", _ROUNDED, _put(1024), 1),
    _case("put 1025 bytes", _ROUNDED, _put(1025), 2),
    _case("put the largest item", _ROUNDED, _put(409_600), 400),
    _case("put a small item over a large one", _LARGER, _put(100), 3, padded(3000)),
    _case("put a large item over a small one", _LARGER, _put(2049), 3, padded(100)),
    _case("put the same again", _LARGER, _put(1500), 2, padded(1500)),
    _case("update so that it grows", _LARGER, _pad(1025), 2, padded(1024)),
    _case("update so that it shrinks", _LARGER, _pad(100), 3, padded(3000)),
    _case("update a part", _WHOLE, UpdateItem(PLAIN, _KEY, (Increase(("n",), 1),)), 3, padded(3000)),
    _case("remove an attribute", _LARGER, UpdateItem(PLAIN, _KEY, (Drop(("pad",)),)), 3, padded(3000)),
    _case("update so that nothing changes", _WHOLE, _pad(2000), 2, padded(2000)),
    _case("update an absent item", _LARGER, UpdateItem(PLAIN, _KEY, (Increase(("n",), 1),)), 1),
    _case("update an absent item to 2000 bytes", _LARGER, _pad(2000), 2),
    _case("delete 1024 bytes", _DELETED, DeleteItem(PLAIN, _KEY), 1, padded(1024)),
    _case("delete 2500 bytes", _DELETED, DeleteItem(PLAIN, _KEY), 3, padded(2500)),
    _case("delete an absent item", _ABSENT, DeleteItem(PLAIN, _KEY), 1),
    _case("put on a condition", _PASSED, _put(1500, _MISSING), 2),
    _case("update on a condition", _PASSED, _pad(1500, _EXISTS), 2, padded(100)),
    _case("delete on a condition", _PASSED, DeleteItem(PLAIN, _KEY, _EXISTS), 2, padded(1500)),
)

REFUSED = (
    _refused("refused put of a small item", _REFUSED, _put(100, _MISSING), 3, padded(2500)),
    _refused("refused put of a large item", _REFUSED, _put(3000, _MISSING), 1, padded(100)),
    _refused("refused put of an absent item", _REFUSED_ABSENT, _put(3000, _EXISTS), 1),
    _refused("refused update", _REFUSED, _pad(100, _MISSING), 3, padded(2500)),
    _refused("refused update of an absent item", _REFUSED_ABSENT, _pad(3000, _EXISTS), 1),
    _refused("refused delete", _REFUSED, DeleteItem(PLAIN, _KEY, _MISSING), 3, padded(2500)),
    _refused("refused delete of an absent item", _REFUSED_ABSENT, DeleteItem(PLAIN, _KEY, _EXISTS), 1),
)

BATCHES = (
    # The guide's example: 500 bytes and 3.5 KB are 1 KB and 4 KB.
    Case("batch put", _BATCH, BatchWrite((_put(500, sk="a"), _put(3584, sk="b"))), writes(5)),
    Case(
        "batch put and delete",
        _BATCH,
        BatchWrite((_put(100, sk="a"), DeleteItem(PLAIN, ("p", "b")), DeleteItem(PLAIN, ("p", "c")))),
        writes(3 + 2 + 1),
        (padded(2500, "a"), padded(1025, "b")),
    ),
)

WRITES = (*SINGLE, *REFUSED, *BATCHES)
