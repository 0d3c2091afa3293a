"""Where what browsers say comes in: to the room or the topic that it is for."""

import msgspec

from zataku.realtime.messages import Do, Join, Leave, Pass
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.realtime.sockets.socket import Socket
from zataku.realtime.topics import Topics

_encode = msgspec.json.Encoder().encode
_FOR_ALL = "home"
"""The topic of no system, for which no key has a scope."""


class SocketRouter:
    """The listener of all sockets of a process. `kind/ID` is a room if that kind has rooms, else a topic.

    A program hears what its key may read, and does what its key may write.
    """

    def __init__(self, rooms: RoomRegistry, topics: Topics) -> None:
        self._rooms = rooms
        self._topics = topics

    async def join(self, socket: Socket, asked: Join) -> None:
        """Let a socket hear a room or a topic."""
        _demand(socket, asked.to, "read")
        await (self._rooms if self._rooms.has(asked.to) else self._topics).join(socket, asked)

    async def leave(self, socket: Socket, asked: Leave) -> None:
        """Let it hear it no more."""
        self._leave(socket, asked.to)

    async def do(self, socket: Socket, asked: Do) -> bytes | None:
        """Carry out a kept command of a room."""
        _demand(socket, asked.to, "write")
        body = self._rooms.decode_command(asked.to, bytes(asked.what))
        reply = await self._rooms.execute(asked.to, socket.identity, body)
        return None if reply is None else _encode(reply)

    def passed(self, socket: Socket, asked: Pass) -> None:
        """Carry a passing command on."""
        _demand(socket, asked.to, "write")
        self._rooms.passed(socket, asked.to, bytes(asked.what))

    def binary(self, socket: Socket, topic: str, payload: bytes) -> None:
        """Carry a binary message on."""
        _demand(socket, topic, "write")
        self._rooms.passed(socket, topic, payload, binary=True)

    async def behind(self, socket: Socket, topic: str) -> None:
        """Bring a socket up to date that was too slow."""
        if self._rooms.has(topic):
            await self._rooms.behind(socket, topic)
        else:
            self._topics.behind(socket, topic)

    def gone(self, socket: Socket) -> None:
        """A socket has ended."""
        for topic in list(socket.topics):
            self._leave(socket, topic)

    def _leave(self, socket: Socket, topic: str) -> None:
        (self._rooms if self._rooms.has(topic) else self._topics).leave(socket, topic)


def _demand(socket: Socket, topic: str, right: str) -> None:
    kind = topic.partition("/")[0]
    if kind != _FOR_ALL:
        socket.identity.require_scope(f"{kind}:{right}")
