"""What each access pattern of a live room costs, to the unit."""

from random import Random

from tests.live.costs import CASES
from tests.live.talk import HALL, opened_room, said
from tests.opened import START
from tests.spending import budgets, spent
from zataku.live import writes as writes
from zataku.live.design import TABLES
from zataku.live.samples import largest_comment
from zataku.live.writes import post_comments
from zataku.table import Store
from zataku.table.entity import binding_of

BUDGETS = budgets(TABLES)


def test_every_access_pattern_has_a_budget_and_a_case() -> None:
    assert set(CASES) == set(BUDGETS)
    assert [name for name, budget in BUDGETS.items() if budget is None] == []


async def test_each_pattern_costs_what_its_budget_says(priced: Store) -> None:
    found: dict[str, tuple[float, float]] = {}
    for name, case in CASES.items():
        bill = await spent(priced, case)
        found[name] = (bill.reads, bill.writes)
        await cleared(priced)
    assert found == {name: (budget.reads, budget.writes) for name, budget in BUDGETS.items() if budget is not None}


async def cleared(store: Store) -> None:
    """Empty the tables, which is quicker than making new ones for every case."""
    left = [entity for table in TABLES async for entity in store.scan(table)]
    await store.write_many(delete=[binding_of(type(entity)).key_of(entity) for entity in left])


async def test_one_comment_costs_five_units_and_the_largest_eleven(priced: Store) -> None:
    epoch = await opened_room(priced)
    largest = largest_comment(Random(1), START, HALL, 2)
    for comment, units in ((said(1), 3), (largest, 9)):
        with priced.measured("a tick") as bill:
            await priced.write(post_comments([comment], epoch))
        assert (bill.reads, bill.writes) == (0, units + 2)
