"""The front of the house: it answers from the first moment, and lets people in as soon as everything is open."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

from zataku.errors import Problem
from zataku.server.http.asgi import App, Receive, Scope, Send, answer, refuse, turn_away

PATIENCE = 20.0
"""How many seconds a request waits for the house to open."""
HEADERS_MOST = 32 * 1024
"""Bytes that the headers of a request may have together."""
_HEAVY = Problem("headers_too_large", "The headers of the request are too large. Send less, or clear your cookies.")
_AWAY = Problem("unavailable", "The server is starting or stopping. Try again in a moment.")
_RETRY = {"retry-after": "2"}


class Opened(Protocol):
    """A house that is open."""

    @property
    def app(self) -> App:
        """What answers requests."""
        ...

    @property
    def socket(self) -> App:
        """What takes sockets."""
        ...

    async def leave(self) -> None:
        """Send everybody home: sockets are told to come back, rooms and jobs are handed over."""
        ...


OpenApplication: TypeAlias = Callable[[], AbstractAsyncContextManager[Opened]]


class StartupGate:
    """The application that uvicorn runs.

    `/healthz` says that the process answers, `/readyz` whether it takes requests. What else comes before the house is
    open waits at the door. When the house cannot be opened, it has `ended` and `failure` says why.
    """

    def __init__(self, open_application: OpenApplication) -> None:
        self.failure: Exception | None = None
        self.ended = False
        self._open_house = open_application
        self._house: Opened | None = None
        self._closing = False
        self._settled = asyncio.Event()
        self._over = asyncio.Event()
        self._life: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, take a socket, or begin and end with the process."""
        _ask_plainly(scope)
        match scope["type"]:
            case "lifespan":
                await self._attend(receive, send)
            case "http" if _weight(scope) > HEADERS_MOST:
                await refuse(send, 431, _HEAVY)
            case "http" if scope["path"] in ("/healthz", "/readyz"):
                await self._say_how_it_is(scope, send)
            case "http":
                house = await self._entered()
                await (refuse(send, 503, _AWAY, _RETRY) if house is None else house.app(scope, receive, send))
            case _ if _weight(scope) > HEADERS_MOST:
                await turn_away(send, 431, _HEAVY)
            case _:
                # Whoever was just told to come back later is too early.
                house = None if self._closing else await self._entered()
                await (turn_away(send, 503, _AWAY, _RETRY) if house is None else house.socket(scope, receive, send))

    @property
    def ready(self) -> bool:
        """True while requests are taken."""
        return self._house is not None and not self._closing

    async def leave(self) -> None:
        """Stop being ready and send everybody home. A house that is still opening is not opened any more."""
        self._closing = True
        if self._house is not None:
            await self._house.leave()
        elif self._life is not None:
            self._life.cancel()

    async def _say_how_it_is(self, scope: Scope, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            problem = Problem("method_not_allowed", "This address exists, but not for this method.")
            await refuse(send, 405, problem, {"allow": "GET, HEAD"})
        elif scope["path"] == "/healthz":
            await answer(send, 200, {"status": "ok"})
        elif self.ready:
            await answer(send, 200, {"status": "ready"})
        else:
            await refuse(send, 503, _AWAY, _RETRY)

    async def _entered(self) -> Opened | None:
        if self._house is None and not self._settled.is_set():
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._settled.wait()
            except TimeoutError:
                return None
        return self._house

    async def _attend(self, receive: Receive, send: Send) -> None:
        await receive()
        self._life = asyncio.create_task(self._live())
        # Complete at once: from now on uvicorn passes requests on, and health can be asked for.
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._over.set()
        await asyncio.wait([self._life])
        await send({"type": "lifespan.shutdown.complete"})

    async def _live(self) -> None:
        try:
            async with self._open_house() as house:
                self._house = house
                self._settled.set()
                await self._over.wait()
        except Exception as problem:  # noqa: BLE001 - whatever keeps the house from opening ends the process
            self.failure = problem
        finally:
            self._house = None
            self._settled.set()
            self.ended = True


def _weight(scope: Scope) -> int:
    return sum(len(name) + len(value) for name, value in scope["headers"]) + len(scope["raw_path"])


def _ask_plainly(scope: Scope) -> None:
    """Leave the scheme and host out of a path: as if to a proxy, `GET http://host/path` asks for `/path`."""
    path = scope.get("path", "")
    if path.startswith(("http://", "https://")):
        scope["path"] = "/" + "/".join(path.split("/")[3:])
        scope["raw_path"] = b"/" + b"/".join(scope["raw_path"].split(b"/")[3:])
