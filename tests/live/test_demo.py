"""The demo of an empty server: a room that can be entered, with people and a host who have been talking."""

from tests.live.entities import room
from tests.live.room.room_commands import execute_all, guest, post_comment, reply_summaries, snapshot_of
from tests.support.app_context import all_items, app_context, user_identity
from tests.support.manual_clock import ManualClock
from zataku.clock import instant_seconds
from zataku.live.demo import DEMO_ROOM, demo_of
from zataku.live.design import TABLES
from zataku.live.room import LiveRoom
from zataku.live.service import LiveRooms
from zataku.live.system import home_of
from zataku.table import Store


async def test_an_empty_server_has_a_room_that_is_listed_and_found_by_its_number(
    embedded: Store, clock: ManualClock
) -> None:
    context = app_context(embedded, clock)
    await demo_of(context)()
    home = await home_of(context)(user_identity())
    listed = (await LiveRooms(context).rooms_of(user_identity(), None)).demo
    assert listed is not None
    assert (home.demo, listed.room_id, listed.status) == (listed.name, DEMO_ROOM, "OPEN")
    (found,) = (await LiveRooms(context).rooms_by_code(user_identity(), listed.code or "")).rooms
    assert found.room_id == DEMO_ROOM


async def test_the_room_can_be_entered_and_commented_in(embedded: Store, clock: ManualClock) -> None:
    await demo_of(app_context(embedded, clock))()
    live_room = LiveRoom(embedded)
    state = await live_room.acquire(DEMO_ROOM)
    shown = await snapshot_of(live_room, state)
    assert len(shown.comments) >= 12
    assert [it.seq for it in shown.comments] == sorted(it.seq for it in shown.comments)
    assert all(instant_seconds(it.created_at) <= clock.now() for it in shown.comments)
    assert any(it.host for it in shown.comments)
    assert [it.host for it in shown.standing.pinned] == [True]
    assert shown.standing.votes
    batch = [post_comment("hello", guest(1)), post_comment("I am", guest(2), nickname="みどり")]
    outcome = await execute_all(live_room, state, batch, clock.now())
    assert reply_summaries(outcome) == ["hello", "name_of_host"]
    latest = (await snapshot_of(live_room, outcome.state)).comments[-1]
    numbers = {it.anonymous_number for it in shown.comments} - {None}
    assert latest.anonymous_number == len(numbers) + 1
    assert latest.seq > shown.comments[-1].seq


async def test_a_second_run_changes_nothing(strict: Store, clock: ManualClock) -> None:
    await demo_of(app_context(strict, clock))()
    items = await all_items(strict, TABLES)
    await clock.advance(3600)
    await demo_of(app_context(strict, clock))()
    assert await all_items(strict, TABLES) == items


async def test_a_server_with_rooms_gets_no_demo(embedded: Store, clock: ManualClock) -> None:
    await embedded.put(room())
    await demo_of(app_context(embedded, clock))()
    assert (await home_of(app_context(embedded, clock))(user_identity())).demo is None
