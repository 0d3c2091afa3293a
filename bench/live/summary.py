"""The summary of a run: rows that compare us with the peer, facts, and a chart."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from bench import report
from bench.charts import Line, Point, chart
from bench.live.measurement import DRAIN_SECONDS, Round

PEER = "plain loop"
AIMS = {(1, 0.5): 1.0, (10, 0.99): 1.0, (50, 0.99): 5.0, (200, 0.99): 5.0}
"""How many times longer the plain loop must take, by rate and share of the comments; p99 of 20 comments has no aim."""
UNITS_ALONE = 9
"""Write units of a comment below 1 KB in its own transaction: 4 with its two indexes, 2 for the check of its room, and
3 for the number that its sender gets with a first comment without a name.
"""
_KIB, _MIB = 1024, 1024 * 1024


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """The rounds of a server, and its memory in bytes."""

    rounds: Sequence[Round]
    posted: int
    """Comments times clients, in the rounds and the warm-ups."""
    deliveries: int
    per_socket: float
    memory: int


def rows(ours: Measured, peer: Measured) -> list[report.Row]:
    """A row for every figure, with the peer's."""
    return [
        *(_wait(mine, theirs, share) for mine, theirs in _pairs(ours, peer) for share in (0.5, 0.99)),
        report.row(
            "deliveries, each once and in one order",
            ours=ours.deliveries,
            peer=ours.posted,
            peer_name="all comments posted",
            unit="comments × sockets",
            aim=1,
        ),
        *(_units(mine) for mine in ours.rounds),
        _size("memory of a socket in the room", ours.per_socket / _KIB, peer.per_socket / _KIB, "KiB"),
        _size("memory of the server at the end", ours.memory / _MIB, peer.memory / _MIB, "MiB"),
    ]


def facts(ours: Measured, peer: Measured) -> list[tuple[str, str]]:
    """Facts of the run beside its rows: processor shares, delays, and rounds with undelivered comments."""
    lines = [
        ("processor of ours", _by_rate(ours, lambda each: f"{each.server_share:.0%}")),
        ("processor of the plain loop", _by_rate(peer, lambda each: f"{each.server_share:.0%}")),
        ("processor of the load", f"{_by_rate(ours, _load)} with ours, {_by_rate(peer, _load)} with the plain loop"),
        ("event loop of ours late", _by_rate(ours, _loop_lag)),
        (
            "comments posted too late",
            f"by {1000 * max(each.late for each in (*ours.rounds, *peer.rounds)):.0f} ms at most",
        ),
        ("comments of ours in one transaction", _by_rate(ours, lambda each: f"{each.posted / max(each.calls, 1):.1f}")),
    ]
    for name, measured in (("ours", ours), (PEER, peer)):
        lines += [
            (f"{name} at {each.rate}/s", _undelivered(each)) for each in measured.rounds if each.reached < each.posted
        ]
    return lines


def chart_of(ours: Measured, peer: Measured, clients: int) -> str:
    """The chart of the waits by rate, ours and the peer's."""
    lines = [
        Line(name=f"{name}, {of}", colour=colour, dashed=share > 0.9, points=_points(measured, share))
        for name, colour, measured in ((PEER, "#b4492f", peer), ("Zataku", "#2b5c8a", ours))
        for share, of in ((0.99, "p99"), (0.5, "p50"))
    ]
    note = "○ at least: fell behind" if any(each.fell_behind for each in (*ours.rounds, *peer.rounds)) else ""
    title = f"From a comment to the last of {clients:,} readers"
    return chart(title, lines, x="comments a second", y="milliseconds", note=note)


def _pairs(ours: Measured, peer: Measured) -> Iterable[tuple[Round, Round]]:
    return zip(ours.rounds, peer.rounds, strict=True)


def _wait(mine: Round, theirs: Round, share: float) -> report.Row:
    return report.row(
        f"{mine.rate}/s, p{share * 100:g} from post to last receiver",
        ours=mine.wait(share),
        peer=theirs.wait(share),
        peer_name=f"{PEER}, at least" if theirs.fell_behind else PEER,
        unit="ms",
        aim=AIMS.get((mine.rate, share)),
        more_is_better=False,
    )


def _units(mine: Round) -> report.Row:
    case, alone = f"{mine.rate}/s, cost of a comment", "a transaction for each"
    units = mine.writes / mine.posted
    return report.row(case, ours=units, peer=UNITS_ALONE, peer_name=alone, unit="write units", more_is_better=False)


def _size(case: str, ours: float, peer: float, unit: str) -> report.Row:
    return report.row(case, ours=ours, peer=peer, peer_name=PEER, unit=unit, more_is_better=False)


def _points(measured: Measured, share: float) -> list[Point]:
    return [Point(each.rate, each.wait(share), each.fell_behind) for each in measured.rounds]


def _by_rate(measured: Measured, text: Callable[[Round], str]) -> str:
    return ", ".join(f"{text(each)} at {each.rate}/s" for each in measured.rounds)


def _load(measured: Round) -> str:
    return f"{measured.load_share:.0%}"


def _loop_lag(measured: Round) -> str:
    most, longest = measured.loop_lags.within(0.99), measured.loop_lags.within(1)
    return f"{most:g} ms at most in 99 % and {longest:g} ms in all"


def _undelivered(measured: Round) -> str:
    if not measured.fell_behind:
        return f"overloaded; {measured.refused:,} comments were refused"
    reached = f"{measured.reached:,} of {measured.posted:,} comments"
    return f"fell behind; {reached} had reached every client {DRAIN_SECONDS:g} s after the last"
