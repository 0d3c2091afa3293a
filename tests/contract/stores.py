"""The stores that the contract suite runs on. A new one is one more entry in `STORES`."""

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from tests.support.dynamodb_servers import ServerName, shared_server
from tests.support.plain_client import PlainClient
from zataku.clock import Clock, SystemClock
from zataku.table import Backend, Store, Table
from zataku.table.dynamodb.backend import DynamoBackend
from zataku.table.dynamodb.client import Client
from zataku.table.embedded import EmbeddedBackend
from zataku.table.store.retry import Retry, RetryPolicy
from zataku.table.strict.strict_backend import Faults, StrictBackend

SEED = 20250219
# Where a service deletes what has expired by its own clock, tests live in a time that it has not come to.
LATER = 4_102_444_800.0


class Place(Protocol):
    """Where the stores of one test lie. What one open store wrote, the next one finds."""

    async def open(self, tables: tuple[Table, ...], clock: Clock, secret: bytes | None = None) -> Store:
        """The store of this place; the caller closes it."""
        ...

    async def clear(self) -> None:
        """Take everything away when the test is over."""
        ...


class StoreKind(Struct, frozen=True):
    """A store under test.

    `departs` names tests that fail here, or single cases of them as in test_name[case], with the reason: they are
    expected to fail, and to be struck off the list as soon as they pass. `leaves_out` names tests that say nothing
    about this store. `machine` is where the state machine runs, when it can bear more than the other tests or asks
    only the server. `repeats_changes` says that a stream may tell a change again even after it was acknowledged.
    `now` is the time at which tests begin. `examples` are those of the state machine, as a part of the usual
    number. "sweeping" among the capabilities says that expired items go when the store is told to; without it the
    service deletes them when it likes.
    """

    name: str
    place: Callable[[Path], Place]
    capabilities: frozenset[str]
    departs: Mapping[str, str] = {}
    leaves_out: Mapping[str, str] = {}
    machine: Callable[[Path], Place] | None = None
    repeats_changes: bool = False
    now: float = 1_767_225_600.0
    examples: float = 1 / 3

    def machine_place(self, folder: Path) -> Place:
        """A place for the state machine."""
        return (self.machine or self.place)(folder)


async def no_sleep(_: float) -> None:
    """Waiting teaches a store on the same machine nothing."""


class EmbeddedPlace:
    """A file in the test's own folder."""

    def __init__(self, folder: Path, faults: Faults | None = None, seed: int = SEED) -> None:
        self.file = folder / "store.db"
        self.faults = faults
        self.random = Random(seed)

    async def open(self, tables: tuple[Table, ...], clock: Clock, secret: bytes | None = None) -> Store:
        """Open the file, made when it is not there."""
        backend: Backend = EmbeddedBackend(self.file, clock=clock)
        retry = Retry(self.random)
        if self.faults is not None:
            backend = StrictBackend(backend, random=self.random, faults=self.faults)
            retry = Retry(self.random, RetryPolicy(max_attempts=40), sleep=no_sleep)
        try:
            return await Store.open(backend, tables, clock=clock, retry=retry, secret=secret)
        except BaseException:
            await backend.close()
            raise

    async def clear(self) -> None:
        """The folder goes with the test."""


class DynamoPlace:
    """Tables in a server of this test process, with names that no other test has."""

    def __init__(self, implementation: ServerName, client: Callable[[str], Client] = Client) -> None:
        self.endpoint = shared_server(implementation).endpoint
        self.client = client
        self.env = secrets.token_hex(5)

    async def open(self, tables: tuple[Table, ...], clock: Clock, secret: bytes | None = None) -> Store:
        """Make the tables, or find them there. The service has a clock of its own."""
        backend = DynamoBackend(
            self.client(self.endpoint), clock=SystemClock(), metadata_table=f"ZatakuStore-{self.env}"
        )
        try:
            return await Store.open(backend, tables, env=self.env, clock=clock, secret=secret)
        except BaseException:
            await backend.close()
            raise

    async def clear(self) -> None:
        """Leave the tables: they are in the server's memory, which goes when the tests are over."""


# A lost reply may leave anything behind, so that no single answer is right; the state machine reads back instead.
ROUGH = replace(Faults.rough(), lost_reply=0.0)

# Backups have names there, not files, dynoxide keeps none and ministack loses them with their table:
# tests/table/dynamodb has tests of its own for them.
DYNAMODB = frozenset({"transactions", "streams", "ttl", "local-indexes"})
EMBEDDED = DYNAMODB | {"backups", "sweeping"}

OWN_CLOCK = {
    "test_a_change_says_when_it_happened": "The service stamps changes by its own clock, which no test moves.",
}
_FETCH = "A local index shows only what it holds; AWS fetches the attributes that a projection asks for and it lacks."
_PADDING = "SET past the end of a list fills the gap with nulls; AWS appends."
DYNOXIDE = {
    "test_a_span_is_narrowed_by_each_kind_of_range[begins_with-a--expected0]": "begins_with of a key ignores case.",
    "test_set_past_the_end_of_a_list_appends": _PADDING,
    "test_a_local_index_fetches_what_it_lacks_of_a_whole_entity": _FETCH,
    "test_a_local_index_fetches_what_it_does_not_hold": _FETCH,
}
MINISTACK = {
    "test_set_past_the_end_of_a_list_appends": _PADDING,
    "test_add_is_exact_with_decimals": "ADD rounds to 28 digits; AWS keeps 38.",
    "test_add_refuses_what_would_be_rounded": "ADD rounds to 28 digits; AWS keeps 38 and refuses more.",
    "test_a_local_index_fetches_what_it_lacks_of_a_whole_entity": _FETCH,
    "test_a_local_index_fetches_what_it_does_not_hold": _FETCH,
}

STORES = (
    StoreKind("embedded", EmbeddedPlace, EMBEDDED),
    StoreKind(
        "embedded-strict",
        lambda folder: EmbeddedPlace(folder, ROUGH),
        EMBEDDED,
        machine=lambda folder: EmbeddedPlace(folder, Faults.rough()),
        repeats_changes=True,
    ),
    StoreKind(
        "dynoxide",
        lambda _: DynamoPlace("dynoxide"),
        DYNAMODB,
        machine=lambda _: DynamoPlace("dynoxide", PlainClient),
        now=LATER,
        examples=1 / 20,
        departs=DYNOXIDE,
        leaves_out=OWN_CLOCK,
    ),
    StoreKind(
        "ministack",
        lambda _: DynamoPlace("ministack", PlainClient),
        DYNAMODB,
        now=LATER,
        examples=1 / 50,
        departs=MINISTACK,
        leaves_out=OWN_CLOCK,
    ),
)
