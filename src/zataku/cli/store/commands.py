"""The commands of `zataku store`, with `status`: whether a store is reachable, and its tables match their designs.

Those that only read work beside a running server.
"""

from collections.abc import Sequence
from typing import cast

from cyclopts import App
from msgspec import Struct

from zataku.cli.execution import NOTHING_CHANGED, run_to_end
from zataku.cli.output import print_columns, print_facts
from zataku.cli.store.apply_command import apply
from zataku.cli.store.backups import backup, restore
from zataku.cli.store.check import check
from zataku.cli.store.maintenance import migrate, sweep
from zataku.cli.store.options import DEFAULT_STORE, StoreOptions
from zataku.cli.store.stats import stats
from zataku.cli.store.transfers import export, import_
from zataku.table import IndexState, SchemaRefused, StoreUrl, Table, open_store
from zataku.table.backend.schema_diff import TableDiff, compare_tables
from zataku.table.embedded import EmbeddedBackend
from zataku.table.embedded.file.lock import lock_holder
from zataku.table.store_changes import planned_changes

app = App(name="store", help_format="plaintext")
app.command(stats)
app.command(check)
app.command(backup)
app.command(restore)
app.command(export)
app.command(import_, name="import")
app.command(migrate)
app.command(sweep)
app.command(apply)


@app.command
def status(*, store: StoreOptions = DEFAULT_STORE) -> int:
    """Show where the store is, what it can do, and whether its tables match their designs. Ends with 1 if not."""
    current = run_to_end(_read_status(store), NOTHING_CHANGED)
    _print_status(current)
    return 0 if current.is_sound else 1


class Status(Struct):
    """The state of a store. `undesigned` are stored tables without a design."""

    store: str
    reachable: str
    capabilities: list[str]
    facts: dict[str, str]
    tables: list[TableDiff]
    indexes: list[IndexState]
    undesigned: list[str]

    @property
    def is_sound(self) -> bool:
        """True when every table exists and matches its design."""
        return all(table.state == "fits" for table in self.tables)


async def _read_status(options: StoreOptions) -> Status:
    """The current state. A store that does not answer raises its error."""
    url = options.url
    if url.path is None:
        return await _dynamodb_status(url, options.tables(), options.env)
    return await _file_status(url, options.known_tables(), options.env)


async def _file_status(url: StoreUrl, tables: Sequence[Table], env: str) -> Status:
    assert url.path is not None
    process = lock_holder(url.path)
    backend = EmbeddedBackend(url.path, read_only=True)
    try:
        # Without the tables: differences are reported, not refused.
        await backend.start(())
        stored = await backend.stored_tables()
        designed = [table.schema(env) for table in tables]
        reachable = "yes" if process is None else f"yes; process {process} holds it"
        return Status(
            store=str(url),
            reachable=reachable,
            capabilities=sorted(backend.capabilities),
            facts=await backend.facts(),
            tables=compare_tables(designed, stored),
            indexes=await backend.index_states(),
            undesigned=sorted({table.name for table in stored} - {table.name for table in designed}),
        )
    finally:
        await backend.close()


async def _dynamodb_status(url: StoreUrl, tables: Sequence[Table], env: str) -> Status:
    current = Status(str(url), "yes", [], {}, [], [], [])
    for table in tables:
        name = table.schema(env).name
        try:
            # One at a time, so that each table is compared by itself.
            store = await open_store(url, [table], env=env, read_only=True)
        except SchemaRefused as refused:
            current.tables.append(_table_diff(name, refused))
            continue
        async with store:
            backend = store.backend
            current.capabilities = sorted(backend.capabilities)
            current.facts |= await backend.facts()
            # Differences that the store works with are not refused.
            changes = [change for change in await planned_changes(url, [table], env) if change.removes]
            left = tuple(change.difference for change in changes)
            current.tables.append(TableDiff(name, "differs" if left else "fits", left))
            current.indexes += [state for state in await backend.index_states() if state.table == name]
    return current


def _table_diff(name: str, refused: SchemaRefused) -> TableDiff:
    differences = cast("Sequence[str]", refused.details.get("differences", (refused.message,)))
    if f"{name} is missing." in differences:
        return TableDiff(name, "absent")
    return TableDiff(name, "differs", tuple(differences))


def _print_status(status: Status) -> None:
    print_facts(
        [
            ("store", status.store),
            ("reachable", status.reachable),
            *([("can do", ", ".join(status.capabilities))] if status.capabilities else []),
            *sorted(status.facts.items()),
        ]
    )
    print()
    if not status.tables and not status.undesigned:
        print("It holds no tables.")
        return
    print_columns(("table", "index", "state"), list(_rows(status)))


def _rows(status: Status) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    states = {diff.table: ": ".join(filter(None, (diff.state, ", ".join(diff.differences)))) for diff in status.tables}
    for name in (*states, *status.undesigned):
        rows.append((name, "", states.get(name, "stored; no design was found for it")))
        rows += [(name, state.index, _index_state(state)) for state in status.indexes if state.table == name]
    return rows


def _index_state(state: IndexState) -> str:
    if state.status == "active":
        return "active"
    share = f" ({state.done * 100 // state.total} %)" if state.total else ""
    return f"being filled: {state.done:,} of {state.total:,} items{share}"
