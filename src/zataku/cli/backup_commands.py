"""Copies of a whole store: making one, and putting one back."""

import asyncio
import sys
from pathlib import Path

from zataku.cli.execution import looking
from zataku.cli.output import aside
from zataku.cli.progress import reporting
from zataku.cli.store_options import Where
from zataku.clock import SystemClock
from zataku.server.process.data_folder import write_session_cutoff
from zataku.server.settings import STORE_FILE
from zataku.table import Backend, BadInput, LacksCapability, StoreUrl, open_store
from zataku.table.embedded import EmbeddedBackend
from zataku.table.embedded.file.restore import replaced_path


async def back_up(where: Where, destination: str) -> str:
    """Make a copy; gives what was made in a sentence."""
    place = where.place
    # A copy of a file holds all that is in it, so no design is needed for that.
    tables = [] if place.path else where.tables()
    async with looking(place, tables, where.env) as backend:
        _refuse_without_backups(place, backend)
        with reporting("pages" if place.path else "tables") as report:
            await backend.backup(destination, lambda done, total: report("Backup", done, total))
    return f"{place} is backed up: {destination}."


async def restore(where: Where, source: str) -> str:
    """Put a copy back; gives what was done and what was kept in a sentence."""
    place = where.place
    if place.path is None:
        async with await open_store(place, where.tables(), env=where.env) as store:
            _refuse_without_backups(place, store.backend)
            with reporting("tables") as report:
                await store.restore(source, lambda done, total: report("Restore", done, total))
        return f"{place} is restored from {source}."
    return await _restore_file(place.path, source)


def _refuse_without_backups(place: StoreUrl, backend: Backend) -> None:
    if "backups" not in backend.capabilities:
        raise LacksCapability(f"{place} keeps no backups. Copy it with `zataku store export FOLDER` instead.")


async def _restore_file(path: Path, source: str) -> str:
    replaced = await asyncio.to_thread(_ready, path)
    # Not started: a store that is damaged, or not there at all, can be restored as well.
    with reporting("pages") as report:
        await EmbeddedBackend(path).restore(source, lambda done, total: report("Restore", done, total))
    if path.name == STORE_FILE:
        # Sessions that were ended since the backup was taken must not come back with it.
        await asyncio.to_thread(write_session_cutoff, path.parent, int(SystemClock().now() * 1000))
    kept = f" What was there is kept as {replaced_path(path)}." if replaced else ""
    return f"{path} is restored from {source}.{kept}"


def _ready(path: Path) -> bool:
    """Make the folder of a store; True when there is something to replace."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.exists()


def confirm(place: StoreUrl) -> None:
    """Let the host type the store's name, so that nobody replaces a store by accident."""
    if not sys.stdin.isatty():
        raise BadInput(f"This replaces everything in {place}. Nobody is here to confirm it: add --yes.")
    aside(f"This replaces everything in {place}.")
    print(f"Type {place.name} to go on: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != place.name:
        raise BadInput("That is not its name. Nothing was changed.")
