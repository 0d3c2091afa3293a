"""Declared writes and budgets in the design document."""

from typing import Annotated

from msgspec import Meta

from zataku.table import (
    Budget,
    Entity,
    Key,
    Plan,
    Span,
    Table,
    check,
    check_absent,
    delete,
    path,
    put,
    save,
    update,
)
from zataku.table.export import design_document

shelves = Table("Shelves", pk="PK", sk="SK")


@shelves.entity(pk="ROOM#{room}", sk="SHELF#{number:02d}", version="version")
class Shelf(Entity, frozen=True, kw_only=True):
    """A shelf in a room."""

    room: Annotated[str, Meta(max_length=20)]
    number: Annotated[int, Meta(ge=1, le=99)]
    books: int = 0
    version: int = 0


@shelves.entity(pk="ROOM#{room}", sk="LABEL#{text}")
class Label(Entity, frozen=True, kw_only=True):
    """The text on a shelf."""

    room: Annotated[str, Meta(max_length=20)]
    text: Annotated[str, Meta(max_length=20)]


books = path(Shelf, lambda shelf: shelf.books)


@shelves.item(budget=Budget(reads=0.5, of="a shelf"))
def shelf(room: str, number: int) -> Key[Shelf]:
    """One shelf."""
    return Shelf.key(room=room, number=number)


@shelves.query(returns=Shelf, budget=Budget(reads=1, of="99 shelves"))
def shelves_in(room: str) -> Span:
    """All shelves of a room."""
    return shelves.partition(f"ROOM#{room}").begins_with("SHELF#")


@shelves.write(budget=Budget(writes=1))
def add_shelf(new: Shelf) -> Plan[Shelf]:
    """A new shelf. It starts without books."""
    return Plan(put(new, if_absent=True))


@shelves.write(budget=Budget(writes=14, of="a shelf with two labels"))
def rearrange(new: Shelf, was: Shelf, labels: list[Label], room: str) -> Plan[Shelf]:
    """Everything at once."""
    other = Shelf.key(room=room, number=2)
    return Plan(
        save(new, was=was),
        *(put(label) for label in labels),
        put(Label(room=room, text="another")),
        update(other, books.add(1), when=books.below(10)),
        delete(Label.key(room=room, text="old")),
        check(Shelf.key(room=room, number=3)),
        check_absent(Label.key(room=room, text="new")),
    )


@shelves.write()
def add_last_shelf(new: Shelf) -> Plan[Shelf]:
    """The last shelf, which refuses samples."""
    if new.number != 77:
        raise ValueError("The last shelf has the number 77.")
    return Plan(put(new))


@shelves.write(example={"new": Shelf(room="hall", number=77)})
def add_example_shelf(new: Shelf) -> Plan[Shelf]:
    """The last shelf, with an example."""
    return add_last_shelf.function(new)


DOCUMENT = design_document([shelves], title="Shelves")


def section(heading: str) -> str:
    return DOCUMENT.partition(f"\n#### {heading}\n")[2].partition("\n###")[0].strip()


def test_a_single_write_shows_its_key_and_condition():
    assert section("1. A new shelf") == (
        "In code: `add_shelf(new)`. It starts without books.\n\n"
        "```text\nPutItem:\n  Put Shelf (PK = ROOM#<room>, SK = SHELF#<number:02d>), if none exists\n```\n\n"
        "Budget: 1 write unit."
    )


def test_every_step_of_a_transaction_is_shown():
    assert section("2. Everything at once") == (
        "In code: `rearrange(new, was, labels, room)`.\n\n"
        "```text\nTransactWriteItems:\n"
        "  Update Shelf (PK = ROOM#<room>, SK = SHELF#<number:02d>), if version is still as read\n"
        "  2 × Put Label (PK = ROOM#<room>, SK = LABEL#<text>)\n"
        "  Update Shelf (PK = ROOM#<room>, SK = SHELF#<number:02d>), on condition of books\n"
        "  Delete Label (PK = ROOM#<room>, SK = LABEL#<text>)\n"
        "  ConditionCheck Shelf (PK = ROOM#<room>, SK = SHELF#<number:02d>), if it exists\n"
        "  ConditionCheck Label (PK = ROOM#<room>, SK = LABEL#<text>), if none exists\n"
        "```\n\nBudget: 14 write units for a shelf with two labels."
    )


def test_a_write_that_refuses_samples_shows_no_steps():
    text = section("3. The last shelf, which refuses samples")
    assert text == "In code: `add_last_shelf(new)`.\n\nThe steps depend on arguments of which no example is given."


def test_a_write_with_an_example_shows_its_steps():
    assert "PutItem:\n  Put Shelf" in section("4. The last shelf, with an example")


def test_reads_show_their_budgets():
    assert section("1. One shelf").endswith("Budget: 0.5 read units for a shelf.")
    assert section("2. All shelves of a room").endswith("Budget: 1 read unit for 99 shelves.")
