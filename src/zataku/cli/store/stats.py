"""The command that prints sizes of tables and indexes, and the use of access patterns."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from zataku.cli.execution import NOTHING_CHANGED, open_read_only, run_to_end
from zataku.cli.output import format_bytes, print_columns
from zataku.cli.store.options import DEFAULT_STORE, Flag, StoreOptions
from zataku.table import Usage
from zataku.table.backend.port import Size


def stats(*, store: StoreOptions = DEFAULT_STORE, json: Flag = False) -> int:
    """Show the size of each table and index, and what each access pattern has used.

    Parameters
    ----------
    json
        Print figures for a program.
    """
    current = run_to_end(_read_stats(store), NOTHING_CHANGED)
    if json:
        print(msgspec.json.format(msgspec.json.encode(current), indent=2).decode())
    else:
        _print_stats(current)
    return 0


class PatternUsage(Struct):
    """The usage of one access pattern, and the units per call."""

    pattern: str
    calls: int
    read_units: float
    write_units: float
    units_per_call: float


class Stats(Struct):
    """The statistics of a store."""

    store: str
    sizes: list[Size]
    usage: list[PatternUsage]


async def _read_stats(options: StoreOptions) -> Stats:
    url = options.url
    async with open_read_only(url, options.known_tables() if url.path else options.tables(), options.env) as backend:
        sizes, usage = await backend.sizes(), await backend.usage()
    return Stats(str(url), sizes, [_pattern_usage(pattern) for pattern in sorted(usage, key=_by_units)])


def _print_stats(stats: Stats) -> None:
    print_columns(
        ("table", "index", "items", "size"), [_size_row(size) for size in stats.sizes], right=("items", "size")
    )
    print()
    if not stats.usage:
        print("Nothing has been used yet.")
        return
    headings = ("access pattern", "calls", "read units", "write units", "units per call")
    print_columns(headings, [_usage_row(pattern) for pattern in stats.usage], right=headings[1:])
    reads = sum(pattern.read_units for pattern in stats.usage)
    writes = sum(pattern.write_units for pattern in stats.usage)
    print(f"\n{_units(reads)} read units and {_units(writes)} write units in all.")


def _by_units(usage: Usage) -> tuple[float, str]:
    return -(usage.reads + usage.writes), usage.pattern


def _pattern_usage(usage: Usage) -> PatternUsage:
    per_call = (usage.reads + usage.writes) / usage.calls if usage.calls else 0.0
    return PatternUsage(usage.pattern, usage.calls, usage.reads, usage.writes, per_call)


def _size_row(size: Size) -> Sequence[str]:
    return (size.table, size.index or "", f"{size.items:,}", format_bytes(size.bytes))


def _usage_row(usage: PatternUsage) -> Sequence[str]:
    return (
        usage.pattern,
        f"{usage.calls:,}",
        _units(usage.read_units),
        _units(usage.write_units),
        f"{usage.units_per_call:,.2f}",
    )


def _units(number: float) -> str:
    return f"{number:,.1f}"
