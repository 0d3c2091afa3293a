"""Who takes what browsers send up their sockets: rooms and topics."""

from typing import Protocol

from zataku.realtime.messages import Do, Join, Leave, Pass
from zataku.realtime.sockets.socket import Socket


class SocketHandler(Protocol):
    """Takes the messages of all sockets of a process.

    A `RequestError` from `join` or `do` becomes the refusal that the browser reads; any other error is logged, and the
    browser is told a reference to it. What one socket asks of one topic starts in the order in which it was sent, and
    nothing else of a topic starts while its `join` or `leave` still runs. Different topics do not wait for each other.
    """

    async def join(self, socket: Socket, asked: Join) -> None:
        """Let a socket hear a topic: `hub.subscribe`, and `Joined` with `hub.send`, without waiting in between.

        Cancelled when the socket ends meanwhile.
        """
        ...

    async def leave(self, socket: Socket, asked: Leave) -> None:
        """Let it hear a topic no more: `hub.unsubscribe`."""
        ...

    async def do(self, socket: Socket, asked: Do) -> bytes | None:
        """Carry out a kept command and give its answer as JSON, which goes down as `Done`.

        It goes on when the socket ends meanwhile; nobody reads the answer then.
        """
        ...

    def passed(self, socket: Socket, asked: Pass) -> None:
        """Carry a passing command on. A refusal is swallowed."""
        ...

    def binary(self, socket: Socket, topic: str, payload: bytes) -> None:
        """Carry a binary message on, without its channel number, for a topic that the socket has joined."""
        ...

    async def behind(self, socket: Socket, topic: str) -> None:
        """Bring a socket up to date that was too slow and has drained: send it a `Snapshot` or `Missed`.

        What was told since it fell behind is lost to it, and so is what is told until this returns; what is told
        afterwards is heard again. So whatever was told while a snapshot was being made must be sent before returning.
        """
        ...

    def gone(self, socket: Socket) -> None:
        """A socket has ended, for whatever reason. `socket.topics` still says what it heard; called exactly once."""
        ...
