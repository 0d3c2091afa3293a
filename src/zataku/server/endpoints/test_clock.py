"""The route of /test/clock, by which tests advance the clock of a whole server: only in the environment `test`."""

from typing import Annotated

import msgspec
from litestar import post
from litestar.params import JSONBody
from litestar.types import ControllerRouterHandler
from msgspec import Meta

from zataku.accounts.route_access import PUBLIC
from zataku.clock import AdvanceableClock
from zataku.errors import Forbidden
from zataku.server.http.errors import AnyRequest
from zataku.server.http.request_context import request_context

YEAR = 366 * 24 * 3600


class ClockAdvance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far to advance the clock."""

    advance: Annotated[float, Meta(ge=0, le=YEAR, description="Seconds")]


class ClockTime(msgspec.Struct, frozen=True):
    """The time of the clock, in seconds."""

    now: float


def test_clock_route(clock: AdvanceableClock) -> ControllerRouterHandler:
    """The route, for this machine only."""

    @post("/test/clock", status_code=200, include_in_schema=False, opt=PUBLIC.opt)
    async def advance_clock(request: AnyRequest, data: JSONBody[ClockAdvance]) -> ClockTime:
        """Advance the clock. The response is sent when every task that slept until then has been woken."""
        # Another site's page can reach this machine, too, but cannot leave out these headers.
        is_from_page = "origin" in request.headers or "sec-fetch-site" in request.headers
        if is_from_page or not request_context(request.scope).is_direct:
            raise Forbidden("The clock can only be advanced from the server's own machine.")
        await clock.advance(data.advance)
        return ClockTime(clock.now())

    return advance_clock
