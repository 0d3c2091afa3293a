"""The command that prints whether a store is reachable, and whether its tables match their designs."""

from collections.abc import Sequence
from typing import cast

from msgspec import Struct

from zataku.cli.execution import NOTHING_CHANGED, run_to_end
from zataku.cli.output import print_columns, print_facts
from zataku.cli.store_options import DEFAULT_STORE, StoreOptions
from zataku.table import Backend, IndexState, SchemaRefused, StoreUrl, Table, open_store
from zataku.table.backend.schema_diff import TableDiff, compare_tables
from zataku.table.embedded import EmbeddedBackend
from zataku.table.embedded.file.lock import lock_holder


def status(*, store: StoreOptions = DEFAULT_STORE) -> int:
    """Show where the store is, what it can do, and whether its tables match their designs. Ends with 1 if not."""
    found = run_to_end(_read_status(store), NOTHING_CHANGED)
    _print_status(found)
    return 0 if found.is_sound else 1


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
        return await _of_dynamodb(url, options.tables(), options.env)
    return await _of_file(url, options.known_tables(), options.env)


async def _of_file(url: StoreUrl, tables: Sequence[Table], env: str) -> Status:
    assert url.path is not None
    process = lock_holder(url.path)
    backend = EmbeddedBackend(url.path, read_only=True)
    try:
        # Without the tables: differences are reported, not refused.
        await backend.start(())
        stored = await backend.stored_tables()
        wanted = [table.schema(env) for table in tables]
        reachable = "yes" if process is None else f"yes; process {process} holds it"
        found = await _facts(url, backend, reachable)
        found.tables = compare_tables(wanted, stored)
        found.indexes = await backend.index_states()
        found.undesigned = sorted({table.name for table in stored} - {table.name for table in wanted})
        return found
    finally:
        await backend.close()


async def _of_dynamodb(url: StoreUrl, tables: Sequence[Table], env: str) -> Status:
    found: Status | None = None
    fitting: list[TableDiff] = []
    indexes: list[IndexState] = []
    for table in tables:
        name = table.schema(env).name
        try:
            # One at a time, so that each table is compared by itself.
            store = await open_store(url, [table], env=env, read_only=True)
        except SchemaRefused as refused:
            fitting.append(_misfit(name, refused))
            continue
        async with store:
            seen = await _facts(url, store.backend, "yes")
            if found is not None:
                seen.facts = found.facts | seen.facts
            found = seen
            fitting.append(TableDiff(name, "fits"))
            indexes += [state for state in await store.backend.index_states() if state.table == name]
    found = found or Status(str(url), "yes", [], {}, [], [], [])
    found.tables, found.indexes = fitting, indexes
    return found


def _misfit(name: str, refused: SchemaRefused) -> TableDiff:
    said = cast("Sequence[str]", refused.details.get("differences", (refused.message,)))
    return TableDiff(name, "absent") if f"{name} is missing." in said else TableDiff(name, "differs", tuple(said))


async def _facts(url: StoreUrl, backend: Backend, reachable: str) -> Status:
    return Status(str(url), reachable, sorted(backend.capabilities), await backend.facts(), [], [], [])


def _print_status(status: Status) -> None:
    """Print the state."""
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
    states = {fit.table: ": ".join(filter(None, (fit.state, ", ".join(fit.differences)))) for fit in status.tables}
    for name in (*states, *status.undesigned):
        rows.append((name, "", states.get(name, "stored; no design was found for it")))
        rows += [(name, state.index, _filled(state)) for state in status.indexes if state.table == name]
    return rows


def _filled(state: IndexState) -> str:
    if state.status == "active":
        return "active"
    share = f" ({state.done * 100 // state.total} %)" if state.total else ""
    return f"being filled: {state.done:,} of {state.total:,} items{share}"
