"""Declared writes: named, documented, registered with their table."""

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


def table() -> tuple[Table, type[Entity]]:
    made = Table("Shelves", pk="PK")

    @made.entity(pk="SHELF#{name}")
    class Shelf(Entity, frozen=True, kw_only=True):
        """A shelf."""

        name: str
        books: int = 0

    return made, Shelf


def test_a_declared_write_is_registered_with_its_budget():
    shelves, shelf = table()

    @shelves.write(budget=Budget(writes=1, of="one shelf"))
    def put_up(name: str) -> Plan[Entity]:
        """A new shelf."""
        return Plan(put(shelf(name=name), if_absent=True))

    facts = shelves.writes["put_up"].metadata
    assert (facts.name, facts.doc, facts.budget) == ("put_up", "A new shelf.", Budget(writes=1, of="one shelf"))
    plan = put_up("hall")
    assert plan.label == "Shelves.put_up"
    assert repr(plan) == "Plan(put Shelf)"


def test_an_undeclared_plan_is_labelled_by_its_kinds_of_steps():
    _, shelf = table()
    books = path(shelf, lambda it: it.books)
    more = [update(shelf.key(name=f"s{at}"), books.add(1)) for at in range(50)]
    plan = Plan(put(shelf(name="attic")), *more)
    assert plan.label == "Shelves.put Shelf + update Shelf"


def test_a_declared_write_is_called_by_the_table_it_is_declared_on():
    shelves, shelf = table()
    catalogue = Table("Catalogue", pk="PK")

    @catalogue.write()
    def listed(name: str) -> Plan[Entity]:
        """A shelf that the catalogue tells of."""
        return Plan(put(shelf(name=name)))

    assert listed("hall").label == "Catalogue.listed"
    assert "listed" not in shelves.writes


def test_plans_are_values():
    _, shelf = table()
    books, key = path(shelf, lambda it: it.books), shelf.key(name="hall")
    made = [
        lambda number: Plan(put(shelf(name="attic", books=number), if_absent=True)),
        lambda number: Plan(update(key, books.add(number), when=books.below(10))),
        lambda number: Plan(update(key, books.add(1), when=books.below(number))),
        lambda number: Plan(put(shelf(name="attic")), check(key, books.equals(number))),
        lambda number: Plan(save(shelf(name="hall", books=number), was=shelf(name="hall"))),
        lambda number: Plan(delete(shelf.key(name=f"s{number}"))),
        lambda number: Plan(put(shelf(name="attic")), check_absent(shelf.key(name=f"s{number}"))),
    ]
    for plan in made:
        assert plan(1) == plan(1)
        assert plan(1) != plan(2)


def test_a_write_without_a_docstring_is_refused():
    shelves, shelf = table()
    with pytest.raises(DesignError, match="put_up has no docstring"):

        @shelves.write()
        def put_up(name: str) -> Plan[Entity]:
            return Plan(put(shelf(name=name)))


def test_a_name_is_taken_once_by_reads_and_writes_alike():
    shelves, shelf = table()

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
    ("budget", "words"),
    [
        (Budget(reads=0.5), "0.5 read units"),
        (Budget(reads=1, of="one game"), "1 read unit for one game"),
        (Budget(reads=2, writes=12, of="a vote"), "2 read units and 12 write units for a vote"),
        (Budget(of="an empty room"), "nothing for an empty room"),
        (Budget(reads=11_842.5), "11,842.5 read units"),
        (Budget(writes=3_000_000), "3,000,000 write units"),
    ],
)
def test_a_budget_as_text(budget: Budget, words: str):
    assert budget.text() == words
