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
from bench.server_process import print_progress
from bench.store import dynoxide
from bench.store.cases import CASES, BenchmarkedStore
from bench.store.comparison import CALLERS, load, measure_all, rows
from bench.store.dynoxide import Dynoxide
from bench.store.pinboard import BOARDS, NOTES_PER_BOARD, Notes
from bench.store.raw_apsw import RawApsw
from bench.store.zataku_store import ZatakuStore

HERE = Path(__file__).parents[1]
# /tmp is memory on many machines; a durable write needs a disk.
DISK = Path("/var/tmp")


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.store", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the median counts (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.7, help="time of one measurement (default %(default)s)")
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES], help="only this case")
    parser.add_argument("--callers", action="append", type=int, choices=CALLERS, help="only this number of callers")
    parser.add_argument("--only", action="append", choices=["zataku", "raw apsw", "dynoxide"], help="only these")
    parser.add_argument("--loop", choices=["uvloop", "asyncio"], default="uvloop", help="event loop of every caller")
    parser.add_argument(
        "--folder", type=Path, default=DISK, help="where the data is stored during the run (default %(default)s)"
    )
    parser.add_argument("--peer-stream", action="store_true", help="let dynoxide keep its stream, too")
    parser.add_argument("--save", action=argparse.BooleanOptionalAction, default=None, help="write README and results")
    return parser.parse_args()


async def measure(arguments: argparse.Namespace, folder: Path) -> list[report.Row]:
    """Open, load and measure the stores; returns the rows of the report."""
    notes = Notes()
    peer = Dynoxide(folder, stream=arguments.peer_stream)
    all_stores: list[BenchmarkedStore] = [ZatakuStore(folder), RawApsw(folder), peer]
    stores = [store for store in all_stores if not arguments.only or store.name in arguments.only]
    cases = [case for case in CASES if not arguments.case or case.name in arguments.case]
    async with AsyncExitStack() as opened:
        for store in stores:
            await store.open()
            opened.push_async_callback(store.close)
        await load(stores, notes, print_progress)
        figures = await measure_all(
            stores,
            notes,
            cases=cases,
            callers=arguments.callers or CALLERS,
            rounds=arguments.rounds,
            seconds=arguments.seconds,
            print_progress=print_progress,
        )
    if arguments.only and "zataku" not in arguments.only:
        return rows(figures, arguments.only[0], arguments.only[1:] or arguments.only)
    return rows(figures, "zataku", [store.name for store in stores if store.name != "zataku"] or ["zataku"])


def facts(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Facts that the figures depend on."""
    loop = f"uvloop {version('uvloop')}" if arguments.loop == "uvloop" else "asyncio"
    sqlite = f"apsw {version('apsw')} (SQLite {apsw.sqlite_lib_version()})"
    initial, rounds = BOARDS * NOTES_PER_BOARD, f"{arguments.rounds} rounds"
    return [
        *report.machine(arguments.folder),
        ("versions", f"{sqlite}, msgspec {version('msgspec')}, {loop}, {dynoxide.version()}"),
        ("data", f"{initial:,} notes of about 1 KB before the first measurement, on {arguments.folder}"),
        ("measurement", f"median of {rounds} of at most {arguments.seconds} s each, stores alternating"),
    ]


def main() -> None:
    """Run the benchmark and report it."""
    arguments = options()
    if report.file_system(arguments.folder) == "tmpfs":
        sys.exit(f"{arguments.folder} is memory, where a durable write means nothing. Give a disk with --folder.")
    began = perf_counter()
    run_facts = facts(arguments)
    with tempfile.TemporaryDirectory(prefix="zataku-bench-", dir=arguments.folder) as folder:
        run = uvloop.run if arguments.loop == "uvloop" else asyncio.run
        table_rows = run(measure(arguments, Path(folder)))
    run_facts.append(("length of the run", f"{perf_counter() - began:.0f} s"))
    text = f"{report.facts_list(run_facts)}\n\n{report.table(table_rows)}"
    print(text)
    is_full_run = not (arguments.case or arguments.callers or arguments.only or arguments.peer_stream)
    if is_full_run if arguments.save is None else arguments.save:
        report.write_between(HERE / "README.md", "bench-store", text)
        report.write_results(HERE / "results" / "store.json", table_rows, run_facts)
    missed = [row for row in table_rows if row.met is False]
    if missed:
        print_progress(
            f"{len(missed)} aims are not met: " + "; ".join(f"{row.case} ({row.peer_name})" for row in missed)
        )


if __name__ == "__main__":
    main()
