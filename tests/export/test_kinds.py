"""What the type of a field says in the document."""

from typing import Annotated

from msgspec import Meta

from zataku.table import Entity, Table
from zataku.table.entity import binding_of
from zataku.table.export.example import example_item
from zataku.table.export.kinds import description_of, limits_of
from zataku.table.forms import Instant, InstantMs, Millis

Opened = Annotated[Instant, Meta(description="When it opened")]
Short = Annotated[str, Meta(max_length=3, pattern="^[a-z]+$", description="Something short")]


def test_a_form_that_has_a_name_is_told_by_it():
    assert limits_of(Instant) == "moment as 2026-02-21T10:30:00Z"
    assert limits_of(list[Instant]) == "each moment as 2026-02-21T10:30:00Z"


def test_a_form_without_a_name_is_told_by_its_limits():
    assert limits_of(Short) == "at most 3 characters; matches `^[a-z]+$`"


def test_a_fields_own_description_stands_for_that_of_its_type():
    assert description_of(Short) == "Something short"
    assert description_of(Annotated[Short, Meta(description="A nickname")]) == "A nickname"
    assert description_of(Annotated[Short, Meta(description="A nickname")] | None) == "A nickname"
    assert description_of(Opened) == "When it opened"


def test_an_example_that_a_type_gives_is_taken():
    rooms = Table("RoomsOfAHouse")

    @rooms.entity(pk="ROOM#{name}")
    class Room(Entity, frozen=True, kw_only=True):
        """A room."""

        name: Annotated[str, Meta(max_length=20, examples=["hall", "attic"])]
        opened_at: InstantMs
        swept_at: Millis | None = None

    item = example_item(binding_of(Room))
    assert item == {
        "PK": "ROOM#attic",
        "name": "attic",
        "opened_at": "2026-02-21T10:30:00.000Z",
        "swept_at": 1_771_669_800_000,
    }
