"""Changes that make the tables of a store match their designs: the plan, and carrying it out.

Opening a store makes those that lose nothing. The others are made here alone.
"""

import asyncio
from collections.abc import Callable, Sequence

from zataku.table.backend.port import IndexState
from zataku.table.backend.schema_diff import PlannedChange, check_table_change, compare_tables
from zataku.table.schema.table import Table
from zataku.table.store_factory import dynamodb_backend
from zataku.table.store_url import StoreUrl, open_store

_POLL_SECONDS = 0.2


async def planned_changes(url: StoreUrl, tables: Sequence[Table], env: str) -> list[PlannedChange]:
    """The changes that `apply_changes` would make. Changes nothing, also beside a running server.

    Raises `SchemaRefused` for a table that cannot follow its design.
    """
    schemas = [table.schema(env) for table in tables]
    if url.path is not None:
        from zataku.table.embedded import EmbeddedBackend

        if not url.path.exists():
            return [PlannedChange(schema.name, f"{schema.name} is missing.", "create the table") for schema in schemas]
        file = EmbeddedBackend(url.path, read_only=True)
        try:
            await file.start(())
            stored = await file.stored_tables()
        finally:
            await file.close()
        diffs = compare_tables(schemas, stored)
        by_name = {table.name: table for table in stored}
        for schema in schemas:
            if schema.name in by_name:
                check_table_change(by_name[schema.name], schema)
        return [
            PlannedChange(diff.table, f"{diff.table}: {difference}.", "follow the design, which loses no item")
            for diff in diffs
            for difference in diff.differences
        ] + [
            PlannedChange(diff.table, f"{diff.table} is missing.", "create the table")
            for diff in diffs
            if diff.state == "absent"
        ]
    service = dynamodb_backend(url.endpoint, url.region, env=env, manage=False)
    try:
        return await service.plan(schemas)
    finally:
        await service.close()


async def apply_changes(
    url: StoreUrl, tables: Sequence[Table], env: str, progress: Callable[[list[IndexState]], object] = lambda _: None
) -> None:
    """Make the tables match their designs, deleting what has to be deleted, and wait until every index is filled."""
    if url.path is not None:
        async with await open_store(url, tables, env=env) as store:
            while waiting := [state for state in await store.index_states() if state.status != "active"]:
                progress(waiting)
                await asyncio.sleep(_POLL_SECONDS)
        return
    service = dynamodb_backend(url.endpoint, url.region, env=env, removals=True)
    try:
        await service.probe()
        await service.start([table.schema(env) for table in tables])
        filling = asyncio.ensure_future(service.wait_for_indexes())
        while not filling.done():
            await asyncio.wait([filling], timeout=_POLL_SECONDS)
            progress([state for state in await service.index_states() if state.status != "active"])
        await filling
    finally:
        await service.close()
