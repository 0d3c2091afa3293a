"""The port to which sessions hand the messages of clients."""

from typing import Protocol

from zataku.realtime.messages import CommandMessage, Join, Leave, TransientMessage
from zataku.realtime.sockets.socket import Socket


class SocketHandler(Protocol):
    """Takes the messages of all sockets of a process.

    A `RequestError` from `join` or `execute` is sent to the client; any other exception is logged, and the client gets
    a reference to it. The messages of one socket to one topic start in the order in which they were sent, and no
    message to a topic starts while a `join` or `leave` of it runs. Different topics do not wait for each other.
    """

    async def join(self, socket: Socket, message: Join) -> None:
        """Subscribe a socket: `hub.subscribe`, and `Joined` with `hub.send`, without awaiting in between.

        Cancelled when the socket ends before it is done.
        """
        ...

    async def leave(self, socket: Socket, message: Leave) -> None:
        """Unsubscribe a socket: `hub.unsubscribe`."""
        ...

    async def execute(self, socket: Socket, message: CommandMessage) -> bytes | None:
        """Execute a durable command. Returns its reply as JSON, which is sent as `CommandDone`.

        It continues when the socket ends before it is done.
        """
        ...

    def handle_transient(self, socket: Socket, message: TransientMessage) -> None:
        """Pass on a transient command. A `RequestError` drops it."""
        ...

    def handle_binary(self, socket: Socket, topic: str, payload: bytes) -> None:
        """Pass on a binary message, without its channel number, of a topic that the socket has joined."""
        ...

    async def catch_up(self, socket: Socket, topic: str) -> None:
        """Bring a socket up to date that was too slow and has drained: send it a `Snapshot` or `EventsMissed`.

        Broadcasts since it fell behind are lost to it, and so are those until this returns. What was broadcast
        while a snapshot was being made must therefore be sent before returning.
        """
        ...

    def disconnected(self, socket: Socket) -> None:
        """A socket has ended, for any reason. `socket.topics` still names its topics; called exactly once."""
        ...
