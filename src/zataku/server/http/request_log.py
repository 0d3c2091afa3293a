"""Watching every request: it is counted, and gets an id, one line in the log, and its place in the figures."""

import asyncio
import time
from math import ceil

import structlog

from zataku.accounts.rate_limits import RateLimitName, RateLimits, client_network
from zataku.errors import Problem, RateLimited
from zataku.server.http.asgi import App, Message, Receive, Scope, Send, refuse
from zataku.server.http.request_context import RequestContext, RequestContextReader
from zataku.server.http.security_headers import SAFE_HEADERS
from zataku.server.http.static_files import FOLDERS
from zataku.server.metrics import Metrics

log = structlog.stdlib.get_logger("zataku.access")

_FILES = (*FOLDERS, "/favicon.", "/apple-touch-icon", "/manifest.webmanifest", "/robots.txt")
"""What pages need many of, and what browsers ask for by themselves."""
_STOPPING = Problem("unavailable", "The server stops and has broken this off. Look before asking again.")


class RequestLog:
    """Stands around the application. Query strings, cookies and bodies are never written down.

    Here everything is counted that comes from one address, also what nothing answers to.
    """

    def __init__(self, app: App, doorkeeper: RequestContextReader, rate_limits: RateLimits, figures: Metrics) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._rate_limits = rate_limits
        self._figures = figures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, and note how it went."""
        visit = self._doorkeeper.receive(scope)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=visit.id)
        begun, status = time.perf_counter(), 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            self._rate_limits.consume(_occasion(scope["path"]), client_network(visit.address))
            await self._app(scope, receive, noting)
        except RateLimited as refused:
            said = {"retry-after": str(ceil(refused.retry_after)), "x-request-id": visit.id, **SAFE_HEADERS}
            await refuse(noting, refused.status, refused.problem, said)
        except asyncio.CancelledError:
            # Only a server that stops breaks a request off, and nothing comes after its answer.
            if not status:
                await refuse(noting, 503, _STOPPING)
        finally:
            self._note(scope, visit, status, time.perf_counter() - begun)

    def _note(self, scope: Scope, visit: RequestContext, status: int, seconds: float) -> None:
        method, route = scope["method"], scope.get("path_template") or "unknown"
        # A status of 0 is a caller who went away before there was an answer.
        self._figures.request(method, route, status, seconds)
        who = visit.identity
        log.info(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 1),
            **({} if who is None else {"account": who.account_id}),
        )


def _occasion(path: str) -> RateLimitName:
    return "file_address" if path.startswith(_FILES) else "read_address"
