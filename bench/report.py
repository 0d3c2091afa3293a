"""Report of a benchmark: rows with our figure and a peer's, as a Markdown table and as JSON.

A ratio is always oriented so that higher is better for us; an aim is the lowest ratio that we promise.
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
    """One case compared with one peer."""

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
    numerator, denominator = (ours, peer) if more_is_better else (peer, ours)
    ratio = numerator / denominator if denominator else float("inf")
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
    for row in rows:
        aim = "" if row.aim is None else f"{row.aim:g}"
        met = {None: "", True: "yes", False: "**no**"}[row.met]
        lines.append(
            f"| {row.case} | {figure(row.ours)} | {row.peer_name} | {figure(row.peer)} | {row.unit} "
            f"| {row.ratio:.2f} | {aim} | {met} |"
        )
    return "\n".join(lines)


def figure(number: float) -> str:
    """A number with about three significant digits."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"


def facts_list(facts: Iterable[tuple[str, str]]) -> str:
    """Facts of a run as a Markdown list."""
    return "\n".join(f"- {name}: {fact}" for name, fact in facts)


def write_results(path: Path, rows: Sequence[Row], facts: Sequence[tuple[str, str]] = ()) -> None:
    """Write the rows and the facts of the run as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = msgspec.json.encode({"rows": rows, "facts": dict(facts)})
    path.write_bytes(msgspec.json.format(content, indent=2) + b"\n")


def write_between(path: Path, marker: str, content: str) -> None:
    """Replace the text between the markers `<!-- MARKER -->` and `<!-- /MARKER -->` of a document."""
    begin, end = f"<!-- {marker} -->", f"<!-- /{marker} -->"
    text = path.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"{path} needs {begin} and {end}, each once and in this order.")
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    path.write_text(f"{head}{begin}\n{content.strip()}\n{end}{tail}", encoding="utf-8")


def publish(name: str, rows: Sequence[Row], facts: Sequence[tuple[str, str]], *, save: bool) -> None:
    """Print the report of `make bench-NAME`, save it in README and results, and list missed aims on stderr."""
    printed = f"{facts_list(facts)}\n\n{table(rows)}"
    print(printed)
    if save:
        write_between(HERE / "README.md", f"bench-{name}", printed)
        write_results(HERE / "results" / f"{name}.json", rows, facts)
    missed = [row.case for row in rows if row.met is False]
    if missed:
        print(f"{len(missed)} aims are not met: " + "; ".join(missed), file=sys.stderr)


def machine(folder: Path) -> list[tuple[str, str]]:
    """Facts that the figures depend on: processor, load, system, and the disk that holds `folder`."""
    return [
        ("when", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())),
        ("processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("load before the run", f"{os.getloadavg()[0]:.2f}"),
        ("system", f"{platform.system()} {platform.release()}, Python {platform.python_version()}"),
        ("disk", f"{file_system(folder)}, fdatasync of 8 KB: {fdatasync_seconds(folder) * 1e6:.0f} µs (median)"),
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def file_system(path: Path) -> str:
    """The type of the file system that holds a path, or "unknown"."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown"
    resolved, longest, nearest = path.resolve(), -1, "unknown"
    for line in mounts:
        _, point, kind, *_ = line.split()
        point = point.replace("\\040", " ")
        if resolved.is_relative_to(point) and len(point) > longest:
            longest, nearest = len(point), kind
    return nearest


def fdatasync_seconds(folder: Path, times: int = 200) -> float:
    """Seconds that the disk takes to make 8 KB durable: the median of some overwrites in place."""
    probe = folder / "fdatasync.probe"
    descriptor = os.open(probe, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.pwrite(descriptor, os.urandom(1 << 20), 0)
        os.fsync(descriptor)
        durations: list[float] = []
        for at in range(times):
            os.pwrite(descriptor, os.urandom(8192), at % 128 * 8192)
            began = time.perf_counter()
            os.fdatasync(descriptor)
            durations.append(time.perf_counter() - began)
        return statistics.median(durations)
    finally:
        os.close(descriptor)
        probe.unlink()
