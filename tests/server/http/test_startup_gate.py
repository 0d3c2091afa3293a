"""The gate answers requests while the application behind it opens, runs and drains."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.server.http.gate_process import GateProcess
from tests.support.manual_clock import ManualClock
from zataku.accounts.rate_limits import RateLimit, RateLimits
from zataku.server.http.asgi import Receive, Scope, Send, send_json
from zataku.server.http.startup_gate import StartupGate

DEADLINE = 5.0


class FakeApplication:
    """An application that opens, or fails to, when the test allows it."""

    def __init__(self) -> None:
        self.may_open = asyncio.Event()
        self.failure: Exception | None = None
        self.calls: list[str] = []
        self.store_answers = True

    @asynccontextmanager
    async def open(self) -> AsyncIterator["FakeApplication"]:
        try:
            await self.may_open.wait()
            if self.failure is not None:
                raise self.failure
            yield self
        finally:
            self.calls.append("closed")

    async def app(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send_json(send, 200, "inside")

    async def socket(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "websocket.close"})

    async def is_ready(self) -> bool:
        return self.store_answers

    async def drain(self) -> None:
        self.calls.append("drained")


async def test_health_checks_are_answered_at_once_and_requests_wait_until_the_application_is_open():
    application = FakeApplication()
    process = GateProcess(StartupGate(application.open))
    async with asyncio.timeout(DEADLINE):
        await process.start()
        assert (await process.client.get("/healthz")).json() == {"status": "ok"}
        not_ready = await process.client.get("/readyz")
        assert (not_ready.status_code, not_ready.json()["error"]["code"]) == (503, "unavailable")
        assert "retry-after" in not_ready.headers
        waiting = asyncio.create_task(process.client.get("/"))
        await asyncio.sleep(0)
        application.may_open.set()
        assert (await waiting).json() == "inside"
        assert (await process.client.get("/readyz")).json() == {"status": "ready"}
        application.store_answers = False
        not_ready = await process.client.get("/readyz")
        assert (not_ready.status_code, not_ready.json()["error"]["details"]) == (503, {})
        assert "store" in not_ready.json()["error"]["message"]
        assert (await process.client.get("/healthz")).status_code == 200
        refused = await process.client.post("/healthz")
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
        await process.stop()
    assert application.calls == ["drained", "closed"]
    assert process.gate.failure is None


async def test_health_checks_are_limited_by_the_address_that_a_trusted_proxy_names():
    application = FakeApplication()
    application.may_open.set()
    process = GateProcess(StartupGate(application.open, proxies=["127.0.0.1"]))
    flood, elsewhere = {"x-forwarded-for": "192.0.2.1"}, {"x-forwarded-for": "192.0.2.2"}
    async with asyncio.timeout(DEADLINE):
        await process.start()
        process.gate._rate_limits = RateLimits(ManualClock(), {"health_address": RateLimit(60, 60.0, 2)})
        paths = ("/healthz", "/readyz", "/healthz", "/readyz")
        answers = [await process.client.get(path, headers=flood) for path in paths]
        assert [it.status_code for it in answers] == [200, 200, 429, 429]
        assert (answers[2].json()["error"]["code"], answers[2].headers["retry-after"]) == ("too_many_requests", "1")
        assert (await process.client.get("/healthz", headers=elsewhere)).status_code == 200
        assert (await process.client.get("/", headers=flood)).status_code == 200
        await process.stop()


async def test_an_application_that_cannot_be_opened_ends_the_process_with_the_reason():
    application = FakeApplication()
    application.failure = RuntimeError("cannot open")
    process = GateProcess(StartupGate(application.open))
    async with asyncio.timeout(DEADLINE):
        await process.start()
        waiting = asyncio.create_task(process.client.get("/"))
        await asyncio.sleep(0)
        application.may_open.set()
        assert (await waiting).status_code == 503
        assert process.gate.has_ended
        await process.stop()
    assert process.gate.failure is application.failure


async def test_stopping_while_the_application_opens_does_not_wait():
    application = FakeApplication()
    process = GateProcess(StartupGate(application.open))
    async with asyncio.timeout(DEADLINE):
        await process.start()
        assert (await process.client.get("/readyz")).status_code == 503
        await process.stop()
    assert application.calls == ["closed"]
    assert process.gate.failure is None


async def test_a_draining_server_is_not_ready_but_still_answers():
    application = FakeApplication()
    application.may_open.set()
    process = GateProcess(StartupGate(application.open))
    async with asyncio.timeout(DEADLINE):
        await process.start()
        assert (await process.client.get("/")).json() == "inside"
        await process.gate.drain()
        assert (await process.client.get("/readyz")).status_code == 503
        assert (await process.client.get("/healthz")).status_code == 200
        assert (await process.client.get("/")).json() == "inside"
        await process.stop()


async def test_headers_that_are_too_large_are_refused():
    application = FakeApplication()
    application.may_open.set()
    process = GateProcess(StartupGate(application.open))
    async with asyncio.timeout(DEADLINE):
        await process.start()
        response = await process.client.get("/", headers={"cookie": "x" * 40_000})
        assert (response.status_code, response.json()["error"]["code"]) == (431, "headers_too_large")
        assert (await process.client.get("/", headers={"cookie": "x" * 8_000})).status_code == 200
        await process.stop()


async def test_the_host_is_removed_from_an_absolute_path():
    paths: list[tuple[str, bytes]] = []

    class RecordingApplication(FakeApplication):
        async def app(self, scope: Scope, _receive: Receive, send: Send) -> None:
            paths.append((scope["path"], scope["raw_path"]))
            await send_json(send, 200, "inside")

    application = RecordingApplication()
    application.may_open.set()
    gate = StartupGate(application.open)
    process = GateProcess(gate)
    await process.start()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    for path in ("http://host/api/me", "https://host:8000", "/http://x"):
        scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "headers": []}
        await gate(scope, send, send)  # type: ignore[arg-type]
    assert paths == [("/api/me", b"/api/me"), ("/", b"/"), ("/http://x", b"/http://x")]
    await process.stop()
