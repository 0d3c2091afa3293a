"""How a stored table differs from the design is told in words."""

import pytest
from msgspec.structs import replace

from tests.support.reading_circle import circle
from zataku.table.backend.errors import SchemaRefused
from zataku.table.backend.schema_diff import TableDiff, compare_table, compare_tables, require_matching
from zataku.table.backend.table_schema import KEYS_ONLY, KeyAttribute, Provisioned, TableSchema

WANTED: TableSchema = circle.schema()
FIRST, SECOND = WANTED.indexes


def differences(stored: TableSchema) -> tuple[str, ...]:
    return compare_table(WANTED, stored).differences


def test_the_same_table_fits() -> None:
    assert compare_tables([WANTED], [replace(WANTED)]) == [TableDiff("ReadingCircle", "fits")]


def test_a_table_that_is_not_there_is_absent() -> None:
    assert compare_tables([WANTED], [replace(WANTED, name="Other")]) == [TableDiff("ReadingCircle", "absent")]


def test_each_difference_is_told() -> None:
    assert differences(replace(WANTED, sk=None)) == ("its keys are PK (S), not PK (S) + SK (S)",)
    assert differences(replace(WANTED, indexes=(FIRST,))) == ("no index GSI2",)
    more = replace(WANTED, indexes=(FIRST, SECOND, replace(SECOND, name="GSI3")))
    assert differences(more) == ("an index GSI3 that the design lacks",)
    keyed = replace(WANTED, indexes=(replace(FIRST, sk=KeyAttribute("AT", "N")), SECOND))
    assert differences(keyed) == ("GSI1 has the keys GSI1PK (S) + AT (N), not GSI1PK (S) + GSI1SK (S)",)
    assert differences(replace(WANTED, indexes=(replace(FIRST, projection=KEYS_ONLY), SECOND))) == (
        "GSI1 has another projection",
    )
    assert differences(replace(WANTED, ttl=None)) == ("its time to live is off, not expiresAt",)
    assert differences(replace(WANTED, stream="KEYS_ONLY")) == ("its stream is KEYS_ONLY, not NEW_AND_OLD_IMAGES",)


def test_what_only_dynamodb_has_is_no_difference() -> None:
    assert differences(replace(WANTED, capacity=Provisioned(1, 1), recovery=True, protected=False)) == ()


def test_the_order_of_indexes_is_no_difference() -> None:
    assert differences(replace(WANTED, indexes=(SECOND, FIRST))) == ()


def test_misfits_are_refused_together() -> None:
    found = compare_tables([WANTED, replace(WANTED, name="Other")], [replace(WANTED, ttl=None)])
    with pytest.raises(SchemaRefused, match="ReadingCircle: its time to live is off, not expiresAt; Other is absent"):
        require_matching(found)
    require_matching(compare_tables([WANTED], [WANTED]))
