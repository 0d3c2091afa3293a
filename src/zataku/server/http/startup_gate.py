"""The ASGI app that uvicorn runs: answers health checks at once, and holds requests until the application is open."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from math import ceil
from typing import Protocol, TypeAlias

from zataku.accounts.rate_limits import RATE_LIMITS, RateLimits, client_network
from zataku.clock import SystemClock
from zataku.errors import Problem, RateLimited
from zataku.server.http.asgi import App, Receive, Scope, Send, reject_socket, send_error, send_json
from zataku.server.http.errors import status_error
from zataku.server.http.request_context import RequestContextReader

MAX_WAIT_SECONDS = 20.0
"""How long a request waits for the application to open."""
MAX_HEADER_BYTES = 32 * 1024
"""The most bytes of all headers of a request together."""
HEALTH_CHECKS = ("/healthz", "/readyz")
"""Paths that the gate answers itself, to every caller alike; how often, is limited by address."""
HEADERS_TOO_LARGE = Problem(
    "headers_too_large", "The headers of the request are too large. Send less, or clear your cookies."
)
_NOT_READY = Problem("unavailable", "The server is starting or stopping. Try again in a moment.")
_STORE_NOT_READY = Problem("unavailable", "The store of the server does not answer. The log of the server says why.")
_WRONG_METHOD = Problem(*status_error(405))
_RETRY = {"retry-after": "2"}


class OpenedApplication(Protocol):
    """An application that is open."""

    @property
    def app(self) -> App:
        """Answers requests."""
        ...

    @property
    def socket(self) -> App:
        """Serves sockets."""
        ...

    async def is_ready(self) -> bool:
        """True when the store can be read and written."""
        ...

    async def drain(self) -> None:
        """Ask sockets to reconnect elsewhere, and hand over rooms and jobs."""
        ...


OpenApplication: TypeAlias = Callable[[], AbstractAsyncContextManager[OpenedApplication]]


class StartupGate:
    """Opens and closes the application with the ASGI lifespan.

    `/healthz` says that the process answers, `/readyz` whether it accepts requests and its store answers. Other
    requests wait until the application is open. When it cannot be opened, `has_ended` is true and `failure` says why.
    """

    def __init__(self, open_application: OpenApplication, proxies: Iterable[str] = ()) -> None:
        self.failure: Exception | None = None
        self.has_ended = False
        self._open_application = open_application
        self._context_reader = RequestContextReader(proxies)
        self._rate_limits = RateLimits(SystemClock(), {"health_address": RATE_LIMITS["health_address"]})
        self._application: OpenedApplication | None = None
        self._is_draining = False
        self._opened_or_failed = asyncio.Event()
        self._shutdown = asyncio.Event()
        self._lifetime: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, serve a socket, or run the lifespan."""
        _strip_proxy_form(scope)
        match scope["type"]:
            case "lifespan":
                await self._run_lifespan(receive, send)
            case "http" if _header_bytes(scope) > MAX_HEADER_BYTES:
                await send_error(send, 431, HEADERS_TOO_LARGE)
            case "http" if scope["path"] in HEALTH_CHECKS:
                await self._answer_health_check(scope, send)
            case "http":
                opened = await self._wait_opened()
                await (
                    send_error(send, 503, _NOT_READY, _RETRY) if opened is None else opened.app(scope, receive, send)
                )
            case _ if _header_bytes(scope) > MAX_HEADER_BYTES:
                await reject_socket(send, 431, HEADERS_TOO_LARGE)
            case _:
                # While draining, a new socket would be asked to reconnect at once.
                opened = None if self._is_draining else await self._wait_opened()
                if opened is None:
                    await reject_socket(send, 503, _NOT_READY, _RETRY)
                else:
                    await opened.socket(scope, receive, send)

    async def drain(self) -> None:
        """Stop being ready and drain the application. If it is still opening, opening is cancelled."""
        self._is_draining = True
        if self._application is not None:
            await self._application.drain()
        elif self._lifetime is not None:
            self._lifetime.cancel()

    async def _answer_health_check(self, scope: Scope, send: Send) -> None:
        try:
            self._rate_limits.consume("health_address", client_network(self._context_reader.read(scope).address))
        except RateLimited as error:
            await send_error(send, error.status, error.problem, {"retry-after": str(ceil(error.retry_after))})
            return
        if scope["method"] not in ("GET", "HEAD"):
            await send_error(send, 405, _WRONG_METHOD, {"allow": "GET, HEAD"})
        elif scope["path"] == "/healthz":
            await send_json(send, 200, {"status": "ok"})
        elif self._application is None or self._is_draining:
            await send_error(send, 503, _NOT_READY, _RETRY)
        elif await self._application.is_ready():
            await send_json(send, 200, {"status": "ready"})
        else:
            await send_error(send, 503, _STORE_NOT_READY, _RETRY)

    async def _wait_opened(self) -> OpenedApplication | None:
        if self._application is None and not self._opened_or_failed.is_set():
            try:
                async with asyncio.timeout(MAX_WAIT_SECONDS):
                    await self._opened_or_failed.wait()
            except TimeoutError:
                return None
        return self._application

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        self._lifetime = asyncio.create_task(self._run_application())
        # Complete at once: from now on uvicorn passes requests on, and health checks are answered.
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._shutdown.set()
        await asyncio.wait([self._lifetime])
        await send({"type": "lifespan.shutdown.complete"})

    async def _run_application(self) -> None:
        try:
            async with self._open_application() as opened:
                self._application = opened
                self._opened_or_failed.set()
                await self._shutdown.wait()
        except Exception as problem:  # noqa: BLE001 - any failure to open ends the process
            self.failure = problem
        finally:
            self._application = None
            self._opened_or_failed.set()
            self.has_ended = True


def _header_bytes(scope: Scope) -> int:
    return sum(len(name) + len(value) for name, value in scope["headers"]) + len(scope["raw_path"])


def _strip_proxy_form(scope: Scope) -> None:
    """Reduce the absolute form `GET http://host/path`, as sent to proxies, to `/path`."""
    path = scope.get("path", "")
    if path.startswith(("http://", "https://")):
        scope["path"] = "/" + "/".join(path.split("/")[3:])
        scope["raw_path"] = b"/" + b"/".join(scope["raw_path"].split(b"/")[3:])
