"""What is left of somebody who has left: nothing, however often the work is interrupted."""

import asyncio

import pytest

from tests.accounts.account_services import PASSWORD, AccountHarness
from zataku.accounts.removal import AccountRemoval
from zataku.accounts.secrets import Token
from zataku.platform import writes
from zataku.platform.design import Account, Job, Session, account, everything_of, job, owner_of_name
from zataku.platform.identity import Identity
from zataku.platform.limits import GUEST_TTL, SECOND, AccountId, expiry


class System:
    """A system that something of everybody lies in, and that may be in trouble."""

    def __init__(self) -> None:
        self.asked: list[AccountId] = []
        self.trouble: Exception | None = None

    async def remove(self, account_id: AccountId) -> None:
        self.asked.append(account_id)
        if self.trouble is not None:
            raise self.trouble


async def leaving(harness: AccountHarness, name: str = "Hana") -> tuple[Account, Job]:
    """Somebody with sessions and a key who has just left, and the job that is due for it."""
    user, token = await harness.user(name)
    identity = await harness.known(token)
    await harness.accounts.sign_in(name, PASSWORD, "")
    await harness.accounts.keys.create(user.account_id, "bot", frozenset())
    await harness.accounts.delete_account(identity, PASSWORD)
    return user, await due(harness, user.account_id)


async def due(harness: AccountHarness, account_id: AccountId) -> Job:
    found = await harness.store.get(job("platform", "remove_account", account_id))
    assert found is not None
    return found


async def left(harness: AccountHarness, account_id: AccountId) -> list[object]:
    return [each async for each in harness.store.each(everything_of(account_id))]


def removal(harness: AccountHarness, *systems: System) -> AccountRemoval:
    made = AccountRemoval(harness.store, harness.clock, [each.remove for each in systems])
    assert (made.system, made.kind) == ("platform", "remove_account")
    return made


async def test_everything_goes_and_the_name_is_free(harness: AccountHarness) -> None:
    user, work = await leaving(harness)
    one, two = System(), System()
    assert await removal(harness, one, two).run(work) is None
    assert one.asked == two.asked == [user.account_id]
    (bare,) = await left(harness, user.account_id)
    assert isinstance(bare, Account)
    assert (bare.role, bare.name, bare.password) == ("guest", None, None)
    assert await harness.store.get(owner_of_name("Hana")) is None
    assert (await harness.user("Hana"))[0].account_id != user.account_id


async def test_no_old_cookie_brings_the_id_back_to_life(harness: AccountHarness) -> None:
    guest, cookie = harness.authenticator.new_guest("ja")
    cookies = {cookie.key: cookie.value or ""}
    user, token = await harness.user(guest=guest)
    await harness.accounts.delete_account(await harness.known(token), PASSWORD)
    await removal(harness).run(await due(harness, user.account_id))
    await harness.clock.advance((GUEST_TTL - 1) / SECOND)
    assert await harness.authenticator.authenticate(cookies) is None
    await harness.clock.advance(1)
    assert await harness.authenticator.authenticate(cookies) is None


async def test_a_second_removal_changes_nothing(rough: AccountHarness) -> None:
    user, work = await leaving(rough)
    system = System()
    for _ in range(2):
        await removal(rough, system).run(work)
    assert len(await left(rough, user.account_id)) == 1
    assert system.asked == [user.account_id] * 2


async def test_two_runners_in_one_moment_do_no_harm(rough: AccountHarness) -> None:
    user, work = await leaving(rough)
    interrupted = removal(rough, System())
    await asyncio.gather(*(interrupted.run(work) for _ in range(4)), return_exceptions=True)
    await interrupted.run(work)
    assert len(await left(rough, user.account_id)) == 1
    assert await rough.store.get(owner_of_name("Hana")) is None


async def test_a_system_in_trouble_keeps_the_name_claimed_until_it_is_well(harness: AccountHarness) -> None:
    user, work = await leaving(harness)
    first, ill, last = System(), System(), System()
    ill.trouble = RuntimeError("out of order")
    interrupted = removal(harness, first, ill, last)
    with pytest.raises(ExceptionGroup) as failed:
        await interrupted.run(work)
    assert "out of order" in str(failed.value.exceptions)
    assert last.asked == [user.account_id]
    assert await harness.store.get(owner_of_name("Hana")) is not None
    ill.trouble = None
    await interrupted.run(work)
    assert await harness.store.get(owner_of_name("Hana")) is None


async def test_what_lies_in_the_account_goes_in_any_number(harness: AccountHarness) -> None:
    user, work = await leaving(harness)
    now = int(harness.clock.now() * SECOND)
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
    await removal(harness).run(work)
    assert len(await left(harness, user.account_id)) == 1


async def test_who_has_not_left_is_left_alone(harness: AccountHarness) -> None:
    user, token = await harness.user()
    system, now = System(), int(harness.clock.now() * SECOND)
    for subject in (user.account_id, harness.guest().account_id):
        by_mistake = Job(
            system="platform", kind="remove_account", subject=subject, scheduled_for=now, due_at=now, run=now
        )
        await removal(harness, system).run(by_mistake)
    assert system.asked == []
    assert await harness.with_session(token) is not None


async def test_a_guest_leaves_as_well(harness: AccountHarness) -> None:
    guest: Identity = await harness.authenticator.ensure_account(harness.guest())
    await harness.accounts.delete_account(guest, None)
    system = System()
    await removal(harness, system).run(await due(harness, guest.account_id))
    assert system.asked == [guest.account_id]
    found = await harness.store.get(account(guest.account_id))
    assert found is not None
    assert found.deleted_at is not None


async def test_others_are_not_touched(harness: AccountHarness) -> None:
    _, work = await leaving(harness)
    other, token = await harness.user("Otto")
    await removal(harness).run(work)
    assert await harness.with_session(token) is not None
    assert await harness.store.get(owner_of_name("Otto")) is not None
    assert await harness.store.write(writes.sign_out_everywhere(other.account_id)) is not None
