"""Several processes of one consumer assign_shards the shards, and one goes on where another stopped."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest

from tests.support.dynamodb_servers import ServerName, shared_server
from tests.support.plain_client import PlainClient
from tests.table.dynamodb.streams.scripted_service import TABLE, StreamService, served
from tests.table.dynamodb.streams.stream_tables import SERVERS, StreamFixture, bench, drained, names, unique
from zataku.clock import ManualClock
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
    """A process with a clock of its own: while its clock stands still it is paused, or dead."""

    def __init__(self, place: StreamFixture, name: str) -> None:
        self.clock = ManualClock()
        self.table = place.table
        self.streams: ConsumerRegistry = place.process(self.clock, name)

    async def read(self, limit: int = 100) -> list:
        return await self.streams.changes(self.table, "watcher", limit)

    async def acknowledge(self, change) -> None:
        await self.streams.acknowledge(self.table, "watcher", change.position)

    async def drain(self) -> list:
        return await drained(self.streams, self.table, "watcher")


@pytest.fixture(params=SERVERS)
async def place(request: pytest.FixtureRequest) -> AsyncIterator[StreamFixture]:
    name: ServerName = request.param
    async with bench(name) as made:
        for letter in "abcd":
            await made.put(letter)
        yield made


@pytest.fixture
async def shards() -> AsyncIterator[tuple[StreamService, StreamFixture]]:
    """A stream of four shards."""
    service = StreamService()
    service.enable(shards=4)
    async with served(service) as endpoint:
        client, keeping = PlainClient(endpoint), PlainClient(shared_server("dynoxide").endpoint)
        metadata = MetadataTable(keeping, unique("ZatakuStore"), ManualClock())
        await metadata.start()
        made = StreamFixture(client, SCHEMA, metadata)
        yield service, made
        await made.close()
        await client.close()
        await keeping.close()


async def kept(place: StreamFixture) -> list[Item]:
    return await place.metadata.items(f"stream#{place.table.name}#watcher")


async def changed(place: StreamFixture, before: list[Item]) -> None:
    """Wait until the metadata table has changed."""
    async with asyncio.timeout(20):
        while await kept(place) == before:
            await asyncio.sleep(0.01)


async def owners(place: StreamFixture) -> list[str | None]:
    return [item.get("owner") for item in await kept(place) if item["sk"] != "consumer"]


async def test_a_shard_is_read_by_one_process_at_a_time(place: StreamFixture):
    first, second = Process(place, "first"), Process(place, "second")
    assert names(await first.read()) == [*"abcd"]
    assert await second.read() == []
    assert await owners(place) == ["first"]


async def test_when_a_process_dies_another_goes_on_after_the_lease(place: StreamFixture):
    first, second = Process(place, "first"), Process(place, "second")
    changes = await first.read()
    await first.acknowledge(changes[0])
    assert await second.read() == []
    await second.clock.advance(19)
    assert await second.read() == []
    await second.clock.advance(1)
    assert names(await second.read()) == ["b", "c", "d"]


async def test_what_counts_is_the_counter_and_not_the_time_of_day(place: StreamFixture):
    first, second = Process(place, "first"), Process(place, "second")
    second.clock = ManualClock(now=5_000_000_000.0)
    second.streams = place.process(second.clock, "second")
    await first.read()
    for _ in range(6):
        assert await second.read() == []
        await second.clock.advance(15)
        await first.clock.advance(5)
        await first.read()
    assert await owners(place) == ["first"]


async def test_a_lease_is_kept_alive_while_its_owner_works_on_a_batch(place: StreamFixture):
    first, second = Process(place, "first"), Process(place, "second")
    changes = await first.read()
    for _ in range(10):
        assert await second.read() == []
        before = await kept(place)
        await first.clock.advance(5)
        await changed(place, before)
        await second.clock.advance(5)
    await first.acknowledge(changes[-1])
    assert await second.read() == []


async def test_a_process_that_stopped_reading_loses_its_leases(place: StreamFixture):
    first, second = Process(place, "first"), Process(place, "second")
    await first.read()
    before = await kept(place)
    await first.clock.advance(301)
    await changed(place, before)
    await first.clock.advance(5)
    await second.read()
    await second.clock.advance(20)
    assert names(await second.read()) == [*"abcd"]


async def test_a_paused_owner_that_comes_back_cannot_acknowledge(place: StreamFixture):
    first, second = Process(place, "first"), Process(place, "second")
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


async def test_a_paused_owner_that_comes_back_in_time_goes_on(place: StreamFixture):
    first, second = Process(place, "first"), Process(place, "second")
    changes = await first.read()
    await second.read()
    await second.clock.advance(19)
    await second.read()
    await first.acknowledge(changes[1])
    await second.clock.advance(19)
    assert await second.read() == []
    assert await first.read() == changes[2:]


async def test_a_process_that_closes_gives_its_leases_back_at_once(place: StreamFixture):
    first, second = Process(place, "first"), Process(place, "second")
    await first.read()
    assert await second.read() == []
    await first.streams.close()
    await second.clock.advance(5)
    assert names(await second.read()) == [*"abcd"]


async def test_another_process_may_acknowledge_a_shard_without_owner(place: StreamFixture):
    first, second = Process(place, "first"), Process(place, "second")
    changes = await first.read()
    await first.streams.close()
    await second.acknowledge(changes[1])
    assert await second.read() == changes[2:]


async def test_no_other_process_may_acknowledge_while_the_owner_reads(place: StreamFixture):
    first, second = Process(place, "first"), Process(place, "second")
    changes = await first.read()
    with pytest.raises(LeaseLost):
        await second.acknowledge(changes[1])
    assert await first.read() == changes


async def test_a_checkpoint_is_never_moved_back(place: StreamFixture):
    leases = LeaseTable(place.metadata, "stream#some#consumer", "label", "me")
    assert await leases.take("shard", None) is not None
    for sequence in ("9", "10", "9", "2"):
        assert await leases.checkpoint("shard", sequence) is not None
    lease = await leases.read("shard")
    assert lease is not None
    assert lease.sequence == "10"


async def test_a_consumer_forgotten_by_another_process_cannot_be_acknowledged(place: StreamFixture):
    first, second = Process(place, "first"), Process(place, "second")
    changes = await first.read()
    await second.streams.forget(place.table, "watcher")
    with pytest.raises(LeaseLost):
        await first.acknowledge(changes[0])
    await first.clock.advance(10)
    assert await first.read() == changes


async def test_two_that_begin_at_once_do_not_both_read_a_shard(place: StreamFixture):
    both = [Process(place, "first"), Process(place, "second")]
    found = await asyncio.gather(*(process.read() for process in both))
    assert sorted(map(len, found)) == [0, 4]


async def test_living_processes_come_to_share_the_shards(shards: tuple[StreamService, StreamFixture]):
    service, place = shards
    first, second = Process(place, "first"), Process(place, "second")
    await first.read()
    assert await owners(place) == ["first"] * 4
    for _ in range(4):
        await second.read()
        for process in (first, second):
            await process.clock.advance(5)
        await first.read()
    assert sorted(map(str, await owners(place))) == ["first", "first", "second", "second"]
    for key in KEYS:
        service.write(key)
    halves = [{it.keys["pk"] for it in await process.drain()} for process in (first, second)]
    assert halves[0].isdisjoint(halves[1])
    assert halves[0] | halves[1] == set(KEYS)
    assert all(halves)


async def test_a_shard_changes_hands_only_when_its_changes_are_acknowledged(
    shards: tuple[StreamService, StreamFixture],
):
    service, place = shards
    for key in KEYS:
        service.write(key)
    first, second = Process(place, "first"), Process(place, "second")
    await first.read()
    for _ in range(3):
        assert await second.read() == []
        for process in (first, second):
            await process.clock.advance(5)
        changes = await first.read()
    assert await owners(place) == ["first"] * 4
    await first.acknowledge(changes[-1])
    assert sorted(map(str, await owners(place))) == ["first", "first", "first", "second"]
    assert await first.read() == await second.read() == []


async def test_an_owner_that_dies_leaves_its_share_to_the_living(shards: tuple[StreamService, StreamFixture]):
    service, place = shards
    first, second = Process(place, "first"), Process(place, "second")
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
    assert {it.keys["pk"] for it in await second.drain()} == set(KEYS)


def lease(shard: str, owner: str | None, wanted: str | None = None) -> Lease:
    return Lease(shard, owner, 1, wanted=wanted)


@pytest.mark.parametrize(
    ("held", "takes", "asks"),
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
def test_each_worker_takes_its_share_and_requests_the_rest(held: dict[str, str], takes: int, asks: str | None):
    clock = ManualClock()
    monitor = LeaseMonitor(clock, 20)
    leases = {shard: lease(shard, owner) for shard, owner in held.items()}
    monitor.observe(leases)
    assignment = assign_shards("abcd", leases, monitor, "me", Random(1))
    assert len(assignment.take) == takes
    assert not set(assignment.take) & held.keys()
    assert (assignment.request and assignment.request.owner) == asks


def test_a_worker_requests_one_lease_at_a_time():
    monitor = LeaseMonitor(ManualClock(), 20)
    leases = {shard: lease(shard, "other", "me" if shard == "a" else None) for shard in "abcd"}
    monitor.observe(leases)
    assert assign_shards("abcd", leases, monitor, "me", Random(1)).request is None
