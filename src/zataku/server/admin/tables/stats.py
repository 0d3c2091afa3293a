"""Statistics of the tables: sizes, units used per access pattern, and the cost of a month on DynamoDB."""

from collections.abc import Iterable, Mapping, Sequence

from zataku.clock import Clock
from zataku.errors import NotFound
from zataku.server.admin.messages import (
    IndexFigures,
    MonthCost,
    PatternFigures,
    PatternKind,
    Prices,
    TableDetail,
    TableFigures,
    Tables,
    UnitsUsed,
)
from zataku.server.admin.tables.design import table_detail
from zataku.server.admin.tables.prices import billed_bytes, month_cost
from zataku.server.admin.tables.sizes import TableSizes
from zataku.table import IndexState, ItemPattern, Store, Table, Usage
from zataku.table.backend.port import Size


class TableStats:
    """Statistics of every table of the systems. `started` is when the server began to count."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        systems: Mapping[str, Sequence[Table]],
        prices: Prices,
        started: float,
    ) -> None:
        self._store = store
        self._clock = clock
        self._prices = prices
        self._started = started
        self._tables = {
            store.schema(table).name: (system, table) for system, tables in systems.items() for table in tables
        }
        self.sizes = TableSizes(store, clock)

    def table(self, name: str) -> Table:
        """The declared table of that name."""
        return self._find(name)[1]

    async def overview(self) -> Tables:
        """All tables, and the units used outside of them."""
        snapshot = await self._snapshot()
        tables = [snapshot.table(name, system, table) for name, (system, table) in self._tables.items()]
        others = snapshot.others([table for _, table in self._tables.values()])
        return Tables(
            tables=tables,
            others=others,
            month=_sum([*(table.month for table in tables), snapshot.month(others, 0)]),
            prices=self._prices,
            measured_seconds=snapshot.seconds,
            sized_at=round(self.sizes.counted_at * 1000),
        )

    async def detail(self, name: str) -> TableDetail:
        """One table with its design."""
        system, table = self._find(name)
        snapshot = await self._snapshot()
        figures = snapshot.table(name, system, table)
        return table_detail(table, figures, self._prices, snapshot.seconds, round(self.sizes.counted_at * 1000))

    def _find(self, name: str) -> tuple[str, Table]:
        try:
            return self._tables[name]
        except KeyError:
            raise NotFound(f"There is no table {name}. There are: {', '.join(self._tables)}.") from None

    async def _snapshot(self) -> "_Snapshot":
        sizes = await self.sizes.read()
        states = {(state.table, state.index): state for state in await self._store.index_states()}
        ever = {usage.pattern: usage for usage in await self._store.backend.usage()}
        seconds = max(self._clock.now() - self._started, 1.0)
        return _Snapshot(sizes, states, dict(self._store.meter.totals), ever, self._prices, seconds)


class _Snapshot:
    """All counters and sizes at one moment."""

    def __init__(
        self,
        sizes: Mapping[tuple[str, str | None], Size],
        states: Mapping[tuple[str, str], IndexState],
        run: Mapping[str, Usage],
        ever: Mapping[str, Usage],
        prices: Prices,
        seconds: float,
    ) -> None:
        self._sizes = sizes
        self._states = states
        self._run = run
        self._ever = ever
        self._prices = prices
        self.seconds = seconds

    def table(self, name: str, system: str, table: Table) -> TableFigures:
        """One table, its declared patterns first, then other labels that were called."""
        size = self._sizes.get((name, None), Size(name, None, 0, 0))
        indexes = [self._index(name, index) for index in table.indexes]
        patterns = [
            self._pattern(f"{table.name}.{pattern}", pattern, table) for pattern in (*table.patterns, *table.writes)
        ]
        declared = {f"{table.name}.{pattern}" for pattern in (*table.patterns, *table.writes)}
        used = sorted(
            label for label in {*self._run, *self._ever} if _belongs_to(label, table) and label not in declared
        )
        patterns += [self._pattern(label, label.removeprefix(f"{table.name}."), table) for label in used]
        stored = sum(billed_bytes(part.items, part.bytes) for part in (size, *indexes))
        return TableFigures(
            name=name,
            system=system,
            kinds=[binding.entity.__name__ for binding in table.bindings],
            items=size.items,
            bytes=size.bytes,
            indexes=indexes,
            patterns=patterns,
            month=self.month(patterns, stored),
        )

    def others(self, tables: Sequence[Table]) -> list[PatternFigures]:
        """Usage that belongs to none of the tables."""
        labels = sorted({*self._run, *self._ever})
        return [
            self._pattern(label, label, None)
            for label in labels
            if not any(_belongs_to(label, table) for table in tables)
        ]

    def month(self, patterns: Iterable[PatternFigures], stored: int) -> MonthCost:
        """The cost of a month at the use of these patterns."""
        used = [pattern.run for pattern in patterns]
        reads, writes = sum(units.read_units for units in used), sum(units.write_units for units in used)
        return month_cost(self._prices, reads, writes, self.seconds, stored)

    def _index(self, table: str, name: str) -> IndexFigures:
        size = self._sizes.get((table, name), Size(table, name, 0, 0))
        state = self._states.get((table, name), IndexState(table, name, "active"))
        return IndexFigures(
            name=name, state=state.status, done=state.done, total=state.total, items=size.items, bytes=size.bytes
        )

    def _pattern(self, label: str, name: str, table: Table | None) -> PatternFigures:
        run = self._run.get(label) or Usage(label)
        stored = self._ever.get(label) or Usage(label)
        # Stored usage is up to a minute behind this run.
        ever = Usage(label, max(run.calls, stored.calls), max(run.reads, stored.reads), max(run.writes, stored.writes))
        kind, says = _declaration(name, table)
        return PatternFigures(
            name=name,
            kind=kind,
            says=says,
            run=_used(run),
            ever=_used(ever),
            units_per_call=(ever.reads + ever.writes) / ever.calls if ever.calls else 0.0,
            month=month_cost(self._prices, run.reads, run.writes, self.seconds, 0).total,
        )


def _declaration(name: str, table: Table | None) -> tuple[PatternKind, str]:
    """The kind of an access pattern, and the first line about it in the design."""
    if table is not None and name in table.writes:
        return "write", _first_line(table.writes[name].metadata.doc)
    if table is not None and name in table.patterns:
        pattern = table.patterns[name]
        return "item" if isinstance(pattern, ItemPattern) else "query", _first_line(pattern.metadata.doc)
    return "other", ""


def _first_line(doc: str) -> str:
    return " ".join(doc.partition("\n\n")[0].split())


def _belongs_to(label: str, table: Table) -> bool:
    return label.startswith(f"{table.name}.")


def _used(usage: Usage) -> UnitsUsed:
    return UnitsUsed(calls=usage.calls, read_units=usage.reads, write_units=usage.writes)


def _sum(costs: Sequence[MonthCost]) -> MonthCost:
    return MonthCost(
        reads=sum(cost.reads for cost in costs),
        writes=sum(cost.writes for cost in costs),
        storage=sum(cost.storage for cost in costs),
        total=sum(cost.total for cost in costs),
    )
