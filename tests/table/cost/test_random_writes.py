"""Random writes in any order cost the units of the item before and after each write."""

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
WRITES = st.lists(
    st.tuples(st.sampled_from(["put", "update", "delete"]), st.sampled_from("ab"), ATTRIBUTES), max_size=12
)


def units(*sizes: int) -> int:
    return max(1, -(-max(sizes) // 1024))


def expected_costs(old: Item | None, new: Item | None) -> dict[Resource, tuple[float, float]]:
    """The costs of one write by the rules of the Developer Guide, without any of the store's shortcuts."""
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


async def check_costs(path: Path, writes: list[tuple[str, str, dict[str, Any]]]) -> None:
    """Make the writes and compare the cost of each, and of a read after it, with the expected one."""
    store = EmbeddedBackend(path)
    await store.start([INDEXED])
    items: dict[str, Item] = {}
    for operation, sk, attributes in writes:
        consumed, old = ConsumedCapacity(), items.get(sk)
        if operation == "put":
            items[sk] = {"pk": "p", "sk": sk, **attributes}
            await store.write(PutItem(INDEXED, items[sk]), consumed)
        elif operation == "update":
            items[sk] = {"pk": "p", "sk": sk, **(old or {}), **attributes}
            actions = tuple(Assign((name,), Literally(value)) for name, value in attributes.items())
            await store.write(UpdateItem(INDEXED, ("p", sk), actions), consumed)
        else:
            items.pop(sk, None)
            await store.write(DeleteItem(INDEXED, ("p", sk)), consumed)
        assert consumed.by_resource == expected_costs(old, items.get(sk))
        read = ConsumedCapacity()
        await store.get(GetItem(INDEXED, ("p", sk), strong=True), read)
        assert read.reads == max(1, -(-item_size(items.get(sk, {})) // 4096))
    await store.close()


@settings(max_examples=40, deadline=None)
@given(WRITES)
def test_every_write_costs_the_units_of_its_items(writes: list[tuple[str, str, dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check_costs(Path(folder) / "store.db", writes))
