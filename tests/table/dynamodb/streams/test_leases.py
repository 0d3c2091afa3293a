"""Leases on shards: the processes of one consumer share the shards, and one continues where another stopped."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest

from tests.support.dynamodb_servers import ServerName, shared_server
from tests.support.manual_clock import ManualClock
from tests.support.plain_client import PlainClient
from tests.table.dynamodb.streams.scripted_service import TABLE, StreamService, served
from tests.table.dynamodb.streams.stream_tables import (
    SERVERS,
    StreamFixture,
    drain,
    open_stream,
    sort_keys,
    unique_name,
)
from zataku.table.backend.errors import LeaseLost
from zataku.table.backend.table_schema import KeyAttribute, TableSchema
from zataku.table.backend.values import Item
from zataku.table.dynamodb.metadata_table import MetadataTable
from zataku.table.dynamodb.streams import ConsumerRegistry
from zataku.table.dynamodb.streams.lease_assignment import LeaseMonitor, assign_shards
from zataku.table.dynamodb.streams.leases import Lease, LeaseTable

SCHEMA = TableSchema(TABLE, KeyAttribute("pk"), stream="NEW_IMAGE")
KEYS = [f"k{at}" for at in range(16)]


class Process:
    """A process with its own clock: while its clock does not advance it is paused or dead."""

    def __init__(self, stream: StreamFixture, name: str) -> None:
        self.clock = ManualClock()
        self.table = stream.table
        self.registry: ConsumerRegistry = stream.process(self.clock, name)

    async def read(self, limit: int = 100) -> list:
        return await self.registry.changes(self.table, "watcher", limit)

    async def acknowledge(self, change) -> None:
        await self.registry.acknowledge(self.table, "watcher", change.position)

    async def drain(self) -> list:
        return await drain(self.registry, self.table, "watcher")

    async def advance_past_a_heartbeat(self, seconds: float) -> None:
        """Advance the clock and wait until the heartbeat has renewed the leases: it sleeps before and after that."""
        async with asyncio.timeout(20):
            await self.clock.wait_for_sleepers()
            await self.clock.advance(seconds)
            await self.clock.wait_for_sleepers()


@pytest.fixture(params=SERVERS)
async def stream(request: pytest.FixtureRequest) -> AsyncIterator[StreamFixture]:
    name: ServerName = request.param
    async with open_stream(name) as stream:
        for letter in "abcd":
            await stream.put(letter)
        yield stream


@pytest.fixture
async def shards() -> AsyncIterator[tuple[StreamService, StreamFixture]]:
    """A stream of four shards."""
    service = StreamService()
    service.enable(shards=4)
    async with served(service) as endpoint:
        client, metadata_client = PlainClient(endpoint), PlainClient(shared_server("dynoxide").endpoint)
        metadata = MetadataTable(metadata_client, unique_name("ZatakuStore"), ManualClock())
        await metadata.start()
        stream = StreamFixture(client, SCHEMA, metadata)
        yield service, stream
        await stream.close()
        await client.close()
        await metadata_client.close()


async def consumer_items(stream: StreamFixture) -> list[Item]:
    return await stream.metadata.items(f"stream#{stream.table.name}#watcher")


async def owners(stream: StreamFixture) -> list[str | None]:
    return [item.get("owner") for item in await consumer_items(stream) if item["sk"] != "consumer"]


async def test_a_shard_is_read_by_one_process_at_a_time(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    assert sort_keys(await first.read()) == [*"abcd"]
    assert await second.read() == []
    assert await owners(stream) == ["first"]


async def test_when_a_process_dies_another_continues_once_the_lease_lapses(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    changes = await first.read()
    await first.acknowledge(changes[0])
    assert await second.read() == []
    await second.clock.advance(19)
    assert await second.read() == []
    await second.clock.advance(1)
    assert sort_keys(await second.read()) == ["b", "c", "d"]


async def test_when_a_process_dies_another_continues_although_its_clock_was_set_back(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    await first.read()
    assert await second.read() == []
    second.clock.set_back(7200)
    assert await second.read() == []
    await second.clock.advance(20)
    assert sort_keys(await second.read()) == [*"abcd"]


async def test_a_lease_lapses_by_its_counter_and_not_by_the_time_of_day(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    second.clock = ManualClock(now=5_000_000_000.0)
    second.registry = stream.process(second.clock, "second")
    await first.read()
    for _ in range(6):
        assert await second.read() == []
        await second.clock.advance(15)
        await first.clock.advance(5)
        await first.read()
    assert await owners(stream) == ["first"]


async def test_a_lease_is_renewed_while_its_owner_processes_a_batch(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    changes = await first.read()
    for _ in range(10):
        assert await second.read() == []
        before = await consumer_items(stream)
        await first.advance_past_a_heartbeat(5)
        assert await consumer_items(stream) != before
        await second.clock.advance(5)
    await first.acknowledge(changes[-1])
    assert await second.read() == []


async def test_a_process_that_stopped_reading_loses_its_leases(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    await first.read()
    await first.advance_past_a_heartbeat(301)
    await first.clock.advance(5)
    await second.read()
    await second.clock.advance(20)
    assert sort_keys(await second.read()) == [*"abcd"]


async def test_an_owner_that_resumes_after_losing_its_lease_cannot_acknowledge(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    changes = await first.read()
    await second.read()
    await second.clock.advance(20)
    taken_over = await second.read()
    with pytest.raises(LeaseLost, match="Another process"):
        await first.acknowledge(changes[-1])
    with pytest.raises(LeaseLost):
        await first.acknowledge(changes[-1])
    assert await second.read() == taken_over == changes
    await second.acknowledge(taken_over[1])
    await first.clock.advance(60)
    assert await first.read() == []
    await second.clock.advance(5)
    assert await second.read() == changes[2:]


async def test_an_owner_that_resumes_before_its_lease_lapses_continues(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    changes = await first.read()
    await second.read()
    await second.clock.advance(19)
    await second.read()
    await first.acknowledge(changes[1])
    await second.clock.advance(19)
    assert await second.read() == []
    assert await first.read() == changes[2:]


async def test_a_process_that_closes_releases_its_leases_at_once(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    await first.read()
    assert await second.read() == []
    await first.registry.close()
    await second.clock.advance(5)
    assert sort_keys(await second.read()) == [*"abcd"]


async def test_any_process_may_acknowledge_a_shard_without_an_owner(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    changes = await first.read()
    await first.registry.close()
    await second.acknowledge(changes[1])
    assert await second.read() == changes[2:]


async def test_only_the_owner_of_a_shard_may_acknowledge_it(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    changes = await first.read()
    with pytest.raises(LeaseLost):
        await second.acknowledge(changes[1])
    assert await first.read() == changes


async def test_a_checkpoint_is_never_moved_back(stream: StreamFixture):
    leases = LeaseTable(stream.metadata, "stream#some#consumer", "label", "me")
    assert await leases.take("shard", None) is not None
    for sequence in ("9", "10", "9", "2"):
        assert await leases.checkpoint("shard", sequence) is not None
    lease = await leases.read("shard")
    assert lease is not None
    assert lease.sequence == "10"


async def test_a_consumer_forgotten_by_another_process_cannot_be_acknowledged(stream: StreamFixture):
    first, second = Process(stream, "first"), Process(stream, "second")
    changes = await first.read()
    await second.registry.forget(stream.table, "watcher")
    with pytest.raises(LeaseLost):
        await first.acknowledge(changes[0])
    await first.clock.advance(10)
    assert await first.read() == changes


async def test_of_two_processes_that_start_at_once_one_reads_a_shard(stream: StreamFixture):
    both = [Process(stream, "first"), Process(stream, "second")]
    batches = await asyncio.gather(*(process.read() for process in both))
    assert sorted(map(len, batches)) == [0, 4]


async def test_running_processes_share_the_shards_evenly(shards: tuple[StreamService, StreamFixture]):
    service, stream = shards
    first, second = Process(stream, "first"), Process(stream, "second")
    await first.read()
    assert await owners(stream) == ["first"] * 4
    for _ in range(4):
        await second.read()
        for process in (first, second):
            await process.clock.advance(5)
        await first.read()
    assert sorted(map(str, await owners(stream))) == ["first", "first", "second", "second"]
    for key in KEYS:
        service.write(key)
    halves = [{change.keys["pk"] for change in await process.drain()} for process in (first, second)]
    assert halves[0].isdisjoint(halves[1])
    assert halves[0] | halves[1] == set(KEYS)
    assert all(halves)


async def test_a_shard_changes_hands_only_when_its_changes_are_acknowledged(
    shards: tuple[StreamService, StreamFixture],
):
    service, stream = shards
    for key in KEYS:
        service.write(key)
    first, second = Process(stream, "first"), Process(stream, "second")
    await first.read()
    for _ in range(3):
        assert await second.read() == []
        for process in (first, second):
            await process.clock.advance(5)
        changes = await first.read()
    assert await owners(stream) == ["first"] * 4
    await first.acknowledge(changes[-1])
    assert sorted(map(str, await owners(stream))) == ["first", "first", "first", "second"]
    assert await first.read() == await second.read() == []


async def test_the_shards_of_a_dead_owner_go_to_the_running_process(shards: tuple[StreamService, StreamFixture]):
    service, stream = shards
    first, second = Process(stream, "first"), Process(stream, "second")
    await first.read()
    for _ in range(4):
        await second.read()
        for process in (first, second):
            await process.clock.advance(5)
        await first.read()
    for key in KEYS:
        service.write(key)
    await first.read()
    await second.read()
    await second.clock.advance(20)
    assert {change.keys["pk"] for change in await second.drain()} == set(KEYS)


def lease(shard: str, owner: str | None, wanted: str | None = None) -> Lease:
    return Lease(shard, owner, 1, wanted=wanted)


@pytest.mark.parametrize(
    ("held", "takes", "requested_from"),
    [
        ({}, 4, None),
        ({"a": "me"}, 3, None),
        ({"a": "other"}, 2, None),
        ({"a": "other", "b": "other", "c": "third"}, 1, None),
        ({"a": "other", "b": "other", "c": "other", "d": "other"}, 0, "other"),
        ({"a": "other", "b": "other", "c": "other", "d": "me"}, 0, "other"),
        ({"a": "other", "b": "other", "c": "me", "d": "me"}, 0, None),
    ],
)
def test_a_worker_takes_free_shards_up_to_its_share_or_requests_one(
    held: dict[str, str], takes: int, requested_from: str | None
):
    clock = ManualClock()
    monitor = LeaseMonitor(clock, 20)
    leases = {shard: lease(shard, owner) for shard, owner in held.items()}
    monitor.observe(leases)
    assignment = assign_shards("abcd", leases, monitor, "me", Random(1))
    assert len(assignment.take) == takes
    assert not set(assignment.take) & held.keys()
    assert (assignment.request and assignment.request.owner) == requested_from


def test_a_worker_requests_one_lease_at_a_time():
    monitor = LeaseMonitor(ManualClock(), 20)
    leases = {shard: lease(shard, "other", "me" if shard == "a" else None) for shard in "abcd"}
    monitor.observe(leases)
    assert assign_shards("abcd", leases, monitor, "me", Random(1)).request is None
