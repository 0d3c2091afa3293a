"""Somebody with a phone: a guest's cookie, an HTTP client and a socket that speaks the protocol."""

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

PATIENCE = 20.0


class Refusal(Exception):
    """What the server refused, with its code."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: str = error["code"]


class SocketClient:
    """A client as the web page is one, without a browser."""

    def __init__(self, url: str, cookies: httpx.Cookies | None = None) -> None:
        self.url = url
        self.http = httpx.AsyncClient(base_url=url, headers={"Origin": url}, cookies=cookies, timeout=PATIENCE)
        self.comments: list[dict[str, Any]] = []
        self.place: tuple[int, int] | None = None
        self.events: list[dict[str, Any]] = []
        self.passed: list[dict[str, Any]] = []
        self.more = False
        self.gone: set[str] = set()
        self.here = 0
        self.closed = False
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._changed = asyncio.Event()
        self._socket: ClientConnection | None = None
        self._listening: asyncio.Task[None] | None = None
        self._topic = ""

    async def call(self, method: str, path: str, body: object = None) -> Any:
        """Call the HTTP API and give its answer, which must be a good one."""
        answer = await self.http.request(method, path, json=body)
        if answer.status_code >= 400:
            raise Refusal(answer.json()["error"])
        return answer.json() if answer.content else None

    async def connect(self) -> None:
        """Open the socket, with the cookie that the server gave."""
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
        """Hear a room, from where this phone left off."""
        self._topic = topic
        wish: dict[str, Any] = {"t": "join", "to": topic}
        if self.place is not None:
            wish["at"] = {"epoch": self.place[0], "seq": self.place[1]}
        if self.comments:
            wish["since"] = self.comments[-1]["seq"]
        await self._asked(wish)

    async def say(self, content: str, **more: str) -> dict[str, Any]:
        """Write a comment; gives it back when it is stored."""
        return await self.do({"k": "comment", "content": content, **more})

    async def do(self, what: dict[str, Any]) -> dict[str, Any]:
        """Have a command carried out; gives its answer when it is stored."""
        return (await self._asked({"t": "do", "to": self._topic, "what": what}))["result"]

    async def react(self, reaction: str, times: int = 1) -> None:
        """Clap, understand or laugh, in passing."""
        assert self._socket is not None
        wish = {"t": "pass", "to": self._topic, "what": {"k": "react", "reaction": reaction}}
        for _ in range(times):
            await self._socket.send(json.dumps(wish))

    async def until(self, wanted: Callable[[], bool]) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(PATIENCE):
            while not wanted():
                self._changed.clear()
                await self._changed.wait()

    async def drop(self) -> None:
        """Lose the connection, as in a tunnel."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._socket is not None:
            self._socket.transport.abort()
            # The loop may end right after: what it still has to close would be found by another test.
            await self._socket.wait_closed()
        self._fail()

    async def close(self) -> None:
        """Put the phone away."""
        await self.drop()
        await self.http.aclose()

    @property
    def left(self) -> list[dict[str, Any]]:
        """The comments that are not gone, in the order of the room."""
        return [comment for comment in self.comments if comment["commentId"] not in self.gone]

    @property
    def read(self) -> list[str]:
        """What this phone shows."""
        return [comment["content"] for comment in self.comments]

    async def _asked(self, wish: dict[str, Any]) -> dict[str, Any]:
        assert self._socket is not None
        number = next(self._ids)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send(json.dumps({**wish, "id": number}))
        message = await asyncio.wait_for(answer, PATIENCE)
        if message["t"] == "refused":
            raise Refusal(message["error"])
        return message

    async def _listen(self, socket: ClientConnection) -> None:
        try:
            async for text in socket:
                self._heard(json.loads(text))
                self._changed.set()
        except ConnectionClosed:
            pass
        finally:
            self._fail()
            self._changed.set()

    def _fail(self) -> None:
        for waiting in self._answers.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("The socket closed."))
                waiting.exception()

    def _heard(self, message: dict[str, Any]) -> None:
        match message["t"]:
            case "joined" | "snapshot":
                if message.get("at"):
                    self.place = (message["at"]["epoch"], message["at"]["seq"])
                if message.get("snapshot"):
                    self.fetched(message["snapshot"])
                self.here = message.get("here", self.here)
            case "events":
                self._happened(message)
            case "passing":
                self.passed += message["events"]
            case "presence":
                self.here = message["here"]
            case _:
                pass
        if "id" in message:
            waiting = self._answers.pop(message["id"])
            if not waiting.done():
                waiting.set_result(message)

    def fetched(self, page: dict[str, Any]) -> None:
        """Take in a snapshot, or a page of what it left out."""
        self.more = page.get("more", False)
        self.gone |= set(page.get("standing", {}).get("gone", []))
        self._shown(page["comments"])

    def _happened(self, message: dict[str, Any]) -> None:
        assert self.place == (message["epoch"], message["after"]), f"A gap: {self.place}, then {message}"
        self.place = (message["epoch"], message["seq"])
        self.events += message["events"]
        self.gone |= {event["commentId"] for event in message["events"] if event["k"] == "gone"}
        self._shown([event["comment"] for event in message["events"] if event["k"] == "commented"], new=True)
        self.closed = self.closed or any(event["k"] == "closed" for event in message["events"])

    def _shown(self, comments: list[dict[str, Any]], *, new: bool = False) -> None:
        last = self.comments[-1]["seq"] if self.comments else ""
        fresh = [comment for comment in comments if comment["seq"] > last]
        assert not new or len(fresh) == len(comments), f"Told twice: {comments}, after {last}"
        self.comments += fresh


@asynccontextmanager
async def crowd(url: str, room_id: str, people: int) -> AsyncIterator[list[SocketClient]]:
    """So many people in a room. One alone may write five comments at once."""
    phones = [SocketClient(url) for _ in range(people)]

    async def come_in(phone: SocketClient) -> None:
        await phone.connect()
        await phone.join(f"live/{room_id}")

    try:
        await asyncio.gather(*map(come_in, phones))
        # A list of their own: whoever is taken out of it goes home with the others.
        yield list(phones)
    finally:
        await asyncio.gather(*(phone.close() for phone in phones))


def unique(text: str) -> str:
    """A text that no other test says."""
    return f"{text} {uuid4().hex[:8]}"
