"""The removal of a deleted account, also when it is interrupted and repeated."""

import asyncio

import pytest

from tests.accounts.account_services import PASSWORD, AccountHarness
from zataku.accounts.removal import AccountRemoval
from zataku.accounts.secrets import Token
from zataku.clock import now_ms
from zataku.platform import writes
from zataku.platform.design import Account, ApiKey, Job, Session, account, everything_of, job, owner_of_name
from zataku.platform.identity import Identity
from zataku.platform.limits import GUEST_TTL, SECOND, AccountId, expiry


class RecordingSystem:
    """A system that records the accounts it removes, and can be made to fail."""

    def __init__(self) -> None:
        self.removed: list[AccountId] = []
        self.error: Exception | None = None

    async def remove(self, account_id: AccountId) -> None:
        self.removed.append(account_id)
        if self.error is not None:
            raise self.error


async def deleted_user(harness: AccountHarness, name: str = "Hana") -> tuple[Account, Job]:
    """A user with sessions and a key whose account is marked as deleted, and the job that is due for it."""
    user, token = await harness.user(name)
    identity = await harness.identity_of(token)
    await harness.accounts.sign_in(name, PASSWORD, "")
    await harness.accounts.keys.create(user.account_id, "bot", frozenset())
    await harness.accounts.delete_account(identity, PASSWORD)
    return user, await due_job(harness, user.account_id)


async def due_job(harness: AccountHarness, account_id: AccountId) -> Job:
    removal_job = await harness.store.get(job("platform", "remove_account", account_id))
    assert removal_job is not None
    return removal_job


async def remaining_items(harness: AccountHarness, account_id: AccountId) -> list[object]:
    return [item async for item in harness.store.each(everything_of(account_id))]


def removal(harness: AccountHarness, *systems: RecordingSystem) -> AccountRemoval:
    account_removal = AccountRemoval(harness.store, harness.clock, [system.remove for system in systems])
    assert (account_removal.system, account_removal.kind) == ("platform", "remove_account")
    return account_removal


async def test_removal_deletes_everything_and_frees_the_name(harness: AccountHarness) -> None:
    user, due = await deleted_user(harness)
    first, second = RecordingSystem(), RecordingSystem()
    assert await removal(harness, first, second).run(due) is None
    assert first.removed == second.removed == [user.account_id]
    (tombstone,) = await remaining_items(harness, user.account_id)
    assert isinstance(tombstone, Account)
    assert (tombstone.role, tombstone.name, tombstone.password) == ("guest", None, None)
    assert await harness.store.get(owner_of_name("Hana")) is None
    assert (await harness.user("Hana"))[0].account_id != user.account_id


async def test_sessions_and_keys_that_cannot_be_read_are_deleted_too(harness: AccountHarness) -> None:
    user, due = await deleted_user(harness)
    for item in await remaining_items(harness, user.account_id):
        if isinstance(item, Session | ApiKey):
            await harness.damage(item)
    await removal(harness).run(due)
    (tombstone,) = await remaining_items(harness, user.account_id)
    assert isinstance(tombstone, Account)


async def test_an_old_guest_cookie_does_not_revive_a_removed_account(harness: AccountHarness) -> None:
    guest, cookie = harness.authenticator.new_guest("ja")
    cookies = {cookie.key: cookie.value or ""}
    user, token = await harness.user(guest=guest)
    await harness.accounts.delete_account(await harness.identity_of(token), PASSWORD)
    await removal(harness).run(await due_job(harness, user.account_id))
    await harness.clock.advance((GUEST_TTL - 1) / SECOND)
    assert await harness.authenticator.authenticate(cookies) is None
    await harness.clock.advance(1)
    assert await harness.authenticator.authenticate(cookies) is None


async def test_a_second_removal_changes_nothing(racing: AccountHarness) -> None:
    user, due = await deleted_user(racing)
    system = RecordingSystem()
    for _ in range(2):
        await removal(racing, system).run(due)
    assert len(await remaining_items(racing, user.account_id)) == 1
    assert system.removed == [user.account_id] * 2


async def test_concurrent_removals_leave_the_same_result(racing: AccountHarness) -> None:
    user, due = await deleted_user(racing)
    interrupted = removal(racing, RecordingSystem())
    await asyncio.gather(*(interrupted.run(due) for _ in range(4)), return_exceptions=True)
    await interrupted.run(due)
    assert len(await remaining_items(racing, user.account_id)) == 1
    assert await racing.store.get(owner_of_name("Hana")) is None


async def test_a_failing_system_keeps_the_name_claimed_until_it_recovers(harness: AccountHarness) -> None:
    user, due = await deleted_user(harness)
    first, failing, last = RecordingSystem(), RecordingSystem(), RecordingSystem()
    failing.error = RuntimeError("out of order")
    interrupted = removal(harness, first, failing, last)
    with pytest.raises(ExceptionGroup) as failed:
        await interrupted.run(due)
    assert "out of order" in str(failed.value.exceptions)
    assert last.removed == [user.account_id]
    assert await harness.store.get(owner_of_name("Hana")) is not None
    failing.error = None
    await interrupted.run(due)
    assert await harness.store.get(owner_of_name("Hana")) is None


async def test_removal_deletes_any_number_of_sessions(harness: AccountHarness) -> None:
    user, due = await deleted_user(harness)
    now = now_ms(harness.clock)
    sessions = [
        Session(
            account_id=user.account_id,
            token_hash=Token.generate(user.account_id).secret.digest(),
            generation=1,
            user_agent="",
            created_at=now,
            last_used_at=now,
            expires_at=expiry(now, 60_000),
        )
        for _ in range(120)
    ]
    await harness.store.write_many(put=sessions)
    await removal(harness).run(due)
    assert len(await remaining_items(harness, user.account_id)) == 1


async def test_removal_skips_an_account_that_is_not_deleted(harness: AccountHarness) -> None:
    user, token = await harness.user()
    system, now = RecordingSystem(), now_ms(harness.clock)
    for subject in (user.account_id, harness.guest().account_id):
        mistaken_job = Job(
            system="platform", kind="remove_account", subject=subject, scheduled_for=now, due_at=now, run=now
        )
        await removal(harness, system).run(mistaken_job)
    assert system.removed == []
    assert await harness.authenticate_session(token) is not None


async def test_a_deleted_guest_is_removed(harness: AccountHarness) -> None:
    guest: Identity = await harness.authenticator.ensure_account(harness.guest())
    await harness.accounts.delete_account(guest, None)
    system = RecordingSystem()
    await removal(harness, system).run(await due_job(harness, guest.account_id))
    assert system.removed == [guest.account_id]
    removed = await harness.store.get(account(guest.account_id))
    assert removed is not None
    assert removed.deleted_at is not None


async def test_removal_leaves_other_accounts_untouched(harness: AccountHarness) -> None:
    _, due = await deleted_user(harness)
    other, token = await harness.user("Otto")
    await removal(harness).run(due)
    assert await harness.authenticate_session(token) is not None
    assert await harness.store.get(owner_of_name("Otto")) is not None
    assert await harness.store.write(writes.sign_out_everywhere(other.account_id)) is not None
