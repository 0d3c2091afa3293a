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
# A DynamoDB server deletes expired items by its own clock, so tests run at a time far in its future.
FAR_FUTURE = 4_102_444_800.0


class StoreLocation(Protocol):
    """Where the store of one test keeps its items: what one open store writes, the next one at this location reads."""

    async def open(self, tables: tuple[Table, ...], clock: Clock, secret: bytes | None = None) -> Store:
        """Open the store at this location; the caller closes it."""
        ...

    async def clear(self) -> None:
        """Clean up after the test."""
        ...


class StoreKind(Struct, frozen=True):
    """A store under test.

    - `departures`: tests that are expected to fail here, or single cases of them as in test_name[case], with the
      reason. A listed test that passes fails the run, so that it leaves the list.
    - `skips`: tests that do not apply to this store, with the reason.
    - `machine`: the location for the state machine, if it differs from that of the other tests.
    - `repeats_changes`: a stream may deliver a change again after its acknowledgement.
    - `now`: the time at which tests start.
    - `examples`: number of examples of the state machine, relative to the hypothesis profile.
    - `is_foreign`: an implementation that is not ours.

    The capability "sweeping" means that `sweep` deletes expired items; without it the service deletes them itself.
    """

    name: str
    location: Callable[[Path], StoreLocation]
    capabilities: frozenset[str]
    departures: Mapping[str, str] = {}
    skips: Mapping[str, str] = {}
    machine: Callable[[Path], StoreLocation] | None = None
    repeats_changes: bool = False
    now: float = 1_767_225_600.0
    examples: float = 1 / 3
    is_foreign: bool = False

    def machine_location(self, folder: Path) -> StoreLocation:
        """A location for the state machine."""
        return (self.machine or self.location)(folder)


async def no_sleep(_: float) -> None:
    """Retry at once: the store is on the same machine."""


class EmbeddedLocation:
    """A file in the test's temporary folder."""

    def __init__(self, folder: Path, faults: Faults | None = None, seed: int = SEED) -> None:
        self.file = folder / "store.db"
        self.faults = faults
        self.random = Random(seed)

    async def open(self, tables: tuple[Table, ...], clock: Clock, secret: bytes | None = None) -> Store:
        """Open the file, creating it if needed."""
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
        """pytest deletes the folder."""


class DynamoLocation:
    """Tables in the shared server of this test process, with names unique to the test."""

    def __init__(self, implementation: ServerName, client: Callable[[str], Client] = Client) -> None:
        self.endpoint = shared_server(implementation).endpoint
        self.client = client
        self.env = secrets.token_hex(5)

    async def open(self, tables: tuple[Table, ...], clock: Clock, secret: bytes | None = None) -> Store:
        """Open the tables, creating them if needed. The service has its own clock."""
        backend = DynamoBackend(
            self.client(self.endpoint), clock=SystemClock(), metadata_table=f"ZatakuStore-{self.env}"
        )
        try:
            return await Store.open(backend, tables, env=self.env, clock=clock, secret=secret)
        except BaseException:
            await backend.close()
            raise

    async def clear(self) -> None:
        """The server keeps the tables in memory until the test process exits."""


# After a lost reply several results are correct; only the state machine, which reads back, can test that.
ROUGH = replace(Faults.rough(), lost_reply=0.0)

# DynamoDB names backups instead of writing files; dynoxide has none, and ministack deletes them with their table.
# tests/table/dynamodb tests them.
DYNAMODB = frozenset({"transactions", "streams", "ttl", "local-indexes"})
EMBEDDED = DYNAMODB | {"backups", "sweeping"}

OWN_CLOCK = {
    "test_a_change_has_the_time_of_its_write": "The service stamps changes by its own clock.",
}
_FETCH = "A local index returns only the attributes it holds; AWS fetches the others from the table."
_PADDING = "SET past the end of a list fills the gap with nulls; AWS appends."
DYNOXIDE = {
    "test_a_span_is_narrowed_by_each_kind_of_range[begins_with-a--expected0]": "begins_with on a key ignores case.",
    "test_set_past_the_end_of_a_list_appends": _PADDING,
    "test_a_local_index_fetches_the_rest_of_a_whole_entity": _FETCH,
    "test_a_local_index_fetches_attributes_that_it_does_not_project": _FETCH,
}
MINISTACK = {
    "test_set_past_the_end_of_a_list_appends": _PADDING,
    "test_add_is_exact_with_decimals": "ADD rounds to 28 digits; AWS keeps 38.",
    "test_add_refuses_a_sum_that_would_be_rounded": "ADD rounds to 28 digits; AWS keeps 38 and rejects more.",
    "test_a_local_index_fetches_the_rest_of_a_whole_entity": _FETCH,
    "test_a_local_index_fetches_attributes_that_it_does_not_project": _FETCH,
}

STORES = (
    StoreKind("embedded", EmbeddedLocation, EMBEDDED),
    StoreKind(
        "embedded-strict",
        lambda folder: EmbeddedLocation(folder, ROUGH),
        EMBEDDED,
        machine=lambda folder: EmbeddedLocation(folder, Faults.rough()),
        repeats_changes=True,
    ),
    StoreKind(
        "dynoxide",
        lambda _: DynamoLocation("dynoxide"),
        DYNAMODB,
        machine=lambda _: DynamoLocation("dynoxide", PlainClient),
        now=FAR_FUTURE,
        examples=1 / 20,
        departures=DYNOXIDE,
        skips=OWN_CLOCK,
        is_foreign=True,
    ),
    StoreKind(
        "ministack",
        lambda _: DynamoLocation("ministack", PlainClient),
        DYNAMODB,
        now=FAR_FUTURE,
        examples=1 / 50,
        departures=MINISTACK,
        skips=OWN_CLOCK,
        is_foreign=True,
    ),
)
