"""A measured server in its own process on loopback, and plain sockets connected to it."""

import os
import random
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

import psutil

_START_SECONDS = 20.0
_STOP_SECONDS = 10.0
_PORTS = range(20_000, 32_000)
"""Below those of outgoing connections, one of which could take the port before the server listens on it."""

REQUEST = (
    b"GET /socket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class ServerProcess:
    """A server process: its use of processor and memory, and connections to it."""

    def __init__(self, name: str, command: Sequence[str], port: int, *, log: Path | None = None) -> None:
        self.name, self.port = name, port
        self.environment: dict[str, str] = {}
        """Variables of the server beside those of this process."""
        self._command, self._log = command, log

    def start(self) -> None:
        """Start the server and wait until it accepts sockets. Its log is written to standard error or to a file."""
        with nullcontext() if self._log is None else self._log.open("wb") as log:
            self._server = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env=os.environ | self.environment,
            )
        self._process = psutil.Process(self._server.pid)
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.connect()[0].close()
                return
            except OSError:
                if time.monotonic() > deadline or self._server.poll() is not None:
                    self.stop()
                    raise
                time.sleep(0.05)

    def stop(self) -> None:
        """Stop the server."""
        self._server.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._server.wait(_STOP_SECONDS)
        self._server.kill()
        self._server.wait()

    def connect(self, source: str = "127.0.0.1") -> tuple[socket.socket, bytes]:
        """Connect a socket from one of this machine's addresses; returns it after its handshake, and further bytes."""
        reader = socket.create_connection(("127.0.0.1", self.port), timeout=10, source_address=(source, 0))
        # As browsers do: a message right after a pong would wait 40 ms for the acknowledgement of the pong.
        reader.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader.sendall(REQUEST)
        return reader, read_until(reader, b"\r\n\r\n").partition(b"\r\n\r\n")[2]

    @property
    def pid(self) -> int:
        """The id of the running process."""
        return self._server.pid

    def cpu(self) -> float:
        """Seconds of processor time that the server has used."""
        times = self._process.cpu_times()
        return times.user + times.system

    def memory(self) -> int:
        """Resident memory of the server in bytes."""
        return self._process.memory_info().rss


def read_until(reader: socket.socket, end: bytes) -> bytes:
    """Everything received up to and including a chunk that completes `end`."""
    received = b""
    while end not in received:
        chunk = reader.recv(4096)
        if not chunk:
            raise ConnectionError(f"The server closed the connection: {received!r}")
        received += chunk
    return received


def masked(payload: bytes) -> bytes:
    """A text frame as a browser sends it; a mask of zeros leaves the payload as it is."""
    if len(payload) < 126:
        head = bytes((0x81, 0x80 | len(payload)))
    else:
        head = bytes((0x81, 0x80 | 126)) + len(payload).to_bytes(2)
    return head + b"\0\0\0\0" + payload


def free_port() -> int:
    """A port of loopback that no process listens on."""
    for port in random.sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    sys.exit(f"No port from {_PORTS.start} to {_PORTS.stop - 1} is free on loopback.")


def allow_sockets(sockets: int) -> None:
    """Raise the limit of open files for this process and its children; exits when it is too low."""
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    if limit < sockets + 100:
        sys.exit(f"Only {limit} files may be open, too few for {sockets} sockets. Raise ulimit -n.")


def print_progress(text: str) -> None:
    """Print progress to stderr; only the table goes to stdout."""
    print(text, file=sys.stderr, flush=True)
