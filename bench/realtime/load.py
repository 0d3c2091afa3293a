"""The load: plain sockets on epoll that only count bytes, so that the servers are what is measured."""

import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

from bench.realtime.talk import FRAME, JOIN, REQUEST, masked

_NAP = 0.0003
_PATIENCE = 60.0  # seconds after which a server is given up


class Contestant:
    """One server process with all its readers."""

    def __init__(self, name: str, module: str, port: int, *, speaks: Callable[[int], bytes], joins: bool) -> None:
        self.name, self.port = name, port
        self._module, self._speaks, self._joins = module, speaks, joins
        self.readers: list[socket.socket] = []
        self._epoll = select.epoll()
        self._buffer = bytearray(1 << 18)
        self._said = 0

    def start(self) -> None:
        """Start the server and wait until it listens."""
        self._server = subprocess.Popen([sys.executable, "-m", self._module, str(self.port)])
        self._process = psutil.Process(self._server.pid)
        deadline = time.monotonic() + 20
        while True:
            try:
                self._connected().close()
                return
            except OSError:
                if time.monotonic() > deadline or self._server.poll() is not None:
                    raise
                time.sleep(0.05)

    def stop(self) -> None:
        """End the server and its readers."""
        for reader in self.readers:
            reader.close()
        self._epoll.close()
        self._server.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._server.wait(5)
        self._server.kill()
        self._server.wait()

    def fill(self, readers: int) -> float:
        """Let readers in; gives how many bytes of memory the server took for each."""
        before = self._process.memory_info().rss
        for _ in range(readers):
            reader = self._connected()
            if self._joins:
                reader.sendall(masked(JOIN))
                _read_until(reader, b'"joined"')
            reader.setblocking(False)
            self.readers.append(reader)
            self._epoll.register(reader, select.EPOLLIN)
        self._receive = {reader.fileno(): reader.recv_into for reader in self.readers}
        return (self._process.memory_info().rss - before) / readers

    def speak(self) -> None:
        """One of them says something that everybody is to hear."""
        self.readers[0].send(masked(self._speaks(self._said)))
        self._said += 1

    def hear(self, messages: int, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Wait until everybody has got so many messages, and do something else between two looks."""
        missing = messages * len(self.readers) * FRAME
        buffer, receive, poll = self._buffer, self._receive, self._epoll.poll
        many, deadline = len(receive) // 4, time.monotonic() + _PATIENCE
        while missing > 0:
            meanwhile()
            ready = poll(0, len(receive))
            for number, _ in ready:
                missing -= receive[number](buffer)
            if len(ready) < many and missing > 0:
                # A reader that is woken for every frame slows the server down; one that looks in now and then does not.
                time.sleep(_NAP)
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{self.name} still owes {missing} bytes.")
        if missing < 0:
            raise ValueError(f"{self.name} sent more than it was asked for.")

    def cpu(self) -> float:
        """Seconds of processor time that the server has used."""
        times = self._process.cpu_times()
        return times.user + times.system

    def _connected(self) -> socket.socket:
        reader = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        reader.sendall(REQUEST)
        _read_until(reader, b"\r\n\r\n")
        return reader


def _read_until(reader: socket.socket, end: bytes) -> None:
    received = b""
    while end not in received:
        more = reader.recv(4096)
        if not more:
            raise ConnectionError(f"The server hung up: {received!r}")
        received += more


def single(contestant: Contestant, seconds: float) -> float:
    """Deliveries a second when each message waits until everybody has got the last."""
    began = time.perf_counter()
    messages = 0
    while time.perf_counter() - began < seconds:
        contestant.speak()
        contestant.hear(1)
        messages += 1
    return messages * len(contestant.readers) / (time.perf_counter() - began)


def steady(contestant: Contestant, rate: int, seconds: float) -> tuple[float, float]:
    """Deliveries a second of wall time and of the server's processor time, at so many messages a second."""
    count = int(rate * seconds)
    began, spent = time.perf_counter(), contestant.cpu()
    said = 0

    def speak_on_time() -> None:
        nonlocal said
        while said < count and time.perf_counter() >= began + said / rate:
            contestant.speak()
            said += 1

    contestant.hear(count, speak_on_time)
    deliveries = count * len(contestant.readers)
    return deliveries / (time.perf_counter() - began), deliveries / (contestant.cpu() - spent)
