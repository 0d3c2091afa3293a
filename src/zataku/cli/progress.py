"""How far a long command is: bars on a terminal, a line every few seconds elsewhere."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

from zataku.cli.output import aside
from zataku.clock import Clock, SystemClock

# What is being done, how much of it is, and how much there is in all, as far as that is known.
Report: TypeAlias = Callable[[str, int, int | None], None]

_EVERY_SECONDS = 5.0


@contextmanager
def reporting(unit: str, clock: Clock | None = None) -> Generator[Report]:
    """Call what this gives whenever something is done."""
    if sys.stderr.isatty():
        with _bars(unit) as report:
            yield report
    else:
        yield Lines(unit, clock or SystemClock())


@contextmanager
def _bars(unit: str) -> Generator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    shown = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
    with Bars(*shown, TimeRemainingColumn(), console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield report


class Lines:
    """The first state of each thing, the last one, and one every few seconds between them."""

    def __init__(self, unit: str, clock: Clock) -> None:
        self._unit = unit
        self._clock = clock
        self._next: dict[str, float] = {}
        self._told: dict[str, tuple[int, int | None]] = {}

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Say it, unless something was said just before."""
        now = self._clock.now()
        if (now < self._next.get(what, now) and done != total) or self._told.get(what) == (done, total):
            return
        self._told[what] = done, total
        self._next[what] = now + _EVERY_SECONDS
        of = f" of {total:,}" if total is not None else ""
        share = f" ({done * 100 // total} %)" if total else ""
        aside(f"{what}: {done:,}{of} {self._unit}{share}")
