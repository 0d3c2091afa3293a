"""Bounds on the size of a text that hold for every text its pattern allows."""

import re
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zataku.table.schema.analysis.regex import UNBOUNDED, TextBounds, matching_text, text_bounds


@pytest.mark.parametrize(
    ("pattern", "bounds"),
    [
        ("^([A-H][1-8]|PASS)$", TextBounds(5, 1)),
        ("^[ぁ-ゖー]{1,50}$", TextBounds(51, 3)),
        ("^[A-Za-z0-9+/=]*$", TextBounds(inf, 1)),
        ("^a{2,}$", TextBounds(inf, 1)),
        (r"^\d{4}-\d\d-\d\d$", TextBounds(11, 4)),
        ("^(?:ab?){3}c$", TextBounds(8, 1)),
        (r"^[\]\\x-]\.$", TextBounds(3, 4)),
        ("^.[^a]$", TextBounds(3, 4)),
        ("^$", TextBounds(1, 1)),
    ],
)
def test_an_anchored_pattern_bounds_length_and_bytes(pattern: str, bounds: TextBounds) -> None:
    assert text_bounds(pattern) == bounds


@pytest.mark.parametrize(
    "pattern",
    [
        "[A-H]",
        "^a",
        "a$",
        "^a|b$",
        "^(?i:a)$",
        "(?m)^a$",
        "^(?=a)b$",
        r"^(a)\1$",
        "^a$|^b$",
        "^a{,3}$",
        "^a*?$",
        r"^\$",
    ],
)
def test_a_pattern_that_is_not_analysed_is_unbounded(pattern: str) -> None:
    assert text_bounds(pattern) == UNBOUNDED


PATTERNS = [
    "^([A-H][1-8]|PASS)$",
    "^[ぁ-ゖー]{1,50}$",
    "^[a-z]*$",
    r"^\d{4}-\d\d-\d\d$",
    "^(?:ab?){3}c$",
    "^.[^a]$",
    "^😀?é$",
]


@given(st.data(), st.sampled_from(PATTERNS))
def test_no_text_is_larger_than_the_bounds_of_its_pattern(data: st.DataObject, pattern: str) -> None:
    text = data.draw(st.from_regex(re.compile(pattern)))
    bounds = text_bounds(pattern)
    assert len(text) <= bounds.characters
    assert len(text.encode()) <= len(text) * bounds.bytes_each


@pytest.mark.parametrize("pattern", [*PATTERNS, "^(?:a|b)[0-9]{2,4}-x+$", "^[^a-z]{3}$", r"^\w\.\s$"])
def test_a_sample_text_matches_its_pattern(pattern: str) -> None:
    text = matching_text(pattern)
    assert text is not None
    assert re.fullmatch(pattern, text)
