"""The design of the crash tests: indexes of both kinds, expiry, a stream."""

from pathlib import Path

from tests.support.manual_clock import ManualClock
from zataku.table import NEW_AND_OLD, Entity, Span, Store, Table, number
from zataku.table.embedded import EmbeddedBackend

ledger = Table("LedgerOfCrashes", pk="PK", sk="SK", ttl="until", stream=NEW_AND_OLD, transactions=True)
by_owner = ledger.index("OwnerIndex", pk="ownerPK", sk="ownerSK")
by_value = ledger.local_index("ValueIndex", sk=number("value"))

OWNERS = ("ann", "bob", "cyd")
SHELVES = ("put", "save", "left", "right")
CELLS = tuple(f"c{number}" for number in range(6))


@ledger.entity(
    pk="SHELF#{shelf}",
    sk="CELL#{cell}",
    index={"ownerPK": "OWNER#{owner}", "ownerSK": "{value:010d}#{shelf}#{cell}"},
    version="version",
)
class Cell(Entity, frozen=True, kw_only=True, tag_field="kind", tag="CELL"):
    """A cell that one writer fills with ever greater values."""

    shelf: str
    cell: str
    value: int
    owner: str | None = None
    until: int | None = None
    filler: str = ""
    version: int = 0


@ledger.entity(pk="RECEIPTS", sk="RECEIPT#{attempt}")
class Receipt(Entity, frozen=True, kw_only=True, tag_field="kind", tag="RECEIPT"):
    """Evidence that a transaction with a token was carried out."""

    attempt: str


@ledger.entity(pk="TALLY", sk="{name}")
class Tally(Entity, frozen=True, kw_only=True, tag_field="kind", tag="TALLY"):
    """The number of transactions with tokens that were carried out."""

    name: str = "tally"
    count: int = 0


@ledger.query(returns=Cell)
def cells_of(owner: str) -> Span:
    """The cells of an owner, lowest value first."""
    return by_owner.partition(f"OWNER#{owner}")


@ledger.query(returns=Cell, strong=True)
def values_on(shelf: str) -> Span:
    """The cells of a shelf, lowest value first."""
    return by_value.partition(f"SHELF#{shelf}")


async def open_ledger(file: Path) -> Store:
    """Open the ledger in a file with a stopped clock, so that a repeated transaction is identical."""
    clock = ManualClock()
    backend = EmbeddedBackend(file, clock=clock)
    try:
        return await Store.open(backend, (ledger,), clock=clock)
    except BaseException:
        await backend.close()
        raise
