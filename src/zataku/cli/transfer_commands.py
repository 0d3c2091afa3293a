"""Moving the items of a store: out into a folder, and in from one."""

from pathlib import Path

from zataku.cli.execution import looking
from zataku.cli.output import aside
from zataku.cli.progress import Report, reporting
from zataku.cli.store_options import Where
from zataku.cli.store_stats import weight
from zataku.clock import SystemClock
from zataku.table import Table, open_store
from zataku.table.transfer import ImportResult, Phase, TransferredTable, export_store, import_store

_PHASES: dict[Phase, str] = {"check": "Checking", "write": "Writing", "verify": "Reading back"}


async def move_out(where: Where, folder: Path, *, again: bool) -> str:
    """Export all tables; gives what was moved in some lines."""
    tables = where.tables()
    async with looking(where.place, tables, where.env) as backend:
        with reporting("items") as report:
            done = await export_store(
                backend,
                [table.schema(where.env) for table in tables],
                folder,
                clock=SystemClock(),
                progress=lambda table, items, total, _: report(table, items, total),
                again=again,
            )
    if done.already:
        return f"{folder} already holds the complete export:\n{_counted(done.tables)}"
    return f"{where.place} is exported to {folder}:\n{_counted(done.tables)}"


async def move_in(where: Where, folder: Path, *, merge: bool, verify: bool, from_env: str | None) -> str:
    """Import all tables; gives what was moved in some lines."""
    tables = where.tables()
    async with await open_store(where.place, tables, env=where.env) as store:
        with reporting("items") as report:
            phases = _Phases(report)
            done = await import_store(
                store.backend,
                [table.schema(where.env) for table in tables],
                folder,
                progress=phases.progress,
                phase=phases.enter,
                merge=merge,
                verify=verify,
                names=_names(tables, where.env, from_env),
                calls=store.calls,
            )
    return f"{folder} is imported into {where.place}{_checked(done)}:\n{_counted(done.tables)}"


class _Phases:
    """An import looks at everything, writes it, and reads it back, each with its own count."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._word = _PHASES["check"]

    def enter(self, phase: Phase) -> None:
        """The next part begins."""
        self._word = _PHASES[phase]

    def progress(self, table: str, items: int, total: int | None, _: int) -> None:
        """So far it is."""
        self._report(f"{self._word} {table}", items, total)


def _names(tables: list[Table], env: str, from_env: str | None) -> dict[str, str]:
    """What each table is called in an export of another environment."""
    return {} if from_env is None else {table.schema(env).name: table.schema(from_env).name for table in tables}


def _checked(done: ImportResult) -> str:
    if done.left_out:
        aside(f"Left out, because no design names them: {', '.join(done.left_out)}.")
    return ", and every item was read back" if done.verified else ""


def _counted(tables: tuple[TransferredTable, ...]) -> str:
    return "\n".join(f"  {each.name}: {each.items:,} items, {weight(each.bytes)}" for each in tables)
