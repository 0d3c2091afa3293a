"""Comparison of stores, which alternate within every case and round, so that noise affects all of them."""

import gc
import statistics
from collections.abc import Callable, Sequence
from time import perf_counter

from bench.report import Row, row
from bench.store.cases import CASES, BenchmarkedStore, Case, CaseName
from bench.store.pinboard import PAGE, Notes, board_name

CALLERS = (1, 16)
UNIT = "calls/s"
AIM_RAW = 0.4
AIM_WRITES = 4.0
AIM_READS = 5.0
# Inputs are prepared for a little more than the time of a measurement; the caps bound memory for the fastest cases.
_SPARE_FACTOR = 1.3
_MAX_CALLS: dict[CaseName, int] = {"batch write": 1_500, "batch get": 20_000}
_MAX_OTHER_CALLS = 60_000
_WARM_UP_SECONDS = 0.15
_WARM_UP_CALLS = 40

Figures = dict[tuple[CaseName, int, str], list[float]]
Progress = Callable[[str], None]


async def load(stores: Sequence[BenchmarkedStore], notes: Notes, print_progress: Progress) -> None:
    """Write the same initial notes to every store, and check that each returns them."""
    first = list(notes.first_load())
    expected = [note.body for note in first if note.board == board_name(7)][:PAGE]
    for store in stores:
        began = perf_counter()
        await store.load(first)
        if await store.page_of(board_name(7)) != expected:
            raise RuntimeError(f"{store.name} does not return what was loaded.")
        print_progress(f"loaded {len(first):,} notes into {store.name} in {perf_counter() - began:.1f} s")


async def measure_all(
    stores: Sequence[BenchmarkedStore],
    notes: Notes,
    *,
    cases: Sequence[Case] = CASES,
    callers: Sequence[int] = CALLERS,
    rounds: int,
    seconds: float,
    print_progress: Progress,
) -> Figures:
    """Calls per second of every case, number of callers and store, one figure for each round."""
    figures: Figures = {}
    rates: dict[tuple[CaseName, int, str], float] = {}
    for round_number in range(rounds + 1):
        # The first round warms the caches up and estimates the rate of each store; it does not count.
        warm_up = round_number == 0
        print_progress("warming up" if warm_up else f"round {round_number} of {rounds}")
        for case in cases:
            for concurrency in callers:
                # A different store goes first in every round.
                shift = round_number % len(stores)
                for store in (*stores[shift:], *stores[:shift]):
                    key = (case.name, concurrency, store.name)
                    limit = _WARM_UP_SECONDS if warm_up else seconds
                    count = (
                        concurrency * _WARM_UP_CALLS
                        if warm_up
                        else int(rates[key] * seconds * _SPARE_FACTOR) + concurrency
                    )
                    count = min(count, _MAX_CALLS.get(case.name, _MAX_OTHER_CALLS))
                    figure = await _measure(store, case, concurrency, notes, count, limit)
                    rates[key] = figure
                    if not warm_up:
                        figures.setdefault(key, []).append(figure)
    return figures


async def _measure(
    store: BenchmarkedStore, case: Case, callers: int, notes: Notes, count: int, seconds: float
) -> float:
    run = store.prepare(case.name, [case.make(notes) for _ in range(count)])
    gc.collect()
    # The inputs are not garbage; the collector need not scan them during the measurement.
    gc.freeze()
    try:
        began = perf_counter()
        completed = await run(callers, began + seconds)
        return completed / (perf_counter() - began)
    finally:
        gc.unfreeze()


def rows(figures: Figures, ours: str, peers: Sequence[str]) -> list[Row]:
    """A row for every case, number of callers and peer; aims are set for 16 callers."""
    compared: list[Row] = []
    cases = {case.name: case for case in CASES}
    medians = {key: statistics.median(values) for key, values in figures.items()}
    for name, concurrency in dict.fromkeys((name, concurrency) for name, concurrency, _ in figures):
        case = cases[name]
        compared.extend(
            row(
                f"{case.title}, {concurrency} caller{'s' if concurrency > 1 else ''}",
                ours=round(medians[name, concurrency, ours], 1),
                peer=round(medians[name, concurrency, peer], 1),
                peer_name=peer,
                unit=UNIT,
                aim=_aim(case, concurrency, peer),
            )
            for peer in peers
        )
    return compared


def _aim(case: Case, callers: int, peer: str) -> float | None:
    if callers != max(CALLERS):
        return None
    if peer == "raw apsw":
        return AIM_RAW
    return AIM_WRITES if case.writes else AIM_READS
