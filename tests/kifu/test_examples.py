"""The items of the document are read and written back without loss; only two keys differ."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.kifu.entities import (
    Analysis,
    LibraryPermission,
    Record,
    RecordPermission,
    SystemSettings,
    Tag,
    Tagging,
    UserSettings,
    kifu_table,
)
from zataku.table import Entity, Store, open_embedded
from zataku.table.schema.entity import binding_of

EXAMPLES: list[tuple[type[Entity], dict[str, Any]]] = [
    (
        Record,
        {
            "pk": "kifu#uname#h-akira",
            "sk": "kid#fdsaj9d9s0",
            "cgsi_pk": "kifu#scode#lkihofkwif4tF",
            "clsi_sk": "slug#社団戦/2025/鈴木",
            "kifu": "手合割：平手\n先手：...",
            "first_or_second": "first",
            "result": "sennichite",
            "memo": "序盤研究用の棋譜",
            "public": True,
            "share": True,
            "created": "2025-12-31T11:11:31Z",
            "latest_access": "2025-12-31T11:11:31Z",
            "latest_update": "2025-12-31T11:11:31Z",
        },
    ),
    (UserSettings, {"pk": "users", "sk": "uname#h-akira", "kifu_max": 3000, "tag_max": 50}),
    (SystemSettings, {"pk": "system", "sk": "none", "kifu_max": 3000, "tag_max": 50}),
    (
        Tag,
        {
            "pk": "tag#uname#h-akira",
            "sk": "tid#jko2kdl",
            "clsi_sk": "tname#四間飛車",
            "created": "2025-12-31T11:11:31Z",
            "latest_access": "2025-12-31T11:11:31Z",
            "latest_update": "2025-12-31T11:11:31Z",
        },
    ),
    (Tagging, {"pk": "tag#kid#fdsaj9d9s1", "sk": "tid#jko2kdl"}),
    (RecordPermission, {"pk": "kallowed#kid#fdsaj9d9s1", "sk": "uname#h-akira2"}),
    (LibraryPermission, {"pk": "uallowed#uname#h-akira", "sk": "uname#h-akira2"}),
    (
        Analysis,
        {
            "pk": "analysis",
            "sk": "aid#fdjsklfadf",
            "cgsi_pk": "analysis#uname#h-akira",
            "created": "2025-12-31T11:11:31Z",
            "status": "succeeded",
            "response": '{"moves": [...], "evaluation": [...]}',
            "expired": 1234567890,
        },
    ),
]
# The document lists the keys `users#<username>` and `analysis#<id>`; its items have shorter ones.
MOVED = {UserSettings: "users#h-akira", Analysis: "analysis#fdjsklfadf"}


def stored_example(kind: type[Entity], example: dict[str, Any]) -> dict[str, Any]:
    return example | ({"pk": MOVED[kind]} if kind in MOVED else {})


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_an_item_of_the_document_is_read_and_written_back_as_it_was(kind: type[Entity], example: dict[str, Any]):
    item = stored_example(kind, example)
    binding = binding_of(kind)
    assert binding.owns(item)
    written = binding.encode(binding.decode(item))
    assert written == item
    differs = {name for name in example if written[name] != example[name]}
    assert differs == ({"pk"} if kind in MOVED else set())


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_an_item_of_the_document_belongs_to_one_entity(kind: type[Entity], example: dict[str, Any]):
    item = stored_example(kind, example)
    assert [binding.entity for binding in kifu_table.bindings if binding.owns(item)] == [kind]


async def test_the_items_of_the_document_are_stored_unchanged(tmp_path: Path):
    clock = ManualClock(1_000_000_000)
    async with await open_embedded(tmp_path / "kifu.db", [kifu_table], clock=clock) as store:
        entities = [binding_of(kind).decode(stored_example(kind, example)) for kind, example in EXAMPLES]
        await store.write_many(put=entities)
        items = [item async for item in store.scan(kifu_table)]
        assert sorted(map(repr, items)) == sorted(map(repr, entities))


async def test_an_expired_result_is_not_read(embedded: Store, clock: ManualClock):
    kind, example = EXAMPLES[-1]
    analysis = binding_of(kind).decode(stored_example(kind, example) | {"expired": int(START) + 60})
    await embedded.put(analysis)
    key = Analysis.key(analysis_id="fdjsklfadf")
    assert await embedded.get(key, strong=True) == analysis
    await clock.advance(61)
    assert await embedded.get(key, strong=True) is None
    assert await embedded.sweep() == 1
