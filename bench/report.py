"""What a benchmark hands out: rows of figures beside a peer, a table for people and a file for programs.

A ratio is always oriented so that higher is better for us; an aim is the least ratio that we promise.
"""

import os
import platform
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

HERE = Path(__file__).parent


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One case beside one peer."""

    case: str
    ours: float
    peer: float
    peer_name: str
    unit: str
    ratio: float
    aim: float | None = None
    met: bool | None = None


def row(
    case: str,
    *,
    ours: float,
    peer: float,
    peer_name: str,
    unit: str,
    aim: float | None = None,
    more_is_better: bool = True,
) -> Row:
    """A row with its ratio and whether the aim is met; times and sizes pass `more_is_better=False`."""
    over, under = (ours, peer) if more_is_better else (peer, ours)
    ratio = over / under if under else float("inf")
    return Row(
        case=case,
        ours=ours,
        peer=peer,
        peer_name=peer_name,
        unit=unit,
        ratio=round(ratio, 3),
        aim=aim,
        met=None if aim is None else ratio >= aim,
    )


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| case | ours | peer | peer's figure | unit | ratio | aim | met |",
        "| --- | ---: | --- | ---: | --- | ---: | ---: | --- |",
    ]
    for it in rows:
        aim = "" if it.aim is None else f"{it.aim:g}"
        met = {None: "", True: "yes", False: "**no**"}[it.met]
        lines.append(
            f"| {it.case} | {figure(it.ours)} | {it.peer_name} | {figure(it.peer)} | {it.unit} "
            f"| {it.ratio:.2f} | {aim} | {met} |"
        )
    return "\n".join(lines)


def figure(number: float) -> str:
    """A number with about three figures that mean something."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"


def facts_list(facts: Iterable[tuple[str, str]]) -> str:
    """Facts of a run as a Markdown list."""
    return "\n".join(f"- {name}: {fact}" for name, fact in facts)


def write_results(path: Path, rows: Sequence[Row], facts: Sequence[tuple[str, str]] = ()) -> None:
    """Write the rows, and the facts of the run, for programs to read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = msgspec.json.encode({"rows": rows, "facts": dict(facts)})
    path.write_bytes(msgspec.json.format(content, indent=2) + b"\n")


def write_between(path: Path, mark: str, content: str) -> None:
    """Replace what stands between the marks `<!-- MARK -->` and `<!-- /MARK -->` of a document."""
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    text = path.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"{path} needs {begin} and {end}, each once and in this order.")
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    path.write_text(f"{head}{begin}\n{content.strip()}\n{end}{tail}", encoding="utf-8")


def publish(name: str, rows: Sequence[Row], facts: Sequence[tuple[str, str]], *, save: bool) -> None:
    """Print what `make bench-NAME` found, and write it down where it is looked for. What was missed goes to stderr."""
    printed = f"{facts_list(facts)}\n\n{table(rows)}"
    print(printed)
    if save:
        write_between(HERE / "README.md", f"bench-{name}", printed)
        write_results(HERE / "results" / f"{name}.json", rows, facts)
    missed = [it.case for it in rows if it.met is False]
    if missed:
        print(f"{len(missed)} aims are not met: " + "; ".join(missed), file=sys.stderr)


def machine(where: Path) -> list[tuple[str, str]]:
    """What the figures depend on: processor, memory, system, and the disk that holds `where`."""
    return [
        ("when", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())),
        ("processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("load before the run", f"{os.getloadavg()[0]:.2f}"),
        ("system", f"{platform.system()} {platform.release()}, Python {platform.python_version()}"),
        ("disk", f"{file_system(where)}, fdatasync of 8 KB: {fdatasync_seconds(where) * 1e6:.0f} µs (median)"),
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def file_system(where: Path) -> str:
    """The type of the file system that holds a path, or "unknown"."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown"
    place, best, found = where.resolve(), -1, "unknown"
    for line in mounts:
        _, point, kind, *_ = line.split()
        point = point.replace("\\040", " ")
        if place.is_relative_to(point) and len(point) > best:
            best, found = len(point), kind
    return found


def fdatasync_seconds(where: Path, times: int = 200) -> float:
    """How long the disk takes to keep 8 KB for good: the median of some overwrites in place."""
    side = where / "fdatasync.probe"
    descriptor = os.open(side, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.pwrite(descriptor, os.urandom(1 << 20), 0)
        os.fsync(descriptor)
        taken: list[float] = []
        for at in range(times):
            os.pwrite(descriptor, os.urandom(8192), at % 128 * 8192)
            began = time.perf_counter()
            os.fdatasync(descriptor)
            taken.append(time.perf_counter() - began)
        return statistics.median(taken)
    finally:
        os.close(descriptor)
        side.unlink()
