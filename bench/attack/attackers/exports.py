"""Downloads of a large room, and of everything else that is large, that are never read."""

import asyncio
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import monotonic

from bench.attack.connections import Connection, close_all, connect
from bench.attack.outcome import CLOSED, Outcome
from bench.attack.pace import Bounds, paced, source_address
from bench.attack.target import Target

STALL_SECONDS = 60.0
"""A response that nobody reads is ended within this time. The server waits for 30 seconds after the last byte that the
client received, and looks every five."""
_FAMILY = 5
_ADDRESSES = 4
POLL_SECONDS = 0.5
_RECEIVE_BUFFER = 65_536
_ESTABLISHED = "01"


class HeldConnections:
    """The clients whose connections the server has not closed, as the kernel knows: a client that reads nothing
    cannot see it.
    """

    def __init__(self, port: int) -> None:
        self._port = f":{port:04X}"
        self._read_at = 0.0
        self._clients: frozenset[str] = frozenset()

    def __call__(self) -> frozenset[str]:
        """Address and port of each client, as in /proc/net/tcp; read at most twice a second."""
        now = monotonic()
        if now - self._read_at > POLL_SECONDS:
            self._read_at = now
            rows = (line.split()[1:4] for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:])
            self._clients = frozenset(
                remote for local, remote, state in rows if state == _ESTABLISHED and local.endswith(self._port)
            )
        return self._clients


def peer_name(connection: Connection) -> str:
    """Address and port of a client as in /proc/net/tcp."""
    address, port = connection.writer.get_extra_info("sockname")
    return f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}:{port:04X}"


async def unread_exports(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Exports that are requested and never read; the server must end each of them."""
    outcome = Outcome()
    room = f"/api/live/rooms/{target.archive_id}".encode()
    paths = [room + b"/export.csv", room + b"/export.json"]
    held = HeldConnections(target.port)
    waiting: list[asyncio.Task[None]] = []
    connections: list[Connection] = []
    async for number in paced(bounds.connections, bounds.connections / bounds.seconds, bounds.seconds):
        source = source_address(_FAMILY, number % _ADDRESSES)
        connection = await connect(target.port, source, outcome, receive_buffer=_RECEIVE_BUFFER)
        if connection is None:
            continue
        connections.append(connection)
        # Nothing is taken out of the receive buffer of the kernel.
        connection.writer.transport.pause_reading()
        request = b"GET %b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % paths[number % len(paths)]
        if await connection.send(request):
            waiting.append(asyncio.create_task(_until_ended(connection, request, held)))
    await asyncio.gather(*waiting)
    close_all(connections)
    return outcome


async def _until_ended(connection: Connection, request: bytes, held: Callable[[], frozenset[str]]) -> None:
    """Count how the server has ended the connection: with a response that was buffered, or by a reset."""
    address = peer_name(connection)
    for _ in range(int(STALL_SECONDS / POLL_SECONDS)):
        await asyncio.sleep(POLL_SECONDS)
        if address not in held():
            break
    else:
        connection.outcome.hang(request)
        return
    connection.writer.transport.resume_reading()
    head = await connection.read()
    connection.outcome.answer(head[9:12].decode("latin-1") if head.startswith(b"HTTP/") else CLOSED)
    if head[9:10] == b"5":
        connection.outcome.fault(request, head)
