"""The stores that the contract suite runs on. A new one is one more entry in `STORES`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from zataku.clock import Clock
from zataku.table import Store, Table
from zataku.table.backend import Backend
from zataku.table.embedded import EmbeddedBackend
from zataku.table.retry import Patience, Retry
from zataku.table.strict import Faults, StrictBackend

SEED = 20250219


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

    `departs` names tests that fail here, with the reason: they are expected to fail, and to be struck off the list as
    soon as they pass. `leaves_out` names tests that say nothing about this store. `rougher` is where the state machine
    runs, when it can bear more than the other tests. `repeats_changes` says that a stream may tell a change again even
    after it was acknowledged.
    """

    name: str
    place: Callable[[Path], Place]
    capabilities: frozenset[str]
    departs: Mapping[str, str] = {}
    leaves_out: Mapping[str, str] = {}
    rougher: Callable[[Path], Place] | None = None
    repeats_changes: bool = False

    def machine_place(self, folder: Path) -> Place:
        """A place for the state machine."""
        return (self.rougher or self.place)(folder)


async def no_pause(_: float) -> None:
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
            retry = Retry(self.random, Patience(tries=40), pause=no_pause)
        try:
            return await Store.open(backend, tables, clock=clock, retry=retry, secret=secret)
        except BaseException:
            await backend.close()
            raise

    async def clear(self) -> None:
        """The folder goes with the test."""


# A lost reply may leave anything behind, so that no single answer is right; the state machine reads back instead.
ROUGH = replace(Faults.rough(), lost_reply=0.0)

EMBEDDED = frozenset({"transactions", "streams", "ttl", "local-indexes", "backups"})

STORES = (
    StoreKind("embedded", EmbeddedPlace, EMBEDDED),
    StoreKind(
        "embedded-strict",
        lambda folder: EmbeddedPlace(folder, ROUGH),
        EMBEDDED,
        rougher=lambda folder: EmbeddedPlace(folder, Faults.rough()),
        repeats_changes=True,
    ),
)
