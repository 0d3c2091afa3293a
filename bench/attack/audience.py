"""The well-behaved audience: people in one room who comment at a steady rate, and newcomers, all of them measured."""

import math
import sys
import time
from collections.abc import Callable
from time import perf_counter

import msgspec

from bench.attack.newcomers import Newcomers, Visits
from bench.attack.target import AttackedServer
from bench.live.clients import MAX_POLL_EVENTS, Audience
from bench.live.frames import UnexpectedMessage

RATE = 20
"""Comments a second, by all people in turn."""
DRAIN_SECONDS = 20.0
_POLL_SECONDS = 0.001
_MEMORY_SECONDS = 0.25
_SWITCH_SECONDS = 0.0005


class Phase(msgspec.Struct, kw_only=True):
    """What the audience saw in one phase of the run."""

    name: str
    seconds: float = 0
    server_share: float = 0
    """Share of one processor that the server used."""
    posted: int = 0
    waits: list[float] = []
    """Seconds from a comment to its last receiver; of one that did not reach all, until the phase ended."""
    undelivered: int = 0
    """Comments that were refused, or had not reached everyone long after the phase."""
    visits: Visits = msgspec.field(default_factory=Visits)
    broken: str | None = None
    """Why the audience had to connect anew, such as a closed socket or a refused comment."""
    memory_before: int = 0
    memory_peak: int = 0
    memory_after: int = 0


class MeasuredAudience:
    """The audience over the whole run. When a phase breaks it, everyone connects anew for the next one."""

    def __init__(self, server: AttackedServer, size: int) -> None:
        self._server, self._size = server, size
        self._audience: Audience | None = None
        self._numbers = 0
        # The thread of the newcomers must not wait for this one, as people do not wait for each other's phones.
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._newcomers = Newcomers(server)
        self._newcomers.start()

    def phase(self, name: str, is_over: Callable[[], bool]) -> Phase:
        """Comment, receive and measure until the phase is over and everything is delivered."""
        phase = Phase(name=name, memory_before=self._server.memory())
        phase.memory_peak = phase.memory_before
        self._newcomers.take()
        began, cpu = perf_counter(), self._server.cpu()
        posted: dict[int, float] = {}
        try:
            audience = self._connected()
            first, refused = len(audience.delivery_order.order), len(audience.refused)
            self._run(audience, phase, posted, is_over)
            phase.undelivered += len(audience.refused) - refused
            phase.waits = _waits(audience, posted, first, perf_counter())
        except (UnexpectedMessage, OSError) as problem:
            phase.broken = str(problem) or repr(problem)
            self._disconnect()
            while not is_over():
                time.sleep(_MEMORY_SECONDS)
        phase.seconds, phase.posted = perf_counter() - began, len(posted)
        phase.server_share = (self._server.cpu() - cpu) / phase.seconds
        phase.visits = self._newcomers.take()
        phase.memory_after = self._server.memory()
        return phase

    def stop(self) -> None:
        """Disconnect everyone."""
        self._newcomers.stop()
        self._disconnect()

    def _connected(self) -> Audience:
        if self._audience is None:
            self._numbers = 0
            audience = Audience(self._server, self._size, self._server.join)
            self._audience = audience
            audience.connect_all()
        return self._audience

    def _disconnect(self) -> None:
        if self._audience is not None:
            self._audience.disconnect_all()
            self._audience = None

    def _run(self, audience: Audience, phase: Phase, posted: dict[int, float], is_over: Callable[[], bool]) -> None:
        began = looked = perf_counter()
        ended: float | None = None
        while True:
            now = perf_counter()
            if now > looked + _MEMORY_SECONDS:
                looked = now
                phase.memory_peak = max(phase.memory_peak, self._server.memory())
                ended = now if ended is None and is_over() else ended
            if ended is None:
                while now >= began + len(posted) / RATE:
                    self._send(audience, posted)
            else:
                reached = len(audience.delivery_order.reached) + len(audience.refused)
                phase.undelivered = self._numbers - reached
                if not phase.undelivered or now > ended + DRAIN_SECONDS:
                    return
            if audience.receive() < MAX_POLL_EVENTS:
                time.sleep(_POLL_SECONDS)

    def _send(self, audience: Audience, posted: dict[int, float]) -> None:
        self._numbers += 1
        posted[self._numbers] = perf_counter()
        audience.send(self._numbers, self._server.comment(self._numbers))


def _waits(audience: Audience, posted: dict[int, float], first: int, ended: float) -> list[float]:
    order = audience.delivery_order
    reached = dict(zip(order.order[first:], order.reached[first:], strict=False))
    return [reached.get(number, ended) - at for number, at in posted.items()]


def quantile(seconds: list[float], share: float) -> float:
    """The milliseconds within which this share of the waits was over; nothing waited is no time."""
    return 1000 * sorted(seconds)[math.ceil(share * len(seconds)) - 1] if seconds else 0.0
