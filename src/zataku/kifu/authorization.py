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
    async for reference in store.each(records_under_code(code)):
        shared = await store.get(record(reference.username, reference.kifu_id))
        if shared is not None and shared.share_code == code:
            return public_view(shared)
    return None


async def visible_record(
    store: Store, viewer: UserName | None, owner: UserName, kifu_id: KifuId
) -> Record | SharedRecord | None:
    """The whole record for its owner, the public view for other users who may see it, otherwise None.

    A public record is visible to everyone, others to users with a permission for the record or the library. `viewer`
    is None for a guest. The result is None also when the record does not exist, so that ids cannot be probed.
    """
    stored = await store.get(record(owner, kifu_id))
    if stored is None or viewer == owner:
        return stored
    return public_view(stored) if await _is_allowed(store, viewer, stored) else None


async def _is_allowed(store: Store, viewer: UserName | None, viewed: Record) -> bool:
    if viewed.public or viewer is None:
        return viewed.public
    permission = await store.get(record_permission(viewed.kifu_id, viewer))
    return permission is not None or await store.get(library_permission(viewed.username, viewer)) is not None
