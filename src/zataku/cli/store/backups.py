"""Commands that back up and restore a whole store."""

import asyncio
from pathlib import Path

from zataku.cli.execution import open_read_only, run_to_end
from zataku.cli.output import confirm
from zataku.cli.progress import progress_report
from zataku.cli.store.options import DEFAULT_STORE, Flag, StoreOptions
from zataku.clock import SystemClock, now_ms
from zataku.server.process.data_folder import write_session_cutoff
from zataku.server.settings import STORE_FILE
from zataku.table import Backend, BadInput, LacksCapability, StoreUrl, open_store
from zataku.table.embedded import EmbeddedBackend
from zataku.table.embedded.file.restore import replaced_path


def backup(destination: str, /, *, store: StoreOptions = DEFAULT_STORE) -> int:
    """Make a complete copy, also while a server runs: a file, or on DynamoDB a backup of that name for each table.

    Parameters
    ----------
    destination
        The file to write, which must not exist yet; on DynamoDB the name of the backup.
    """
    print(run_to_end(_back_up(store, destination), "No backup was created. Run the same command again."))
    return 0


def restore(source: str, /, *, store: StoreOptions = DEFAULT_STORE, yes: Flag = False) -> int:
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
        confirm(f"This replaces everything in {store.url}.", store.url.name, BadInput)
    print(run_to_end(_restore(store, source), "Look at the store with `zataku store status`, then try again."))
    return 0


async def _back_up(options: StoreOptions, destination: str) -> str:
    """Make a backup; returns a sentence for the operator."""
    url = options.url
    # A backup of a file holds all tables, so that no design is needed.
    tables = [] if url.path else options.tables()
    async with open_read_only(url, tables, options.env) as backend:
        _refuse_without_backups(url, backend)
        with progress_report("pages" if url.path else "tables") as report:
            await backend.backup(destination, lambda done, total: report("Backup", done, total))
    return f"{url} is backed up: {destination}."


async def _restore(options: StoreOptions, source: str) -> str:
    """Restore a backup; returns a sentence for the operator."""
    url = options.url
    if url.path is None:
        async with await open_store(url, options.tables(), env=options.env) as store:
            _refuse_without_backups(url, store.backend)
            with progress_report("tables") as report:
                await store.restore(source, lambda done, total: report("Restore", done, total))
        return f"{url} is restored from {source}."
    return await _restore_file(url.path, source)


def _refuse_without_backups(url: StoreUrl, backend: Backend) -> None:
    if "backups" not in backend.capabilities:
        raise LacksCapability(f"{url} has no backups. Copy it with `zataku store export FOLDER` instead.")


async def _restore_file(path: Path, source: str) -> str:
    is_replaced = await asyncio.to_thread(_prepare_folder, path)
    # The store is not started, so that a damaged or missing one can be restored as well.
    with progress_report("pages") as report:
        await EmbeddedBackend(path).restore(source, lambda done, total: report("Restore", done, total))
    if path.name == STORE_FILE:
        # Sessions that ended after the backup was created must not be valid again.
        await asyncio.to_thread(write_session_cutoff, path.parent, now_ms(SystemClock()))
    note = f" What was there is kept as {replaced_path(path)}." if is_replaced else ""
    return f"{path} is restored from {source}.{note}"


def _prepare_folder(path: Path) -> bool:
    """Create the folder of a store; True when there is a store to replace."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.exists()
