"""Differences between a stored table and its design, described in words."""

import pytest
from msgspec.structs import replace

from tests.support.reading_circle import circle
from zataku.table.backend.errors import SchemaRefused
from zataku.table.backend.schema_diff import TableDiff, compare_table, compare_tables, require_matching
from zataku.table.backend.table_schema import KEYS_ONLY, KeyAttribute, Provisioned, TableSchema

DESIGN: TableSchema = circle.schema()
FIRST, SECOND = DESIGN.indexes


def differences(stored: TableSchema) -> tuple[str, ...]:
    return compare_table(DESIGN, stored).differences


def test_the_same_table_fits() -> None:
    assert compare_tables([DESIGN], [replace(DESIGN)]) == [TableDiff("ReadingCircle", "fits")]


def test_a_missing_table_is_reported_as_absent() -> None:
    assert compare_tables([DESIGN], [replace(DESIGN, name="Other")]) == [TableDiff("ReadingCircle", "absent")]


def test_each_difference_is_described() -> None:
    assert differences(replace(DESIGN, sk=None)) == ("its keys are PK (S), not PK (S) + SK (S)",)
    assert differences(replace(DESIGN, indexes=(FIRST,))) == ("no index GSI2",)
    extra = replace(DESIGN, indexes=(FIRST, SECOND, replace(SECOND, name="GSI3")))
    assert differences(extra) == ("an index GSI3 that the design lacks",)
    keyed = replace(DESIGN, indexes=(replace(FIRST, sk=KeyAttribute("AT", "N")), SECOND))
    assert differences(keyed) == ("GSI1 has the keys GSI1PK (S) + AT (N), not GSI1PK (S) + GSI1SK (S)",)
    assert differences(replace(DESIGN, indexes=(replace(FIRST, projection=KEYS_ONLY), SECOND))) == (
        "GSI1 has another projection",
    )
    assert differences(replace(DESIGN, ttl=None)) == ("its time to live is off, not expiresAt",)
    assert differences(replace(DESIGN, stream="KEYS_ONLY")) == ("its stream is KEYS_ONLY, not NEW_AND_OLD_IMAGES",)


def test_settings_that_only_dynamodb_has_are_ignored() -> None:
    assert differences(replace(DESIGN, capacity=Provisioned(1, 1), recovery=True, protected=False)) == ()


def test_the_order_of_indexes_is_ignored() -> None:
    assert differences(replace(DESIGN, indexes=(SECOND, FIRST))) == ()


def test_all_mismatches_are_reported_in_one_error() -> None:
    diffs = compare_tables([DESIGN, replace(DESIGN, name="Other")], [replace(DESIGN, ttl=None)])
    with pytest.raises(SchemaRefused, match="ReadingCircle: its time to live is off, not expiresAt; Other is absent"):
        require_matching(diffs)
    require_matching(compare_tables([DESIGN], [DESIGN]))
