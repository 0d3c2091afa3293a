"""Every test of the contract runs on every store of `tests.contract.stores`."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from tests.contract.stores import STORES, StoreKind, StoreLocation
from tests.support.designs.board import board
from zataku.clock import Clock, ManualClock
from zataku.table import Store, Table

OpenStore = Callable[..., Awaitable[Store]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One run for each store that the test applies to."""
    if "store_kind" not in metafunc.fixturenames:
        return
    name = metafunc.function.__name__
    needed = {mark.args[0] for mark in metafunc.definition.iter_markers("needs")}
    kinds = [
        pytest.param(kind, id=kind.name) for kind in STORES if name not in kind.skips and needed <= kind.capabilities
    ]
    scope = "module" if "open_for_all" in metafunc.fixturenames else "function"
    metafunc.parametrize("store_kind", kinds, scope=scope)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that a store departs from is expected to fail there: by its name, or by its name and case."""
    for item in items:
        kind = item.callspec.params.get("store_kind") if isinstance(item, pytest.Function) and _cases(item) else None
        if isinstance(kind, StoreKind):
            function, _, case = item.name.removesuffix("]").partition("[")
            case = case.removeprefix(kind.name).removeprefix("-")
            reason = kind.departs.get(function) or kind.departs.get(f"{function}[{case}]")
            if reason is not None:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def _cases(item: pytest.Function) -> bool:
    return hasattr(item, "callspec")


def pytest_configure(config: pytest.Config) -> None:
    """The marker with the capabilities that a test needs of a store."""
    config.addinivalue_line("markers", "needs(capability): runs only on stores that can do this")


@pytest.fixture
def clock(store_kind: StoreKind) -> ManualClock:
    """The manual clock of the test."""
    return ManualClock(store_kind.now)


@pytest.fixture
async def place(store_kind: StoreKind, tmp_path: Path) -> AsyncIterator[StoreLocation]:
    """An empty location for stores."""
    made = store_kind.location(tmp_path)
    yield made
    await made.clear()


@asynccontextmanager
async def opening(place: StoreLocation, clock: ManualClock) -> AsyncIterator[OpenStore]:
    """Stores at a location, closed at the end."""
    opened: list[Store] = []

    async def open_one(*tables: Table, secret: bytes | None = None, clock: Clock = clock) -> Store:
        store = await place.open(tables, clock, secret)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
async def open_store(place: StoreLocation, clock: ManualClock) -> AsyncIterator[OpenStore]:
    """Opens a store of some tables; a test may close it and open it again."""
    async with opening(place, clock) as open_one:
        yield open_one


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def open_for_all(store_kind: StoreKind, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenStore]:
    """Opens a store that the cases of one test share without seeing each other's items."""
    place = store_kind.location(tmp_path_factory.mktemp("shared"))
    async with opening(place, ManualClock(store_kind.now)) as open_one:
        yield open_one
    await place.clear()


@pytest.fixture
async def store(open_store: OpenStore) -> Store:
    """A store of the voted games."""
    return await open_store(board)
