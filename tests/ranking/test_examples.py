"""The items of the document, attribute by attribute."""

from datetime import date
from decimal import Decimal

import pytest

from zataku.ranking.design import Profile, Snapshot, profile, snapshot
from zataku.ranking.limits import UserId
from zataku.table import Store
from zataku.table.backend.port import GetItem, PutItem
from zataku.table.backend.values import unpack_row
from zataku.table.schema.entity import binding_of

METADATA = {
    "PK": "USER#A101",
    "SK": "METADATA",
    "Name": "Hello",
    "Name_Lower": "hello",
    "CurrentLevel": Decimal("57.25"),
    "CurrentPower": 12_000,
}
SNAP = {
    "PK": "USER#A101",
    "SK": "SNAP#2026-02-21",
    "Name": "Hello",
    "Level": Decimal("57.25"),
    "Power": Decimal("12000.5"),
    "Level_Rank": 7,
    "Power_Rank": 100,
}
UNRANKED = {name: value for name, value in SNAP.items() if not name.endswith("_Rank")}
EXAMPLES = {
    "profile": (METADATA, Profile, profile(UserId("A101"))),
    "ranked": (SNAP, Snapshot, snapshot(UserId("A101"), date(2026, 2, 21))),
    "unranked": (UNRANKED, Snapshot, snapshot(UserId("A101"), date(2026, 2, 21))),
}


@pytest.mark.parametrize("name", EXAMPLES)
async def test_an_item_of_the_document_is_read_and_written_back_as_it_was(store: Store, name: str):
    item, kind, key = EXAMPLES[name]
    table = store.schema(store.tables[0])
    await store.calls(
        "put", lambda consumed: store.backend.write(PutItem(table, dict(item)), consumed), repeatable=True
    )
    entity = await store.get(key, strong=True)
    assert isinstance(entity, kind)
    await store.delete(key)
    await store.put(entity)
    read = GetItem(table, (item["PK"], item["SK"]), strong=True)
    row = await store.calls("get", lambda consumed: store.backend.get(read, consumed))
    assert row is not None
    assert unpack_row(row) == item


def test_a_number_keeps_its_decimals():
    decoded = binding_of(Snapshot).decode(dict(SNAP))
    assert (decoded.level, decoded.power) == (Decimal("57.25"), Decimal("12000.5"))
