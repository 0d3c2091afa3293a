"""Commands that export the items of a store into a folder, and import them."""

from pathlib import Path

from zataku.cli.execution import SAME_COMMAND_CONTINUES, open_read_only, run_to_end
from zataku.cli.output import format_bytes, print_note
from zataku.cli.progress import ProgressReport, progress_report
from zataku.cli.store.options import DEFAULT_STORE, Flag, StoreOptions
from zataku.clock import SystemClock
from zataku.table import Table, open_store
from zataku.table.transfer import ImportResult, Phase, TransferredTable, export_store, import_store

_PHASES: dict[Phase, str] = {"check": "Checking", "write": "Writing", "verify": "Reading back"}


def export(folder: Path, /, *, store: StoreOptions = DEFAULT_STORE, again: Flag = False) -> int:
    """Write every item into a folder, in the format of DynamoDB's own exports, also while a server runs.

    Parameters
    ----------
    folder
        Where to write; an export that was interrupted there is continued.
    again
        Throw away the complete export in the folder and make a new one.
    """
    print(run_to_end(_export(store, folder, again=again), SAME_COMMAND_CONTINUES))
    return 0


def import_(
    folder: Path,
    /,
    *,
    store: StoreOptions = DEFAULT_STORE,
    merge: Flag = False,
    verify: bool = True,
    from_env: str | None = None,
) -> int:
    """Write the items of an export into the store. The server must be stopped.

    Parameters
    ----------
    folder
        The export; an import that was interrupted is continued.
    merge
        Allow tables that hold items already; an item with the same key is replaced.
    verify
        Read everything back afterwards.
    from_env
        Environment that the export was made in, when it is another one.
    """
    work = _import(store, folder, merge=merge, verify=verify, from_env=from_env)
    print(run_to_end(work, SAME_COMMAND_CONTINUES))
    return 0


async def _export(options: StoreOptions, folder: Path, *, again: bool) -> str:
    """Export all tables; returns a summary."""
    tables = options.tables()
    async with open_read_only(options.url, tables, options.env) as backend:
        with progress_report("items") as report:
            done = await export_store(
                backend,
                [table.schema(options.env) for table in tables],
                folder,
                clock=SystemClock(),
                progress=lambda table, items, total, _: report(table, items, total),
                again=again,
            )
    if done.was_complete:
        return f"{folder} already holds the complete export:\n{_summary(done.tables)}"
    return f"{options.url} is exported to {folder}:\n{_summary(done.tables)}"


async def _import(options: StoreOptions, folder: Path, *, merge: bool, verify: bool, from_env: str | None) -> str:
    """Import all tables; returns a summary."""
    tables = options.tables()
    async with await open_store(options.url, tables, env=options.env) as store:
        with progress_report("items") as report:
            phases = _ImportPhases(report)
            done = await import_store(
                store.backend,
                [table.schema(options.env) for table in tables],
                folder,
                progress=phases.progress,
                phase=phases.enter,
                merge=merge,
                verify=verify,
                names=_source_names(tables, options.env, from_env),
                calls=store.calls,
            )
    return f"{folder} is imported into {options.url}{_verification(done)}:\n{_summary(done.tables)}"


class _ImportPhases:
    """Labels the progress of an import, which checks, writes and reads back, each with its own count."""

    def __init__(self, report: ProgressReport) -> None:
        self._report = report
        self._label = _PHASES["check"]

    def enter(self, phase: Phase) -> None:
        """Start the next phase."""
        self._label = _PHASES[phase]

    def progress(self, table: str, items: int, total: int | None, _: int) -> None:
        """Report the progress of the phase."""
        self._report(f"{self._label} {table}", items, total)


def _source_names(tables: list[Table], env: str, from_env: str | None) -> dict[str, str]:
    """The name of each table in an export of another environment."""
    return {} if from_env is None else {table.schema(env).name: table.schema(from_env).name for table in tables}


def _verification(done: ImportResult) -> str:
    if done.left_out:
        print_note(f"Left out, because no design names them: {', '.join(done.left_out)}.")
    return ", and every item was read back" if done.verified else ""


def _summary(tables: tuple[TransferredTable, ...]) -> str:
    return "\n".join(f"  {table.name}: {table.items:,} items, {format_bytes(table.bytes)}" for table in tables)
