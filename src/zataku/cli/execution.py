"""Running a command's coroutine, and opening its store for reading."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

from zataku.cli.output import print_note
from zataku.table import Backend, SchemaRefused, Store, StoreUrl, Table, open_store
from zataku.table.embedded import EmbeddedBackend

Result = TypeVar("Result")

NOTHING_CHANGED = "Nothing was changed."
SAME_COMMAND_CONTINUES = "The same command continues where it stopped."


@asynccontextmanager
async def open_read_only(url: StoreUrl, tables: Sequence[Table], env: str) -> AsyncGenerator[Backend]:
    """The store for reading: it is not locked, so that a server may hold it, and no table is created or changed."""
    if url.path is None:
        async with await _open_dynamodb(url, tables, env) as store:
            yield store.backend
        return
    backend = EmbeddedBackend(url.path, read_only=True)
    try:
        await backend.start([table.schema(env) for table in tables])
        yield backend
    finally:
        await backend.close()


async def _open_dynamodb(url: StoreUrl, tables: Sequence[Table], env: str) -> Store:
    try:
        return await open_store(url, tables, env=env, read_only=True)
    except SchemaRefused as refused:
        differences = cast("Sequence[str]", refused.details.get("differences", (refused.message,)))
        raise SchemaRefused(
            f"{url} does not match the designs: {' '.join(differences)} `zataku store apply` "
            "shows what it would change, asks, and changes it."
        ) from refused


def run_to_end(work: Coroutine[Any, Any, Result], interrupt_note: str) -> Result:
    """Run the work. An interrupt prints how to continue."""
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        print_note(f"\nzataku: Stopped. {interrupt_note}")
        raise
