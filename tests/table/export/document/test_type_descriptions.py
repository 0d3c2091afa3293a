"""Descriptions of field types in the design document."""

from typing import Annotated, Literal

from msgspec import Meta

from zataku.table import Entity, Table, derived
from zataku.table.export.document.attributes import attribute_rows
from zataku.table.export.document.type_descriptions import constraints_of, description_of
from zataku.table.schema.analysis.sample_values import sample_item
from zataku.table.schema.entity import binding_of
from zataku.table.schema.field_types import Instant, InstantMs, Millis

Opened = Annotated[Instant, Meta(description="When it opened")]
Short = Annotated[str, Meta(max_length=3, pattern="^[a-z]+$", description="Something short")]


def test_a_type_with_a_title_is_described_by_it():
    assert constraints_of(Instant) == "moment as 2026-02-21T10:30:00Z"
    assert constraints_of(list[Instant]) == "each moment as 2026-02-21T10:30:00Z"


def test_the_limits_of_a_field_follow_the_title_of_its_type():
    assert constraints_of(Annotated[Millis, Meta(ge=10)]) == "milliseconds since 1970, UTC; at least 10"


def test_a_type_without_a_title_is_described_by_its_limits():
    assert constraints_of(Short) == "at most 3 characters; matches `^[a-z]+$`"


def test_the_description_of_a_field_replaces_that_of_its_type():
    assert description_of(Short) == "Something short"
    assert description_of(Annotated[Short, Meta(description="A nickname")]) == "A nickname"
    assert description_of(Annotated[Short, Meta(description="A nickname")] | None) == "A nickname"
    assert description_of(Opened) == "When it opened"


def test_the_sample_item_uses_the_examples_of_the_types():
    rooms = Table("RoomsOfABuilding")

    @rooms.entity(pk="ROOM#{name}")
    class Room(Entity, frozen=True, kw_only=True):
        """A room."""

        name: Annotated[str, Meta(max_length=20, examples=["hall", "attic"])]
        opened_at: InstantMs
        swept_at: Millis | None = None

    item = sample_item(binding_of(Room))
    assert item == {
        "PK": "ROOM#attic",
        "name": "attic",
        "opened_at": "2026-02-21T10:30:00.000Z",
        "swept_at": 1_771_669_800_000,
    }


def test_an_index_key_that_may_be_absent_is_not_required():
    rooms = Table("RoomsOfABuilding")
    rooms.index("Listed", pk="GSI1PK")

    @rooms.entity(pk="ROOM#{name}", index={"GSI1PK": "LISTED#{listed}"})
    class Room(Entity, frozen=True, kw_only=True):
        """A room that is listed while it is open."""

        name: Annotated[str, Meta(max_length=20)]
        state: Literal["open", "shut"] = "open"

        @derived("state")
        def listed(self) -> Literal["open", "shut"] | None:
            """The state, for rooms that are open."""
            return self.state if self.state == "open" else None

    required = {row[0]: row[2] for row in attribute_rows(binding_of(Room))}
    assert required == {"`PK`": "yes", "`GSI1PK`": "no", "`name`": "yes", "`state`": "yes"}


def test_a_derived_value_of_an_unresolved_type_is_not_required():
    rooms = Table("RoomsOfABuilding")
    rooms.index("Listed", pk="GSI1PK")

    @rooms.entity(pk="ROOM#{name}", index={"GSI1PK": "LISTED#{listed}"})
    class Room(Entity, frozen=True, kw_only=True):
        """A room."""

        name: Annotated[str, Meta(max_length=20)]

        @derived("name")
        def listed(self) -> "Unresolved":  # noqa: F821 - like a name that only a type checker resolves
            """The name, for the list."""
            return self.name

    assert {row[0]: row[2] for row in attribute_rows(binding_of(Room))}["`GSI1PK`"] == "no"
