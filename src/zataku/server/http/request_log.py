"""The outermost ASGI layer: gives each request its context, limits requests per address, logs and measures them."""

import asyncio
import time
from math import ceil

import structlog

from zataku.accounts.rate_limits import RateLimitName, RateLimits, client_network
from zataku.errors import Problem, RateLimited
from zataku.server.http.asgi import App, Message, Receive, Scope, Send, send_error
from zataku.server.http.request_context import RequestContext, RequestContextReader
from zataku.server.http.security_headers import SECURITY_HEADERS
from zataku.server.http.static_files import FOLDERS
from zataku.server.metrics import Metrics

log = structlog.stdlib.get_logger("zataku.access")

_FILE_PATHS = (*FOLDERS, "/favicon.", "/apple-touch-icon", "/manifest.webmanifest", "/robots.txt")
"""Paths of which one page needs many, or which browsers request by themselves."""
_STOPPING = Problem("unavailable", "The server stopped before it answered. Check before you send it again.")


class RequestLog:
    """Wraps the application. Query strings, cookies and bodies are never logged.

    The rate limit counts every request from an address, also those to unknown paths.
    """

    def __init__(
        self, app: App, context_reader: RequestContextReader, rate_limits: RateLimits, metrics: Metrics
    ) -> None:
        self._app = app
        self._context_reader = context_reader
        self._rate_limits = rate_limits
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, then log and measure it."""
        request = self._context_reader.read(scope)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request.id)
        started, status = time.perf_counter(), 0

        async def send_recording_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            self._rate_limits.consume(_rate_limit_name(scope["path"]), client_network(request.address))
            await self._app(scope, receive, send_recording_status)
        except RateLimited as error:
            headers = {"retry-after": str(ceil(error.retry_after)), "x-request-id": request.id, **SECURITY_HEADERS}
            await send_error(send_recording_status, error.status, error.problem, headers)
        except asyncio.CancelledError:
            # Only a server that stops cancels a request, and nothing is sent after this response.
            if not status:
                await send_error(send_recording_status, 503, _STOPPING)
        finally:
            self._record(scope, request, status, time.perf_counter() - started)

    def _record(self, scope: Scope, request: RequestContext, status: int, seconds: float) -> None:
        method, route = scope["method"], scope.get("path_template") or "unknown"
        # Status 0: the caller disconnected before the response.
        self._metrics.record_request(method, route, status, seconds)
        identity = request.identity
        log.info(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 1),
            **({} if identity is None else {"account": identity.account_id}),
        )


def _rate_limit_name(path: str) -> RateLimitName:
    return "file_address" if path.startswith(_FILE_PATHS) else "read_address"
