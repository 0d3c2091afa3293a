"""The comparison of two stores item by item."""

from tests.table.transfer.sample_items import CURTAINS, FURNITURE, fill, items_for
from tests.table.transfer.store_comparison import Difference, compare_stores
from zataku.table.backend import port as port
from zataku.table.backend.values import Item
from zataku.table.embedded import EmbeddedBackend


async def differences(first: port.Backend, second: port.Backend) -> list[Difference]:
    return await compare_stores(first, second, [FURNITURE, CURTAINS])


async def test_stores_with_the_same_items_have_no_differences(
    source_store: EmbeddedBackend, target_store: EmbeddedBackend
):
    await fill(target_store, FURNITURE, items_for(FURNITURE, 300)[::-1])
    await fill(target_store, CURTAINS, items_for(CURTAINS, 40))
    assert await differences(source_store, target_store) == []


async def test_every_difference_is_reported_with_its_key(source_store: EmbeddedBackend, target_store: EmbeddedBackend):
    furniture = items_for(FURNITURE, 300)
    first, last = furniture[0], furniture[-1]
    await fill(target_store, FURNITURE, [{**first, "scratched": True}, *furniture[1:-1]])
    await fill(target_store, CURTAINS, [*items_for(CURTAINS, 40), {"number": 77}])
    assert await differences(source_store, target_store) == [
        Difference("FurnitureOfARoom", (first["PK"], first["SK"]), "differs"),
        Difference("FurnitureOfARoom", (last["PK"], last["SK"]), "only in first"),
        Difference("CurtainsByNumber", (77, None), "only in second"),
    ]


async def test_a_true_boolean_differs_from_the_number_one(source_store: EmbeddedBackend, target_store: EmbeddedBackend):
    flag: Item = {"number": 90, "flag": True}
    await fill(target_store, FURNITURE, items_for(FURNITURE, 300))
    await fill(target_store, CURTAINS, [*items_for(CURTAINS, 40), flag])
    await fill(source_store, CURTAINS, [{"number": 90, "flag": 1}])
    assert await differences(source_store, target_store) == [Difference("CurtainsByNumber", (90, None), "differs")]
