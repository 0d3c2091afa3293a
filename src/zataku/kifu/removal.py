"""What an account owns in the record library, taken away: records, tags, analyses, and who may see what.

Records and tags go one by one, each with a note of what hung on it, and `tidy` then takes that away. Everything is
found again by a run that starts anew; the settings with the counts go last.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from zataku.kifu.cleanup import tidy
from zataku.kifu.design import (
    analyses_of,
    library_of,
    record,
    slug_claim,
    tag,
    tags_named,
    what_i_may_see,
    who_may_see_library,
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
_TRIES = 20


def removal(context: AppContext) -> Remove:
    """Takes away what an account owns in the library."""

    async def remove(account_id: AccountId) -> None:
        username = library_of_account(account_id)
        store = context.store
        async for found in store.each(library_of(username)):
            await _remove_record(store, username, found.kifu_id)
        async for named in store.each(tags_named(username)):
            await _remove_tag(store, username, named.tag_id)
        await tidy(store, username)
        async for allowed in store.each(who_may_see_library(username)):
            await store.write(disallow_library(username, allowed.username))
        await _delete(store, store.each(what_i_may_see(username)), _permission)
        await _delete(store, store.each(analyses_of(username)), _analysis)
        await store.delete(UserSettings.key(username=username))

    return remove


async def _remove_record(store: Store, username: UserName, kifu_id: KifuId) -> None:
    for _ in range(_TRIES):
        found = await store.get(record(username, kifu_id))
        claim = None if found is None else await store.get(slug_claim(username, found.slug))
        if claim is None or claim.kifu_id != kifu_id or await _removed(store, remove_record(claim)):
            return
    raise Conflict("Somebody moves the record all the time. The removal goes on with it at its next run.")


async def _remove_tag(store: Store, username: UserName, tag_id: TagId) -> None:
    for _ in range(_TRIES):
        found = await store.get(tag(username, tag_id))
        if found is None or await _removed(store, remove_tag(found)):
            return
    raise Conflict("Somebody renames the tag all the time. The removal goes on with it at its next run.")


async def _removed(store: Store, plan: Plan[E]) -> bool:
    """False when it was changed meanwhile, or nobody knows what came of it: what lies there now tells."""
    try:
        await store.write(plan)
    except (TransactionCancelled, ResultUnknown):
        return False
    return True


async def _delete(store: Store, found: AsyncIterator[Item], key: Callable[[Item], Key[Any]]) -> None:
    keys = [key(item) async for item in found]
    for at in range(0, len(keys), _BATCH):
        await store.write_many(delete=keys[at : at + _BATCH])


def _analysis(found: Analysis) -> Key[Analysis]:
    return Analysis.key(analysis_id=found.analysis_id)


def _permission(found: Permission) -> Key[Any]:
    if isinstance(found, RecordPermission):
        return RecordPermission.key(kifu_id=found.kifu_id, username=found.username)
    return LibraryPermission.key(owner=found.owner, username=found.username)
