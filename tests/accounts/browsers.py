"""Browsers that talk to an application with nothing but the routes of accounts, over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from litestar import Litestar, Request, Response
from litestar.datastructures import MutableScopeHeaders
from litestar.di import Provide
from litestar.types import ControllerRouterHandler, Message, Scope

from tests.accounts.account_services import AccountHarness
from zataku.accounts.api import routes
from zataku.accounts.rate_limits import RATE_LIMITS, RateLimit, RateLimits
from zataku.errors import RateLimited, RequestError
from zataku.platform.identity import Identity

# What limits do is tested by itself.
GENEROUS = {occasion: RateLimit(10_000, 60.0, 10_000) for occasion in RATE_LIMITS}
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"


def _refused(_: Request[Any, Any, Any], refused: RequestError) -> Response[Any]:
    headers = {"Retry-After": str(refused.retry_after)} if isinstance(refused, RateLimited) else None
    return Response({"error": refused.problem}, status_code=refused.status, headers=headers)


SCOPES = frozenset(
    f"{system}:{right}" for system in ("ranking", "live", "kifu", "drawing", "othello") for right in ("read", "write")
)


async def _set_guest(message: Message, scope: Scope) -> None:
    cookie = scope.get("state", {}).get("guest")
    if cookie is not None and message["type"] == "http.response.start":
        MutableScopeHeaders.from_message(message).add("Set-Cookie", cookie.to_header(header=""))


def application(
    harness: AccountHarness, rate_limits: RateLimits | None = None, *more: ControllerRouterHandler
) -> Litestar:
    """The routes, with an identity for every caller as the server gives it."""

    async def identity(request: Request[Any, Any, Any]) -> Identity:
        found = await harness.authenticator.authenticate(request.cookies, request.headers.get("authorization"))
        if found is None:
            found, cookie = harness.authenticator.new_guest("en")
            request.scope["state"]["guest"] = cookie
        return found

    return Litestar(
        [
            *routes(
                harness.accounts, harness.authenticator, rate_limits or RateLimits(harness.clock, GENEROUS), SCOPES
            ),
            *more,
        ],
        dependencies={"identity": Provide(identity)},
        exception_handlers={RequestError: _refused},
        before_send=[_set_guest],
        logging_config=None,
    )


@asynccontextmanager
async def browser(app: Litestar, address: str = "192.0.2.1") -> AsyncIterator[httpx.AsyncClient]:
    """A browser with cookies of its own, somewhere."""
    transport = httpx.ASGITransport(app, client=(address, 50_000))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://table.test", headers={"User-Agent": AGENT}
    ) as made:
        yield made
