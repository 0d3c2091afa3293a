"""Which numbers dynoxide counts differently, measured by what it charges at the edge of a unit."""

from decimal import Decimal
from random import Random

import pytest

from tests.support.dynamodb_servers import shared_server
from tests.support.plain_client import PlainClient
from tests.table.differential.number_alignment import is_counted_alike
from tests.table.differential.sample_table import comparison_table
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.numbers import Number, canonical, size_of
from zataku.table.backend.port import PutItem
from zataku.table.dynamodb.backend import DynamoBackend

TABLE = comparison_table("ComparedTable-alignment")
# The size of an item without its number is 1,024 less the size here: one byte more costs a unit.
_OTHER_BYTES = len("PK") + len("SK") + len("p") + len("t") + len("n")


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "1",
        "10",
        "12",
        "120",
        "1200",
        "-7265E1",
        "0.12",
        "0.038",
        "1.2",
        "12.345",
        "-417591E+117",
        "-417591E+116",
        "99E-35",
    ],
)
async def test_dynoxide_counts_a_byte_less_for_numbers_that_do_not_pair_up(text: str):
    number = canonical(Decimal(text))
    store = DynamoBackend(PlainClient(shared_server("dynoxide").endpoint), random=Random(1))
    try:
        await store.start([TABLE])
        assert await _fits_in_one_unit(store, number, size_of(number))
        fits_less = await _fits_in_one_unit(store, number, size_of(number) - 1)
        assert fits_less is not is_counted_alike(number)
    finally:
        await store.close()


async def _fits_in_one_unit(store: DynamoBackend, number: Number, size: int) -> bool:
    key = f"{number}/{size}"
    text = "x" * (1024 - _OTHER_BYTES - len(key) - size)
    consumed = ConsumedCapacity()
    await store.write(PutItem(TABLE, {"PK": "p", "SK": key, "t": text, "n": number}), consumed)
    return consumed.writes == 1
