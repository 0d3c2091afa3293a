"""The command that prints sizes of tables and indexes, and the use of access patterns."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from zataku.cli.execution import NOTHING_CHANGED, open_read_only, run_to_end
from zataku.cli.output import format_bytes, print_columns
from zataku.cli.store_options import DEFAULT_STORE, Flag, StoreOptions
from zataku.table import Usage
from zataku.table.backend.port import Size


def stats(*, store: StoreOptions = DEFAULT_STORE, json: Flag = False) -> int:
    """Show the size of each table and index, and what each access pattern has used.

    Parameters
    ----------
    json
        Print figures for a program.
    """
    found = run_to_end(_read_stats(store), NOTHING_CHANGED)
    if json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        _print_stats(found)
    return 0


class PatternUsage(Struct):
    """What one access pattern has used, and what one call of it takes."""

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
    """The current statistics."""
    url = options.url
    async with open_read_only(url, options.known_tables() if url.path else options.tables(), options.env) as backend:
        sizes, usage = await backend.sizes(), await backend.usage()
    return Stats(str(url), sizes, [_pattern(each) for each in sorted(usage, key=_by_units)])


def _print_stats(stats: Stats) -> None:
    """Print the statistics as tables."""
    print_columns(
        ("table", "index", "items", "size"), [_size_row(size) for size in stats.sizes], right=("items", "size")
    )
    print()
    if not stats.usage:
        print("Nothing has been used yet.")
        return
    headings = ("access pattern", "calls", "read units", "write units", "units per call")
    print_columns(headings, [_usage_row(each) for each in stats.usage], right=headings[1:])
    reads, writes = sum(each.read_units for each in stats.usage), sum(each.write_units for each in stats.usage)
    print(f"\n{_units(reads)} read units and {_units(writes)} write units in all.")


def _by_units(usage: Usage) -> tuple[float, str]:
    return -(usage.reads + usage.writes), usage.pattern


def _pattern(usage: Usage) -> PatternUsage:
    per_call = (usage.reads + usage.writes) / usage.calls if usage.calls else 0.0
    return PatternUsage(usage.pattern, usage.calls, usage.reads, usage.writes, per_call)


def _size_row(size: Size) -> Sequence[str]:
    return (size.table, size.index or "", f"{size.items:,}", format_bytes(size.bytes))


def _usage_row(each: PatternUsage) -> Sequence[str]:
    return (
        each.pattern,
        f"{each.calls:,}",
        _units(each.read_units),
        _units(each.write_units),
        f"{each.units_per_call:,.2f}",
    )


def _units(number: float) -> str:
    return f"{number:,.1f}"
