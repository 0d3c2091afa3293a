"""Declarations of revisions that a design may hold."""

import pytest

from tests.table.migration.room_revisions import Booking, Booking1, Room, Room1, binding
from zataku.table import DesignError, Entity, Span, Table, View, include
from zataku.table.lint.indexes import projection_lacks_field
from zataku.table.schema.analysis.item_size import max_item_size
from zataku.table.schema.entity import binding_of
from zataku.table.schema.revisions import Attributes


def nothing(_: Attributes) -> None:
    """A step between two shapes that are the same on disk."""


class Plain(Entity, frozen=True, kw_only=True):
    """Any entity."""

    key_field: str
    revision: int = 0


@pytest.mark.parametrize(
    ("revision", "upgrades"),
    [
        (0, {}),
        (-1, {}),
        (2, {}),
        (2, {2: nothing}),
        (3, {1: nothing}),
        (3, {1: nothing, 2: nothing, 3: nothing}),
        (1, {1: nothing}),
        (None, {1: nothing}),
    ],
)
def test_a_revision_needs_exactly_the_steps_that_lead_to_it(revision, upgrades):
    table = Table("Plain")
    with pytest.raises(DesignError):
        table.entity(pk="{key_field}", revision=revision, upgrades=upgrades)(
            type("Unbound", (Plain,), {}, frozen=True, kw_only=True)
        )
    assert table.bindings == []


@pytest.mark.parametrize("taken", ["key_field", "revision", "PK", "until"])
def test_the_revision_needs_a_name_of_its_own(taken):
    table = Table("Plain", ttl="until", revision=taken)
    with pytest.raises(DesignError, match="revision"):
        table.entity(pk="{key_field}", revision=1)(type("Unbound", (Plain,), {}, frozen=True, kw_only=True))


def test_the_first_revision_adds_nothing_to_an_item():
    item = binding(Booking1).encode(Booking1(room_id="r", number=1))
    assert item == binding_of(Booking1).encode(Booking1(room_id="r", number=1))
    assert "_revision" not in item


def test_later_revisions_are_written_into_the_item_under_the_table_s_name_for_them():
    assert binding(Room).encode(Room(room_id="r"))["_revision"] == 3
    table = Table("Plain", revision="shape")

    @table.entity(pk="{key_field}", revision=2, upgrades={1: nothing})
    class Shaped(Entity, frozen=True, kw_only=True):
        key_field: str

    assert binding(Shaped).encode(Shaped(key_field="a")) == {"PK": "a", "key_field": "a", "shape": 2}


def test_the_largest_item_has_room_for_the_revision():
    shares = max_item_size(binding(Booking)).by_field
    assert shares["_revision"] == len("_revision") + 2
    assert "_revision" not in max_item_size(binding(Booking1)).by_field
    assert "_revision" not in max_item_size(binding_of(Room1)).by_field


@pytest.mark.parametrize(("held", "lacking"), [(["title"], True), (["title", "_revision"], False)])
def test_an_index_that_cannot_tell_old_items_is_a_finding(held, lacking):
    table = Table("Plain")
    by_day = table.index("ByDay", pk="GSI1PK", projection=include(*held))

    @table.entity(pk="{room_id}", index={"GSI1PK": "DAY#{day}"}, revision=2, upgrades={1: nothing})
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

    found = [slip.message for slip in projection_lacks_field(table)]
    assert [("_revision" in message) for message in found] == [True] * lacking
