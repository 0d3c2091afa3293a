"""Middleware that limits the responses which are exports, from their request to their last byte."""

import asyncio

import structlog
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Receive, Scope, Send

from zataku.accounts.export_limits import EXPORT, ExportLimits
from zataku.accounts.rate_limits import client_network
from zataku.server.http.request_context import request_context

log = structlog.stdlib.get_logger()

MAX_EXPORT_SECONDS = 600.0
"""An export that is read more slowly is ended: its slot belongs to others as well."""


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
        with self._limits.slot(request.identity.account_id, client_network(request.address)):
            try:
                async with asyncio.timeout(self._max_seconds):
                    await next_app(scope, receive, send)
            except TimeoutError:
                # The server closes the connection of a response that is not complete.
                log.warning("export_too_slow", path=scope["path"], seconds=self._max_seconds)
