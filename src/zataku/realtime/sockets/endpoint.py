"""The door for sockets: lets a browser in, reads what it sends until it goes, and hands it on."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from zataku.clock import now_ms
from zataku.errors import RateLimited
from zataku.platform.identity import Identity
from zataku.realtime.messages import Welcome, Wrong
from zataku.realtime.sockets import frames
from zataku.realtime.sockets.connection import Connection
from zataku.realtime.sockets.handler import SocketHandler
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.protocol import EXTENSION, PreparedFrameProtocol
from zataku.realtime.sockets.session import SocketSession
from zataku.realtime.sockets.socket import Socket

Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[Any], Awaitable[None]]

_POLICY_VIOLATION = 1008


class Endpoint:
    """Serves the sockets of a process. It needs the connections of `uvicorn_options`."""

    def __init__(self, hub: Hub, listener: SocketHandler) -> None:
        self._hub, self._listener = hub, listener
        self._finishing: set[asyncio.Task[None]] = set()

    async def serve(
        self, scope: Mapping[str, Any], receive: Receive, send: Send, *, identity: Identity, address: str
    ) -> None:
        """Serve one socket, from the handshake to its end, for somebody whose identity and origin are settled."""
        wire: Connection = scope["extensions"][EXTENSION]
        await receive()  # the browser asks to be let in
        await send({"type": "websocket.accept"})
        try:
            socket = self._hub.open(wire, identity, address)
        except RateLimited as refused:
            # A browser can read a message, but not the status of a handshake that failed.
            wire.write(frames.text(msgspec.json.encode(Wrong(error=refused.problem))))
            wire.close(_POLICY_VIOLATION, refused.message)
            return
        conversation = SocketSession(self._hub, self._listener, socket)
        try:
            self._hub.send(socket, Welcome(now=now_ms(self._hub.clock), beat=int(self._hub.limits.beat * 1000)))
            await self._read(socket, conversation, receive)
        finally:
            await self._end(socket, conversation)

    async def _read(self, socket: Socket, conversation: SocketSession, receive: Receive) -> None:
        while True:
            event = await receive()
            if event["type"] == "websocket.disconnect":
                return
            if socket.closed:
                continue
            text = event.get("text")
            if text is not None:
                await conversation.take_text(text)
            else:
                await conversation.take_binary(event["bytes"])

    async def _end(self, socket: Socket, conversation: SocketSession) -> None:
        socket.closed = True
        try:
            for task in await conversation.end():
                self._finishing.add(task)
                task.add_done_callback(self._finishing.discard)
        finally:
            try:
                self._listener.gone(socket)
            finally:
                self._hub.closed(socket)


def uvicorn_options(limits: SocketLimits) -> dict[str, Any]:
    """What uvicorn must be told for sockets; the heartbeat is ours, and what is small is not compressed."""
    return {
        "ws": PreparedFrameProtocol,
        "ws_max_size": max(limits.text, limits.binary + 2),
        "ws_per_message_deflate": False,
        "ws_ping_interval": None,
        "ws_ping_timeout": None,
    }
