"""A run: quiet phases, attack phases, and what the server was like before and after them."""

import time
from collections.abc import Callable, Sequence

import msgspec

from bench.attack import attacker
from bench.attack.attacker import Order
from bench.attack.audience import MeasuredAudience, Phase, quantile
from bench.attack.outcome import Outcome
from bench.attack.plan import Attack, Size
from bench.attack.target import AttackedServer
from bench.server_process import print_progress

QUIET = "quiet"
WARM_UP = "warm-up"
KILL_SECONDS = 240.0
"""Attackers are ended after this time: each of them is bounded by less."""
MIN_PHASE_SECONDS = 10.0
"""The shortest phase of an attack: of a few comments, p99 would be the slowest."""


class Health(msgspec.Struct, frozen=True):
    """The memory of the server in bytes, and its open files, with the audience connected."""

    memory: int
    open_files: int


class Result(msgspec.Struct, kw_only=True):
    """The phases in their order, the outcomes by attack, and the state of the server before and after."""

    phases: list[Phase]
    outcomes: dict[str, Outcome]
    before: Health
    after: Health
    errors: list[str]
    """Lines of the server's log that report a fault."""
    is_ready: bool

    @property
    def quiet(self) -> list[Phase]:
        """The phases without an attack."""
        return [phase for phase in self.phases if phase.name == QUIET]

    @property
    def attacks(self) -> list[tuple[Phase, list[Phase]]]:
        """The phases with an attack that counts, each with the quiet phases before and after it.

        The speed of a virtual machine changes within minutes: an attack is compared with what was quiet beside it.
        """
        found: list[tuple[Phase, list[Phase]]] = []
        for number, phase in enumerate(self.phases):
            if phase.name not in (QUIET, WARM_UP):
                before = [it for it in self.phases[:number] if it.name == QUIET][-1:]
                after = [it for it in self.phases[number:] if it.name == QUIET][:1]
                found.append((phase, before + after))
        return found


class Campaign:
    """The server under attack, with its audience."""

    def __init__(self, server: AttackedServer, people: int, size: Size, seed: int) -> None:
        self._server, self._seed = server, seed
        self._size: Size = size
        self._audience = MeasuredAudience(server, people)
        self._phases: list[Phase] = []
        self._outcomes: dict[str, Outcome] = {}

    def run(
        self,
        groups: Sequence[Sequence[Attack]],
        quiet_seconds: float,
        warm_up: Sequence[tuple[Sequence[Attack], Size]] = (),
    ) -> Result:
        """Run groups of attacks one after another, with a quiet phase before and after each of them.

        A warm-up runs attacks of some size before anything is measured: caches fill and the allocator takes its pools
        once, which is no leak.
        """
        try:
            for group, size in warm_up:
                self._attack(group, WARM_UP, size)
            self._phase(QUIET, _after(quiet_seconds))
            before = self._health()
            for group in groups:
                self._attack(group, " ".join(attack.name for attack in group), self._size)
                self._phase(QUIET, _after(quiet_seconds))
            after = self._health()
        finally:
            self._audience.stop()
        return Result(
            phases=self._phases,
            outcomes=self._outcomes,
            before=before,
            after=after,
            errors=self._server.errors(),
            is_ready=self._server.is_ready(),
        )

    def _attack(self, group: Sequence[Attack], name: str, size: Size) -> None:
        names = [attack.name for attack in group]
        order = Order(target=self._server.target, names=names, size=size, seed=self._seed)
        process, began = attacker.start(order), time.monotonic()
        shortest = MIN_PHASE_SECONDS if size == "full" else 0.0

        def is_over() -> bool:
            seconds = time.monotonic() - began
            return seconds > KILL_SECONDS or (process.poll() is not None and seconds > shortest)

        try:
            self._phase(name, is_over)
        finally:
            if process.poll() is None:
                process.kill()
        found = attacker.outcomes(process)
        if name != WARM_UP:
            self._outcomes |= found

    def _phase(self, name: str, is_over: Callable[[], bool]) -> None:
        phase = self._audience.phase(name, is_over)
        self._phases.append(phase)
        print_progress(
            f"{name}: {phase.seconds:.0f} s, p99 of comments {quantile(phase.waits, 0.99):.0f} ms, "
            f"of newcomers {quantile(phase.visits.home, 0.99):.0f} ms, {phase.memory_after >> 20} MiB"
            + (f", audience broken: {phase.broken}" if phase.broken else "")
        )

    def _health(self) -> Health:
        return Health(self._server.memory(), self._server.open_files())


def _after(seconds: float) -> Callable[[], bool]:
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() > deadline
