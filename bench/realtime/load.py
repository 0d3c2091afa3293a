"""The load: plain sockets on epoll that only count bytes, so that the servers are what is measured."""

import select
import socket
import sys
import time
from collections.abc import Callable

from bench.realtime.talk import FRAME, JOIN
from bench.server_process import ServerProcess, free_port, masked, read_until

_NAP = 0.0003
_PATIENCE = 60.0  # seconds after which a server is given up


class Contestant(ServerProcess):
    """One server process with all its readers."""

    def __init__(self, name: str, module: str, *, speaks: Callable[[int], bytes], joins: bool) -> None:
        port = free_port()
        super().__init__(name, [sys.executable, "-m", module, str(port)], port)
        self._speaks, self._joins = speaks, joins
        self.readers: list[socket.socket] = []
        self._epoll = select.epoll()
        self._buffer = bytearray(1 << 18)
        self._said = 0

    def stop(self) -> None:
        """End the server and its readers."""
        for reader in self.readers:
            reader.close()
        self._epoll.close()
        super().stop()

    def fill(self, readers: int) -> float:
        """Let readers in; gives how many bytes of memory the server took for each."""
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
