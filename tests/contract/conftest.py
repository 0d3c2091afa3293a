"""Every test of the contract runs on every store of `tests.contract.stores`."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from tests.contract.stores import STORES, StoreKind, StoreLocation
from tests.support.designs.board import board
from tests.support.manual_clock import ManualClock
from zataku.clock import Clock
from zataku.table import Store, Table

OpenStore = Callable[..., Awaitable[Store]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once on each store that it applies to."""
    if "store_kind" not in metafunc.fixturenames:
        return
    name = metafunc.function.__name__
    needed = {mark.args[0] for mark in metafunc.definition.iter_markers("needs")}
    kinds = [
        pytest.param(kind, id=kind.name) for kind in STORES if name not in kind.skips and needed <= kind.capabilities
    ]
    scope = "module" if "open_shared_store" in metafunc.fixturenames else "function"
    metafunc.parametrize("store_kind", kinds, scope=scope)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Expect a test to fail on the stores whose departures list it, by its name or by its name and case."""
    for item in items:
        kind = (
            item.callspec.params.get("store_kind")
            if isinstance(item, pytest.Function) and _is_parametrized(item)
            else None
        )
        if isinstance(kind, StoreKind):
            function, _, case = item.name.removesuffix("]").partition("[")
            case = case.removeprefix(kind.name).removeprefix("-")
            reason = kind.departures.get(function) or kind.departures.get(f"{function}[{case}]")
            if reason is not None:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def _is_parametrized(item: pytest.Function) -> bool:
    return hasattr(item, "callspec")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker that names a capability which a test needs."""
    config.addinivalue_line("markers", "needs(capability): runs only on stores with this capability")


@pytest.fixture
def clock(store_kind: StoreKind) -> ManualClock:
    """The manual clock of the test."""
    return ManualClock(store_kind.now)


@pytest.fixture
async def location(store_kind: StoreKind, tmp_path: Path) -> AsyncIterator[StoreLocation]:
    """An empty location for stores."""
    empty = store_kind.location(tmp_path)
    yield empty
    await empty.clear()


@asynccontextmanager
async def store_opener(location: StoreLocation, clock: ManualClock) -> AsyncIterator[OpenStore]:
    """A function that opens stores at a location; they are closed at the end of the block."""
    opened: list[Store] = []

    async def open_store(*tables: Table, secret: bytes | None = None, clock: Clock = clock) -> Store:
        store = await location.open(tables, clock, secret)
        opened.append(store)
        return store

    yield open_store
    for store in opened:
        await store.close()


@pytest.fixture
async def open_store(location: StoreLocation, clock: ManualClock) -> AsyncIterator[OpenStore]:
    """Opens a store with the given tables; a test may close it and open it again."""
    async with store_opener(location, clock) as opener:
        yield opener


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def open_shared_store(
    store_kind: StoreKind, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[OpenStore]:
    """Opens a store that all tests of a module share."""
    location = store_kind.location(tmp_path_factory.mktemp("shared"))
    async with store_opener(location, ManualClock(store_kind.now)) as opener:
        yield opener
    await location.clear()


@pytest.fixture
async def store(open_store: OpenStore) -> Store:
    """A store with the table of games decided by vote."""
    return await open_store(board)
