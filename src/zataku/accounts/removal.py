"""Removal of deleted accounts: what they own in every system, their sessions and keys, then name and password.

A removal can be interrupted anywhere and run again: each step finds what the last run left.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from zataku.accounts.table_writes import write_once
from zataku.clock import Clock, now_ms
from zataku.platform import writes
from zataku.platform.design import Account, ApiKey, Job, Session, account, everything_of
from zataku.platform.limits import AccountId, JobKind, System
from zataku.table import Key, Store, UnreadableItem

Remove = Callable[[AccountId], Awaitable[None]]
"""Removes everything that an account owns in one system."""


class AccountRemoval:
    """Removes accounts that are marked as deleted: the handler of the jobs that `mark_deleted` schedules."""

    system: ClassVar[System] = "platform"
    kind: ClassVar[JobKind] = "remove_account"

    def __init__(self, store: Store, clock: Clock, removes: Sequence[Remove]) -> None:
        self._store = store
        self._clock = clock
        self._removes = removes

    async def run(self, job: Job) -> None:
        """Remove the account that is the job's subject. An account that is not marked as deleted is left alone."""
        account_id = AccountId(job.subject)
        stored = await self._store.get(account(account_id))
        if stored is None or stored.deleted_at is None:
            return
        await self._remove_from_systems(account_id)
        await self._remove_credentials(account_id)
        await self._remove_account(account_id)

    async def _remove_from_systems(self, account_id: AccountId) -> None:
        failures: list[Exception] = []
        for remove in self._removes:
            try:
                await remove(account_id)
            except Exception as problem:  # noqa: BLE001 - a failing system must not stop the others
                failures.append(problem)
        if failures:
            raise ExceptionGroup("Not everything of the account could be removed yet.", failures)

    async def _remove_credentials(self, account_id: AccountId) -> None:
        unreadable: list[UnreadableItem] = []
        items = [item async for item in self._store.each(everything_of(account_id), unreadable=unreadable.append)]
        sessions = [
            Session.key(account_id=item.account_id, token_hash=item.token_hash)
            for item in items
            if isinstance(item, Session)
        ]
        keys = [
            ApiKey.key(account_id=item.account_id, key_hash=item.key_hash) for item in items if isinstance(item, ApiKey)
        ]
        # Whatever else is stored for the account: the account itself can be read.
        rest = [Key(Session, item.key["PK"], item.key["SK"], {}) for item in unreadable]
        await self._store.write_many(delete=[*sessions, *keys, *rest])

    async def _remove_account(self, account_id: AccountId) -> None:
        deleted: Account | None = await self._store.get(account(account_id))
        if deleted is not None:
            await write_once(self._store, writes.remove_account(deleted, now_ms(self._clock)))
