"""Concurrent writes of accounts, jobs and leases, on stores that refuse, delay and lose replies."""

from msgspec.structs import replace

from tests.platform.conftest import NOW
from tests.platform.items import (
    GUEST,
    OTHER,
    PASSWORD,
    TURN,
    WEB,
    a_job,
    a_lease,
    a_session,
    nth_account_id,
    nth_hash,
    running,
    stored_user,
    user_named,
)
from tests.support.concurrency import race
from zataku.platform import writes
from zataku.platform.design import Account, Lease, account, job, lease, owner_of_name, session
from zataku.platform.limits import OwnerId
from zataku.table import Store

MANY = 12
RUNNERS = [OwnerId(f"web-{number}") for number in range(MANY)]


async def accounts(store: Store, numbers: range) -> list[Account]:
    stored = await store.get_many([account(nth_account_id(number)) for number in numbers])
    return [item for item in stored if item is not None]


async def test_only_one_of_many_sign_ups_with_one_name_succeeds_and_the_others_store_nothing(contested: Store):
    spellings = ["Hana", "hana", "HANA"]
    outcome = await race(
        *(
            contested.write(
                writes.sign_up(nth_account_id(number), spellings[number % 3], PASSWORD, "en", NOW), token=f"up-{number}"
            )
            for number in range(MANY)
        )
    )
    assert (len(outcome.won), len(outcome.refused)) == (1, MANY - 1)
    claim = await contested.get(owner_of_name("hana"))
    stored = await accounts(contested, range(MANY))
    assert claim is not None
    assert [item.account_id for item in stored] == [claim.account_id]


async def test_a_guest_in_two_tabs_becomes_one_user_with_one_name(contested: Store):
    await contested.write_many(put=[GUEST])
    names = [f"하나{number}" for number in range(MANY)]
    outcome = await race(
        *(contested.write(writes.become_user(GUEST, name, PASSWORD, NOW), token=f"tab-{name}") for name in names)
    )
    assert len(outcome.won) == 1
    (user,) = await accounts(contested, range(2, 3))
    claims = await contested.get_many([owner_of_name(name) for name in names])
    assert [claim.folded_name for claim in claims if claim] == [user.name]


async def test_users_who_swap_names_in_a_ring_never_share_or_lose_a_name(contested: Store):
    names = [f"name{number}" for number in range(6)]
    users = [await user_named(contested, number, name) for number, name in enumerate(names)]
    wanted = [*names[1:], "free"]
    await race(
        *(
            contested.write(writes.rename(user, name, NOW), token=f"ring-{user.account_id[-2:]}")
            for user, name in zip(users, wanted, strict=True)
        )
    )
    claims = await contested.get_many([owner_of_name(name) for name in [*names, "free"]])
    owners = {claim.folded_name: claim.account_id for claim in claims if claim}
    assert {item.name: item.account_id for item in await accounts(contested, range(6))} == owners
    assert len(owners) == 6


async def test_concurrent_renames_of_one_user_leave_one_claim(contested: Store):
    hana = await stored_user(contested)
    names = [f"nana{number}" for number in range(MANY)]
    outcome = await race(*(contested.write(writes.rename(hana, name, NOW), token=f"new-{name}") for name in names))
    assert len(outcome.won) == 1
    (renamed,) = await accounts(contested, range(1, 2))
    claims = await contested.get_many([owner_of_name(name) for name in [*names, "はなこ"]])
    assert [claim.folded_name for claim in claims if claim] == [renamed.name]


async def test_a_session_created_while_signing_out_everywhere_is_invalid(contested: Store):
    hana = await stored_user(contested)
    signing_in = [contested.write(writes.sign_in(hana, nth_hash(number), "", NOW)) for number in range(MANY)]
    await race(*signing_in, contested.write(writes.sign_out_everywhere(hana.account_id)))
    (now,) = await accounts(contested, range(1, 2))
    sessions = await contested.get_many([session(hana.account_id, nth_hash(number)) for number in range(MANY)])
    assert {item.generation for item in sessions if item} == {hana.generation}
    if now.generation == hana.generation:
        # The write and its reply were lost; the client reports that and signs out again.
        await contested.write_many(put=[replace(now, generation=now.generation + 1)])
        (now,) = await accounts(contested, range(1, 2))
    assert all(item.generation != now.generation for item in sessions if item)


async def test_every_sign_out_everywhere_starts_a_new_generation(contested: Store):
    hana = await stored_user(contested)
    outcome = await race(*(contested.write(writes.sign_out_everywhere(hana.account_id)) for _ in range(MANY)))
    (now,) = await accounts(contested, range(1, 2))
    assert outcome.allows(now.generation - hana.generation)


async def test_only_one_of_many_concurrent_password_changes_succeeds(contested: Store):
    hana = await stored_user(contested)
    passwords = [PASSWORD.replace("aGFz", f"{number:04d}") for number in range(MANY)]
    outcome = await race(*(contested.write(writes.change_password(hana, password, NOW)) for password in passwords))
    (now,) = await accounts(contested, range(1, 2))
    assert outcome.allows(now.generation - hana.generation)
    assert now.generation <= hana.generation + 1


async def test_concurrent_uses_of_a_session_are_recorded_once_in_ten_minutes(contested: Store):
    hana = await stored_user(contested)
    await contested.write_many(put=[a_session(hana, 1)])
    later = NOW + 600_000
    outcome = await race(
        *(contested.write(writes.touch_session(hana.account_id, nth_hash(1), later)) for _ in range(MANY))
    )
    assert outcome.allows(1)


async def test_no_key_is_created_for_a_deleted_account(contested: Store):
    hana = await stored_user(contested)
    await race(
        contested.write(writes.mark_deleted(hana.account_id, NOW), token="leave"),
        *(
            contested.write(
                writes.add_key(hana.account_id, nth_hash(number), "bot", frozenset(), NOW), token=f"key-{number}"
            )
            for number in range(MANY)
        ),
    )
    late = await race(
        contested.write(writes.add_key(hana.account_id, nth_hash(99), "bot", frozenset(), NOW), token="late")
    )
    assert len(late.refused) == 1
    assert await contested.get(job("platform", "remove_account", hana.account_id)) is not None


async def test_signing_out_everywhere_does_not_delay_a_removal(contested: Store):
    hana = await stored_user(contested)
    await contested.write(writes.mark_deleted(hana.account_id, NOW), token="leave")
    (marked,) = await accounts(contested, range(1, 2))
    outcome = await race(
        *(contested.write(writes.sign_out_everywhere(hana.account_id)) for _ in range(MANY)),
        contested.write(writes.remove_account(marked, NOW), token="remove"),
    )
    assert len(outcome.won) == 1
    (removed,) = await accounts(contested, range(1, 2))
    assert (removed.name, removed.generation) == (None, marked.generation)


async def test_only_one_of_many_owners_with_late_clocks_takes_a_released_lease(contested: Store):
    released = a_lease(owner=None)
    await contested.write_many(put=[released])
    outcome = await race(
        *(contested.write(writes.take_lease(released, released.name, owner, NOW, NOW + 20_000)) for owner in RUNNERS)
    )
    assert outcome.allows(1)
    held = await contested.get(lease(released.name))
    assert held is not None
    assert (held.epoch, held.owner is None) == (released.epoch + 1, False)


async def test_scheduling_a_deadline_many_times_creates_one_job(contested: Store):
    outcome = await race(
        *(contested.write(writes.schedule_job(*TURN, at=NOW, now=NOW, payload=str(number))) for number in range(MANY))
    )
    assert outcome.allows(1)
    stored = await contested.get(job(*TURN))
    assert stored is not None
    assert stored == a_job(payload=stored.payload)


async def test_only_one_of_many_runners_claims_a_due_job(contested: Store):
    await contested.write_many(put=[a_job()])
    outcome = await race(
        *(contested.write(writes.claim_job(*TURN, runner=runner, now=NOW, until=NOW + 60_000)) for runner in RUNNERS)
    )
    stored = await contested.get(job(*TURN))
    assert stored is not None
    assert (stored.state, stored.attempts) == ("running", 1)
    assert [won.owner for won in outcome.won if won] == ([stored.owner] if outcome.won else [])
    assert outcome.allows(1)


async def test_the_job_of_a_dead_runner_is_claimed_once_and_late_writes_of_that_runner_are_refused(contested: Store):
    lost = await running(contested, lease_ms=60_000)
    later = NOW + 60_000
    early = await race(
        *(contested.write(writes.claim_job(*TURN, runner=owner, now=later - 1, until=later + 9)) for owner in RUNNERS)
    )
    assert early.won == []
    outcome = await race(
        *(contested.write(writes.claim_job(*TURN, runner=owner, now=later, until=later + 60_000)) for owner in RUNNERS)
    )
    assert outcome.allows(1)
    claimed = await contested.get(job(*TURN))
    assert claimed is not None
    assert (claimed.attempts, claimed.due_at) == (2, later + 60_000)
    late = await race(
        contested.write(writes.finish_job(lost)),
        contested.write(writes.renew_job(lost, later + 90_000, later)),
        contested.write(writes.reschedule_job(lost, later + 90_000)),
        contested.write(writes.fail_job(lost, "late", later)),
    )
    assert late.won == []
    assert await contested.get(job(*TURN)) == claimed


async def test_late_writes_of_a_runner_that_claimed_its_job_again_are_refused(contested: Store):
    lost = await running(contested, lease_ms=60_000)
    # The second claim ends at the same time, as when a process rounds both.
    reclaimed = replace(lost, attempts=2, run=lost.run + 1)
    await contested.write_many(put=[reclaimed])
    late = await race(contested.write(writes.finish_job(lost)), contested.write(writes.fail_job(lost, "late", NOW)))
    assert late.won == []
    assert await contested.get(job(*TURN)) == reclaimed


async def test_a_deadline_requested_while_its_job_finishes_is_never_lost(contested: Store):
    claimed = await running(contested)

    async def request(at: int) -> int:
        await contested.write(writes.repeat_job(*TURN, at=at))
        return at

    async def finish(requested: int | None) -> None:
        await contested.write(writes.finish_job(claimed, requested=requested))

    times = [NOW + 1000 - number for number in range(MANY)]
    outcome = await race(*map(request, times[:6]), finish(None), *map(request, times[6:]))
    accepted = [at for at in outcome.won if at is not None]
    stored = await contested.get(job(*TURN))
    for sooner in range(5):
        if stored is None or stored.state == "waiting":
            break
        # Another request while the runner finishes with the time it has read.
        outcome = await race(request(NOW + 500 - sooner), finish(stored.again_at))
        accepted += [at for at in outcome.won if at is not None]
        stored = await contested.get(job(*TURN))
    next_run = None if stored is None else stored.again_at if stored.state == "running" else stored.due_at
    assert accepted == [] if next_run is None else all(next_run <= at for at in accepted)


async def test_a_job_ends_in_one_way_only(contested: Store):
    claimed = await running(contested)
    outcome = await race(
        contested.write(writes.reschedule_job(claimed, NOW + 500)),
        contested.write(writes.fail_job(claimed, "boom", NOW)),
        contested.write(writes.reschedule_job(claimed, NOW + 700)),
    )
    stored = await contested.get(job(*TURN))
    assert stored is not None
    assert stored.due_at in {claimed.due_at, NOW + 500, NOW + 700, NOW + 10_000}
    assert outcome.won in ([], [stored])


async def test_a_job_cancelled_and_claimed_at_once_is_deleted_or_claimed_by_one_runner(contested: Store):
    await contested.write_many(put=[a_job()])
    outcome = await race(
        *(contested.write(writes.claim_job(*TURN, runner=owner, now=NOW, until=NOW + 9)) for owner in RUNNERS[:3]),
        contested.write(writes.cancel_job(*TURN, now=NOW)),
        *(contested.write(writes.claim_job(*TURN, runner=owner, now=NOW, until=NOW + 9)) for owner in RUNNERS[3:]),
    )
    stored = await contested.get(job(*TURN))
    claims = [won for won in outcome.won if won is not None and won.state == "running"]
    assert claims in ([], [stored])
    assert stored is None or stored.attempts <= 1


async def test_only_one_of_many_owners_takes_a_free_lease(contested: Store):
    name = "room/live/1"
    outcome = await race(
        *(contested.write(writes.take_lease(None, name, owner, NOW, NOW + 10_000)) for owner in RUNNERS)
    )
    held = await contested.get(lease(name))
    assert outcome.allows(1)
    assert held is not None
    assert held.epoch == NOW // 1000
    assert [won.owner for won in outcome.won if won] in ([], [held.owner])


async def take_over(store: Store, lapsed: Lease) -> Lease:
    """Let many owners take a lapsed lease; returns the lease that is stored."""
    now = lapsed.until
    outcome = await race(
        *(store.write(writes.take_lease(lapsed, lapsed.name, owner, now, now + 10_000)) for owner in RUNNERS[2:])
    )
    held = await store.get(lease(lapsed.name))
    assert held is not None
    assert outcome.allows(held.epoch - lapsed.epoch)
    return held


async def test_a_lapsed_lease_is_taken_over_once_with_the_next_epoch(contested: Store):
    lapsed = a_lease()
    await contested.write_many(put=[lapsed])
    held = await take_over(contested, lapsed)
    assert (held.epoch, held.until) == (lapsed.epoch + 1, lapsed.until + 10_000)
    assert held.owner != lapsed.owner


async def test_an_owner_that_lost_its_lease_can_neither_renew_nor_release_it(contested: Store):
    outdated = a_lease()
    await contested.write_many(put=[outdated])
    held = await take_over(contested, outdated)
    late = await race(
        contested.write(writes.renew_lease(outdated, NOW + 99_000)),
        contested.write(writes.release_lease(outdated, NOW)),
    )
    assert late.won == []
    assert await contested.get(lease(outdated.name)) == held


async def test_a_lease_renewed_in_time_is_not_taken_with_an_outdated_state(contested: Store):
    seen = a_lease()
    await contested.write_many(put=[replace(seen, until=seen.until + 10_000)])
    outcome = await race(
        *(
            contested.write(writes.take_lease(seen, seen.name, owner, seen.until, seen.until + 10_000))
            for owner in (OTHER, *RUNNERS[3:])
        )
    )
    assert outcome.won == []
    held = await contested.get(lease(seen.name))
    assert held is not None
    assert (held.owner, held.epoch) == (WEB, seen.epoch)


async def test_a_lease_whose_owner_has_changed_is_not_taken_with_an_earlier_epoch(contested: Store):
    seen = a_lease()
    current = replace(seen, owner=RUNNERS[5], epoch=seen.epoch + 3)
    await contested.write_many(put=[current])
    outcome = await race(
        *(
            contested.write(writes.take_lease(seen, seen.name, owner, NOW + 20_000, NOW + 30_000))
            for owner in RUNNERS[6:]
        )
    )
    assert outcome.won == []
    assert await contested.get(lease(seen.name)) == current
