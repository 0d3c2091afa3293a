"""Two kinds of items that can have the same primary key are reported."""

from typing import Annotated, Literal

import pytest
from msgspec import Meta

from tests.table.lint.findings import findings_of, message_of
from zataku.table import Entity, Table, Waiver
from zataku.table.lint import lint

Name = Annotated[str, Meta(max_length=40)]
COLLISION = [("colliding-keys", "First and Second")]


def two_kinds(first: tuple[str, str], second: tuple[str, str], **options) -> Table:
    """A table with two kinds of items under these key templates."""
    table = Table("Things", sk="SK", **options)

    @table.entity(pk=first[0], sk=first[1])
    class First(Entity, frozen=True, kw_only=True, tag="FIRST"):
        """The first kind."""

        a: Name
        n: int = 0
        kind: Literal["RED", "BLUE"] = "RED"

    @table.entity(pk=second[0], sk=second[1])
    class Second(Entity, frozen=True, kw_only=True, tag="SECOND"):
        """The second kind."""

        b: Name
        m: int = 0
        colour: Literal["BLUE", "GREEN"] = "BLUE"

    return table


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("A#{a}", "META"), ("A#{b}", "META")),
        (("A#{a}/META", "X"), ("A#{b}/META", "X")),
        (("{a}#X", "S"), ("Y#{b}", "S")),
        (("A#{a}", "N#{n:03d}"), ("A#{b}", "N#{m:03d}")),
        (("A#{a}", "{kind}"), ("A#{b}", "{colour}")),
    ],
    ids=["same shape", "same shape with a slash", "crossing slots", "padded numbers", "a shared choice"],
)
def test_keys_that_two_kinds_can_share_are_reported(first: tuple[str, str], second: tuple[str, str]):
    assert findings_of(two_kinds(first, second)) == COLLISION


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("A#{a}", "META"), ("B#{b}", "META")),
        (("A#{a}", "META"), ("A#{b}", "ITEM#{m:03d}")),
        (("A#{a}", "N#{n:03d}"), ("A#{b}", "N#{m:04d}")),
        (("A#{a}", "RED"), ("A#{b}", "{colour}")),
        (("A#{a}/META", "X"), ("A#{b}/PART/META", "X")),
        (("A#{a}", "BLUE"), ("A#{b}", "{colour}")),
    ],
    ids=["another prefix", "another sort key", "another width", "another choice", "refused key", "refused choice"],
)
def test_keys_that_differ_for_all_values_are_fine(first: tuple[str, str], second: tuple[str, str]):
    assert findings_of(two_kinds(first, second)) == []


def test_a_finding_names_both_kinds_and_an_example():
    message = message_of(two_kinds(("A#{a}", "META"), ("A#{b}", "META")))
    assert "First (A#{a} + META) and Second (A#{b} + META) can have the same key" in message
    assert "PK = 'A#x', SK = 'META'" in message


def test_a_collision_that_is_meant_is_waived():
    waiver = Waiver("colliding-keys", "First and Second", reason="An item is one or the other.", limit="Two kinds.")
    assert lint(two_kinds(("A#{a}", "META"), ("A#{b}", "META"), waivers=[waiver])).is_clean
