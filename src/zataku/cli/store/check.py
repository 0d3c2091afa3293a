"""The command that lists the items which do not fit their entity."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from zataku.cli.execution import NOTHING_CHANGED, run_to_end
from zataku.cli.output import escape_controls, print_columns
from zataku.cli.progress import progress_report
from zataku.cli.store.options import DEFAULT_STORE, Flag, StoreOptions
from zataku.table import UnreadableItem, open_store

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
                name = store.schema(table).name

                def found(item: UnreadableItem, name: str = name) -> None:
                    result.items += 1
                    result.unreadable += 1
                    if len(result.listed) < limit:
                        result.listed.append(MisfitItem(name, _key_texts(item.key), item.entity, item.reason))

                async for _ in store.scan(table, unreadable=found):
                    result.items += 1
                    if result.items % _PROGRESS_ITEMS == 0:
                        report("Read", result.items, None)
    return result


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
