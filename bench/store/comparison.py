"""The race: stores alternate within every case and round, so that noise hits all alike."""

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
# Work is made for a little more than the time allowed; the cap bounds memory for the quickest cases.
_SPARE = 1.3
_MOST_CALLS: dict[CaseName, int] = {"batch write": 1_500, "batch get": 20_000}
_MOST_CALLS_ELSE = 60_000
_FIRST_SECONDS = 0.15
_FIRST_CALLS = 40

Figures = dict[tuple[CaseName, int, str], list[float]]
Tell = Callable[[str], None]


async def load(stores: Sequence[BenchmarkedStore], notes: Notes, print_progress: Tell) -> None:
    """Give every store the same first notes, and see that each gives them back."""
    first = list(notes.first_load())
    expected = [note.body for note in first if note.board == board_name(7)][:PAGE]
    for store in stores:
        began = perf_counter()
        await store.load(first)
        if await store.page_of(board_name(7)) != expected:
            raise RuntimeError(f"{store.name} does not give back what was loaded.")
        print_progress(f"loaded {len(first):,} notes into {store.name} in {perf_counter() - began:.1f} s")


async def race(
    stores: Sequence[BenchmarkedStore],
    notes: Notes,
    *,
    cases: Sequence[Case] = CASES,
    callers: Sequence[int] = CALLERS,
    rounds: int,
    seconds: float,
    print_progress: Tell,
) -> Figures:
    """Calls per second of every case, number of callers and store, one figure for each round."""
    figures: Figures = {}
    pace: dict[tuple[CaseName, int, str], float] = {}
    for turn in range(rounds + 1):
        # The first turn warms caches up and finds each store's pace; it does not count.
        warm_up = turn == 0
        print_progress("warming up" if warm_up else f"round {turn} of {rounds}")
        for case in cases:
            for crowd in callers:
                # Whoever goes first differs from round to round.
                shift = turn % len(stores)
                for store in (*stores[shift:], *stores[:shift]):
                    place = (case.name, crowd, store.name)
                    limit = _FIRST_SECONDS if warm_up else seconds
                    count = crowd * _FIRST_CALLS if warm_up else int(pace[place] * seconds * _SPARE) + crowd
                    count = min(count, _MOST_CALLS.get(case.name, _MOST_CALLS_ELSE))
                    figure = await _measured(store, case, crowd, notes, count, limit)
                    pace[place] = figure
                    if not warm_up:
                        figures.setdefault(place, []).append(figure)
    return figures


async def _measured(
    store: BenchmarkedStore, case: Case, callers: int, notes: Notes, count: int, seconds: float
) -> float:
    run = store.prepare(case.name, [case.make(notes) for _ in range(count)])
    gc.collect()
    # What was prepared is no garbage; the collector need not walk through it while the clock runs.
    gc.freeze()
    try:
        began = perf_counter()
        done = await run(callers, began + seconds)
        return done / (perf_counter() - began)
    finally:
        gc.unfreeze()


def rows(figures: Figures, ours: str, peers: Sequence[str]) -> list[Row]:
    """A row for every case, number of callers and peer; aims stand at 16 callers."""
    found: list[Row] = []
    titles = {case.name: case for case in CASES}
    medians = {place: statistics.median(values) for place, values in figures.items()}
    for name, crowd in dict.fromkeys((name, crowd) for name, crowd, _ in figures):
        case = titles[name]
        found.extend(
            row(
                f"{case.title}, {crowd} caller{'s' if crowd > 1 else ''}",
                ours=round(medians[name, crowd, ours], 1),
                peer=round(medians[name, crowd, peer], 1),
                peer_name=peer,
                unit=UNIT,
                aim=_aim(case, crowd, peer),
            )
            for peer in peers
        )
    return found


def _aim(case: Case, callers: int, peer: str) -> float | None:
    if callers != max(CALLERS):
        return None
    if peer == "raw apsw":
        return AIM_RAW
    return AIM_WRITES if case.writes else AIM_READS
