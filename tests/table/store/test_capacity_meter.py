"""Calls and units summed per access pattern and per measured block."""

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
    """The number of votes on a topic."""

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


async def test_a_measured_block_counts_as_one_call(store: Store) -> None:
    for voter in "abc":
        with store.measured("vote_and_read") as consumed:
            await cast_vote(store, voter)
            await store.get(LUNCH)
        assert (consumed.reads, consumed.writes) == (0.5, 5)
    assert sums(store, "vote_and_read") == (3, 1.5, 15)


async def test_a_nested_block_is_measured_by_both_but_summed_once(store: Store) -> None:
    with store.measured("evening") as evening:
        await store.get(LUNCH)
        with store.measured("cast_vote") as vote:
            await cast_vote(store, "mari")
        await store.get(LUNCH)
    assert (vote.reads, vote.writes) == (0, 5)
    assert (evening.reads, evening.writes) == (1, 5)
    assert sums(store, "evening") == (1, 1, 0)
    assert sums(store, "cast_vote") == (1, 0, 5)


async def test_tasks_started_in_a_block_are_measured_by_it(store: Store) -> None:
    with store.measured("rush") as consumed:
        await asyncio.gather(*(cast_vote(store, str(number)) for number in range(10)))
    assert consumed.writes == 50


async def test_a_task_that_outlives_its_block_is_still_measured_by_it(store: Store) -> None:
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


async def test_concurrent_blocks_are_measured_separately(store: Store) -> None:
    async def read(number: int) -> float:
        with store.measured("read") as consumed:
            for _ in range(number):
                await store.get(LUNCH, strong=True)
                await asyncio.sleep(0)
        return consumed.reads

    assert await asyncio.gather(*map(read, range(8))) == list(range(8))
    assert sums(store, "read") == (8, sum(range(8)), 0)


async def test_a_block_that_raises_is_counted(store: Store) -> None:
    with pytest.raises(LookupError), store.measured("broken") as consumed:
        await store.get(LUNCH)
        raise LookupError
    assert consumed.reads == 0.5
    assert sums(store, "broken") == (1, 0.5, 0)


async def test_a_block_does_not_measure_calls_of_another_store(store: Store, tmp_path: Path) -> None:
    async with await open_embedded(tmp_path / "other.db", [election]) as other:
        with store.measured("first") as first, other.measured("second") as second:
            await store.get(LUNCH)
            await other.get(LUNCH, strong=True)
        with store.measured("alone") as alone:
            await other.get(LUNCH)
    assert (first.reads, second.reads, alone.reads) == (0.5, 1, 0)
    assert list(store.meter.totals) == ["first", "alone"]
    assert sorted(other.meter.totals) == ["Election.get Count", "second"]


# Sums


async def test_calls_are_summed_by_access_pattern_and_writes_by_kind(store: Store) -> None:
    await store.put(Vote(topic="lunch", voter="mari", text="x" * 1100))
    await store.page(votes_on("lunch"))
    await store.page(votes_on("dinner"))
    await store.get(LUNCH, strong=True)
    await store.delete(LUNCH)
    totals = {usage.pattern: (usage.calls, usage.reads, usage.writes) for usage in store.meter.totals.values()}
    assert totals == {
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
    with store.measured("second vote") as consumed, pytest.raises(TransactionCancelled):
        await cast_vote(store, "mari")
    assert consumed.by_resource == {("Election", None): (0, 4)}


async def test_an_invalid_call_uses_no_units(store: Store) -> None:
    with pytest.raises(WrongType):
        await store.update(LUNCH, votes.set("many"))
    assert sum(usage.writes for usage in store.meter.totals.values()) == 0


async def test_a_sweep_uses_no_units(store: Store) -> None:
    with store.measured("sweep") as consumed:
        await store.sweep()
    assert (consumed.reads, consumed.writes) == (0, 0)


async def test_a_batch_counts_each_of_its_calls_under_one_pattern(store: Store) -> None:
    await store.write_many(put=[Vote(topic="lunch", voter=str(number)) for number in range(60)])
    await store.get_many([Vote.key(topic="lunch", voter=str(number)) for number in range(150)])
    assert sums(store, "Election.write_many Vote") == (3, 0, 120)
    assert sums(store, "Election.get_many Vote") == (2, 75, 0)


# Retries


async def open_with_retries(tmp_path: Path, faults: Faults, attempts: int = 10) -> Store:
    async def no_sleep(_: float) -> None: ...

    backend = StrictBackend(EmbeddedBackend(tmp_path / "strict.db"), random=Random(7), faults=faults)
    return await Store.open(
        backend, [election], retry=Retry(Random(7), RetryPolicy(max_attempts=attempts), sleep=no_sleep)
    )


async def test_a_call_repeated_after_a_lost_reply_counts_the_units_of_both(tmp_path: Path) -> None:
    async with await open_with_retries(tmp_path, Faults(lost_reply=0.5), attempts=60) as store:
        consumed = ConsumedCapacity()
        for number in range(30):
            with store.measured("cast_vote") as single:
                async with store.transact(f"token-{number}") as tx:
                    tx.put(Vote(topic="lunch", voter=str(number)))
            consumed.add_all(single)
        # Each vote is written once. After a lost reply the repetition finds it done, which costs a read of its item.
        assert consumed.writes == 30 * 3
        assert consumed.reads > 0
        assert consumed.reads % 2 == 0
        assert store.meter.totals["cast_vote"] == Usage("cast_vote", 30, consumed.reads, consumed.writes)


async def test_a_retried_call_counts_as_one_call(tmp_path: Path) -> None:
    async with await open_with_retries(tmp_path, Faults(throttle=0.5), attempts=60) as store:
        for _ in range(20):
            await store.get(LUNCH)
        assert sums(store, "Election.get Count") == (20, 10, 0)


async def test_a_call_that_exhausts_its_retries_is_counted(tmp_path: Path) -> None:
    async with await open_with_retries(tmp_path, Faults(throttle=1.0), attempts=3) as store:
        with pytest.raises(Throttled):
            await store.get(LUNCH)
        assert sums(store, "Election.get Count") == (1, 0, 0)


async def test_unprocessed_items_use_units_when_they_are_read(tmp_path: Path) -> None:
    async with await open_with_retries(tmp_path, Faults(unprocessed=0.5)) as store:
        with store.measured("read") as consumed:
            await store.get_many([Vote.key(topic="lunch", voter=str(number)) for number in range(40)])
        assert consumed.reads >= 20


# Saved usage


def test_unsaved_usage_is_returned_once() -> None:
    meter = Meter()
    consumed = ConsumedCapacity()
    consumed.add("T", reads=2)
    meter.record("a", consumed)
    assert meter.take_unsaved() == [Usage("a", 1, 2.0, 0.0)]
    assert meter.take_unsaved() == []
    meter.record("a", consumed)
    assert meter.take_unsaved() == [Usage("a", 1, 2.0, 0.0)]
    assert meter.totals == {"a": Usage("a", 2, 4.0, 0.0)}


async def test_usage_is_saved_when_the_store_closes(tmp_path: Path) -> None:
    for _ in range(2):
        async with await open_embedded(tmp_path / "store.db", [election]) as store:
            await store.put(Count(topic="lunch"))
            await store.get(LUNCH)
    backend = EmbeddedBackend(tmp_path / "store.db")
    await backend.start([])
    assert await backend.usage() == [Usage("Election.get Count", 2, 1.0, 0.0), Usage("Election.put Count", 2, 0.0, 2.0)]
    await backend.close()
