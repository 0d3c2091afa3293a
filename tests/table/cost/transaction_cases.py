"""Golden cases of transactions: Developer Guide, "Capacity management for transactions"."""

from tests.table.cost.case import INDEXED, PLAIN, Case, Costs, Transact, item, padded, reads, writes
from zataku.table.backend.expression import Assign, Exists, Increase, Literally, Missing
from zataku.table.backend.port import CheckItem, DeleteItem, PutItem, TransactWrite, UpdateItem
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Item

_TWICE = "Every item of a transaction is written twice, to prepare it and to commit it."
_CHECK = "Checking an item costs as much as writing it, by the size of the stored item."
_ONCE = "Indexes are updated after the transaction, at their usual cost."
_PASSED = "A condition that holds adds no cost."
_REPEATED = "Repeating a transaction under its token costs a transactional read of its items."
_CANCELLED = "A cancelled transaction is charged: each item twice as much as a refused write."

_KEY = ("p", "s")
_EXISTS, _MISSING = Exists(("pk",)), Missing(("pk",))
_PUT = PutItem(PLAIN, padded(100))


def _case(
    name: str, rule: str, steps: tuple[TransactWrite, ...], costs: Costs, *stored: Item, table: TableSchema = PLAIN
) -> Case:
    return Case(name, rule, Transact(steps), costs, stored, table)


TRANSACTIONS = (
    _case("transact a put", _TWICE, (_PUT,), writes(2)),
    _case("transact a put of 1025 bytes", _TWICE, (PutItem(PLAIN, padded(1025)),), writes(4)),
    _case("transact a put over a large item", _TWICE, (_PUT,), writes(6), padded(3000)),
    _case("transact an update", _TWICE, (UpdateItem(PLAIN, _KEY, (Increase(("n",), 1),)),), writes(6), padded(3000)),
    _case("transact a delete", _TWICE, (DeleteItem(PLAIN, _KEY),), writes(6), padded(3000)),
    _case("transact a delete of an absent item", _TWICE, (DeleteItem(PLAIN, _KEY),), writes(2)),
    _case("transact a conditional put", _PASSED, (PutItem(PLAIN, padded(100), _MISSING),), writes(2)),
    _case("transact a check", _CHECK, (CheckItem(PLAIN, _KEY, _EXISTS),), writes(2), padded(100)),
    _case("transact a check of 3000 bytes", _CHECK, (CheckItem(PLAIN, _KEY, _EXISTS),), writes(6), padded(3000)),
    _case("transact a check of an absent item", _CHECK, (CheckItem(PLAIN, _KEY, _MISSING),), writes(2)),
    _case(
        "transact two items",
        _TWICE,
        (_PUT, CheckItem(PLAIN, ("p", "t"), _EXISTS)),
        writes(2 + 4),
        padded(1500, "t"),
    ),
    _case(
        "transact in two tables",
        _TWICE,
        (_PUT, PutItem(INDEXED, item(w="t"))),
        {(PLAIN.name, None): (0, 2), (INDEXED.name, None): (0, 2), (INDEXED.name, "whole"): (0, 1)},
    ),
    _case("transact into an index", _ONCE, (PutItem(INDEXED, item(l="t")),), writes(2, near=1), table=INDEXED),
    _case(
        "transact a move in an index",
        _ONCE,
        (UpdateItem(INDEXED, _KEY, (Assign(("w",), Literally("u")),)),),
        writes(2, whole=2),
        item(w="t"),
        table=INDEXED,
    ),
    _case(
        "transact a check in an index",
        _ONCE,
        (CheckItem(INDEXED, _KEY, _EXISTS),),
        writes(2, none=0),
        item(w="t"),
        table=INDEXED,
    ),
    Case("repeat a transaction", _REPEATED, Transact((_PUT,), repeated=True), reads(2)),
    Case(
        "repeat a transaction of 5000 bytes",
        _REPEATED,
        Transact((PutItem(PLAIN, padded(5000)),), repeated=True),
        reads(4),
    ),
    Case(
        "cancelled transaction",
        _CANCELLED,
        Transact((PutItem(PLAIN, padded(100), _MISSING), CheckItem(PLAIN, ("p", "t"), _MISSING))),
        writes(6 + 2),
        (padded(3000),),
        refused=True,
    ),
)
