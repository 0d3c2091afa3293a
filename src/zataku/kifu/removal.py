"""Removal of an account from the record library: records, tags, analyses and permissions.

Records and tags are removed one by one, each with a marker, and `clean_up_user` deletes what depended on them. A
repeated run continues with the remaining items; the settings with the counts are deleted last.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from zataku.kifu.cleanup import clean_up_user
from zataku.kifu.design import (
    analyses_of,
    library_of,
    library_viewers,
    permissions_of_user,
    record,
    slug_claim,
    tag,
    tags_named,
)
from zataku.kifu.entities import Analysis, LibraryPermission, RecordPermission, UserSettings
from zataku.kifu.ids import library_of_account
from zataku.kifu.limits import KifuId, TagId, UserName
from zataku.kifu.writes import disallow_library, remove_record, remove_tag
from zataku.platform.limits import AccountId
from zataku.system import AppContext, Remove
from zataku.table import Conflict, Entity, Key, Plan, ResultUnknown, Store, TransactionCancelled

Permission = RecordPermission | LibraryPermission
E = TypeVar("E", bound=Entity)
Item = TypeVar("Item", Analysis, Permission)

_BATCH = 100
_MAX_ATTEMPTS = 20


def removal(context: AppContext) -> Remove:
    """The function that removes everything an account owns in the library."""

    async def remove(account_id: AccountId) -> None:
        username = library_of_account(account_id)
        store = context.store
        async for listed in store.each(library_of(username)):
            await _remove_record(store, username, listed.kifu_id)
        async for named_tag in store.each(tags_named(username)):
            await _remove_tag(store, username, named_tag.tag_id)
        await clean_up_user(store, username)
        async for permission in store.each(library_viewers(username)):
            await store.write(disallow_library(username, permission.username))
        await _delete(store, store.each(permissions_of_user(username)), _permission_key)
        await _delete(store, store.each(analyses_of(username)), _analysis_key)
        await store.delete(UserSettings.key(username=username))

    return remove


async def _remove_record(store: Store, username: UserName, kifu_id: KifuId) -> None:
    for _ in range(_MAX_ATTEMPTS):
        stored = await store.get(record(username, kifu_id))
        claim = None if stored is None else await store.get(slug_claim(username, stored.slug))
        if claim is None or claim.kifu_id != kifu_id or await _try_remove(store, remove_record(claim)):
            return
    raise Conflict("The record keeps being moved. The removal continues on its next run.")


async def _remove_tag(store: Store, username: UserName, tag_id: TagId) -> None:
    for _ in range(_MAX_ATTEMPTS):
        stored = await store.get(tag(username, tag_id))
        if stored is None or await _try_remove(store, remove_tag(stored)):
            return
    raise Conflict("The tag keeps being renamed. The removal continues on its next run.")


async def _try_remove(store: Store, plan: Plan[E]) -> bool:
    """Carry out a removal; False when the item has changed or the outcome is unknown, so that it must be read again."""
    try:
        await store.write(plan)
    except (TransactionCancelled, ResultUnknown):
        return False
    return True


async def _delete(store: Store, items: AsyncIterator[Item], key: Callable[[Item], Key[Any]]) -> None:
    keys = [key(item) async for item in items]
    for at in range(0, len(keys), _BATCH):
        await store.write_many(delete=keys[at : at + _BATCH])


def _analysis_key(analysis: Analysis) -> Key[Analysis]:
    return Analysis.key(analysis_id=analysis.analysis_id)


def _permission_key(permission: Permission) -> Key[Any]:
    if isinstance(permission, RecordPermission):
        return RecordPermission.key(kifu_id=permission.kifu_id, username=permission.username)
    return LibraryPermission.key(owner=permission.owner, username=permission.username)
