"""Middleware that limits the responses which are exports, from their request to their last byte."""

import asyncio
from functools import partial

import structlog
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from zataku.accounts.export_limits import EXPORT, ExportLimits
from zataku.accounts.rate_limits import client_network
from zataku.server.http.request_context import request_context

log = structlog.stdlib.get_logger()

MAX_EXPORT_SECONDS = 600.0
"""An export that takes longer is ended, even where there are slots for others."""


class ExportSlots(ASGIMiddleware):
    """Holds a slot for each export until its response has ended, its client has gone, or its time is over."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, limits: ExportLimits, max_seconds: float = MAX_EXPORT_SECONDS) -> None:
        self._limits = limits
        self._max_seconds = max_seconds

    def should_bypass_for_scope(self, scope: Scope) -> bool:  # type: ignore[override]  # Litestar takes any callable
        """True for responses that are no exports."""
        return EXPORT.keys().isdisjoint(scope["route_handler"].opt)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass a request on with a slot, or raise the error of the response."""
        request = request_context(scope)
        assert request.identity is not None, "An export identifies its caller."
        person, address = request.identity.account_id, client_network(request.address)
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._max_seconds) as deadline:
                with self._limits.slot(person, address, partial(_expire, deadline)) as export:

                    async def send_and_wait(message: Message) -> None:
                        body = message["body"] if message["type"] == "http.response.body" else b""
                        with export.sending(len(body)):
                            await send(message)

                    await next_app(scope, receive, send_and_wait)
        except TimeoutError:
            # The server closes the connection of a response that is not complete.
            seconds = round(asyncio.get_running_loop().time() - began, 1)
            log.warning("export_too_slow", path=scope["path"], seconds=seconds)


def _expire(deadline: asyncio.Timeout) -> None:
    if not deadline.expired():
        deadline.reschedule(0)
