"""Every case of the golden table, on the embedded store."""

from pathlib import Path

import pytest

from tests.table.cost.case import INDEXED, PLAIN, Case, carry_out
from tests.table.cost.golden_table import GOLDEN
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.embedded import EmbeddedBackend


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.name)
async def test_the_embedded_store_bills_as_aws(case: Case, tmp_path: Path) -> None:
    store = EmbeddedBackend(tmp_path / "store.db")
    await store.start([PLAIN, INDEXED])
    consumed = ConsumedCapacity()
    try:
        await carry_out(store, case, consumed)
    finally:
        await store.close()
    assert consumed.by_resource == case.costs, case.rule
    assert (consumed.reads, consumed.writes) == tuple(map(sum, zip(*case.costs.values(), strict=True)))


def test_names_of_cases_are_names() -> None:
    names = [case.name for case in GOLDEN]
    assert len(set(names)) == len(names) >= 60
