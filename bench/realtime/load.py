"""The load: plain sockets on epoll that only count bytes, so that only the servers are measured."""

import select
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from bench.realtime.messages import FRAME_BYTES, JOIN
from bench.server_process import ServerProcess, free_port, masked, read_until

_POLL_SECONDS = 0.0003
_TIMEOUT_SECONDS = 60.0


class MeasuredServer(ServerProcess):
    """A server process with all its readers."""

    def __init__(self, name: str, module: str, *, message: Callable[[int], bytes], joins: bool) -> None:
        port = free_port()
        super().__init__(name, [sys.executable, "-m", module, str(port)], port)
        self._message, self._joins = message, joins
        self.readers: list[socket.socket] = []
        self._epoll = select.epoll()
        self._buffer = bytearray(1 << 18)
        self._sent = 0

    def stop(self) -> None:
        """Disconnect the readers and stop the server."""
        for reader in self.readers:
            reader.close()
        self._epoll.close()
        super().stop()

    def connect_readers(self, readers: int) -> float:
        """Connect readers; returns the bytes of memory that the server took for each."""
        before = self.memory()
        for _ in range(readers):
            reader, _ = self.connect()
            if self._joins:
                reader.sendall(masked(JOIN))
                read_until(reader, b'"joined"')
            reader.setblocking(False)
            self.readers.append(reader)
            # A reader is reported when bytes arrive, whether or not it has read the earlier ones.
            self._epoll.register(reader, select.EPOLLIN | select.EPOLLET)
        self._receive = {reader.fileno(): reader.recv_into for reader in self.readers}
        return (self.memory() - before) / readers

    def send(self) -> None:
        """Send the next message, which every reader receives."""
        self.readers[0].send(masked(self._message(self._sent)))
        self._sent += 1

    def wait_until_delivered(self) -> None:
        """Wait until a message has arrived at every reader. Nothing is read: the load would be measured with it."""
        missing, poll = len(self.readers), self._epoll.poll
        enough, deadline = missing // 4, time.monotonic() + _TIMEOUT_SECONDS
        while missing > 0:
            ready = len(poll(0, len(self.readers)))
            missing -= ready
            if ready < enough and missing > 0:
                self._pause(missing, deadline)

    def read_message(self) -> None:
        """Read one message at every reader."""
        for reader in self.readers:
            if reader.recv_into(self._buffer) != FRAME_BYTES:
                raise ValueError(f"{self.name} sent something else than one message.")

    def receive(self, messages: int, before_poll: Callable[[], object]) -> None:
        """Read until every reader has this many messages, and call `before_poll` before each poll."""
        missing = messages * len(self.readers) * FRAME_BYTES
        buffer, receive, poll = self._buffer, self._receive, self._epoll.poll
        enough, deadline = len(receive) // 4, time.monotonic() + _TIMEOUT_SECONDS
        while missing > 0:
            before_poll()
            ready = poll(0, len(receive))
            for number, _ in ready:
                # A message that arrived after the last poll may have been read with the one before it.
                with suppress(BlockingIOError):
                    missing -= receive[number](buffer)
            if len(ready) < enough and missing > 0:
                self._pause(missing, deadline)
        if missing < 0:
            raise ValueError(f"{self.name} sent more bytes than expected.")

    def _pause(self, missing: int, deadline: float) -> None:
        """Let the server work: a reader that is woken for every frame slows it down, one that polls does not."""
        time.sleep(_POLL_SECONDS)
        if time.monotonic() > deadline:
            raise TimeoutError(f"{self.name} has not delivered everything; {missing} are missing.")


def measure_one_by_one(server: MeasuredServer, seconds: float) -> float:
    """Deliveries a second when each message is sent after every reader has the last; reading it takes no time."""
    elapsed, messages = 0.0, 0
    while elapsed < seconds:
        began = time.perf_counter()
        server.send()
        server.wait_until_delivered()
        elapsed += time.perf_counter() - began
        server.read_message()
        messages += 1
    return messages * len(server.readers) / elapsed


def measure_at_rate(server: MeasuredServer, rate: int, seconds: float) -> tuple[float, float]:
    """Deliveries a second of wall time and of the server's processor time, at a rate of messages a second."""
    count = int(rate * seconds)
    began, cpu = time.perf_counter(), server.cpu()
    sent = 0

    def send_on_time() -> None:
        nonlocal sent
        while sent < count and time.perf_counter() >= began + sent / rate:
            server.send()
            sent += 1

    server.receive(count, send_on_time)
    deliveries = count * len(server.readers)
    return deliveries / (time.perf_counter() - began), deliveries / (server.cpu() - cpu)
