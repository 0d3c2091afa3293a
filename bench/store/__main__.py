"""`python -m bench.store`: measure, print the table, and write it into README.md and results/store.json."""

import argparse
import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import apsw
import uvloop

from bench import report
from bench.store import dynoxide
from bench.store.cases import CASES, BenchmarkedStore
from bench.store.comparison import CALLERS, load, race, rows
from bench.store.dynoxide import Dynoxide
from bench.store.pinboard import BOARDS, NOTES_PER_BOARD, Notes
from bench.store.raw_apsw import RawApsw
from bench.store.zataku_store import Ours

HERE = Path(__file__).parents[1]
# /tmp is memory on many machines; a durable write must meet a disk.
DISK = Path("/var/tmp")


def options() -> argparse.Namespace:
    """What may be asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.store", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the median counts (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.7, help="time of one measurement (default %(default)s)")
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES], help="only this case")
    parser.add_argument("--callers", action="append", type=int, choices=CALLERS, help="only so many callers")
    parser.add_argument("--only", action="append", choices=["zataku", "raw apsw", "dynoxide"], help="only these")
    parser.add_argument("--loop", choices=["uvloop", "asyncio"], default="uvloop", help="event loop of every caller")
    parser.add_argument("--folder", type=Path, default=DISK, help="where the data lies meanwhile (default %(default)s)")
    parser.add_argument("--peer-stream", action="store_true", help="let dynoxide keep its stream, too")
    parser.add_argument("--save", action=argparse.BooleanOptionalAction, default=None, help="write README and results")
    return parser.parse_args()


def print_progress(text: str) -> None:
    """Progress goes to stderr; the table alone is the output."""
    print(text, file=sys.stderr, flush=True)


async def measure(asked: argparse.Namespace, folder: Path) -> list[report.Row]:
    """The rows of one run."""
    notes = Notes()
    every: list[BenchmarkedStore] = [Ours(folder), RawApsw(folder), Dynoxide(folder, stream=asked.peer_stream)]
    stores = [it for it in every if not asked.only or it.name in asked.only]
    cases = [case for case in CASES if not asked.case or case.name in asked.case]
    async with AsyncExitStack() as opened:
        for store in stores:
            await store.open()
            opened.push_async_callback(store.close)
        await load(stores, notes, print_progress)
        figures = await race(
            stores,
            notes,
            cases=cases,
            callers=asked.callers or CALLERS,
            rounds=asked.rounds,
            seconds=asked.seconds,
            print_progress=print_progress,
        )
    if asked.only and "zataku" not in asked.only:
        return rows(figures, asked.only[0], asked.only[1:] or asked.only)
    return rows(figures, "zataku", [it.name for it in stores if it.name != "zataku"] or ["zataku"])


def facts(asked: argparse.Namespace) -> list[tuple[str, str]]:
    """What the figures depend on."""
    loop = f"uvloop {version('uvloop')}" if asked.loop == "uvloop" else "asyncio"
    sqlite = f"apsw {version('apsw')} (SQLite {apsw.sqlite_lib_version()})"
    return [
        *report.machine(asked.folder),
        ("versions", f"{sqlite}, msgspec {version('msgspec')}, {loop}, {dynoxide.version()}"),
        ("data", f"{BOARDS * NOTES_PER_BOARD:,} notes of about 1 KB before the first measurement, on {asked.folder}"),
        ("measurement", f"median of {asked.rounds} rounds of at most {asked.seconds} s each, stores alternating"),
    ]


def main() -> None:
    """Run it."""
    asked = options()
    if report.file_system(asked.folder) == "tmpfs":
        sys.exit(f"{asked.folder} is memory, where a durable write means nothing. Give a disk with --folder.")
    began = perf_counter()
    known = facts(asked)
    with tempfile.TemporaryDirectory(prefix="zataku-bench-", dir=asked.folder) as folder:
        run = uvloop.run if asked.loop == "uvloop" else asyncio.run
        found = run(measure(asked, Path(folder)))
    known.append(("length of the run", f"{perf_counter() - began:.0f} s"))
    text = f"{report.facts_list(known)}\n\n{report.table(found)}"
    print(text)
    whole = not (asked.case or asked.callers or asked.only or asked.peer_stream)
    if whole if asked.save is None else asked.save:
        report.write_between(HERE / "README.md", "bench-store", text)
        report.write_results(HERE / "results" / "store.json", found, known)
    missed = [it for it in found if it.met is False]
    if missed:
        print_progress(f"{len(missed)} aims are not met: " + "; ".join(f"{it.case} ({it.peer_name})" for it in missed))


if __name__ == "__main__":
    main()
