"""Calls and units summed per access pattern, and what a block of calls costs."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from zataku.table import Entity, Span, Store, Table, path
from zataku.table.backend.cost import ConsumedCapacity, Usage
from zataku.table.backend.errors import ConditionFailed, Throttled, TransactionCancelled, WrongType
from zataku.table.embedded import EmbeddedBackend
from zataku.table.store.capacity_meter import Meter
from zataku.table.store.retry import Retry, RetryPolicy
from zataku.table.store_factory import open_embedded
from zataku.table.strict.strict_backend import Faults, StrictBackend

election = Table("Election", pk="PK", sk="SK", transactions=True)
by_voter = election.index("ByVoter", pk="voter")


@election.entity(pk="VOTE#{topic}", sk="{voter}", index={"voter": "{voter}"})
class Vote(Entity, frozen=True, kw_only=True, tag="VOTE"):
    """A vote on a topic."""

    topic: str
    voter: str
    text: str = ""


@election.entity(pk="TOPIC#{topic}", sk="COUNT")
class Count(Entity, frozen=True, kw_only=True, tag="COUNT"):
    """How many votes a topic has."""

    topic: str
    votes: int = 0


@election.query(returns=Vote)
def votes_on(topic: str) -> Span:
    """All votes on a topic."""
    return election.partition(f"VOTE#{topic}")


votes = path(Count, lambda count: count.votes)
LUNCH = Count.key(topic="lunch")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await open_embedded(tmp_path / "store.db", [election]) as store:
        await store.put(Count(topic="lunch"))
        store.meter.totals.clear()
        yield store


async def cast_vote(store: Store, voter: str) -> None:
    async with store.transact() as tx:
        tx.put(Vote(topic="lunch", voter=voter), if_absent=True)
        tx.update(LUNCH, votes.add(1))


def sums(store: Store, pattern: str) -> tuple[int, float, float]:
    """Calls, read units and write units of a pattern."""
    usage = store.meter.totals[pattern]
    return usage.calls, usage.reads, usage.writes


# Budgets


async def test_casting_a_vote_costs_two_items_twice_and_the_index_once(store: Store) -> None:
    with store.measured("cast_vote") as consumed:
        await cast_vote(store, "mari")
    assert consumed.writes == 5
    assert consumed.by_resource == {("Election", None): (0, 4), ("Election", "ByVoter"): (0, 1)}
    assert list(store.meter.totals) == ["cast_vote"]
    assert sums(store, "cast_vote") == (1, 0, 5)


async def test_a_block_counts_all_its_calls_as_one(store: Store) -> None:
    for voter in "abc":
        with store.measured("vote_and_look") as consumed:
            await cast_vote(store, voter)
            await store.get(LUNCH)
        assert (consumed.reads, consumed.writes) == (0.5, 5)
    assert sums(store, "vote_and_look") == (3, 1.5, 15)


async def test_a_block_within_a_block_is_on_both_bills_but_in_one_sum(store: Store) -> None:
    with store.measured("evening") as evening:
        await store.get(LUNCH)
        with store.measured("cast_vote") as vote:
            await cast_vote(store, "mari")
        await store.get(LUNCH)
    assert (vote.reads, vote.writes) == (0, 5)
    assert (evening.reads, evening.writes) == (1, 5)
    assert sums(store, "evening") == (1, 1, 0)
    assert sums(store, "cast_vote") == (1, 0, 5)


async def test_tasks_started_in_a_block_count_for_it(store: Store) -> None:
    with store.measured("rush") as consumed:
        await asyncio.gather(*(cast_vote(store, str(number)) for number in range(10)))
    assert consumed.writes == 50


async def test_a_task_that_outlives_its_block_is_still_on_every_bill(store: Store) -> None:
    gate = asyncio.Event()

    async def late() -> None:
        await gate.wait()
        await store.get(LUNCH)

    with store.measured("outer") as outer:
        with store.measured("inner") as inner:
            task = asyncio.create_task(late())
        gate.set()
        await task
    assert inner.reads == outer.reads == 0.5
    assert sums(store, "inner") == (1, 0.5, 0)


async def test_blocks_side_by_side_do_not_mix(store: Store) -> None:
    async def one(number: int) -> float:
        with store.measured("one") as consumed:
            for _ in range(number):
                await store.get(LUNCH, strong=True)
                await asyncio.sleep(0)
        return consumed.reads

    assert await asyncio.gather(*map(one, range(8))) == list(range(8))
    assert sums(store, "one") == (8, sum(range(8)), 0)


async def test_a_block_that_fails_is_counted_all_the_same(store: Store) -> None:
    with pytest.raises(LookupError), store.measured("broken") as consumed:
        await store.get(LUNCH)
        raise LookupError
    assert consumed.reads == 0.5
    assert sums(store, "broken") == (1, 0.5, 0)


async def test_another_store_in_the_block_keeps_its_own_sums(store: Store, tmp_path: Path) -> None:
    async with await open_embedded(tmp_path / "other.db", [election]) as other:
        with store.measured("here") as here, other.measured("there") as there:
            await store.get(LUNCH)
            await other.get(LUNCH, strong=True)
        with store.measured("here alone") as alone:
            await other.get(LUNCH)
    assert (here.reads, there.reads, alone.reads) == (0.5, 1, 0)
    assert list(store.meter.totals) == ["here", "here alone"]
    assert sorted(other.meter.totals) == ["Election.get Count", "there"]


# Sums


async def test_calls_are_summed_by_access_pattern_and_writes_by_kind(store: Store) -> None:
    await store.put(Vote(topic="lunch", voter="mari", text="x" * 1100))
    await store.page(votes_on("lunch"))
    await store.page(votes_on("dinner"))
    await store.get(LUNCH, strong=True)
    await store.delete(LUNCH)
    found = {usage.pattern: (usage.calls, usage.reads, usage.writes) for usage in store.meter.totals.values()}
    assert found == {
        "Election.put Vote": (1, 0, 4),
        votes_on("lunch").label: (2, 1, 0),
        "Election.get Count": (1, 1, 0),
        "Election.delete Count": (1, 0, 1),
    }


async def test_a_refused_write_is_counted_with_its_units(store: Store) -> None:
    await store.put(Vote(topic="lunch", voter="mari", text="x" * 1500))
    store.meter.totals.clear()
    with pytest.raises(ConditionFailed):
        await store.put(Vote(topic="lunch", voter="mari"), if_absent=True)
    assert sums(store, "Election.put Vote") == (1, 0, 2)


async def test_a_cancelled_transaction_is_counted_with_its_units(store: Store) -> None:
    await cast_vote(store, "mari")
    with store.measured("again") as consumed, pytest.raises(TransactionCancelled):
        await cast_vote(store, "mari")
    assert consumed.by_resource == {("Election", None): (0, 4)}


async def test_a_bad_call_costs_nothing(store: Store) -> None:
    with pytest.raises(WrongType):
        await store.update(LUNCH, votes.set("many"))
    assert sum(usage.writes for usage in store.meter.totals.values()) == 0


async def test_sweeping_costs_nothing(store: Store) -> None:
    with store.measured("sweep") as consumed:
        await store.sweep()
    assert (consumed.reads, consumed.writes) == (0, 0)


async def test_batches_are_one_pattern_of_as_many_calls_as_they_take(store: Store) -> None:
    await store.write_many(put=[Vote(topic="lunch", voter=str(number)) for number in range(60)])
    await store.get_many([Vote.key(topic="lunch", voter=str(number)) for number in range(150)])
    assert sums(store, "Election.write_many Vote") == (3, 0, 120)
    assert sums(store, "Election.get_many Vote") == (2, 75, 0)


# Retries


async def patient(tmp_path: Path, faults: Faults, tries: int = 10) -> Store:
    async def no_sleep(_: float) -> None: ...

    backend = StrictBackend(EmbeddedBackend(tmp_path / "strict.db"), random=Random(7), faults=faults)
    return await Store.open(
        backend, [election], retry=Retry(Random(7), RetryPolicy(max_attempts=tries), sleep=no_sleep)
    )


async def test_what_a_lost_reply_used_is_paid_beside_its_repetition(tmp_path: Path) -> None:
    async with await patient(tmp_path, Faults(lost_reply=0.5), tries=60) as store:
        consumed = ConsumedCapacity()
        for number in range(30):
            with store.measured("cast_vote") as one:
                async with store.transact(f"token-{number}") as tx:
                    tx.put(Vote(topic="lunch", voter=str(number)))
            consumed.add_all(one)
        # Each was written once; where a reply was lost after that, it was found done, which costs a read of its item.
        assert consumed.writes == 30 * 3
        assert consumed.reads > 0
        assert consumed.reads % 2 == 0
        assert store.meter.totals["cast_vote"] == Usage("cast_vote", 30, consumed.reads, consumed.writes)


async def test_a_throttled_call_is_one_call_however_often_it_was_tried(tmp_path: Path) -> None:
    async with await patient(tmp_path, Faults(throttle=0.5), tries=60) as store:
        for _ in range(20):
            await store.get(LUNCH)
        assert sums(store, "Election.get Count") == (20, 10, 0)


async def test_a_call_that_is_given_up_is_counted(tmp_path: Path) -> None:
    async with await patient(tmp_path, Faults(throttle=1.0), tries=3) as store:
        with pytest.raises(Throttled):
            await store.get(LUNCH)
        assert sums(store, "Election.get Count") == (1, 0, 0)


async def test_items_left_unprocessed_are_paid_when_they_are_read(tmp_path: Path) -> None:
    async with await patient(tmp_path, Faults(unprocessed=0.5)) as store:
        with store.measured("read") as consumed:
            await store.get_many([Vote.key(topic="lunch", voter=str(number)) for number in range(40)])
        assert consumed.reads >= 20


# Handing out


def test_what_was_taken_is_handed_out_once() -> None:
    meter = Meter()
    consumed = ConsumedCapacity()
    consumed.add("T", reads=2)
    meter.record("a", consumed)
    assert meter.take_unsaved() == [Usage("a", 1, 2.0, 0.0)]
    assert meter.take_unsaved() == []
    meter.record("a", consumed)
    assert meter.take_unsaved() == [Usage("a", 1, 2.0, 0.0)]
    assert meter.totals == {"a": Usage("a", 2, 4.0, 0.0)}


async def test_usage_is_kept_when_the_store_closes(tmp_path: Path) -> None:
    for _ in range(2):
        async with await open_embedded(tmp_path / "store.db", [election]) as store:
            await store.put(Count(topic="lunch"))
            await store.get(LUNCH)
    backend = EmbeddedBackend(tmp_path / "store.db")
    await backend.start([])
    assert await backend.usage() == [Usage("Election.get Count", 2, 1.0, 0.0), Usage("Election.put Count", 2, 0.0, 2.0)]
    await backend.close()
