"""What the kernel holds of a connection: bytes that it has not sent, or that the peer has not acknowledged."""

import asyncio
import fcntl
import socket
import sys
import termios

_LOWAT: int | None = getattr(socket, "TCP_NOTSENT_LOWAT", None)
MAX_KERNEL_BUFFER_BYTES = 128 * 1024
"""What the kernel may hold unsent of one connection; the rest is buffered here, where it is counted."""


def limit_kernel_buffer(transport: asyncio.Transport) -> None:
    """Let the kernel hold little unsent of a connection, where it has the option."""
    connected: socket.socket | None = transport.get_extra_info("socket")
    if _LOWAT is not None and connected is not None and connected.family != socket.AF_UNIX:
        connected.setsockopt(socket.IPPROTO_TCP, _LOWAT, MAX_KERNEL_BUFFER_BYTES)


def unacknowledged_bytes(transport: asyncio.Transport) -> int:
    """The bytes of a connection that the kernel has taken and its peer has not.

    The kernel takes more only when much of that is sent: a peer that reads slowly would seem to read nothing.
    """
    connected: socket.socket | None = transport.get_extra_info("socket")
    if connected is None or connected.fileno() < 0:
        return 0
    return int.from_bytes(fcntl.ioctl(connected.fileno(), termios.TIOCOUTQ, bytes(4)), sys.byteorder)
