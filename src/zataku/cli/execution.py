"""Opening the store that a command is about."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

from zataku.cli.output import aside
from zataku.table import Backend, SchemaRefused, Store, StoreUrl, Table, open_store
from zataku.table.embedded import EmbeddedBackend

Result = TypeVar("Result")


@asynccontextmanager
async def looking(place: StoreUrl, tables: Sequence[Table], env: str) -> AsyncGenerator[Backend]:
    """The store for reading only: it is not taken, so a server may hold it, and no table is made or changed."""
    if place.path is None:
        async with await _opened(place, tables, env) as store:
            yield store.backend
        return
    backend = EmbeddedBackend(place.path, read_only=True)
    try:
        await backend.start([table.schema(env) for table in tables])
        yield backend
    finally:
        await backend.close()


async def _opened(place: StoreUrl, tables: Sequence[Table], env: str) -> Store:
    try:
        return await open_store(place, tables, env=env, read_only=True)
    except SchemaRefused as refused:
        said = cast("Sequence[str]", refused.details.get("differences", (refused.message,)))
        raise SchemaRefused(
            f"{place} does not fit the designs: {' '.join(said)} See `zataku store status`; a server that starts there "
            "makes its tables fit."
        ) from refused


def finished(work: Coroutine[Any, Any, Result], after_interrupt: str) -> Result:
    """Run the work to its end. Whoever interrupts it is told how to go on."""
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        aside(f"\nzataku: Stopped. {after_interrupt}")
        raise
