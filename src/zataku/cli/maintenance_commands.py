"""Changing what is stored: bringing items up to date, and deleting those whose time has passed."""

from zataku.cli.output import aside, columns
from zataku.cli.progress import reporting
from zataku.cli.store_options import Where
from zataku.table import open_store
from zataku.table.migration.table_migration import MigrationProgress, MigrationResult, SkippedItem
from zataku.table.migration.table_migration import migrate as upgrade_all

_PORTION = 1000
_MOST_TOLD = 20


async def sweep(where: Where) -> str:
    """Delete all expired items; gives how many in a sentence."""
    swept = 0
    async with await open_store(where.place, where.tables(), env=where.env) as store:
        with reporting("items") as report:
            while some := await store.sweep(limit=_PORTION):
                swept += some
                report("Deleted", swept, None)
    return f"{swept:,} expired items deleted." if swept != 1 else "1 expired item deleted."


async def migrate(where: Where, *, dry_run: bool, resume: str | None) -> MigrationResult:
    """Upgrade all items of earlier revisions. Whoever stops it is told how to go on from there."""
    reached: str | None = None
    # A dry run only looks, so a server may hold the store.
    async with await open_store(where.place, where.tables(), env=where.env, read_only=dry_run) as store:
        with reporting("items") as report:

            def progress(at: MigrationProgress) -> None:
                nonlocal reached
                reached = at.resume
                report("Looked at", at.done, at.total)

            try:
                return await upgrade_all(store, progress=progress, dry_run=dry_run, resume=resume)
            except BaseException:
                if reached is not None:
                    aside(f"To go on from here, add: --resume {reached}")
                raise


def show_migrated(done: MigrationResult, *, dry_run: bool) -> None:
    """What became of the items, for a person."""
    if not done.entities and not done.skipped:
        print("No entity of the designs has an earlier version; there is nothing to do.")
        return
    upgraded = "would be upgraded" if dry_run else "upgraded"
    headings = ("entity", upgraded, "up to date", "changed meanwhile")
    rows = [
        (name, f"{tally.upgraded:,}", f"{tally.current:,}", f"{tally.raced:,}")
        for name, tally in sorted(done.entities.items())
    ]
    columns(headings, rows, right=headings[1:])
    for left in done.skipped[:_MOST_TOLD]:
        print(_told(left))
    if len(done.skipped) > _MOST_TOLD:
        print(f"and {len(done.skipped) - _MOST_TOLD:,} more that were left as they are.")


def _told(left: SkippedItem) -> str:
    key = ", ".join(f"{name} = {value!r}" for name, value in left.key.items())
    return f"left as it is: {left.entity or 'an item'} of {left.table} at {key}: {left.problem}"
