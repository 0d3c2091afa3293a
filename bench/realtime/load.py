"""The load: plain sockets on epoll that only count bytes, so that only the servers are measured."""

import select
import socket
import sys
import time
from collections.abc import Callable

from bench.realtime.messages import FRAME_BYTES, JOIN
from bench.server_process import ServerProcess, free_port, masked, read_until

_POLL_SECONDS = 0.0003
_TIMEOUT_SECONDS = 60.0


class Contestant(ServerProcess):
    """One server process with all its readers."""

    def __init__(self, name: str, module: str, *, message: Callable[[int], bytes], joins: bool) -> None:
        port = free_port()
        super().__init__(name, [sys.executable, "-m", module, str(port)], port)
        self._message, self._joins = message, joins
        self.readers: list[socket.socket] = []
        self._epoll = select.epoll()
        self._buffer = bytearray(1 << 18)
        self._sent = 0

    def stop(self) -> None:
        """End the server and its readers."""
        for reader in self.readers:
            reader.close()
        self._epoll.close()
        super().stop()

    def fill(self, readers: int) -> float:
        """Connect readers; returns how many bytes of memory the server took for each."""
        before = self.memory()
        for _ in range(readers):
            reader, _ = self.connected()
            if self._joins:
                reader.sendall(masked(JOIN))
                read_until(reader, b'"joined"')
            reader.setblocking(False)
            self.readers.append(reader)
            self._epoll.register(reader, select.EPOLLIN)
        self._receive = {reader.fileno(): reader.recv_into for reader in self.readers}
        return (self.memory() - before) / readers

    def send(self) -> None:
        """Send the next message, which every reader receives."""
        self.readers[0].send(masked(self._message(self._sent)))
        self._sent += 1

    def receive(self, messages: int, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Wait until every reader has so many messages, and call `meanwhile` between two polls."""
        missing = messages * len(self.readers) * FRAME_BYTES
        buffer, receive, poll = self._buffer, self._receive, self._epoll.poll
        many, deadline = len(receive) // 4, time.monotonic() + _TIMEOUT_SECONDS
        while missing > 0:
            meanwhile()
            ready = poll(0, len(receive))
            for number, _ in ready:
                missing -= receive[number](buffer)
            if len(ready) < many and missing > 0:
                # A reader that is woken for every frame slows the server down; one that polls does not.
                time.sleep(_POLL_SECONDS)
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{self.name} still owes {missing} bytes.")
        if missing < 0:
            raise ValueError(f"{self.name} sent more than it was asked for.")


def single(contestant: Contestant, seconds: float) -> float:
    """Deliveries a second when each message waits until every reader has the last."""
    began = time.perf_counter()
    messages = 0
    while time.perf_counter() - began < seconds:
        contestant.send()
        contestant.receive(1)
        messages += 1
    return messages * len(contestant.readers) / (time.perf_counter() - began)


def steady(contestant: Contestant, rate: int, seconds: float) -> tuple[float, float]:
    """Deliveries a second of wall time and of the server's processor time, at so many messages a second."""
    count = int(rate * seconds)
    began, spent = time.perf_counter(), contestant.cpu()
    sent = 0

    def send_on_time() -> None:
        nonlocal sent
        while sent < count and time.perf_counter() >= began + sent / rate:
            contestant.send()
            sent += 1

    contestant.receive(count, send_on_time)
    deliveries = count * len(contestant.readers)
    return deliveries / (time.perf_counter() - began), deliveries / (contestant.cpu() - spent)
