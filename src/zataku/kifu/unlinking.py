"""What a removed record or tag leaves behind, taken away by following the table's stream.

Why it finishes: a tag gets no more links once it is gone, and a record no more permissions, positions and results,
since each of those is written in a transaction that looks at the tag, or at the claim of the record's slug. So what is
left over can only become less. It is looked for by strong reads of the table and its local indexes, never through
SwapIndex, which may be late. A change is acknowledged after its work is done; a consumer that dies before does it
again, and taking away what is gone already changes nothing.
"""

from collections.abc import AsyncIterator, Iterable
from typing import Any

from zataku.kifu.design import (
    kept_analyses,
    library_of,
    positions_of,
    record,
    tag,
    who_may_see_record,
)
from zataku.kifu.items import KeptAnalysis, Record, RecordPermission, Tag, Tagging
from zataku.kifu.positions import forget_positions
from zataku.kifu.table import kifu_table
from zataku.table import Change, Key, Store

CONSUMER = "unlinking"
# As many keys as DynamoDB gives in one batch.
BATCH = 100


async def unlink(store: Store, *, limit: int = 100, wait: float = 0) -> int:
    """Work off the next changes of the stream; gives how many there were, so that 0 means up to date."""
    stream = store.stream(kifu_table, CONSUMER)
    changes = await stream.read(limit, wait)
    for change in changes:
        await follow(store, change)
        await stream.acknowledge(change)
    return len(changes)


async def follow(store: Store, change: Change) -> None:
    """Take away what one change leaves behind. Most changes leave nothing."""
    if change.kind != "REMOVE":
        return
    match change.old:
        case Tag() as gone if await store.get(tag(gone.username, gone.tag_id)) is None:
            await _unlink_tag(store, gone)
        case Record() as gone if await store.get(record(gone.username, gone.kifu_id)) is None:
            await _unlink_record(store, gone)
        case _:
            return


async def _unlink_tag(store: Store, gone: Tag) -> None:
    """The links lie with the user's records, so all of these are looked at: 2,000 read units in the largest library."""
    async for batch in _batches(
        Tagging.key(kifu_id=found.kifu_id, tag_id=gone.tag_id) async for found in store.each(library_of(gone.username))
    ):
        links = await store.get_many(batch, strong=True)
        await _delete(store, [key for key, link in zip(batch, links, strict=True) if link is not None])


async def _unlink_record(store: Store, gone: Record) -> None:
    async for batch in _batches(
        RecordPermission.key(kifu_id=it.kifu_id, username=it.username)
        async for it in store.each(who_may_see_record(gone.kifu_id))
    ):
        await _delete(store, batch)
    async for batch in _batches(
        KeptAnalysis.key(kifu_id=it.kifu_id, analysis_id=it.analysis_id)
        async for it in store.each(kept_analyses(gone.kifu_id))
    ):
        await _delete(store, batch)
    async for listed in store.each(positions_of(gone.username, gone.kifu_id)):
        await store.write(forget_positions(listed))


async def _delete(store: Store, keys: Iterable[Key[Any]]) -> None:
    gone = list(keys)
    if gone:
        await store.write_many(delete=gone)


async def _batches(keys: AsyncIterator[Key[Any]]) -> AsyncIterator[list[Key[Any]]]:
    batch: list[Key[Any]] = []
    async for key in keys:
        batch.append(key)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
