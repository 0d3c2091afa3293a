"""Pushing the clock forward, where tests run a whole server: only in the environment `test`, from this machine."""

from typing import Annotated

import msgspec
from litestar import post
from litestar.params import JSONBody
from litestar.types import ControllerRouterHandler
from msgspec import Meta

from zataku.clock import AdvanceableClock
from zataku.errors import Forbidden
from zataku.server.http.authentication import UNATTENDED
from zataku.server.http.errors import Asked
from zataku.server.http.request_context import request_context

YEAR = 366 * 24 * 3600


class Push(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far to push the clock."""

    advance: Annotated[float, Meta(ge=0, le=YEAR, description="Seconds")]


class Told(msgspec.Struct, frozen=True):
    """What time it is now."""

    now: float


def test_clock_route(clock: AdvanceableClock) -> ControllerRouterHandler:
    """The handler of /test/clock."""

    @post("/test/clock", status_code=200, include_in_schema=False, opt=dict(UNATTENDED))
    async def push(request: Asked, data: JSONBody[Push]) -> Told:
        """Move time on; everybody who waited until then has been woken when this answers."""
        # A page of another site can reach this machine too, but cannot leave out what says so.
        from_a_page = "origin" in request.headers or "sec-fetch-site" in request.headers
        if from_a_page or not request_context(request.scope).near:
            raise Forbidden("The clock is only pushed from the server's own machine.")
        await clock.advance(data.advance)
        return Told(clock.now())

    return push
