"""The command that lists the items which do not fit their entity."""

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from zataku.cli.execution import NOTHING_CHANGED, run_to_end
from zataku.cli.output import escape_controls, print_columns
from zataku.cli.progress import progress_report
from zataku.cli.store.options import DEFAULT_STORE, Flag, StoreOptions
from zataku.table import Store, StoreDamaged, Table, UnreadableItem, open_store
from zataku.table.store.row_readers import item_or_problem

_PROGRESS_ITEMS = 1000


def check(*, store: StoreOptions = DEFAULT_STORE, limit: int = 100, json: Flag = False) -> int:
    """Read every item, and list those that do not fit their entity. Ends with 1 if there are any.

    Such items were written by another program or a later version, or are damaged. It works beside a running server.

    Parameters
    ----------
    limit
        List at most so many items.
    json
        Print the list for a program.
    """
    result = run_to_end(_check(store, limit), NOTHING_CHANGED)
    if json:
        print(msgspec.json.format(msgspec.json.encode(result), indent=2).decode())
    else:
        _print_result(result)
    return 1 if result.unreadable else 0


class MisfitItem(Struct):
    """An item that does not fit: its key, the kind that its key suggests, and the reason."""

    table: str
    key: dict[str, str]
    entity: str | None
    reason: str


class CheckResult(Struct):
    """The numbers of items that were read and that do not fit, and a list of the latter."""

    store: str
    items: int
    unreadable: int
    listed: list[MisfitItem]


async def _check(options: StoreOptions, limit: int) -> CheckResult:
    result = CheckResult(str(options.url), 0, 0, [])
    async with await open_store(options.url, options.tables(), env=options.env, read_only=True) as store:
        with progress_report("items") as report:
            for table in store.tables:
                try:
                    found = await _scan(store, table, limit, lambda count: report("Read", result.items + count, None))
                except StoreDamaged:
                    found = _read_rows(options, store, table, limit)
                    if not found.has_foreign_rows:
                        raise
                result.items += found.items
                result.unreadable += found.unreadable
                result.listed += found.listed[: limit - len(result.listed)]
    return result


class _Findings:
    """What was found in one table."""

    def __init__(self, table: str, limit: int) -> None:
        self.items = self.unreadable = 0
        self.listed: list[MisfitItem] = []
        self.has_foreign_rows = False
        self._table = table
        self._limit = limit

    def add(self, item: UnreadableItem) -> None:
        """Count an item that does not fit, and list it unless there are too many."""
        self.add_misfit(_key_texts(item.key), item.entity, item.reason)

    def add_misfit(self, key: dict[str, str], entity: str | None, reason: str) -> None:
        """As `add`."""
        self.items += 1
        self.unreadable += 1
        if len(self.listed) < self._limit:
            self.listed.append(MisfitItem(self._table, key, entity, reason))


async def _scan(store: Store, table: Table, limit: int, report: Callable[[int], None]) -> _Findings:
    found = _Findings(store.schema(table).name, limit)
    async for _ in store.scan(table, unreadable=found.add):
        found.items += 1
        if found.items % _PROGRESS_ITEMS == 0:
            report(found.items)
    return found


def _read_rows(options: StoreOptions, store: Store, table: Table, limit: int) -> _Findings:
    """Read a file row by row: a page with a row that is no item cannot be read."""
    # Imported here: commands on DynamoDB do not load SQLite.
    from zataku.table.embedded.reads.stored_rows import stored_rows

    schema = store.schema(table)
    found = _Findings(schema.name, limit)
    for row in () if options.url.path is None else stored_rows(options.url.path, schema.name):
        try:
            item = item_or_problem(table, row.packed)
        except StoreDamaged:
            found.has_foreign_rows = True
            texts = (part.decode(errors="replace") for part in (row.pk, row.sk))
            found.add_misfit(dict(zip([key.name for key in schema.keys], texts, strict=False)), None, "It is no item.")
            continue
        if isinstance(item, UnreadableItem):
            found.add(item)
        else:
            found.items += 1
    return found


def _key_texts(key: Mapping[str, object]) -> dict[str, str]:
    return {name: value if isinstance(value, str) else repr(value) for name, value in key.items()}


def _print_result(result: CheckResult) -> None:
    if not result.unreadable:
        print(f"All {result.items:,} items fit their entities.")
        return
    print_columns(("table", "entity", "key", "reason"), list(map(_row, result.listed)))
    if result.unreadable > len(result.listed):
        print(f"and {result.unreadable - len(result.listed):,} more; --limit lists them.")
    print(f"{result.unreadable:,} of {result.items:,} items do not fit. They are left as they are.")


def _row(item: MisfitItem) -> tuple[str, str, str, str]:
    return (
        item.table,
        item.entity or "none",
        escape_controls(", ".join(item.key.values())),
        escape_controls(item.reason),
    )
