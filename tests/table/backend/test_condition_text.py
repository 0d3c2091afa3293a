"""Conditions in words, and the part of one that an item does not meet."""

import pytest
from hypothesis import given
from msgspec.structs import replace

from tests.table.differential.sample_table import comparison_table
from tests.table.differential.strategies import conditions
from zataku.table.backend import expression as ex
from zataku.table.backend.condition_text import condition_text, failed_condition
from zataku.table.store.write_requests import absent, alive

TABLE = comparison_table("Things")
N = ex.Attribute(("n",))


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (ex.Compare(N, ">=", ex.Literally(1)), "n >= 1"),
        (ex.Compare(ex.SizeOf(("map", "x", 2)), "=", ex.Attribute(("m",))), "size of map.x[2] = m"),
        (ex.Between(N, ex.Literally(1), ex.Literally(2)), "n between 1 and 2"),
        (ex.OneOf(N, (ex.Literally("a"), ex.Literally("b"))), "n in ('a', 'b')"),
        (ex.Exists(("PK",)), "the item exists"),
        (ex.Missing(("PK",)), "the item does not exist"),
        (ex.Missing(("n",)), "n is missing"),
        (ex.Not(ex.Exists(("n",))), "not (n exists)"),
        (ex.Either((ex.Exists(("n",)), ex.HasType(("n",), "N"))), "(n exists or n has the type N)"),
        (ex.Contains(("tags",), ex.Literally("x" * 90)), "tags contains 'xxxxxxxxxxxxxxxxxxxxxx…"),
        (ex.Within(ex.Exists(("n",)), "Thing", "n", "ge=0", "add"), "n stays within ge=0"),
    ],
)
def test_a_condition_is_written_as_a_reader_would(condition: ex.Expression, text: str):
    assert condition_text(condition, TABLE) == text


def test_an_expired_item_counts_as_absent():
    table = replace(TABLE, ttl="until")
    assert condition_text(absent(table, 5), table) == "the item does not exist"
    assert failed_condition(alive(table, 5), {"PK": "p", "until": 4}, table) == "the item has not expired"


def test_only_the_parts_that_fail_are_named():
    condition = ex.All((ex.Exists(("PK",)), ex.All((ex.Exists(("m",)), ex.Compare(N, ">", ex.Literally(3))))))
    assert failed_condition(condition, {"PK": "p", "m": 1, "n": 2}, TABLE) == "n > 3"
    assert failed_condition(condition, {}, TABLE) == "the item exists and m exists and n > 3"


@given(conditions)
def test_every_condition_has_a_text(condition: ex.Expression | None):
    if condition is not None:
        assert condition_text(condition, TABLE)
