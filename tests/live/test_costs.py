"""What each access pattern of a live room costs, to the unit."""

from random import Random

import pytest
from msgspec.structs import replace

from tests.live.costs import CASES
from tests.live.entities import ROOM_ID, SORA, WEB, YUNA, comment, largest_comment, open_room, socket
from tests.support.cost_assertions import budget_mismatches
from tests.support.stores import START
from zataku.live.design import DEPARTURES, Comment, Room, rooms
from zataku.live.samples import rooms_of
from zataku.live.writes import join, post_comments, upvote, upvote_first
from zataku.table import Store, TransactionCancelled
from zataku.table.backend.values import item_size
from zataku.table.schema.entity import binding_of


async def test_every_access_pattern_costs_its_budget(priced: Store):
    assert await budget_mismatches(priced, CASES) == {}


async def test_a_first_upvote_costs_nine_units_a_later_one_seven_and_a_join_six(priced: Store) -> None:
    epoch = await open_room(priced)
    target = comment(1).comment_id
    await priced.write(post_comments([comment(1)], epoch))
    votes = (upvote_first(ROOM_ID, target, [SORA], START, 1), 9), (upvote(ROOM_ID, target, [YUNA], START, 1), 7)
    for plan, units in (*votes, (join(ROOM_ID, WEB, [socket(1)], START), 6)):
        with priced.measured("one write") as consumed:
            await priced.write(plan)
        assert (consumed.reads, consumed.writes) == (0, units)


async def test_one_comment_costs_six_units_and_the_largest_twelve(priced: Store) -> None:
    epoch = await open_room(priced)
    largest = largest_comment(2)
    for posted, units in ((comment(1), 4), (largest, 10)):
        with priced.measured("a batch") as consumed:
            await priced.write(post_comments([posted], epoch))
        assert (consumed.reads, consumed.writes) == (0, units + 2)


async def test_a_comment_that_is_sent_again_costs_what_its_departure_says(priced: Store) -> None:
    epoch = await open_room(priced)
    await priced.write(post_comments([comment(1)], epoch))
    with priced.measured("sent again") as consumed:
        with pytest.raises(TransactionCancelled):
            await priced.write(post_comments([comment(1)], epoch))
        await priced.get(Comment.key(room_id=ROOM_ID, comment_id=comment(1).comment_id), strong=True)
    figures = " ".join(departure.figure for departure in DEPARTURES)
    assert (
        f"costs the {consumed.writes:g} write units of a failed transaction, and {consumed.reads:g} read unit"
        in figures
    )


async def test_a_scan_for_the_rooms_of_a_host_would_cost_what_its_departure_says(embedded: Store) -> None:
    stored = [replace(it, code="482159", epoch=2) for it in rooms_of(Random(1), START, 10_000)]
    size = sum(item_size(binding_of(Room).encode(it)) for it in stored) / len(stored)
    await embedded.write_many(put=stored)
    with embedded.measured("scan") as consumed:
        assert len([it async for it in embedded.scan(rooms)]) == len(stored)
    figures = " ".join(departure.figure for departure in DEPARTURES)
    assert f"a scan of {len(stored):,} rooms of {size:.0f} bytes costs {consumed.reads:g} each time" in figures
