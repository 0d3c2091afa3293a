"""Make as many random calls as asked on both stores, and print what differed: `make twins CALLS=300000`."""

import argparse
import sys
import time
from collections.abc import Callable
from random import Random
from typing import ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from msgspec import Struct

from tests.table.differential.outcome import Outcome
from tests.table.differential.state_machine import Call, DifferentialMachine

_REPORT_SECONDS = 30
_STEPS = 50
_MAX_EXAMPLES = 100


class CountingMachine(DifferentialMachine):
    """The machine, with the number of its calls."""

    calls: ClassVar[int] = 0

    def both(self, request: object, call: Call) -> Outcome:
        """Count the call and make it on both stores."""
        CountingMachine.calls += 1
        return super().both(request, call)


class TwinsSummary(Struct):
    """What the calls so far have shown. `differences` has the shortest sequence of calls found for each."""

    seed: int
    calls: int = 0
    differences: list[str] = []


def run_calls(calls: int, first_seed: int, progress: Callable[[TwinsSummary], object] = lambda _: None) -> TwinsSummary:
    """Make at least `calls` calls on each store; goes on after a difference or an exception, with the next seed."""
    summary, batch = TwinsSummary(first_seed), 0
    begin = CountingMachine.calls
    while summary.calls < calls:
        examples = min(_MAX_EXAMPLES, -(-(calls - summary.calls) // _STEPS))
        try:
            _run_batch(first_seed + batch, examples)
        except Exception as difference:
            if CountingMachine.calls == begin + summary.calls:
                # The other store does not even start: no later batch would make a call.
                raise
            kind = "" if isinstance(difference, AssertionError) else f"{type(difference).__name__}: "
            sequence = "\n".join(getattr(difference, "__notes__", ()))
            summary.differences.append(f"Seed {first_seed + batch}: {kind}{difference}\n{sequence}")
            print(summary.differences[-1], flush=True)
        batch += 1
        summary.calls = CountingMachine.calls - begin
        progress(summary)
    return summary


def _run_batch(number: int, examples: int) -> None:
    run_state_machine_as_test(
        seed(number)(CountingMachine),
        settings=settings(
            max_examples=examples,
            stateful_step_count=_STEPS,
            database=None,
            deadline=None,
            derandomize=False,
            phases=(Phase.generate, Phase.shrink),
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )


def summary_text(summary: TwinsSummary, seconds: float) -> str:
    """The summary as lines."""
    lines = [
        f"calls        {summary.calls:,}",
        f"differences  {len(summary.differences):,}",
        f"seed         {summary.seed}",
        f"duration     {seconds:,.0f} s",
    ]
    return "\n".join([*lines, *summary.differences])


def main() -> None:
    """Make the calls; the exit status is 1 when anything differed that is not a known departure."""
    parser = argparse.ArgumentParser(prog="make twins", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=Random().randrange(1, 2**31))
    options = parser.parse_args()
    start = last = time.monotonic()

    def report(summary: TwinsSummary) -> None:
        nonlocal last
        if time.monotonic() - last >= _REPORT_SECONDS:
            last = time.monotonic()
            print(f"{summary.calls:,} calls, {len(summary.differences):,} differences", flush=True)

    summary = run_calls(options.calls, options.seed, report)
    print(summary_text(summary, time.monotonic() - start))
    sys.exit(1 if summary.differences else 0)


if __name__ == "__main__":
    main()
