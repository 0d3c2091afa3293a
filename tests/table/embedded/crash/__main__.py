"""Kill writers as often as asked, and print what became of their writes: `make crash ROUNDS=3000`."""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.table.embedded.crash.crash_rounds import CrashSummary, run_rounds

_REPORT_SECONDS = 30


def summary_text(summary: CrashSummary, seconds: float) -> str:
    """The summary as lines."""
    lines = [
        f"rounds               {summary.rounds:,}",
        f"acknowledged writes  {summary.acknowledged:,}",
        f"lost or damaged      {len(summary.problems):,}",
        f"seed                 {summary.seed}",
        f"duration             {seconds:,.0f} s",
    ]
    return "\n".join([*lines, *summary.problems])


def main() -> None:
    """Run the rounds; the exit status is 1 when a write was lost or anything else is damaged."""
    parser = argparse.ArgumentParser(prog="make crash", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=Random().randrange(1, 2**31))
    options = parser.parse_args()
    start = last = time.monotonic()

    def report(summary: CrashSummary) -> None:
        nonlocal last
        if time.monotonic() - last >= _REPORT_SECONDS:
            last = time.monotonic()
            print(f"{summary.rounds:,} rounds, {summary.acknowledged:,} acknowledged writes", flush=True)

    folder = Path(tempfile.mkdtemp(prefix="zataku-crash-"))
    try:
        summary = run_rounds(folder / "ledger.db", options.rounds, options.seed, report)
    except BaseException:
        shutil.rmtree(folder)
        raise
    print(summary_text(summary, time.monotonic() - start))
    if summary.problems:
        print(f"The file is kept in {folder}.")
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
