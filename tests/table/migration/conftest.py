"""Upgrades are tested on the embedded store, on the embedded store with injected faults, and on dynoxide.

They rely on conditions and transactions only, which the contract suite tests on every store.
"""

import pytest
from msgspec.structs import replace

from tests.contract.conftest import OpenStore, clock, location, open_store
from tests.contract.stores import STORES, DynamoLocation
from tests.support.plain_client import PlainClient
from tests.table.migration.room_revisions import third
from zataku.table import Store

__all__ = ["clock", "location", "open_store"]

KINDS = {kind.name: kind for kind in STORES}
KINDS["dynoxide"] = replace(KINDS["dynoxide"], location=lambda _: DynamoLocation("dynoxide", PlainClient))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One run for each store."""
    if "store_kind" in metafunc.fixturenames:
        kinds = [KINDS[name] for name in ("embedded", "embedded-strict", "dynoxide")]
        metafunc.parametrize("store_kind", kinds, ids=lambda kind: kind.name, scope="function")


@pytest.fixture
async def store(open_store: OpenStore) -> Store:
    """The current program on an empty store."""
    return await open_store(third)
