"""Browsers of an application that has only the account routes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any

import httpx
from litestar import Litestar, Request, Response
from litestar.connection import ASGIConnection
from litestar.datastructures import MutableScopeHeaders
from litestar.di import Provide
from litestar.types import ControllerRouterHandler, Message, Scope

from tests.accounts.account_services import AccountHarness
from zataku.accounts.api import routes
from zataku.accounts.rate_limits import RATE_LIMITS, RateLimit, RateLimits
from zataku.errors import RateLimited, RequestError
from zataku.platform.identity import Identity

# Rate limits have tests of their own.
GENEROUS = {name: RateLimit(10_000, 60.0, 10_000) for name in RATE_LIMITS}
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"


def client_host(request: Request[Any, Any, Any]) -> str | None:
    """The address of the other end of the connection."""
    return None if request.client is None else request.client.host


def from_loopback(connection: ASGIConnection[Any, Any, Any, Any]) -> bool:
    """True when the other end of the connection is on this machine."""
    try:
        return connection.client is not None and ip_address(connection.client.host).is_loopback
    except ValueError:
        return False


def _error_response(_: Request[Any, Any, Any], error: RequestError) -> Response[Any]:
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, RateLimited) else None
    return Response({"error": error.problem}, status_code=error.status, headers=headers)


SCOPES = frozenset(
    f"{system}:{access}" for system in ("ranking", "live", "kifu", "drawing", "othello") for access in ("read", "write")
)


async def _set_guest(message: Message, scope: Scope) -> None:
    cookie = scope.get("state", {}).get("guest")
    if cookie is not None and message["type"] == "http.response.start":
        MutableScopeHeaders.from_message(message).add("Set-Cookie", cookie.to_header(header=""))


def application(
    harness: AccountHarness, rate_limits: RateLimits | None = None, *more: ControllerRouterHandler
) -> Litestar:
    """The account routes and `more`, with an identity for every caller as the server provides it."""
    limits = rate_limits or RateLimits(harness.clock, GENEROUS)

    async def identity(request: Request[Any, Any, Any]) -> Identity:
        caller = await harness.authenticator.authenticate(request.cookies, request.headers.get("authorization"))
        if caller is None:
            caller, cookie = harness.authenticator.new_guest("en")
            request.scope["state"]["guest"] = cookie
        return caller

    return Litestar(
        [*routes(harness.accounts, harness.authenticator, limits, SCOPES, client_host), *more],
        dependencies={"identity": Provide(identity)},
        exception_handlers={RequestError: _error_response},
        before_send=[_set_guest],
        logging_config=None,
    )


@asynccontextmanager
async def browser(app: Litestar, address: str = "192.0.2.1") -> AsyncIterator[httpx.AsyncClient]:
    """A browser with its own cookies, at an address."""
    transport = httpx.ASGITransport(app, client=(address, 50_000))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://table.test", headers={"User-Agent": AGENT}
    ) as client:
        yield client
