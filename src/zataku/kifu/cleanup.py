"""What a removed record or tag, or a replaced text, leaves behind, taken away.

Why it finishes: the transaction that removes something also writes a note of it (`GoneRecord`, `GoneTag`, `GoneText`),
and the note stays until all is taken away. A tag gets no more links once it is gone, a record nothing at all, and an
old text no more positions, since each of those is written in a transaction that looks at the tag, or at the claim of
the record's slug. So what is left over can only become less. It is looked for by strong reads of the table and its
local indexes, never through SwapIndex, which may be late. Whoever dies half-way leaves the note; to take away what is
gone already changes nothing.

The table's stream says when there is something to do. It keeps changes for 24 hours: after a longer outage, `tidy`
finds the notes of a user without it, for one read unit where there are none.
"""

from collections.abc import AsyncIterator, Iterable
from typing import Any

from zataku.kifu.design import (
    kept_analyses,
    leftovers_of,
    library_of,
    positions_of,
    record,
    tag,
    tags_of_record,
    who_may_see_record,
)
from zataku.kifu.entities import GoneRecord, GoneTag, GoneText, KeptAnalysis, RecordPermission, Tagging, kifu_table
from zataku.kifu.limits import KifuId, UserName
from zataku.kifu.writes.positions import forget_positions
from zataku.table import Change, Key, Store

CONSUMER = "unlinking"
# As many keys as DynamoDB gives in one batch.
BATCH = 100


async def unlink(store: Store, *, limit: int = 100, wait: float = 0) -> int:
    """Work off the next changes of the stream; gives how many there were, so that 0 means up to date.

    They are acknowledged together. Who dies before sees them again, and finds no notes of what is done.
    """
    stream = store.stream(kifu_table, CONSUMER)
    changes = await stream.read(limit, wait)
    for change in changes:
        await follow(store, change)
    if changes:
        await stream.acknowledge(changes[-1])
    return len(changes)


async def follow(store: Store, change: Change) -> None:
    """Take away what one change leaves behind. Most changes leave nothing."""
    match change.new:
        case GoneRecord() | GoneTag() | GoneText() as note:
            await settle(store, note)
        case _:
            return


async def tidy(store: Store, username: UserName) -> int:
    """Take away all that one user's removals have left behind; gives how many notes there were.

    For every user after an outage of the stream's consumer, and for one before the account is deleted.
    """
    notes = [note async for note in store.each(leftovers_of(username))]
    for note in notes:
        await settle(store, note)
    return len(notes)


async def settle(store: Store, note: GoneRecord | GoneTag | GoneText) -> None:
    """Take away what one note is about, and then the note. Without a note there is nothing left to do."""
    place = _place(note)
    if await store.get(place, strong=True) is None:
        return
    match note:
        case GoneRecord(username=username, kifu_id=kifu_id):
            # An id is never used again; should somebody restore a record, it keeps what it has.
            if await store.get(record(username, kifu_id)) is None:
                await _unlink_record(store, username, kifu_id)
        case GoneTag():
            if await store.get(tag(note.username, note.tag_id)) is None:
                await _unlink_tag(store, note)
        case GoneText(username=username, kifu_id=kifu_id, text=text):
            await _forget(store, username, kifu_id, text)
    await store.delete(place)


def _place(note: GoneRecord | GoneTag | GoneText) -> Key[Any]:
    match note:
        case GoneRecord():
            return GoneRecord.key(username=note.username, kifu_id=note.kifu_id)
        case GoneTag():
            return GoneTag.key(username=note.username, tag_id=note.tag_id)
        case GoneText():
            return GoneText.key(username=note.username, kifu_id=note.kifu_id, text=note.text)


async def _unlink_tag(store: Store, gone: GoneTag) -> None:
    """The links lie with the user's records, so all of these are looked at: 2,000 read units in the largest library."""
    async for batch in _batches(
        Tagging.key(kifu_id=found.kifu_id, tag_id=gone.tag_id) async for found in store.each(library_of(gone.username))
    ):
        links = await store.get_many(batch, strong=True)
        await _delete(store, [key for key, link in zip(batch, links, strict=True) if link is not None])


async def _unlink_record(store: Store, username: UserName, kifu_id: KifuId) -> None:
    async for batch in _batches(_belongings(store, kifu_id)):
        await _delete(store, batch)
    await _forget(store, username, kifu_id, None)


async def _belongings(store: Store, kifu_id: KifuId) -> AsyncIterator[Key[Any]]:
    async for link in store.each(tags_of_record(kifu_id)):
        yield Tagging.key(kifu_id=kifu_id, tag_id=link.tag_id)
    async for allowed in store.each(who_may_see_record(kifu_id)):
        yield RecordPermission.key(kifu_id=kifu_id, username=allowed.username)
    async for kept in store.each(kept_analyses(kifu_id)):
        yield KeptAnalysis.key(kifu_id=kifu_id, analysis_id=kept.analysis_id)


async def _forget(store: Store, username: UserName, kifu_id: KifuId, text: int | None) -> None:
    """Positions of one text of a record, or of all."""
    async for listed in store.each(positions_of(username, kifu_id)):
        if text in (None, listed.text):
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
