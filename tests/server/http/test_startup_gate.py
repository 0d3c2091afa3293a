"""The front answers from the first moment, whatever the house behind it does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from zataku.server.http.asgi import Receive, Scope, Send, send_json
from zataku.server.http.startup_gate import StartupGate

DEADLINE = 5.0


class Hut:
    """A house with one room, which can be slow to open, or impossible."""

    def __init__(self) -> None:
        self.key = asyncio.Event()
        self.broken: Exception | None = None
        self.happened: list[str] = []

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Hut"]:
        try:
            await self.key.wait()
            if self.broken is not None:
                raise self.broken
            yield self
        finally:
            self.happened.append("closed")

    async def app(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send_json(send, 200, "inside")

    async def socket(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "websocket.close"})

    async def drain(self) -> None:
        self.happened.append("left")


class Process:
    """What uvicorn does for the front: begin, let people in, end."""

    def __init__(self, gate: StartupGate) -> None:
        self.gate = gate
        self._inbox: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self._life: asyncio.Task[None] | None = None
        transport = httpx.ASGITransport(app=gate)  # type: ignore[arg-type]
        self.client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")

    async def begin(self) -> None:
        told: asyncio.Queue[Any] = asyncio.Queue()
        self._life = asyncio.create_task(self.gate({"type": "lifespan"}, self._inbox.get, told.put))
        await self._inbox.put({"type": "lifespan.startup"})
        assert await told.get() == {"type": "lifespan.startup.complete"}

    async def end(self) -> None:
        await self.gate.drain()
        await self._inbox.put({"type": "lifespan.shutdown"})
        assert self._life is not None
        await self._life
        await self.client.aclose()


async def test_health_checks_are_answered_at_once_and_requests_wait_until_the_application_is_open():
    hut = Hut()
    process = Process(StartupGate(hut.open))
    async with asyncio.timeout(DEADLINE):
        await process.begin()
        assert (await process.client.get("/healthz")).json() == {"status": "ok"}
        early = await process.client.get("/readyz")
        assert (early.status_code, early.json()["error"]["code"]) == (503, "unavailable")
        assert "retry-after" in early.headers
        waiting = asyncio.create_task(process.client.get("/"))
        await asyncio.sleep(0)
        hut.key.set()
        assert (await waiting).json() == "inside"
        assert (await process.client.get("/readyz")).json() == {"status": "ready"}
        refused = await process.client.post("/healthz")
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
        await process.end()
    assert hut.happened == ["left", "closed"]
    assert process.gate.failure is None


async def test_an_application_that_cannot_be_opened_ends_the_process_with_the_reason():
    hut = Hut()
    hut.broken = RuntimeError("no key fits")
    process = Process(StartupGate(hut.open))
    async with asyncio.timeout(DEADLINE):
        await process.begin()
        waiting = asyncio.create_task(process.client.get("/"))
        await asyncio.sleep(0)
        hut.key.set()
        assert (await waiting).status_code == 503
        assert process.gate.has_ended
        await process.end()
    assert process.gate.failure is hut.broken


async def test_stopping_while_the_application_opens_does_not_wait():
    hut = Hut()
    process = Process(StartupGate(hut.open))
    async with asyncio.timeout(DEADLINE):
        await process.begin()
        assert (await process.client.get("/readyz")).status_code == 503
        await process.end()
    assert hut.happened == ["closed"]
    assert process.gate.failure is None


async def test_while_draining_it_is_not_ready_and_still_answers():
    hut = Hut()
    hut.key.set()
    process = Process(StartupGate(hut.open))
    async with asyncio.timeout(DEADLINE):
        await process.begin()
        assert (await process.client.get("/")).json() == "inside"
        await process.gate.drain()
        assert (await process.client.get("/readyz")).status_code == 503
        assert (await process.client.get("/healthz")).status_code == 200
        assert (await process.client.get("/")).json() == "inside"
        await process.end()


async def test_headers_that_are_too_large_are_refused():
    hut = Hut()
    hut.key.set()
    process = Process(StartupGate(hut.open))
    async with asyncio.timeout(DEADLINE):
        await process.begin()
        heavy = await process.client.get("/", headers={"cookie": "x" * 40_000})
        assert (heavy.status_code, heavy.json()["error"]["code"]) == (431, "headers_too_large")
        assert (await process.client.get("/", headers={"cookie": "x" * 8_000})).status_code == 200
        await process.end()


async def test_a_path_in_absolute_form_is_reduced():
    asked: list[tuple[str, bytes]] = []

    class Listed(Hut):
        async def app(self, scope: Scope, _receive: Receive, send: Send) -> None:
            asked.append((scope["path"], scope["raw_path"]))
            await send_json(send, 200, "inside")

    hut = Listed()
    hut.key.set()
    gate = StartupGate(hut.open)
    process = Process(gate)
    await process.begin()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    for path in ("http://host/api/me", "https://host:8000", "/http://x"):
        scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "headers": []}
        await gate(scope, send, send)  # type: ignore[arg-type]
    assert asked == [("/api/me", b"/api/me"), ("/", b"/"), ("/http://x", b"/http://x")]
    await process.end()
