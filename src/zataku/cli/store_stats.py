"""How much lies in a store, and what its access patterns have used."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from zataku.cli.execution import looking
from zataku.cli.output import columns
from zataku.cli.store_options import Where
from zataku.table import Usage
from zataku.table.backend.port import Size

_UNITS = ("B", "KB", "MB", "GB", "TB")


class PatternUsage(Struct):
    """What one access pattern has used, and what one call of it takes."""

    pattern: str
    calls: int
    read_units: float
    write_units: float
    units_per_call: float


class Stats(Struct):
    """The figures of a store."""

    store: str
    sizes: list[Size]
    usage: list[PatternUsage]


async def taken(where: Where) -> Stats:
    """The figures as they are now."""
    place = where.place
    async with looking(place, where.known_tables() if place.path else where.tables(), where.env) as backend:
        sizes, usage = await backend.sizes(), await backend.usage()
    return Stats(str(place), sizes, [_pattern(each) for each in sorted(usage, key=_by_units)])


def as_json(stats: Stats) -> str:
    """The figures for a program."""
    return msgspec.json.format(msgspec.json.encode(stats), indent=2).decode()


def show(stats: Stats) -> None:
    """The figures for a person."""
    columns(("table", "index", "items", "size"), [_size_row(size) for size in stats.sizes], right=("items", "size"))
    print()
    if not stats.usage:
        print("Nothing has been used yet.")
        return
    headings = ("access pattern", "calls", "read units", "write units", "units per call")
    columns(headings, [_usage_row(each) for each in stats.usage], right=headings[1:])
    reads, writes = sum(each.read_units for each in stats.usage), sum(each.write_units for each in stats.usage)
    print(f"\n{_units(reads)} read units and {_units(writes)} write units in all.")


def _by_units(usage: Usage) -> tuple[float, str]:
    return -(usage.reads + usage.writes), usage.pattern


def _pattern(usage: Usage) -> PatternUsage:
    per_call = (usage.reads + usage.writes) / usage.calls if usage.calls else 0.0
    return PatternUsage(usage.pattern, usage.calls, usage.reads, usage.writes, per_call)


def _size_row(size: Size) -> Sequence[str]:
    return (size.table, size.index or "", f"{size.items:,}", weight(size.bytes))


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


def weight(size: float) -> str:
    """So many bytes in the unit that a person would choose."""
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    raise AssertionError("the last unit takes everything")
