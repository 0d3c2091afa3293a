"""Declarations of revisions: which are valid, and what they add to items."""

import pytest

from tests.table.migration.room_revisions import Booking, Booking1, Room, Room1, binding
from zataku.table import DesignError, Entity, Span, Table, View, include
from zataku.table.lint.indexes import projection_lacks_field
from zataku.table.schema.analysis.item_size import max_item_size
from zataku.table.schema.entity import binding_of
from zataku.table.schema.revisions import Attributes


def change_nothing(_: Attributes) -> None:
    """An upgrade between two revisions that are stored alike."""


class Plain(Entity, frozen=True, kw_only=True):
    """An entity without a table."""

    key_field: str
    revision: int = 0


@pytest.mark.parametrize(
    ("revision", "upgrades"),
    [
        (0, {}),
        (-1, {}),
        (2, {}),
        (2, {2: change_nothing}),
        (3, {1: change_nothing}),
        (3, {1: change_nothing, 2: change_nothing, 3: change_nothing}),
        (1, {1: change_nothing}),
        (None, {1: change_nothing}),
    ],
)
def test_a_revision_needs_exactly_the_upgrades_that_lead_to_it(revision, upgrades):
    table = Table("Plain")
    with pytest.raises(DesignError):
        table.entity(pk="{key_field}", revision=revision, upgrades=upgrades)(
            type("Unbound", (Plain,), {}, frozen=True, kw_only=True)
        )
    assert table.bindings == []


@pytest.mark.parametrize("taken", ["key_field", "revision", "PK", "until"])
def test_the_revision_attribute_needs_a_name_of_its_own(taken):
    table = Table("Plain", ttl="until", revision=taken)
    with pytest.raises(DesignError, match="revision"):
        table.entity(pk="{key_field}", revision=1)(type("Unbound", (Plain,), {}, frozen=True, kw_only=True))


def test_the_first_revision_adds_nothing_to_an_item():
    item = binding(Booking1).encode(Booking1(room_id="r", number=1))
    assert item == binding_of(Booking1).encode(Booking1(room_id="r", number=1))
    assert "_revision" not in item


def test_later_revisions_are_stored_in_the_revision_attribute_of_the_table():
    assert binding(Room).encode(Room(room_id="r"))["_revision"] == 3
    table = Table("Plain", revision="shape")

    @table.entity(pk="{key_field}", revision=2, upgrades={1: change_nothing})
    class Shaped(Entity, frozen=True, kw_only=True):
        key_field: str

    assert binding(Shaped).encode(Shaped(key_field="a")) == {"PK": "a", "key_field": "a", "shape": 2}


def test_the_maximum_item_size_includes_the_revision():
    shares = max_item_size(binding(Booking)).by_field
    assert shares["_revision"] == len("_revision") + 2
    assert "_revision" not in max_item_size(binding(Booking1)).by_field
    assert "_revision" not in max_item_size(binding_of(Room1)).by_field


@pytest.mark.parametrize(("projected", "lacking"), [(["title"], True), (["title", "_revision"], False)])
def test_an_index_projection_without_the_revision_is_a_finding(projected, lacking):
    table = Table("Plain")
    by_day = table.index("ByDay", pk="GSI1PK", projection=include(*projected))

    @table.entity(pk="{room_id}", index={"GSI1PK": "DAY#{day}"}, revision=2, upgrades={1: change_nothing})
    class Meeting(Entity, frozen=True, kw_only=True):
        room_id: str
        day: str
        title: str

    @table.view(Meeting)
    class Title(View, frozen=True, kw_only=True):
        title: str

    @table.query(returns=Title)
    def titles_of(day: str) -> Span:
        """The meetings of a day."""
        return by_day.partition(f"DAY#{day}")

    messages = [finding.message for finding in projection_lacks_field(table)]
    assert [("_revision" in message) for message in messages] == [True] * lacking
