"""Routing of client messages to the room or the topic that they name."""

import msgspec

from zataku.errors import Forbidden
from zataku.realtime.messages import CommandMessage, Join, Leave, TransientMessage
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.realtime.sockets.socket import Socket
from zataku.realtime.topics import Topics

_UNSCOPED_KIND = "home"
"""The topic that belongs to no system; every API key may subscribe to it."""

_encode = msgspec.json.Encoder().encode


class SocketRouter:
    """The handler of all sockets of a process. `kind/ID` is a room if that kind has rooms, else a topic.

    An API key may subscribe to what its scopes let it read, and send commands to what they let it write.
    """

    def __init__(self, rooms: RoomRegistry, topics: Topics) -> None:
        self._rooms = rooms
        self._topics = topics

    async def join(self, socket: Socket, message: Join) -> None:
        """Subscribe a socket to a room or a topic."""
        _require_scope(socket, message.to, "read")
        await (self._rooms if self._rooms.is_room(message.to) else self._topics).join(socket, message)

    async def leave(self, socket: Socket, message: Leave) -> None:
        """Unsubscribe a socket."""
        self._leave(socket, message.to)

    async def execute(self, socket: Socket, message: CommandMessage) -> bytes | None:
        """Execute a durable command of a room; its body is decoded and its reply encoded here."""
        _require_scope(socket, message.to, "write")
        body = self._rooms.decode_command(message.to, bytes(message.what))
        with self._rooms.use(message.to) as handle:
            if handle.is_observer(socket):
                raise Forbidden("You only observe this room. Join it to take part.", code="observer")
            reply = await handle.execute(socket.identity, body)
        return None if reply is None else _encode(reply)

    def handle_transient(self, socket: Socket, message: TransientMessage) -> None:
        """Pass on a transient command."""
        _require_scope(socket, message.to, "write")
        self._rooms.handle_transient(socket, message.to, bytes(message.what))

    def handle_binary(self, socket: Socket, topic: str, payload: bytes) -> None:
        """Pass on a binary transient command."""
        _require_scope(socket, topic, "write")
        self._rooms.handle_transient(socket, topic, payload, binary=True)

    async def catch_up(self, socket: Socket, topic: str) -> None:
        """Bring a socket that was too slow up to date."""
        if self._rooms.is_room(topic):
            await self._rooms.catch_up(socket, topic)
        else:
            self._topics.catch_up(socket, topic)

    def disconnected(self, socket: Socket) -> None:
        """Unsubscribe a socket that has ended."""
        for topic in list(socket.topics):
            self._leave(socket, topic)

    def _leave(self, socket: Socket, topic: str) -> None:
        (self._rooms if self._rooms.is_room(topic) else self._topics).leave(socket, topic)


def _require_scope(socket: Socket, topic: str, right: str) -> None:
    kind = topic.partition("/")[0]
    if kind != _UNSCOPED_KIND:
        socket.identity.require_scope(f"{kind}:{right}")
