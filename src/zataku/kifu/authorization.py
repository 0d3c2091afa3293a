"""Authorisation of views: the one place that decides who may see a record, from strong reads of base items."""

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


def public_view(found: Record) -> SharedRecord:
    """The view of a record for everybody but its owner."""
    return SharedRecord(
        username=found.username,
        kifu_id=found.kifu_id,
        kifu=found.kifu,
        first_or_second=found.first_or_second,
        result=found.result,
        created=found.created,
    )


async def shared_record(store: Store, code: ShareCode) -> SharedRecord | None:
    """What is shared under a code right now, or None.

    CommonGSI says where it may be, and may be a moment late in both directions; the record itself, read strongly, must
    be shared under this very code. A link that was switched off opens nothing from the moment that was acknowledged; a
    new one may take a moment to open.
    """
    async for place in store.each(records_under_code(code)):
        found = await store.get(record(place.username, place.kifu_id))
        if found is not None and found.share_code == code:
            return public_view(found)
    return None


async def visible_record(
    store: Store, viewer: UserName | None, owner: UserName, kifu_id: KifuId
) -> Record | SharedRecord | None:
    """The whole record for its owner, and what others see of it for those who may see it right now.

    Everybody may if it is public, and so may those whom the owner has allowed this record or all records. A guest is
    None. None comes back also when there is no such record, so that nobody learns which.
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
