"""Exports hold their slots until their responses end, and read nothing that their clients have not asked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import pytest
from litestar import Litestar, get

from tests.server.conftest import PUBLIC, MakeClient
from tests.support.app_context import user_identity
from tests.support.manual_clock import ManualClock
from zataku.accounts.export_limits import EXPORT, SLOW_SECONDS, ExportLimits
from zataku.accounts.rate_limits import RATE_LIMITS, RateLimit, RateLimits
from zataku.clock import instant_ms
from zataku.live.archive.export import EXPORT_PAGE_SIZE
from zataku.live.design import Comment, seq_of
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.limits import CommentId, RoomId
from zataku.server.app import Application
from zataku.server.http.errors import HANDLERS
from zataku.server.http.exports import ExportSlots
from zataku.server.http.request_context import RequestContext
from zataku.server.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

HERE, PAGES = "192.0.2.44", 6


def refused_to_end() -> None:
    raise AssertionError("An export was ended.")


class SlowDownload:
    """A request for an export whose client reads only when it is told to."""

    def __init__(self, application: Application, path: str, address: str, reads: int = 1) -> None:
        self.status = 0
        self.chunks: list[bytes] = []
        self.headers: dict[bytes, bytes] = {}
        self._reads, self._gone = asyncio.Semaphore(reads), asyncio.Event()
        self._blocked = asyncio.Event()
        self._has_sent_request = False
        headers = [(b"host", b"zataku.local:8000")]
        scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b""}
        more = {"headers": headers, "client": (address, 5000), "server": ("127.0.0.1", 8000), "scheme": "http"}
        self.task = asyncio.ensure_future(
            application.app({**scope, **more, "http_version": "1.1"}, self._receive, self._send)
        )

    async def _receive(self) -> dict[str, Any]:
        if not self._has_sent_request:
            self._has_sent_request = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
            return
        self.chunks.append(message["body"])
        if not message.get("more_body"):
            self._gone.set()
            return
        self._blocked.set()
        await self._reads.acquire()

    async def wait_until_blocked(self) -> None:
        """Wait until the client has one chunk more than it has read."""
        await asyncio.wait_for(self._blocked.wait(), 10)

    def read(self) -> None:
        """Read one chunk more."""
        self._blocked.clear()
        self._reads.release()

    async def disconnect(self) -> None:
        self._gone.set()
        await asyncio.wait_for(self.task, 10)


@pytest.fixture
def limits(application: Application, monkeypatch: pytest.MonkeyPatch) -> ExportLimits:
    """The limits of exports at once; how often they begin is not limited."""
    limits = application.services.accounts.export_limits
    generous = RateLimit(1_000_000, 60.0, 1_000_000)
    names = {**RATE_LIMITS, "export": generous, "export_address": generous, "export_all": generous}
    monkeypatch.setattr(limits, "_rate_limits", RateLimits(application.services.context.clock, names))
    return limits


@pytest.fixture
async def path(application: Application, make_client: MakeClient) -> str:
    """The path of an export of several pages."""
    host = make_client("192.0.2.45", origin=PUBLIC)
    room_id = RoomId((await host.post("/api/live/rooms", json={"name": "Long"})).json()["roomId"])
    now = instant_ms(application.services.context.clock.now())
    comments = [
        Comment(
            room_id=room_id,
            comment_id=CommentId(str(uuid4())),
            content=f"comment {number}",
            nickname="Anonymous",
            created_at=now,
            seq=seq_of(1, number),
        )
        for number in range(1, PAGES * EXPORT_PAGE_SIZE + 1)
    ]
    await application.services.context.store.write_many(put=comments)
    return f"/api/live/rooms/{room_id}/export.csv"


async def test_downloads_that_are_never_read_are_limited_and_free_their_slots_when_they_end(
    application: Application, limits: ExportLimits, path: str
) -> None:
    most = Settings().exports_per_address
    downloads = [SlowDownload(application, path, HERE) for _ in range(most)]
    for download in downloads:
        await download.wait_until_blocked()
    assert limits.running == most

    refused = SlowDownload(application, path, HERE)
    await asyncio.wait_for(refused.task, 10)
    assert (refused.status, refused.headers[b"retry-after"]) == (429, b"5")
    assert msgspec.json.decode(b"".join(refused.chunks))["error"]["code"] == "too_many_requests"

    elsewhere = SlowDownload(application, path, "192.0.2.46")
    await elsewhere.wait_until_blocked()
    for download in (*downloads[1:], elsewhere):
        await download.disconnect()
    assert limits.running == 1
    downloads[0].task.cancel()
    await asyncio.gather(downloads[0].task, return_exceptions=True)
    assert limits.running == 0


async def test_a_person_downloads_one_file_of_each_format_at_once(
    application: Application, limits: ExportLimits, path: str, make_client: MakeClient
) -> None:
    reader = make_client(HERE, origin=PUBLIC)
    await reader.get("/api/me")
    [identity] = [it for it in reader.cookies.jar if "guest" in it.name]
    account = application.services.accounts.authenticator
    caller = await account.authenticate({identity.name: identity.value or ""})
    assert caller is not None
    slots = [limits.slot(caller.account_id, "elsewhere", refused_to_end) for _ in range(2)]
    with slots[0], slots[1]:
        assert (await reader.get(path)).status_code == 429
    assert (await reader.get(path)).status_code == 200
    assert limits.running == 0


async def test_a_download_that_is_never_read_is_ended_for_another(
    application: Application, limits: ExportLimits, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock(0.0)
    monkeypatch.setattr(limits, "_clock", clock)
    downloads = [SlowDownload(application, path, HERE, reads=0) for _ in range(Settings().exports_per_address)]
    for download in downloads:
        await download.wait_until_blocked()
    await clock.advance(SLOW_SECONDS)
    another = SlowDownload(application, path, HERE)
    await another.wait_until_blocked()
    assert limits.running == len(downloads)
    await asyncio.wait([it.task for it in downloads], timeout=10, return_when=asyncio.FIRST_COMPLETED)
    [ended] = [it for it in downloads if it.task.done()]
    assert ended.task.exception() is None
    for download in (*downloads, another):
        await download.disconnect()
    assert limits.running == 0


async def test_only_as_much_is_read_as_the_client_takes(
    application: Application, limits: ExportLimits, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = 0
    read_page = GetRoomCommentsFunction.__call__

    async def count_page(self: GetRoomCommentsFunction, *arguments: Any) -> Any:
        nonlocal pages
        pages += 1
        return await read_page(self, *arguments)

    monkeypatch.setattr(GetRoomCommentsFunction, "__call__", count_page)
    download = SlowDownload(application, path, HERE)
    for taken in range(PAGES):
        await download.wait_until_blocked()
        assert len(download.chunks) == taken + 1
        assert pages <= taken + 1
        download.read()
    await download.disconnect()


async def test_an_unread_export_of_an_unknown_room_frees_its_slot(
    limits: ExportLimits, make_client: MakeClient
) -> None:
    client = make_client(HERE)
    assert (await client.get(f"/api/live/rooms/{uuid4()}/export.json")).status_code == 404
    assert limits.running == 0


@asynccontextmanager
async def exporting_client(
    limits: ExportLimits, max_seconds: float
) -> AsyncIterator[tuple[httpx.AsyncClient, asyncio.Event]]:
    """A client of an application with one export, which ends when an event is set."""
    is_read = asyncio.Event()

    @get("/export", opt=EXPORT)
    async def export() -> str:
        await is_read.wait()
        return "done"

    litestar: Any = Litestar(
        [export], middleware=[ExportSlots(limits, max_seconds)], exception_handlers=HANDLERS, openapi_config=None
    )

    async def app(scope: Any, receive: Any, send: Any) -> None:
        context = RequestContext(id="1", address=HERE, is_secure=False, host="", is_local=False, is_direct=False)
        context.identity = user_identity()
        await litestar({**scope, "state": {"request_context": context}}, receive, send)

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://zataku") as client:
        yield client, is_read


async def test_an_export_that_takes_too_long_is_ended_and_its_slot_is_free() -> None:
    clock = ManualClock(0.0)
    limits = ExportLimits(clock, RateLimits(clock), max_exports=1, max_per_address=1)
    async with exporting_client(limits, max_seconds=0) as (client, is_read):
        with pytest.raises(AssertionError):
            # The response is never completed, which the transport of the test reports so.
            await client.get("/export")
        assert limits.running == 0
    async with exporting_client(limits, max_seconds=60) as (client, is_read):
        is_read.set()
        assert (await client.get("/export")).text == "done"
    assert limits.running == 0
