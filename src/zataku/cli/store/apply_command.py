"""The command that makes stored tables match their designs, after it has shown what it would change."""

from zataku.cli.execution import SAME_COMMAND_CONTINUES, run_to_end
from zataku.cli.output import confirm, print_columns
from zataku.cli.progress import progress_report
from zataku.cli.store.options import DEFAULT_STORE, Flag, StoreOptions
from zataku.table import BadInput, IndexState
from zataku.table.backend.schema_diff import PlannedChange
from zataku.table.store_changes import apply_changes, planned_changes

_HEADINGS = ("table", "difference", "change", "deletes")


def apply(*, store: StoreOptions = DEFAULT_STORE, yes: Flag = False) -> int:
    """Make the stored tables match their designs. Shows every change first, and asks.

    Opening a store makes the changes that lose nothing by itself. This command also deletes indexes that the design
    lacks, builds those again whose keys or attributes differ, replaces streams and turns on time to live.

    Parameters
    ----------
    yes
        Do not ask for the store's name first.
    """
    changes = run_to_end(planned_changes(store.url, store.tables(), store.env), "Nothing was changed.")
    if not changes:
        print("Every table matches its design; there is nothing to do.")
        return 0
    print_columns(_HEADINGS, [_row(change) for change in changes])
    if not yes:
        confirm(_consequence(store, changes), store.url.name, BadInput)
    remaining = run_to_end(_apply(store), SAME_COMMAND_CONTINUES)
    if not remaining:
        print(f"The tables of {store.url} match their designs.")
        return 0
    print("The service did not make these changes:")
    print_columns(_HEADINGS, [_row(change) for change in remaining])
    return 1 if any(change.required for change in remaining) else 0


def _row(change: PlannedChange) -> tuple[str, str, str, str]:
    return change.table, change.difference, change.action, "yes" if change.removes else "no"


def _consequence(options: StoreOptions, changes: list[PlannedChange]) -> str:
    removals = sum(change.removes for change in changes)
    if not removals:
        return f"This changes the tables of {options.url} as listed. Nothing is deleted."
    listed = "1 of the changes deletes" if removals == 1 else f"{removals} of the changes delete"
    return f"This changes the tables of {options.url} as listed. {listed} something that is stored."


async def _apply(options: StoreOptions) -> list[PlannedChange]:
    """Make the changes; returns those that remain."""
    with progress_report("items") as report:

        def progress(waiting: list[IndexState]) -> None:
            for state in waiting[:1]:
                report(f"Filling {state.index}", state.done, state.total or None)

        await apply_changes(options.url, options.tables(), options.env, progress)
    return await planned_changes(options.url, options.tables(), options.env)
