"""Cleanup after a removed record or tag, or a replaced text: deletes the items that depended on it.

The transaction that removes something also writes a marker (`RemovedRecord`, `RemovedTag`, `ReplacedText`), which stays
until everything is deleted. Nothing new can appear until then: a link, a permission or a position is written in a
transaction that checks the tag, or the claim of the record's slug. The items are found by strong reads of the table and
its local indexes, never through SwapIndex, which may be stale. An interrupted run leaves the marker, and deleting again
what is deleted changes nothing.

The table's stream triggers the cleanup. It keeps changes for 24 hours: after a longer outage, `clean_up_user` finds the
markers of a user without it, at one read unit where there are none.
"""

from collections.abc import AsyncIterator, Iterable
from typing import Any

from zataku.kifu.design import (
    cleanup_markers_of,
    kept_analyses,
    library_of,
    positions_of,
    record,
    record_viewers,
    tag,
    tags_of_record,
)
from zataku.kifu.entities import (
    KeptAnalysis,
    RecordPermission,
    RemovedRecord,
    RemovedTag,
    ReplacedText,
    Tagging,
)
from zataku.kifu.limits import KifuId, UserName
from zataku.kifu.writes.positions import delete_positions
from zataku.table import Change, Key, Store

CONSUMER = "unlinking"
# The largest number of keys in one batch.
BATCH = 100


async def clean_up_after(store: Store, change: Change) -> None:
    """Clean up after one change of the stream. Most changes need nothing, and one that is repeated has no marker."""
    match change.new:
        case RemovedRecord() | RemovedTag() | ReplacedText() as marker:
            await clean_up(store, marker)
        case _:
            return


async def clean_up_user(store: Store, username: UserName) -> int:
    """Clean up after all removals of one user; returns the number of markers.

    Needed when an account is removed, and after an outage in which the stream lost changes.
    """
    markers = [marker async for marker in store.each(cleanup_markers_of(username))]
    for marker in markers:
        await clean_up(store, marker)
    return len(markers)


async def clean_up(store: Store, marker: RemovedRecord | RemovedTag | ReplacedText) -> None:
    """Delete what depended on the removed item, then the marker. Without a marker there is nothing to do."""
    key = _marker_key(marker)
    if await store.get(key, strong=True) is None:
        return
    match marker:
        case RemovedRecord(username=username, kifu_id=kifu_id):
            # Ids are never reused; a record that was restored from a backup keeps its links.
            if await store.get(record(username, kifu_id)) is None:
                await _delete_record_links(store, username, kifu_id)
        case RemovedTag():
            if await store.get(tag(marker.username, marker.tag_id)) is None:
                await _delete_tag_links(store, marker)
        case ReplacedText(username=username, kifu_id=kifu_id, text=text):
            await _delete_positions(store, username, kifu_id, text)
    await store.delete(key)


def _marker_key(marker: RemovedRecord | RemovedTag | ReplacedText) -> Key[Any]:
    match marker:
        case RemovedRecord():
            return RemovedRecord.key(username=marker.username, kifu_id=marker.kifu_id)
        case RemovedTag():
            return RemovedTag.key(username=marker.username, tag_id=marker.tag_id)
        case ReplacedText():
            return ReplacedText.key(username=marker.username, kifu_id=marker.kifu_id, text=marker.text)


async def _delete_tag_links(store: Store, marker: RemovedTag) -> None:
    """Delete the links of a tag. They are stored by record, so every record is checked: 2,000 read units at most."""
    async for batch in _batches(
        Tagging.key(kifu_id=listed.kifu_id, tag_id=marker.tag_id)
        async for listed in store.each(library_of(marker.username))
    ):
        links = await store.get_many(batch, strong=True)
        await _delete(store, [key for key, link in zip(batch, links, strict=True) if link is not None])


async def _delete_record_links(store: Store, username: UserName, kifu_id: KifuId) -> None:
    async for batch in _batches(_record_links(store, kifu_id)):
        await _delete(store, batch)
    await _delete_positions(store, username, kifu_id, None)


async def _record_links(store: Store, kifu_id: KifuId) -> AsyncIterator[Key[Any]]:
    async for link in store.each(tags_of_record(kifu_id)):
        yield Tagging.key(kifu_id=kifu_id, tag_id=link.tag_id)
    async for permission in store.each(record_viewers(kifu_id)):
        yield RecordPermission.key(kifu_id=kifu_id, username=permission.username)
    async for result in store.each(kept_analyses(kifu_id)):
        yield KeptAnalysis.key(kifu_id=kifu_id, analysis_id=result.analysis_id)


async def _delete_positions(store: Store, username: UserName, kifu_id: KifuId, text: int | None) -> None:
    """Delete the positions of one text of a record, or of all texts."""
    async for listed in store.each(positions_of(username, kifu_id)):
        if text in (None, listed.text):
            await store.write(delete_positions(listed))


async def _delete(store: Store, keys: Iterable[Key[Any]]) -> None:
    batch = list(keys)
    if batch:
        await store.write_many(delete=batch)


async def _batches(keys: AsyncIterator[Key[Any]]) -> AsyncIterator[list[Key[Any]]]:
    batch: list[Key[Any]] = []
    async for key in keys:
        batch.append(key)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
