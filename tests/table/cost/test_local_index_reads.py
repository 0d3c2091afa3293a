"""Reading a local index costs units of the index alone, also in a table where other entities expire."""

from pathlib import Path

import pytest

from tests.support.designs.kifu import Kifu, KifuLine, by_creation, kifu, kifu_by_creation
from tests.support.stores import METERED_STORES, StoreName, temporary_store


@pytest.mark.parametrize("name", METERED_STORES)
async def test_a_read_of_an_entity_that_never_expires_fetches_no_items(name: StoreName, tmp_path: Path):
    async with temporary_store(name, tmp_path, [kifu]) as store:
        await store.write_many(put=[Kifu(username="u", kifu_id=f"k{at}", kifu="x" * 5000) for at in range(10)])
        with store.measured("list") as page:
            assert len((await store.page(kifu_by_creation("u"))).items) == 10
        with store.measured("count") as count:
            assert await store.count(kifu_by_creation("u")) == 10
        with store.measured("scan") as scan:
            assert len([line async for line in store.scan_index(by_creation, KifuLine)]) == 10
    assert (page.reads, count.reads, scan.reads) == (1, 1, 0.5)
