"""Field types of instants, days and identifiers: the values they accept and refuse."""

import msgspec
import pytest

from zataku.table.schema.analysis.regex import TextBounds, readable_pattern, text_bounds
from zataku.table.schema.field_types import (
    Day,
    Instant,
    InstantMs,
    Millis,
    Seconds,
    Uuid,
    add_seconds,
    anchored,
    format_instant,
    parse_instant,
)

ACCEPTED = [
    (Instant, "2025-02-19T10:00:00Z"),
    (Instant, "9999-12-31T23:59:59Z"),
    (InstantMs, "2025-02-19T10:00:00.000Z"),
    (Day, "2026-02-21"),
    (Uuid, "456e7890-e89b-12d3-a456-426614174001"),
    (Seconds, 0),
    (Seconds, 253_402_300_799),
    (Millis, 253_402_300_799_999),
]
REFUSED = [
    (Instant, "2025-02-19T10:00:00Z\n"),
    (Instant, "2025-02-19T10:00:00"),
    (Instant, "2025-02-19T10:00:00+00:00"),
    (Instant, "2025-02-19T10:00:00.000Z"),
    (Instant, "2025-13-19T10:00:00Z"),
    (Instant, "2025-02-32T10:00:00Z"),
    (Instant, "2025-02-19T24:00:00Z"),
    (Instant, "2025-02-19T10:60:00Z"),
    (Instant, "２０２５-02-19T10:00:00Z"),
    (InstantMs, "2025-02-19T10:00:00Z"),
    (Day, "2026-2-21"),
    (Day, "2026-02-21\n"),
    (Day, "2026-00-21"),
    (Uuid, "456E7890-e89b-12d3-a456-426614174001"),
    (Uuid, "456e7890e89b12d3a456426614174001"),
    (Uuid, "456e7890-e89b-12d3-a456-426614174001\n"),
    (Seconds, -1),
    (Seconds, 253_402_300_800),
    (Millis, 253_402_300_800_000),
]


@pytest.mark.parametrize(("field_type", "value"), ACCEPTED)
def test_a_field_type_accepts_valid_values(field_type: object, value: object):
    assert msgspec.convert(value, field_type) == value


@pytest.mark.parametrize(("field_type", "value"), REFUSED)
def test_a_field_type_refuses_invalid_values(field_type: object, value: object):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(value, field_type)


def test_an_anchored_pattern_has_exact_text_bounds():
    assert text_bounds(anchored("[a-z]{3}")) == TextBounds(3, 1)
    assert text_bounds(anchored("[ぁ-ゖ]{2}|PASS")) == TextBounds(4, 3)
    assert text_bounds("^[a-z]{3}$") == TextBounds(4, 1), "a bare $ also matches before a line break"


def test_a_readable_pattern_ends_with_a_dollar_sign():
    assert readable_pattern(anchored("[a-z]{3}")) == "^[a-z]{3}$"
    assert readable_pattern("^[a-z]$") == "^[a-z]$"


def test_an_instant_converts_to_a_unix_time_and_back():
    assert format_instant(1_771_669_800.9) == "2026-02-21T10:30:00Z"
    assert parse_instant("2026-02-21T10:30:00Z") == 1_771_669_800
    assert add_seconds("2026-02-21T23:59:59Z", 1) == "2026-02-22T00:00:00Z"
    assert add_seconds("2026-03-01T00:00:00Z", -1) == "2026-02-28T23:59:59Z"
