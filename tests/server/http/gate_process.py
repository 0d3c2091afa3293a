"""The startup gate as uvicorn runs it."""

import asyncio
from typing import Any

import httpx

from zataku.server.http.startup_gate import StartupGate


class GateProcess:
    """What uvicorn does for the gate: start it, send requests, stop it."""

    def __init__(self, gate: StartupGate) -> None:
        self.gate = gate
        self._inbox: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self._lifespan: asyncio.Task[None] | None = None
        transport = httpx.ASGITransport(app=gate)  # type: ignore[arg-type]
        self.client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")

    async def start(self) -> None:
        """Begin the lifespan; the application may still be opening when this returns."""
        sent: asyncio.Queue[Any] = asyncio.Queue()
        self._lifespan = asyncio.create_task(self.gate({"type": "lifespan"}, self._inbox.get, sent.put))
        await self._inbox.put({"type": "lifespan.startup"})
        assert await sent.get() == {"type": "lifespan.startup.complete"}

    async def stop(self) -> None:
        """Drain the application and end the lifespan."""
        await self.gate.drain()
        await self._inbox.put({"type": "lifespan.shutdown"})
        assert self._lifespan is not None
        await self._lifespan
        await self.client.aclose()
