"""What each access pattern of a live room costs, to the unit."""

from random import Random

from tests.live.costs import CASES
from tests.live.talk import HALL, opened_room, said
from tests.opened import START
from tests.spending import overspent
from zataku.live.samples import largest_comment
from zataku.live.writes import post_comments
from zataku.table import Store


async def test_every_access_pattern_costs_its_budget(priced: Store):
    assert await overspent(priced, CASES) == {}


async def test_one_comment_costs_five_units_and_the_largest_eleven(priced: Store) -> None:
    epoch = await opened_room(priced)
    largest = largest_comment(Random(1), START, HALL, 2)
    for comment, units in ((said(1), 3), (largest, 9)):
        with priced.measured("a tick") as bill:
            await priced.write(post_comments([comment], epoch))
        assert (bill.reads, bill.writes) == (0, units + 2)
