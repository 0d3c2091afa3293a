"""Random writes in any order cost the units of the item before and after each."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.table.cost.case import INDEXED
from zataku.table.backend.cost import ConsumedCapacity, Resource
from zataku.table.backend.expression import Assign, Literally
from zataku.table.backend.port import DeleteItem, GetItem, PutItem, UpdateItem
from zataku.table.backend.values import Item, item_size
from zataku.table.embedded import EmbeddedBackend

KEYS = st.sampled_from(["x", "y", "é" * 400])
TEXTS = st.sampled_from(["x", "y", "é" * 700, "z" * 1500])
ATTRIBUTES = st.fixed_dictionaries(
    {}, optional=dict.fromkeys("wsblm", KEYS) | {"n": st.integers(-9, 999), "note": TEXTS, "pad": TEXTS}
)
MOVES = st.lists(
    st.tuples(st.sampled_from(["put", "update", "delete"]), st.sampled_from("ab"), ATTRIBUTES), max_size=12
)


def units(*sizes: int) -> int:
    return max(1, -(-max(sizes) // 1024))


def expected(old: Item | None, new: Item | None) -> dict[Resource, tuple[float, float]]:
    """The guide's rules, said once more and without any haste."""
    costs: dict[Resource, tuple[float, float]] = {
        (INDEXED.name, None): (0, units(item_size(old or {}), item_size(new or {})))
    }
    for index in INDEXED.indexes:
        held = INDEXED.projected(index)
        was, now = (
            None
            if item is None or any(key.name not in item for key in index.keys)
            else {name: value for name, value in item.items() if held is None or name in held}
            for item in (old, new)
        )
        if was == now:
            continue
        if was is None or now is None:
            used = units(item_size(was or now or {}))
        elif any(was[key.name] != now[key.name] for key in index.keys):
            used = units(item_size(was)) + units(item_size(now))
        else:
            used = units(item_size(was), item_size(now))
        costs[INDEXED.name, index.name] = (0, used)
    return costs


async def written(path: Path, moves: list[tuple[str, str, dict[str, Any]]]) -> None:
    store = EmbeddedBackend(path)
    await store.start([INDEXED])
    items: dict[str, Item] = {}
    for move, sk, attributes in moves:
        consumed, old = ConsumedCapacity(), items.get(sk)
        if move == "put":
            items[sk] = {"pk": "p", "sk": sk, **attributes}
            await store.write(PutItem(INDEXED, items[sk]), consumed)
        elif move == "update":
            items[sk] = {"pk": "p", "sk": sk, **(old or {}), **attributes}
            actions = tuple(Assign((name,), Literally(value)) for name, value in attributes.items())
            await store.write(UpdateItem(INDEXED, ("p", sk), actions), consumed)
        else:
            items.pop(sk, None)
            await store.write(DeleteItem(INDEXED, ("p", sk)), consumed)
        assert consumed.by_resource == expected(old, items.get(sk))
        read = ConsumedCapacity()
        await store.get(GetItem(INDEXED, ("p", sk), strong=True), read)
        assert read.reads == max(1, -(-item_size(items.get(sk, {})) // 4096))
    await store.close()


@settings(max_examples=40, deadline=None)
@given(MOVES)
def test_the_bill_is_what_the_items_amount_to(moves: list[tuple[str, str, dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(written(Path(folder) / "store.db", moves))
