"""Commands about a store. Those that only look work beside a running server."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from zataku.cli import backup_commands, maintenance_commands, transfer_commands
from zataku.cli import store_stats as figures
from zataku.cli import store_status as state
from zataku.cli.execution import finished
from zataku.cli.store_options import HERE, Where

app = App(name="store", help_format="plaintext")

# Off unless it is given; there is nothing to take back.
Flag = Annotated[bool, Parameter(negative="")]
_NOTHING_CHANGED = "Nothing was changed."
_SAME_AGAIN = "The same command goes on where it stopped."


@app.command
def status(*, where: Where = HERE) -> int:
    """Say where the store is, what it can do, and whether its tables are as designed. Ends with 1 when they are not."""
    found = finished(state.looked_up(where), _NOTHING_CHANGED)
    state.show(found)
    return 0 if found.sound else 1


@app.command
def stats(*, where: Where = HERE, json: Flag = False) -> int:
    """Say how much lies in each table and index, and what each access pattern has used.

    Parameters
    ----------
    json
        Print figures for a program.
    """
    found = finished(figures.taken(where), _NOTHING_CHANGED)
    if json:
        print(figures.as_json(found))
    else:
        figures.show(found)
    return 0


@app.command
def backup(destination: str, /, *, where: Where = HERE) -> int:
    """Make a complete copy, also while a server runs: a file, or on DynamoDB a backup of that name for each table.

    Parameters
    ----------
    destination
        The file to write, which must not be there yet; on DynamoDB the name of the backup.
    """
    print(
        finished(
            backup_commands.back_up(where, destination), "No backup was left. Give the same command to make it anew."
        )
    )
    return 0


@app.command
def restore(source: str, /, *, where: Where = HERE, yes: Flag = False) -> int:
    """Replace everything in the store by a backup. The server must be stopped.

    A replaced file is kept beside the store; on DynamoDB, tables are deleted and come back from their backups.

    Parameters
    ----------
    source
        The backup: a file, or on DynamoDB the name of a backup.
    yes
        Do not ask for the store's name first.
    """
    if not yes:
        backup_commands.confirm(where.place)
    print(
        finished(
            backup_commands.restore(where, source), "Look at the store with `zataku store status`, then try again."
        )
    )
    return 0


@app.command
def export(folder: Path, /, *, where: Where = HERE, again: Flag = False) -> int:
    """Write every item into a folder, in the format of DynamoDB's own exports, also while a server runs.

    Parameters
    ----------
    folder
        Where to write; an export that was stopped there goes on.
    again
        Throw away the complete export in the folder and make a new one.
    """
    print(finished(transfer_commands.move_out(where, folder, again=again), _SAME_AGAIN))
    return 0


@app.command(name="import")
def import_(
    folder: Path,
    /,
    *,
    where: Where = HERE,
    merge: Flag = False,
    verify: bool = True,
    from_env: str | None = None,
) -> int:
    """Write the items of an export into the store. The server must be stopped.

    Parameters
    ----------
    folder
        The export; an import that was stopped goes on.
    merge
        Allow tables that hold items already; an item with the same key is replaced.
    verify
        Read everything back afterwards.
    from_env
        Environment that the export was made in, when it is another one.
    """
    work = transfer_commands.move_in(where, folder, merge=merge, verify=verify, from_env=from_env)
    print(finished(work, _SAME_AGAIN))
    return 0


@app.command
def migrate(*, where: Where = HERE, dry_run: Flag = False, resume: str | None = None) -> int:
    """Bring every stored item into the newest shape of its entity. Ends with 1 when an item had to be left as it is.

    The server must be stopped, except for a dry run.

    Parameters
    ----------
    dry_run
        Only count what would be upgraded.
    resume
        Go on where a migration that was stopped says it was.
    """
    again = "What was upgraded stays so. Start again, from the beginning or from where it stopped."
    done = finished(maintenance_commands.migrate(where, dry_run=dry_run, resume=resume), again)
    maintenance_commands.show_migrated(done, dry_run=dry_run)
    return 1 if done.skipped else 0


@app.command
def sweep(*, where: Where = HERE) -> int:
    """Delete every item whose time to live has passed. The server must be stopped; it sweeps by itself."""
    print(finished(maintenance_commands.sweep(where), _SAME_AGAIN))
    return 0
