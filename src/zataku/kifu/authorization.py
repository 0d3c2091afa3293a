"""Authorisation of record views, decided by strong reads of base items only."""

from msgspec import Struct

from zataku.kifu.design import library_permission, record, record_permission, records_under_code
from zataku.kifu.entities import Record
from zataku.kifu.limits import KifuId, Result, ShareCode, Side, UserName
from zataku.table import Store


class SharedRecord(Struct, frozen=True, kw_only=True):
    """A record as other users see it: without slug, memo, tags and code."""

    username: UserName
    kifu_id: KifuId
    kifu: str
    first_or_second: Side
    result: Result
    created: str


def public_view(record: Record) -> SharedRecord:
    """A record without the fields that only its owner sees."""
    return SharedRecord(
        username=record.username,
        kifu_id=record.kifu_id,
        kifu=record.kifu,
        first_or_second=record.first_or_second,
        result=record.result,
        created=record.created,
    )


async def shared_record(store: Store, code: ShareCode) -> SharedRecord | None:
    """The record that is shared under a code, or None.

    CommonGSI is eventually consistent, so the record it refers to is read strongly and must have this code. A disabled
    link opens nothing once the write is acknowledged; a new one may take a moment to open.
    """
    async for place in store.each(records_under_code(code)):
        found = await store.get(record(place.username, place.kifu_id))
        if found is not None and found.share_code == code:
            return public_view(found)
    return None


async def visible_record(
    store: Store, viewer: UserName | None, owner: UserName, kifu_id: KifuId
) -> Record | SharedRecord | None:
    """The whole record for its owner, the public view for other users who may see it, otherwise None.

    A public record is visible to everyone, others to users with a permission for the record or the library. `viewer`
    is None for a guest. The result is None also when the record does not exist, so that ids cannot be probed.
    """
    found = await store.get(record(owner, kifu_id))
    if found is None or viewer == owner:
        return found
    return public_view(found) if await _is_allowed(store, viewer, found) else None


async def _is_allowed(store: Store, viewer: UserName | None, found: Record) -> bool:
    if found.public or viewer is None:
        return found.public
    allowed = await store.get(record_permission(found.kifu_id, viewer))
    return allowed is not None or await store.get(library_permission(found.username, viewer)) is not None
