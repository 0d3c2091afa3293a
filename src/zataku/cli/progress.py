"""Progress of a long command: bars on a terminal, a line every few seconds elsewhere."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

from zataku.cli.output import print_note
from zataku.clock import Clock, SystemClock

ProgressReport: TypeAlias = Callable[[str, int, int | None], None]
"""Called with a label, the finished amount, and the total as far as it is known."""

_LINE_INTERVAL_SECONDS = 5.0


@contextmanager
def progress_report(unit: str, clock: Clock | None = None) -> Generator[ProgressReport]:
    """A function to report progress with, while the block runs."""
    if sys.stderr.isatty():
        with _bars(unit) as report:
            yield report
    else:
        yield ProgressLines(unit, clock or SystemClock())


@contextmanager
def _bars(unit: str) -> Generator[ProgressReport]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    bar_columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
    with Bars(*bar_columns, TimeRemainingColumn(), console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def report(label: str, done: int, total: int | None) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(label, total=total)
            bars.update(tasks[label], completed=done, total=total)

        yield report


class ProgressLines:
    """Prints the first and the last state of each label, and one every few seconds between them."""

    def __init__(self, unit: str, clock: Clock) -> None:
        self._unit = unit
        self._clock = clock
        self._next: dict[str, float] = {}
        self._printed: dict[str, tuple[int, int | None]] = {}

    def __call__(self, label: str, done: int, total: int | None) -> None:
        """Print the state, unless one was printed just before."""
        now = self._clock.now()
        if (now < self._next.get(label, now) and done != total) or self._printed.get(label) == (done, total):
            return
        self._printed[label] = done, total
        self._next[label] = now + _LINE_INTERVAL_SECONDS
        of = f" of {total:,}" if total is not None else ""
        share = f" ({done * 100 // total} %)" if total else ""
        print_note(f"{label}: {done:,}{of} {self._unit}{share}")
