"""Comments at a steady rate, each measured until the last client of the room has it."""

import gc
import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter

import msgspec

from bench.live.clients import MAX_POLL_EVENTS, Audience
from bench.live.frames import UnexpectedMessage
from bench.live.servers import LoopLags, MeasuredServer
from bench.server_process import print_progress

_POLL_SECONDS = 0.0004
WARM_UP = 5
DRAIN_SECONDS = 10.0
"""Seconds after the last comment in which all clients must have all comments, or else the server has fallen behind."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one rate."""

    rate: int
    posted: int
    reached: int
    """Comments that all clients had at the end."""
    refused: int
    """Comments that the server refused as overloaded."""
    waits: list[float]
    """Seconds from post to last receiver, sorted; for a comment that has not reached all, until the round ended."""
    calls: float
    writes: float
    server_share: float
    load_share: float
    """Share of one processor for the duration of the round."""
    late: float
    """The longest delay in seconds with which the load posted a comment."""
    loop_lags: LoopLags

    @property
    def fell_behind(self) -> bool:
        """True when an accepted comment did not reach all clients."""
        return self.reached + self.refused < self.posted

    @property
    def summary(self) -> str:
        """The figures in one line."""
        reached = f"{self.reached} of {self.posted} comments reached every client"
        return f"{self.rate}/s: p50 {self.wait(0.5):.0f} ms, p99 {self.wait(0.99):.0f} ms, {reached}"

    def wait(self, share: float) -> float:
        """The milliseconds within which this share of the comments reached all clients."""
        return 1000 * self.waits[math.ceil(share * len(self.waits)) - 1]


class Room:
    """A server with all clients in one room."""

    def __init__(self, server: MeasuredServer, audience: Audience) -> None:
        self.server, self.audience = server, audience
        self.per_socket = audience.connect_all()
        self._posted: dict[int, float] = {}
        self._replies = audience.replies

    def round(self, rate: int, seconds: float) -> Round:
        """Send comments for some seconds, after a warm-up that does not count."""
        self.warm_up()
        server, delivery_order, count = self.server, self.audience.delivery_order, math.ceil(rate * seconds)
        first, reached, refused = self.posted, len(delivery_order.reached), len(self.audience.refused)
        units, lags, cpu, own = server.units(), server.loop_lags(), server.cpu(), time.process_time()
        gc.collect()
        gc.disable()
        began = perf_counter()
        late = self._send_and_receive(began, rate, count)
        ended = perf_counter()
        gc.enable()
        duration = ended - began
        shares = (server.cpu() - cpu) / duration, (time.process_time() - own) / duration
        units_after = server.units()
        return Round(
            rate=rate,
            posted=count,
            reached=len(delivery_order.reached) - reached,
            refused=len(self.audience.refused) - refused,
            waits=self._waits(first, ended),
            calls=units_after.calls - units.calls,
            writes=units_after.writes - units.writes,
            server_share=shares[0],
            load_share=shares[1],
            late=late,
            loop_lags=server.loop_lags().since(lags),
        )

    def warm_up(self) -> None:
        """Post a few comments, each after all clients have the last one; a duplicate delivery would show here."""
        for _ in range(WARM_UP):
            self._send()
            self._receive_all()

    @property
    def posted(self) -> int:
        """The number of comments posted, including the warm-up."""
        return len(self._posted)

    def _send(self) -> None:
        number = self.posted + 1
        message = self.server.comment(number)
        self._posted[number] = perf_counter()
        self.audience.send(number, message)

    def _send_and_receive(self, began: float, rate: int, count: int) -> float:
        """Send on time and receive until all is delivered or the drain time is over; returns the longest delay."""
        posted, late, last = 0, 0.0, began + (count - 1) / rate
        while True:
            now = perf_counter()
            while posted < count and now >= began + posted / rate:
                late = max(late, now - began - posted / rate)
                self._send()
                posted += 1
            if posted == count and (self._complete or now > last + DRAIN_SECONDS):
                return late
            self._receive()

    def _receive_all(self) -> None:
        deadline = perf_counter() + 3 * DRAIN_SECONDS
        while not self._complete:
            self._receive()
            if perf_counter() > deadline:
                raise UnexpectedMessage(
                    f"{self.server.name} has not delivered a comment to a client, or has not replied to its sender."
                )

    def _receive(self) -> None:
        if self.audience.receive() < MAX_POLL_EVENTS:
            # A client that wakes for every frame slows the server down; one that polls does not.
            time.sleep(_POLL_SECONDS)

    @property
    def _complete(self) -> bool:
        """True when all clients have all accepted comments, and all senders have their replies."""
        accepted = self.posted - len(self.audience.refused)
        replied = not self.server.replies or self.audience.replies - self._replies == accepted
        return len(self.audience.delivery_order.reached) == accepted and replied

    def _waits(self, first: int, ended: float) -> list[float]:
        """The delivery times of the comments accepted after the first ones, sorted."""
        delivery_order = self.audience.delivery_order
        reached = dict(zip(delivery_order.order, delivery_order.reached, strict=False))
        accepted = [number for number in range(first + 1, self.posted + 1) if number not in self.audience.refused]
        return sorted(reached.get(number, ended) - self._posted[number] for number in accepted)


@contextmanager
def measured_room(server: MeasuredServer, clients: int) -> Generator[Room]:
    """Start a server and connect all clients; at the end disconnect them and stop it."""
    server.start()
    audience = Audience(server, clients, server.join)
    try:
        print_progress(f"{server.name}: connecting {clients:,} clients")
        yield Room(server, audience)
    finally:
        audience.disconnect_all()
        server.stop()
