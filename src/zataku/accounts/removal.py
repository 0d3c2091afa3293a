"""What happens after somebody has left: everything they own goes, in every system, then their name and password.

It may be interrupted anywhere and run again: each step finds what the last run left.
"""

from collections.abc import Awaitable, Callable, Sequence

from zataku.accounts.once import once
from zataku.clock import Clock, now_ms
from zataku.jobs.definitions import Task
from zataku.platform import writes
from zataku.platform.design import Account, ApiKey, Job, Session, account, everything_of
from zataku.platform.limits import AccountId
from zataku.table import Store

Remove = Callable[[AccountId], Awaitable[None]]
"""Takes away everything that an account owns in one system."""


class Removal:
    """Removes accounts that are marked as deleted."""

    def __init__(self, store: Store, clock: Clock, removes: Sequence[Remove]) -> None:
        self._store = store
        self._clock = clock
        self._removes = removes

    async def work(self, job: Job) -> None:
        """Remove the account that the job is about. One that is not marked as deleted is left as it is."""
        account_id = AccountId(job.subject)
        leaving = await self._store.get(account(account_id))
        if leaving is None or leaving.deleted_at is None:
            return
        await self._remove_from_systems(account_id)
        await self._remove_ways_in(account_id)
        await self._remove_account(account_id)

    async def _remove_from_systems(self, account_id: AccountId) -> None:
        failures: list[Exception] = []
        for remove in self._removes:
            try:
                await remove(account_id)
            except Exception as problem:  # noqa: BLE001 - one system in trouble does not keep what lies in the others
                failures.append(problem)
        if failures:
            raise ExceptionGroup("Not everything of the account could be removed yet.", failures)

    async def _remove_ways_in(self, account_id: AccountId) -> None:
        found = [each async for each in self._store.each(everything_of(account_id))]
        sessions = [
            Session.key(account_id=each.account_id, token_hash=each.token_hash)
            for each in found
            if isinstance(each, Session)
        ]
        keys = [
            ApiKey.key(account_id=each.account_id, key_hash=each.key_hash) for each in found if isinstance(each, ApiKey)
        ]
        await self._store.write_many(delete=[*sessions, *keys])

    async def _remove_account(self, account_id: AccountId) -> None:
        leaving: Account | None = await self._store.get(account(account_id))
        if leaving is not None:
            await once(self._store, writes.remove_account(leaving, now_ms(self._clock)))


def removal_task(store: Store, clock: Clock, removes: Sequence[Remove]) -> Task:
    """How the jobs are done that deleting an account leaves behind."""
    return Task(system="platform", kind="remove_account", work=Removal(store, clock, removes).work)
