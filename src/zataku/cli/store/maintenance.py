"""Commands that change stored items: migration to new revisions, and the sweep of expired ones."""

from zataku.cli.execution import SAME_COMMAND_CONTINUES, run_to_end
from zataku.cli.output import escape_controls, print_columns, print_note
from zataku.cli.progress import progress_report
from zataku.cli.store.options import DEFAULT_STORE, Flag, StoreOptions
from zataku.table import open_store
from zataku.table.migration.table_migration import MigrationProgress, MigrationResult, SkippedItem
from zataku.table.migration.table_migration import migrate as upgrade_all

_SWEEP_BATCH = 1000
_MAX_PRINTED = 20


def migrate(*, store: StoreOptions = DEFAULT_STORE, dry_run: Flag = False, resume: str | None = None) -> int:
    """Bring every stored item into the newest shape of its entity. Ends with 1 when an item had to be left as it is.

    The server must be stopped, except for a dry run.

    Parameters
    ----------
    dry_run
        Only count what would be upgraded.
    resume
        Continue from where a stopped migration says that it stopped.
    """
    interrupt_note = "Upgraded items stay upgraded. Start again, from the beginning or from where it stopped."
    done = run_to_end(_migrate(store, dry_run=dry_run, resume=resume), interrupt_note)
    _print_result(done, dry_run=dry_run)
    return 1 if done.skipped else 0


def sweep(*, store: StoreOptions = DEFAULT_STORE) -> int:
    """Delete every item whose time to live has passed. The server must be stopped; it sweeps by itself."""
    print(run_to_end(_sweep(store), SAME_COMMAND_CONTINUES))
    return 0


async def _sweep(options: StoreOptions) -> str:
    """Delete all expired items; returns a sentence for the operator."""
    swept = 0
    async with await open_store(options.url, options.tables(), env=options.env) as store:
        with progress_report("items") as report:
            while batch := await store.sweep(limit=_SWEEP_BATCH):
                swept += batch
                report("Deleted", swept, None)
    return f"{swept:,} expired items deleted." if swept != 1 else "1 expired item deleted."


async def _migrate(options: StoreOptions, *, dry_run: bool, resume: str | None) -> MigrationResult:
    """Upgrade all items of earlier revisions. An interrupt prints how to resume."""
    reached: str | None = None
    # A dry run only reads, so that a server may hold the store.
    async with await open_store(options.url, options.tables(), env=options.env, read_only=dry_run) as store:
        with progress_report("items") as report:

            def progress(at: MigrationProgress) -> None:
                nonlocal reached
                reached = at.resume
                report("Looked at", at.done, at.total)

            try:
                return await upgrade_all(store, progress=progress, dry_run=dry_run, resume=resume)
            except BaseException:
                if reached is not None:
                    print_note(f"To continue from here, add: --resume {reached}")
                raise


def _print_result(done: MigrationResult, *, dry_run: bool) -> None:
    if not done.entities and not done.skipped:
        print("No entity of the designs has an earlier version; there is nothing to do.")
        return
    upgraded = "would be upgraded" if dry_run else "upgraded"
    headings = ("entity", upgraded, "up to date", "changed by others")
    rows = [
        (name, f"{counts.upgraded:,}", f"{counts.current:,}", f"{counts.raced:,}")
        for name, counts in sorted(done.entities.items())
    ]
    print_columns(headings, rows, right=headings[1:])
    for item in done.skipped[:_MAX_PRINTED]:
        print(_describe(item))
    if len(done.skipped) > _MAX_PRINTED:
        print(f"and {len(done.skipped) - _MAX_PRINTED:,} more that were left as they are.")


def _describe(item: SkippedItem) -> str:
    key = ", ".join(f"{name} = {value!r}" for name, value in item.key.items())
    return f"left as it is: {item.entity or 'an item'} of {item.table} at {key}: {escape_controls(item.problem)}"
