"""Live rooms on the home page."""

import msgspec
from msgspec.structs import replace

from tests.live.entities import OTHER_ROOM_ID, ROOM_ID, room, uuid
from tests.support.app_context import app_context, user_identity
from tests.support.manual_clock import ManualClock
from zataku.live.demo import DEMO_ROOM
from zataku.live.limits import HostId
from zataku.live.system import home_of
from zataku.table import Store


class TwoRooms:
    """A registry with two running rooms."""

    def running(self, kind: str) -> dict[str, int]:
        return {"live/a": 3, "live/b": 0} if kind == "live" else {}


async def test_running_rooms_and_the_people_in_them_are_counted(embedded: Store, clock: ManualClock):
    assert msgspec.to_builtins(await home_of(app_context(embedded, clock, TwoRooms()))(user_identity())) == {
        "rooms": 2,
        "people": 3,
    }
    assert msgspec.to_builtins(await home_of(app_context(embedded, clock))(user_identity())) == {
        "rooms": 0,
        "people": 0,
    }


async def test_the_ended_rooms_of_the_caller_are_counted(embedded: Store, clock: ManualClock):
    caller = user_identity()
    mine = HostId(caller.account_id)
    await embedded.write_many(
        put=[room(ROOM_ID, mine, status="CLOSED"), room(OTHER_ROOM_ID, mine), room(DEMO_ROOM, status="CLOSED")]
    )
    home = await home_of(app_context(embedded, clock))(caller)
    assert (home.ended, home.demo) == (1, None)
    stranger = replace(user_identity(uuid(99)), is_stored=False)
    assert (await home_of(app_context(embedded, clock))(stranger)).ended == 0
