"""Comments at a steady rate, each followed until the last in the room has got it."""

import gc
import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter

import msgspec

from bench.live.clients import AT_ONCE, Audience
from bench.live.frames import Unfit
from bench.live.servers import Contestant
from bench.server_process import print_progress

_NAP = 0.0004
WARM_UP = 5
PATIENCE = 10.0
"""Seconds after the last comment; whoever has not got everything by then has fallen behind."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one rate."""

    rate: int
    said: int
    reached: int
    """How many comments had come to everybody at the end."""
    refused: int
    """How many the server had no room for, and told their senders so."""
    waits: list[float]
    """Seconds from post to last receiver, sorted; of a comment that has not reached all, how long it was under way."""
    calls: float
    writes: float
    server_share: float
    load_share: float
    """Of one processor, for as long as the round lasted."""
    late: float
    """Seconds by which the load posted a comment later than it should have, at worst."""

    @property
    def fell_behind(self) -> bool:
        """Whether something that was taken had not come to everybody."""
        return self.reached + self.refused < self.said

    @property
    def summary(self) -> str:
        """The figures in a line."""
        reached = f"{self.reached} of {self.said} comments reached everybody"
        return f"{self.rate}/s: p50 {self.wait(0.5):.0f} ms, p99 {self.wait(0.99):.0f} ms, {reached}"

    def wait(self, share: float) -> float:
        """The milliseconds within which such a share of the comments had come to everybody."""
        return 1000 * self.waits[math.ceil(share * len(self.waits)) - 1]


class Room:
    """A server with everybody in it."""

    def __init__(self, contestant: Contestant, audience: Audience) -> None:
        self.contestant, self.audience = contestant, audience
        self.per_socket = audience.come_in()
        self._posted: dict[int, float] = {}
        self._answers = audience.answers

    def round(self, rate: int, seconds: float) -> Round:
        """Comments for so many seconds, after a few that come one after the other and do not count."""
        self.warm_up()
        server, ladder, count = self.contestant, self.audience.ladder, math.ceil(rate * seconds)
        first, reached, refused = self.said, len(ladder.reached), len(self.audience.refused)
        units, cpu, own = server.units(), server.cpu(), time.process_time()
        gc.collect()
        gc.disable()
        began = perf_counter()
        late = self._say_and_hear(began, rate, count)
        ended = perf_counter()
        gc.enable()
        lasted = ended - began
        shares = (server.cpu() - cpu) / lasted, (time.process_time() - own) / lasted
        spent = server.units()
        return Round(
            rate=rate,
            said=count,
            reached=len(ladder.reached) - reached,
            refused=len(self.audience.refused) - refused,
            waits=self._waits(first, ended),
            calls=spent.calls - units.calls,
            writes=spent.writes - units.writes,
            server_share=shares[0],
            load_share=shares[1],
            late=late,
        )

    def warm_up(self) -> None:
        """A few comments, each when everybody has got the last. Whatever came too often would show by then."""
        for _ in range(WARM_UP):
            self._say()
            self._hear_all()

    @property
    def said(self) -> int:
        """How many comments there were, with those that do not count."""
        return len(self._posted)

    def _say(self) -> None:
        number = self.said + 1
        message = self.contestant.comment(number)
        self._posted[number] = perf_counter()
        self.audience.say(number, message)

    def _say_and_hear(self, began: float, rate: int, count: int) -> float:
        """Post on time and read on, until everything has come or patience is over; gives the greatest delay."""
        said, late, last = 0, 0.0, began + (count - 1) / rate
        while True:
            now = perf_counter()
            while said < count and now >= began + said / rate:
                late = max(late, now - began - said / rate)
                self._say()
                said += 1
            if said == count and (self._complete or now > last + PATIENCE):
                return late
            self._take_in()

    def _hear_all(self) -> None:
        deadline = perf_counter() + 3 * PATIENCE
        while not self._complete:
            self._take_in()
            if perf_counter() > deadline:
                raise Unfit(f"{self.contestant.name} owes somebody a comment, or its sender an answer.")

    def _take_in(self) -> None:
        if self.audience.take_in() < AT_ONCE:
            # A reader that is woken for every frame slows the server down; one that looks in now and then does not.
            time.sleep(_NAP)

    @property
    def _complete(self) -> bool:
        """Whether everybody has got everything, and whoever said something knows what became of it."""
        taken = self.said - len(self.audience.refused)
        answered = not self.contestant.answers or self.audience.answers - self._answers == taken
        return len(self.audience.ladder.reached) == taken and answered

    def _waits(self, first: int, ended: float) -> list[float]:
        """How long each comment after the first ones took, but for those that were refused."""
        ladder = self.audience.ladder
        reached = dict(zip(ladder.order, ladder.reached, strict=False))
        taken = [number for number in range(first + 1, self.said + 1) if number not in self.audience.refused]
        return sorted(reached.get(number, ended) - self._posted[number] for number in taken)


@contextmanager
def room_of(contestant: Contestant, people: int) -> Generator[Room]:
    """Start a server and let everybody in; in the end they leave, and it stops."""
    contestant.start()
    audience = Audience(contestant, people, contestant.join)
    try:
        print_progress(f"{contestant.name}: {people:,} people come in")
        yield Room(contestant, audience)
    finally:
        audience.go()
        contestant.stop()
