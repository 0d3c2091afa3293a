"""Who is at the door: every page and every call under /api is asked by somebody, be it a guest who is new."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from litestar.datastructures import Headers
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, HTTPReceiveMessage, Message, Receive, Scope, Send, WebSocketReceiveMessage

from zataku.accounts.authentication import Authenticator
from zataku.accounts.rate_limits import RateLimits, client_network
from zataku.errors import Forbidden, RequestError, Unavailable
from zataku.platform.identity import Identity
from zataku.server.http.origins import SAFE_METHODS, Origins
from zataku.server.http.request_context import RequestContext, cookies_in, request_context
from zataku.server.pages.languages import chosen

_OF_SYSTEM = re.compile("/api/(drawing|othello|ranking|live|kifu)(?:/|$)")

UNATTENDED: Mapping[str, Any] = {"unattended": True}
"""For handlers that are the same to everybody: nobody is asked who they are, and nobody becomes a guest."""

NO_TIMEOUT: Mapping[str, Any] = {"unhurried": True}
"""For handlers that may take as long as they need, such as those that take large files."""


class Authentication(ASGIMiddleware):
    """Refuses what another site's page asks and what is asked too often, and finds out who is asking."""

    scopes = (ScopeType.HTTP,)
    exclude_opt_key = "unattended"

    def __init__(self, authenticator: Authenticator, rate_limits: RateLimits, origins: Origins) -> None:
        self._authenticator = authenticator
        self._rate_limits = rate_limits
        self._origins = origins

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Let a request through, or raise why not."""
        visit, headers = request_context(scope), Headers.from_scope(scope)
        writes = scope["type"] == "http" and scope["method"] not in SAFE_METHODS
        place = client_network(visit.address)
        if writes:
            self._origins.check(visit, headers)
        visit.identity = await self.identify(visit, headers)
        _demand_scope(visit.identity, scope["path"], writes)
        new = bool(visit.cookies)
        if writes:
            self._rate_limits.consume("write_address", place)
            # A browser has its mark before it writes. Who drops it each time is counted by where they come from.
            self._rate_limits.consume("write", place if new else visit.identity.account_id)
        elif not new:
            # A hall comes in behind one router, all new within a minute: there the address alone counts.
            self._rate_limits.consume("read", visit.identity.account_id)
        await next_app(scope, receive, send)

    async def identify(self, visit: RequestContext, headers: Mapping[str, str]) -> Identity:
        """Whoever the request comes from. Who says nothing becomes a guest, and is told so by a cookie."""
        language = chosen(None, headers.get("accept-language"))
        known = await self._authenticator.authenticate(cookies_in(headers), headers.get("authorization"), language)
        if known is not None:
            return known
        guest, cookie = self._authenticator.new_guest(language)
        visit.cookies.append(cookie.to_header(header=""))
        return guest


class RequestTimedOut(RequestError):
    """What was to be sent did not come in time."""

    status, default_code = 408, "too_slow"


class RequestTimeout(ASGIMiddleware):
    """Ends a request whose answer has not begun in time, so that nothing waits for ever."""

    scopes = (ScopeType.HTTP,)
    exclude_opt_key = "unhurried"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Wait for the answer as long as a person would."""
        deadline = asyncio.timeout(self._seconds)
        whole = missing = False

        async def hear() -> HTTPReceiveMessage | WebSocketReceiveMessage:
            nonlocal whole, missing
            missing = not whole
            message = await receive()
            whole, missing = not message.get("more_body"), False
            return message

        try:
            async with deadline:

                async def begin(message: Message) -> None:
                    deadline.reschedule(None)
                    await send(message)

                await next_app(scope, hear, begin)
        except TimeoutError:
            if not deadline.expired():
                raise
            if missing:
                raise RequestTimedOut("The body of the request did not come in time. Send it again.") from None
            raise Unavailable(
                "It took too long and was broken off. Look before asking again.", code="too_slow"
            ) from None


def caller(scope: Scope) -> Identity:
    """The dependency `identity` of every handler."""
    found = request_context(scope).identity
    assert found is not None, "The handler is marked as unattended, and yet asks who is calling."
    return found


def _demand_scope(identity: Identity, path: str, writes: bool) -> None:
    """Hold a key against what it asks for, before anything of the request is read: /api/SYSTEM is for its scopes."""
    asked = _OF_SYSTEM.match(path)
    if asked is not None and not identity.may(f"{asked[1]}:{'write' if writes else 'read'}"):
        raise Forbidden("This key may not do that. Make one with the scope it needs.", code="scope_missing")
