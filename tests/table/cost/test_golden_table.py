"""Every case of the golden table, on the embedded store."""

from pathlib import Path

import pytest

from tests.table.cost.case import INDEXED, PLAIN, Case, run_case
from tests.table.cost.golden_table import GOLDEN
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.embedded import EmbeddedBackend


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.name)
async def test_the_embedded_store_charges_as_aws_does(case: Case, tmp_path: Path) -> None:
    store = EmbeddedBackend(tmp_path / "store.db")
    await store.start([PLAIN, INDEXED])
    consumed = ConsumedCapacity()
    try:
        await run_case(store, case, consumed)
    finally:
        await store.close()
    assert consumed.by_resource == case.costs, case.rule
    assert (consumed.reads, consumed.writes) == tuple(map(sum, zip(*case.costs.values(), strict=True)))


def test_the_names_of_the_cases_are_unique() -> None:
    names = [case.name for case in GOLDEN]
    assert len(set(names)) == len(names) >= 60
