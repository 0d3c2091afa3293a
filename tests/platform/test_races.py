"""What must hold when many do it at once, on stores that refuse, delay and lose replies."""

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
    hashed,
    numbered,
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
    found = await store.get_many([account(numbered(number)) for number in numbers])
    return [each for each in found if each is not None]


async def test_of_many_who_want_one_name_one_gets_it_and_the_others_leave_nothing(contested: Store):
    spellings = ["Hana", "hana", "HANA"]
    ended = await race(
        *(
            contested.write(
                writes.sign_up(numbered(number), spellings[number % 3], PASSWORD, "en", NOW), token=f"up-{number}"
            )
            for number in range(MANY)
        )
    )
    assert (len(ended.won), len(ended.refused)) == (1, MANY - 1)
    claim = await contested.get(owner_of_name("hana"))
    there = await accounts(contested, range(MANY))
    assert claim is not None
    assert [each.account_id for each in there] == [claim.account_id]


async def test_a_guest_in_two_tabs_becomes_one_user_with_one_name(contested: Store):
    await contested.write_many(put=[GUEST])
    names = [f"하나{number}" for number in range(MANY)]
    ended = await race(
        *(contested.write(writes.become_user(GUEST, name, PASSWORD, NOW), token=f"tab-{name}") for name in names)
    )
    assert len(ended.won) == 1
    (user,) = await accounts(contested, range(2, 3))
    claims = await contested.get_many([owner_of_name(name) for name in names])
    assert [claim.folded_name for claim in claims if claim] == [user.name]


async def test_users_who_swap_names_in_a_ring_never_share_or_lose_one(contested: Store):
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
    assert {each.name: each.account_id for each in await accounts(contested, range(6))} == owners
    assert len(owners) == 6


async def test_two_new_names_of_one_user_leave_one_claim(contested: Store):
    hana = await stored_user(contested)
    names = [f"nana{number}" for number in range(MANY)]
    ended = await race(*(contested.write(writes.rename(hana, name, NOW), token=f"new-{name}") for name in names))
    assert len(ended.won) == 1
    (renamed,) = await accounts(contested, range(1, 2))
    claims = await contested.get_many([owner_of_name(name) for name in [*names, "はなこ"]])
    assert [claim.folded_name for claim in claims if claim] == [renamed.name]


async def test_a_session_made_while_signing_out_everywhere_is_void(contested: Store):
    hana = await stored_user(contested)
    signing_in = [contested.write(writes.sign_in(hana, hashed(number), "", NOW)) for number in range(MANY)]
    await race(*signing_in, contested.write(writes.sign_out_everywhere(hana.account_id)))
    (now,) = await accounts(contested, range(1, 2))
    sessions = await contested.get_many([session(hana.account_id, hashed(number)) for number in range(MANY)])
    assert {each.generation for each in sessions if each} == {hana.generation}
    if now.generation == hana.generation:
        # The reply and the write were lost; whoever signs out is told so and asks again.
        await contested.write_many(put=[replace(now, generation=now.generation + 1)])
        (now,) = await accounts(contested, range(1, 2))
    assert all(each.generation != now.generation for each in sessions if each)


async def test_signing_out_everywhere_many_times_ends_every_generation_before(contested: Store):
    hana = await stored_user(contested)
    ended = await race(*(contested.write(writes.sign_out_everywhere(hana.account_id)) for _ in range(MANY)))
    (now,) = await accounts(contested, range(1, 2))
    assert ended.allows(now.generation - hana.generation)


async def test_of_two_new_passwords_in_one_moment_one_holds(contested: Store):
    hana = await stored_user(contested)
    passwords = [PASSWORD.replace("aGFz", f"{number:04d}") for number in range(MANY)]
    ended = await race(*(contested.write(writes.change_password(hana, each, NOW)) for each in passwords))
    (now,) = await accounts(contested, range(1, 2))
    assert ended.allows(now.generation - hana.generation)
    assert now.generation <= hana.generation + 1


async def test_a_session_in_busy_use_is_written_once_in_ten_minutes(contested: Store):
    hana = await stored_user(contested)
    await contested.write_many(put=[a_session(hana, 1)])
    later = NOW + 600_000
    ended = await race(*(contested.write(writes.touch_session(hana.account_id, hashed(1), later)) for _ in range(MANY)))
    assert ended.allows(1)


async def test_no_key_is_made_for_an_account_that_is_being_deleted(contested: Store):
    hana = await stored_user(contested)
    await race(
        contested.write(writes.mark_deleted(hana.account_id, NOW), token="leave"),
        *(
            contested.write(
                writes.add_key(hana.account_id, hashed(number), "bot", frozenset(), NOW), token=f"key-{number}"
            )
            for number in range(MANY)
        ),
    )
    again = await race(
        contested.write(writes.add_key(hana.account_id, hashed(99), "bot", frozenset(), NOW), token="late")
    )
    assert len(again.refused) == 1
    assert await contested.get(job("platform", "remove_account", hana.account_id)) is not None


async def test_a_removal_is_not_held_up_by_signing_out_everywhere(contested: Store):
    hana = await stored_user(contested)
    await contested.write(writes.mark_deleted(hana.account_id, NOW), token="leave")
    (marked,) = await accounts(contested, range(1, 2))
    ended = await race(
        *(contested.write(writes.sign_out_everywhere(hana.account_id)) for _ in range(MANY)),
        contested.write(writes.remove_account(marked, NOW), token="remove"),
    )
    assert len(ended.won) == 1
    (left,) = await accounts(contested, range(1, 2))
    assert (left.name, left.generation) == (None, marked.generation)


async def test_a_lease_that_was_let_go_is_taken_by_one_of_many_whose_clocks_are_behind(contested: Store):
    free = a_lease(owner=None)
    await contested.write_many(put=[free])
    ended = await race(
        *(contested.write(writes.take_lease(free, free.name, each, NOW, NOW + 20_000)) for each in RUNNERS)
    )
    assert ended.allows(1)
    held = await contested.get(lease(free.name))
    assert held is not None
    assert (held.epoch, held.owner is None) == (free.epoch + 1, False)


async def test_scheduling_a_deadline_many_times_is_one_job(contested: Store):
    ended = await race(
        *(contested.write(writes.schedule_job(*TURN, at=NOW, now=NOW, payload=str(number))) for number in range(MANY))
    )
    assert ended.allows(1)
    found = await contested.get(job(*TURN))
    assert found is not None
    assert found == a_job(payload=found.payload)


async def test_a_due_job_is_run_by_one_of_many_runners(contested: Store):
    await contested.write_many(put=[a_job()])
    ended = await race(
        *(contested.write(writes.claim_job(*TURN, runner=runner, now=NOW, until=NOW + 60_000)) for runner in RUNNERS)
    )
    found = await contested.get(job(*TURN))
    assert found is not None
    assert (found.state, found.attempts) == ("running", 1)
    assert [won.owner for won in ended.won if won] == ([found.owner] if ended.won else [])
    assert ended.allows(1)


async def test_the_job_of_a_dead_runner_is_taken_over_once_and_its_late_words_are_refused(contested: Store):
    lost = await running(contested, lasts=60_000)
    later = NOW + 60_000
    early = await race(
        *(contested.write(writes.claim_job(*TURN, runner=each, now=later - 1, until=later + 9)) for each in RUNNERS)
    )
    assert early.won == []
    ended = await race(
        *(contested.write(writes.claim_job(*TURN, runner=each, now=later, until=later + 60_000)) for each in RUNNERS)
    )
    assert ended.allows(1)
    taken = await contested.get(job(*TURN))
    assert taken is not None
    assert (taken.attempts, taken.due_at) == (2, later + 60_000)
    late = await race(
        contested.write(writes.finish_job(lost)),
        contested.write(writes.renew_job(lost, later + 90_000, later)),
        contested.write(writes.reschedule_job(lost, later + 90_000)),
        contested.write(writes.fail_job(lost, "late", later)),
    )
    assert late.won == []
    assert await contested.get(job(*TURN)) == taken


async def test_a_runner_that_lost_its_job_to_itself_is_refused_too(contested: Store):
    lost = await running(contested, lasts=60_000)
    # To the same end, as when a process has rounded both.
    again = replace(lost, attempts=2, run=lost.run + 1)
    await contested.write_many(put=[again])
    late = await race(contested.write(writes.finish_job(lost)), contested.write(writes.fail_job(lost, "late", NOW)))
    assert late.won == []
    assert await contested.get(job(*TURN)) == again


async def test_a_deadline_asked_for_while_its_job_is_finished_is_never_lost(contested: Store):
    claimed = await running(contested)

    async def asks(at: int) -> int:
        await contested.write(writes.repeat_job(*TURN, at=at))
        return at

    async def finishes(asked: int | None) -> None:
        await contested.write(writes.finish_job(claimed, requested=asked))

    times = [NOW + 1000 - number for number in range(MANY)]
    ended = await race(*map(asks, times[:6]), finishes(None), *map(asks, times[6:]))
    kept = [at for at in ended.won if at is not None]
    found = await contested.get(job(*TURN))
    for sooner in range(5):
        if found is None or found.state == "waiting":
            break
        # Once more while the runner acts on what it has seen.
        ended = await race(asks(NOW + 500 - sooner), finishes(found.again_at))
        kept += [at for at in ended.won if at is not None]
        found = await contested.get(job(*TURN))
    noted = None if found is None else found.again_at if found.state == "running" else found.due_at
    assert kept == [] if noted is None else all(noted <= at for at in kept)


async def test_a_job_ends_in_one_way_only(contested: Store):
    claimed = await running(contested)
    ended = await race(
        contested.write(writes.reschedule_job(claimed, NOW + 500)),
        contested.write(writes.fail_job(claimed, "boom", NOW)),
        contested.write(writes.reschedule_job(claimed, NOW + 700)),
    )
    found = await contested.get(job(*TURN))
    assert found is not None
    assert found.due_at in {claimed.due_at, NOW + 500, NOW + 700, NOW + 10_000}
    assert ended.won in ([], [found])


async def test_a_cancelled_job_is_either_gone_or_run_by_one(contested: Store):
    await contested.write_many(put=[a_job()])
    ended = await race(
        *(contested.write(writes.claim_job(*TURN, runner=each, now=NOW, until=NOW + 9)) for each in RUNNERS[:3]),
        contested.write(writes.cancel_job(*TURN, now=NOW)),
        *(contested.write(writes.claim_job(*TURN, runner=each, now=NOW, until=NOW + 9)) for each in RUNNERS[3:]),
    )
    found = await contested.get(job(*TURN))
    claims = [won for won in ended.won if won is not None and won.state == "running"]
    assert claims in ([], [found])
    assert found is None or found.attempts <= 1


async def test_a_free_lease_is_taken_by_one_of_many(contested: Store):
    name = "room/live/1"
    ended = await race(*(contested.write(writes.take_lease(None, name, each, NOW, NOW + 10_000)) for each in RUNNERS))
    held = await contested.get(lease(name))
    assert ended.allows(1)
    assert held is not None
    assert held.epoch == NOW // 1000
    assert [won.owner for won in ended.won if won] in ([], [held.owner])


async def take_over(store: Store, lapsed: Lease) -> Lease:
    """Many take a lease that has lapsed; who has it in the end."""
    now = lapsed.until
    ended = await race(
        *(store.write(writes.take_lease(lapsed, lapsed.name, each, now, now + 10_000)) for each in RUNNERS[2:])
    )
    held = await store.get(lease(lapsed.name))
    assert held is not None
    assert ended.allows(held.epoch - lapsed.epoch)
    return held


async def test_a_lapsed_lease_is_taken_over_once_with_the_next_epoch(contested: Store):
    lapsed = a_lease()
    await contested.write_many(put=[lapsed])
    held = await take_over(contested, lapsed)
    assert (held.epoch, held.until) == (lapsed.epoch + 1, lapsed.until + 10_000)
    assert held.owner != lapsed.owner


async def test_an_owner_that_slept_can_neither_renew_nor_release_its_lease(contested: Store):
    slept = a_lease()
    await contested.write_many(put=[slept])
    held = await take_over(contested, slept)
    late = await race(
        contested.write(writes.renew_lease(slept, NOW + 99_000)),
        contested.write(writes.release_lease(slept, NOW)),
    )
    assert late.won == []
    assert await contested.get(lease(slept.name)) == held


async def test_a_lease_renewed_in_time_is_not_taken_by_those_who_saw_it_lapse(contested: Store):
    seen = a_lease()
    await contested.write_many(put=[replace(seen, until=seen.until + 10_000)])
    ended = await race(
        *(
            contested.write(writes.take_lease(seen, seen.name, each, seen.until, seen.until + 10_000))
            for each in (OTHER, *RUNNERS[3:])
        )
    )
    assert ended.won == []
    held = await contested.get(lease(seen.name))
    assert held is not None
    assert (held.owner, held.epoch) == (WEB, seen.epoch)


async def test_a_lease_that_changed_hands_unseen_does_not_go_back_to_an_earlier_epoch(contested: Store):
    seen = a_lease()
    since = replace(seen, owner=RUNNERS[5], epoch=seen.epoch + 3)
    await contested.write_many(put=[since])
    ended = await race(
        *(contested.write(writes.take_lease(seen, seen.name, each, NOW + 20_000, NOW + 30_000)) for each in RUNNERS[6:])
    )
    assert ended.won == []
    assert await contested.get(lease(seen.name)) == since
