"""Live rooms on the home page."""

import msgspec

from tests.support.app_context import app_context, user_identity
from tests.support.manual_clock import ManualClock
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
