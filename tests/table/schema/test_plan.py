"""Plans and declared writes: their names, budgets and registration."""

import pytest

from zataku.table import (
    Budget,
    DesignError,
    Entity,
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


def shelves_table() -> tuple[Table, type[Entity]]:
    table = Table("Shelves", pk="PK")

    @table.entity(pk="SHELF#{name}")
    class Shelf(Entity, frozen=True, kw_only=True):
        """A shelf."""

        name: str
        books: int = 0

    return table, Shelf


def test_a_declared_write_is_registered_with_its_budget():
    shelves, shelf = shelves_table()

    @shelves.write(budget=Budget(writes=1, of="one shelf"))
    def add_shelf(name: str) -> Plan[Entity]:
        """A new shelf."""
        return Plan(put(shelf(name=name), if_absent=True))

    metadata = shelves.writes["add_shelf"].metadata
    assert (metadata.name, metadata.doc, metadata.budget) == (
        "add_shelf",
        "A new shelf.",
        Budget(writes=1, of="one shelf"),
    )
    plan = add_shelf("hall")
    assert plan.label == "Shelves.add_shelf"
    assert repr(plan) == "Plan(put Shelf)"


def test_an_undeclared_plan_is_labelled_by_its_operations():
    _, shelf = shelves_table()
    books = path(shelf, lambda shelf: shelf.books)
    updates = [update(shelf.key(name=f"s{at}"), books.add(1)) for at in range(50)]
    plan = Plan(put(shelf(name="attic")), *updates)
    assert plan.label == "Shelves.put Shelf + update Shelf"


def test_a_declared_write_is_labelled_with_its_declaring_table():
    shelves, shelf = shelves_table()
    catalogue = Table("Catalogue", pk="PK")

    @catalogue.write()
    def add_listed_shelf(name: str) -> Plan[Entity]:
        """Add a shelf of the catalogue."""
        return Plan(put(shelf(name=name)))

    assert add_listed_shelf("hall").label == "Catalogue.add_listed_shelf"
    assert "add_listed_shelf" not in shelves.writes


def test_plans_are_compared_by_value():
    _, shelf = shelves_table()
    books, key = path(shelf, lambda shelf: shelf.books), shelf.key(name="hall")
    factories = [
        lambda number: Plan(put(shelf(name="attic", books=number), if_absent=True)),
        lambda number: Plan(update(key, books.add(number), when=books.below(10))),
        lambda number: Plan(update(key, books.add(1), when=books.below(number))),
        lambda number: Plan(put(shelf(name="attic")), check(key, books.equals(number))),
        lambda number: Plan(save(shelf(name="hall", books=number), was=shelf(name="hall"))),
        lambda number: Plan(delete(shelf.key(name=f"s{number}"))),
        lambda number: Plan(put(shelf(name="attic")), check_absent(shelf.key(name=f"s{number}"))),
    ]
    for factory in factories:
        assert factory(1) == factory(1)
        assert factory(1) != factory(2)


def test_a_write_without_a_docstring_is_refused():
    shelves, shelf = shelves_table()
    with pytest.raises(DesignError, match="add_shelf has no docstring"):

        @shelves.write()
        def add_shelf(name: str) -> Plan[Entity]:
            return Plan(put(shelf(name=name)))


def test_a_read_and_a_write_cannot_share_a_name():
    shelves, shelf = shelves_table()

    @shelves.write()
    def hall() -> Plan[Entity]:
        """The shelf in the hall."""
        return Plan(put(shelf(name="hall")))

    with pytest.raises(DesignError, match="two access patterns named hall"):

        @shelves.query(returns=shelf)
        def hall() -> Span:
            """What is in the hall."""
            return shelves.partition("SHELF#hall")

    with pytest.raises(DesignError, match="two access patterns named hall"):

        @shelves.write()
        def hall() -> Plan[Entity]:
            """The shelf in the hall, again."""
            return Plan(put(shelf(name="hall")))


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        (Budget(reads=0.5), "0.5 read units"),
        (Budget(reads=1, of="one game"), "1 read unit for one game"),
        (Budget(reads=2, writes=12, of="a vote"), "2 read units and 12 write units for a vote"),
        (Budget(of="an empty room"), "nothing for an empty room"),
        (Budget(reads=11_842.5), "11,842.5 read units"),
        (Budget(writes=3_000_000), "3,000,000 write units"),
    ],
)
def test_a_budget_is_described_in_units(budget: Budget, text: str):
    assert budget.text() == text
