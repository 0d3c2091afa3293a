"""A client of the server without a browser: a guest's cookie, HTTP requests, and a socket of the wire protocol."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

TIMEOUT_SECONDS = 20.0


class ServerError(Exception):
    """An error that the server answered with, and its code."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: str = error["code"]


class SocketClient:
    """A client that behaves like the web page."""

    def __init__(self, url: str, cookies: httpx.Cookies | None = None) -> None:
        self.url = url
        self.http = httpx.AsyncClient(base_url=url, headers={"Origin": url}, cookies=cookies, timeout=TIMEOUT_SECONDS)
        self.comments: list[dict[str, Any]] = []
        self.position: tuple[int, int] | None = None
        self.events: list[dict[str, Any]] = []
        self.transient_events: list[dict[str, Any]] = []
        self.more = False
        self.deleted_ids: set[str] = set()
        self.present_count = 0
        self.closed = False
        self._ids = itertools.count(1)
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._changed = asyncio.Event()
        self._socket: ClientConnection | None = None
        self._listening: asyncio.Task[None] | None = None
        self._topic = ""

    async def call(self, method: str, path: str, body: object = None) -> Any:
        """The response of the HTTP API to a request. Raises ServerError."""
        response = await self.http.request(method, path, json=body)
        if response.status_code >= 400:
            raise ServerError(response.json()["error"])
        return response.json() if response.content else None

    async def connect(self) -> None:
        """Open the socket, with the cookie of the HTTP client."""
        if not self.http.cookies:
            await self.call("GET", "/api/me")
        cookie = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        self._socket = await connect(
            f"{self.url.replace('http', 'ws', 1)}/socket",
            additional_headers={"Cookie": cookie},
            origin=self.url,  # pyright: ignore[reportArgumentType]
            proxy=None,
        )
        self._listening = asyncio.create_task(self._listen(self._socket))

    async def join(self, topic: str) -> None:
        """Join a room, from the last position of this client."""
        self._topic = topic
        message: dict[str, Any] = {"t": "join", "to": topic}
        if self.position is not None:
            message["at"] = {"epoch": self.position[0], "seq": self.position[1]}
        if self.comments:
            message["since"] = self.comments[-1]["seq"]
        await self._request(message)

    async def post_comment(self, content: str, **fields: str) -> dict[str, Any]:
        """Post a comment, and return it when it is stored."""
        return await self.execute({"k": "comment", "content": content, **fields})

    async def execute(self, command: dict[str, Any]) -> dict[str, Any]:
        """Execute a command, and return its reply when it is stored."""
        return (await self._request({"t": "do", "to": self._topic, "what": command}))["result"]

    async def react(self, reaction: str, times: int = 1) -> None:
        """Send a reaction, as a transient command."""
        assert self._socket is not None
        message = {"t": "pass", "to": self._topic, "what": {"k": "react", "reaction": reaction}}
        for _ in range(times):
            await self._socket.send(json.dumps(message))

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds; it is checked after every message."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def disconnect(self) -> None:
        """Abort the connection without a close frame."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._socket is not None:
            self._socket.transport.abort()
            # The loop may end right after, and an unclosed transport would fail another test.
            await self._socket.wait_closed()
        self._fail_pending()

    async def close(self) -> None:
        """Close the socket and the HTTP client."""
        await self.disconnect()
        await self.http.aclose()

    @property
    def remaining_comments(self) -> list[dict[str, Any]]:
        """The comments that are not deleted, in the order of the room."""
        return [comment for comment in self.comments if comment["commentId"] not in self.deleted_ids]

    @property
    def contents(self) -> list[str]:
        """The contents of the comments that this client has received."""
        return [comment["content"] for comment in self.comments]

    async def _request(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._socket is not None
        number = next(self._ids)
        future = self._replies[number] = asyncio.get_running_loop().create_future()
        try:
            await self._socket.send(json.dumps({**message, "id": number}))
        except ConnectionClosed as closed:
            raise ConnectionError("The socket closed.") from closed
        reply = await asyncio.wait_for(future, TIMEOUT_SECONDS)
        if reply["t"] == "refused":
            raise ServerError(reply["error"])
        return reply

    async def _listen(self, socket: ClientConnection) -> None:
        try:
            async for text in socket:
                self._receive(json.loads(text))
                self._changed.set()
        except ConnectionClosed:
            pass
        finally:
            self._fail_pending()
            self._changed.set()

    def _fail_pending(self) -> None:
        for waiting in self._replies.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("The socket closed."))
                waiting.exception()

    def _receive(self, message: dict[str, Any]) -> None:
        match message["t"]:
            case "joined" | "snapshot":
                if message.get("at"):
                    self.position = (message["at"]["epoch"], message["at"]["seq"])
                if message.get("snapshot"):
                    self.apply_page(message["snapshot"])
                self.present_count = message.get("here", self.present_count)
            case "events":
                self._apply_events(message)
            case "passing":
                self.transient_events += message["events"]
            case "presence":
                self.present_count = message["here"]
            case _:
                pass
        if "id" in message:
            waiting = self._replies.pop(message["id"])
            if not waiting.done():
                waiting.set_result(message)

    def apply_page(self, page: dict[str, Any]) -> None:
        """Apply a snapshot, or a page of earlier comments."""
        self.more = page.get("more", False)
        self.deleted_ids |= set(page.get("standing", {}).get("gone", []))
        self._add_comments(page["comments"])

    def _apply_events(self, message: dict[str, Any]) -> None:
        assert self.position == (message["epoch"], message["after"]), f"A gap: {self.position}, then {message}"
        self.position = (message["epoch"], message["seq"])
        self.events += message["events"]
        self.deleted_ids |= {event["commentId"] for event in message["events"] if event["k"] == "gone"}
        self._add_comments([event["comment"] for event in message["events"] if event["k"] == "commented"], new=True)
        self.closed = self.closed or any(event["k"] == "closed" for event in message["events"])

    def _add_comments(self, comments: list[dict[str, Any]], *, new: bool = False) -> None:
        last = self.comments[-1]["seq"] if self.comments else ""
        fresh = [comment for comment in comments if comment["seq"] > last]
        assert not new or len(fresh) == len(comments), f"Received twice: {comments}, after {last}"
        self.comments += fresh


@asynccontextmanager
async def connected_clients(url: str, room_id: str, count: int) -> AsyncIterator[list[SocketClient]]:
    """Clients that have joined a room. Rate limits let each post five comments at once."""
    clients = [SocketClient(url) for _ in range(count)]

    async def join(client: SocketClient) -> None:
        await client.connect()
        await client.join(f"live/{room_id}")

    try:
        await asyncio.gather(*map(join, clients))
        # A copy: clients that a test removes from it are closed with the others.
        yield list(clients)
    finally:
        await asyncio.gather(*(client.close() for client in clients))


def unique_text(text: str) -> str:
    """A text that no other test uses."""
    return f"{text} {uuid4().hex[:8]}"
