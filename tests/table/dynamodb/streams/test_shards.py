"""Streams with many shards: shards that split and close, iterators that expire, records that are trimmed.

The test servers have one shard that never closes, so the streams come from a scripted service that responds as AWS
documents; the metadata table is on a real server.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from tests.support.dynamodb_servers import shared_server
from tests.support.manual_clock import ManualClock
from tests.support.plain_client import PlainClient
from tests.table.dynamodb.streams.scripted_service import TABLE, StreamService, served
from tests.table.dynamodb.streams.stream_tables import StreamFixture, advance_until_read, drain, unique_name
from zataku.table.backend.errors import Throttled
from zataku.table.backend.port import RawChange
from zataku.table.backend.table_schema import KeyAttribute, TableSchema
from zataku.table.dynamodb.metadata_table import MetadataTable
from zataku.table.dynamodb.streams import ConsumerRegistry

SCHEMA = TableSchema(TABLE, KeyAttribute("pk"), stream="NEW_IMAGE")
KEYS = [f"k{at}" for at in range(8)]


@pytest.fixture
def service() -> StreamService:
    return StreamService()


@pytest.fixture
async def stream(service: StreamService) -> AsyncIterator[StreamFixture]:
    async with served(service) as endpoint:
        client, metadata_client = PlainClient(endpoint), PlainClient(shared_server("dynoxide").endpoint)
        metadata = MetadataTable(metadata_client, unique_name("ZatakuStore"), ManualClock())
        await metadata.start()
        stream = StreamFixture(client, SCHEMA, metadata)
        yield stream
        await stream.close()
        await client.close()
        await metadata_client.close()


@pytest.fixture
def registry(stream: StreamFixture) -> ConsumerRegistry:
    return stream.process()


def write(service: StreamService, rounds: int = 1) -> None:
    for _ in range(rounds):
        for key in KEYS:
            service.write(key)


def numbers_by_key(changes: list[RawChange]) -> dict[str, list[int]]:
    """The numbers of the changes by key, in the order of the changes."""
    numbers: dict[str, list[int]] = {}
    for change in changes:
        assert isinstance(change.new, dict)
        numbers.setdefault(change.new["pk"], []).append(change.new["n"])
    return numbers


async def drain_numbers(registry: ConsumerRegistry, limit: int = 5) -> dict[str, list[int]]:
    return numbers_by_key(await drain(registry, SCHEMA, "watcher", limit))


async def leased_shards(stream: StreamFixture) -> list[str]:
    """The shards with a lease item in the metadata table."""
    items = await stream.metadata.items(f"stream#{TABLE}#watcher")
    return [item["sk"].rpartition("#")[2] for item in items if item["sk"] != "consumer"]


async def test_changes_of_all_shards_are_read_in_the_order_of_each_item(
    service: StreamService, registry: ConsumerRegistry
):
    service.split(service.open_shards[0])
    write(service, 3)
    assert await drain_numbers(registry) == service.written


async def test_a_parent_shard_is_fully_acknowledged_before_its_children_are_read(
    service: StreamService, registry: ConsumerRegistry
):
    write(service)
    service.split(service.open_shards[0])
    write(service)
    first = await registry.changes(SCHEMA, "watcher", 100)
    assert set(numbers_by_key(first)) <= set(KEYS)
    assert all(numbers == [1] for numbers in numbers_by_key(first).values())
    await registry.acknowledge(SCHEMA, "watcher", first[0].position)
    assert all(numbers == [1] for numbers in numbers_by_key(await registry.changes(SCHEMA, "watcher", 100)).values())
    await drain_numbers(registry)
    write(service)
    assert await drain_numbers(registry) == {key: [3] for key in KEYS}


async def test_several_generations_of_shards_are_read_in_order(service: StreamService, registry: ConsumerRegistry):
    for parts in (1, 2, 1, 2, 2):
        write(service)
        for shard in service.open_shards:
            service.split(shard, parts)
    write(service)
    assert await drain_numbers(registry) == service.written


async def test_a_shard_that_splits_while_it_is_read_continues_in_its_children(
    service: StreamService, registry: ConsumerRegistry
):
    write(service)
    seen = await drain_numbers(registry)
    for shard in service.open_shards:
        service.split(shard)
    write(service)
    later = await drain_numbers(registry)
    assert {key: seen[key] + later[key] for key in KEYS} == service.written


async def test_one_read_passes_over_empty_closed_shards(service: StreamService, registry: ConsumerRegistry):
    for _ in range(5):
        service.split(service.open_shards[0], 1)
    write(service)
    assert len(await registry.changes(SCHEMA, "watcher", 1)) == 1


async def test_empty_pages_do_not_end_a_read(service: StreamService, registry: ConsumerRegistry):
    service.gaps = 3
    write(service)
    assert await drain_numbers(registry) == service.written


async def test_a_long_run_of_empty_pages_takes_several_reads(service: StreamService, registry: ConsumerRegistry):
    service.gaps = 9
    write(service)
    reads = 0
    while not await registry.changes(SCHEMA, "watcher", 1):
        reads += 1
        assert reads < 10
    assert reads > 1


async def test_an_idle_shard_costs_one_call_for_each_read(service: StreamService, registry: ConsumerRegistry):
    for _ in range(5):
        await registry.changes(SCHEMA, "watcher", 1)
    before = service.calls["GetRecords"]
    await registry.changes(SCHEMA, "watcher", 1)
    assert service.calls["GetRecords"] == before + 1


async def test_an_expired_iterator_is_replaced_at_the_last_position(service: StreamService, registry: ConsumerRegistry):
    write(service)
    first = await registry.changes(SCHEMA, "watcher", 2)
    service.expire_iterators()
    assert (await registry.changes(SCHEMA, "watcher", 100))[:2] == first
    await registry.acknowledge(SCHEMA, "watcher", first[-1].position)
    service.expire_iterators()
    rest = await drain_numbers(registry)
    assert {key: numbers_by_key(first).get(key, []) + rest.get(key, []) for key in KEYS} == service.written


async def test_a_consumer_behind_the_trim_horizon_continues_with_the_remaining_records(
    service: StreamService, stream: StreamFixture
):
    write(service)
    first = stream.process()
    (change,) = await first.changes(SCHEMA, "watcher", 1)
    await first.acknowledge(SCHEMA, "watcher", change.position)
    await first.close()
    service.trim(service.open_shards[0], 4)
    with capture_logs() as logs:
        assert await drain_numbers(stream.process()) == {key: [1] for key in KEYS[4:]}
    assert [entry["event"] for entry in logs] == ["stream_records_trimmed"]


async def test_records_trimmed_behind_an_iterator_are_skipped(service: StreamService, registry: ConsumerRegistry):
    write(service)
    (change,) = await registry.changes(SCHEMA, "watcher", 1)
    await registry.acknowledge(SCHEMA, "watcher", change.position)
    service.trim(service.open_shards[0], 5)
    assert await drain_numbers(registry) == {key: [1] for key in KEYS[5:]}


async def test_the_metadata_table_drops_finished_shards_when_they_are_trimmed(
    service: StreamService, stream: StreamFixture, registry: ConsumerRegistry
):
    write(service)
    (old,) = service.open_shards
    service.split(old)
    await drain_numbers(registry)
    assert old.name in await leased_shards(stream)
    service.trim(old, 100)
    await stream.clock.advance(10)
    assert await drain_numbers(registry) == {}
    assert await leased_shards(stream) == sorted(shard.name for shard in service.open_shards)


async def test_a_finished_shard_omitted_from_one_description_is_not_read_again(
    service: StreamService, stream: StreamFixture, registry: ConsumerRegistry
):
    write(service)
    (old,) = service.open_shards
    service.split(old)
    await drain_numbers(registry)
    describe = service._describe
    service._describe = lambda parameters: _without_shard(describe(parameters), old.name)
    await stream.clock.advance(10)
    assert await drain_numbers(registry) == {}
    service._describe = describe
    await stream.clock.advance(10)
    assert await drain_numbers(registry) == {}
    assert old.name in await leased_shards(stream)


def _without_shard(response: dict, name: str) -> dict:
    description = response["StreamDescription"]
    shards = [shard for shard in description["Shards"] if shard["ShardId"] != name]
    return {"StreamDescription": description | {"Shards": shards}}


async def test_children_of_a_shard_trimmed_before_it_was_finished_are_read(
    service: StreamService, stream: StreamFixture, registry: ConsumerRegistry
):
    write(service)
    (change,) = await registry.changes(SCHEMA, "watcher", 1)
    await registry.acknowledge(SCHEMA, "watcher", change.position)
    (old,) = service.open_shards
    service.split(old)
    write(service)
    service.trim(old, 100)
    await registry.close()
    with capture_logs() as logs:
        assert await drain_numbers(stream.process()) == {key: [2] for key in KEYS}
    assert [entry["event"] for entry in logs] == ["shard_gone"]


async def test_a_disabled_stream_is_finished_before_the_new_one_is_read(
    service: StreamService, stream: StreamFixture, registry: ConsumerRegistry
):
    write(service)
    first = await registry.changes(SCHEMA, "watcher", 3)
    service.disable()
    service.enable(shards=2)
    write(service)
    service.disable()
    service.enable()
    write(service)
    await stream.clock.advance(10)
    assert numbers_by_key(first) == {key: [1] for key in KEYS[:3]}
    assert await drain_numbers(registry) == service.written
    assert await leased_shards(stream) == [service.open_shards[0].name]


async def test_a_missing_stream_is_skipped_and_logged(
    service: StreamService, stream: StreamFixture, registry: ConsumerRegistry
):
    write(service)
    await registry.changes(SCHEMA, "watcher", 1)
    service.disable()
    service.enable()
    del service.streams[0]
    write(service)
    await stream.clock.advance(10)
    with capture_logs() as logs:
        assert await drain_numbers(registry) == {key: [2] for key in KEYS}
    assert [entry["event"] for entry in logs] == ["stream_gone"]


async def test_a_new_consumer_starts_with_the_latest_stream(service: StreamService, registry: ConsumerRegistry):
    write(service)
    service.disable()
    service.enable()
    write(service)
    assert await drain_numbers(registry) == {key: [2] for key in KEYS}


async def test_a_late_acknowledgement_of_an_earlier_stream_changes_nothing(
    service: StreamService, stream: StreamFixture, registry: ConsumerRegistry
):
    write(service)
    (old, *_) = await registry.changes(SCHEMA, "watcher", 1)
    await drain_numbers(registry)
    service.disable()
    service.enable()
    write(service)
    await stream.clock.advance(10)
    assert len(await registry.changes(SCHEMA, "watcher", 100)) > 0
    await registry.acknowledge(SCHEMA, "watcher", old.position)
    assert await drain_numbers(registry) == {key: [2] for key in KEYS}


async def test_an_acknowledgement_covers_earlier_changes_of_all_shards(service: StreamService, stream: StreamFixture):
    service.split(service.open_shards[0])
    write(service, 2)
    first = stream.process()
    changes = await first.changes(SCHEMA, "watcher", 100)
    assert len({change.position.split("/")[1] for change in changes}) == 2
    await first.acknowledge(SCHEMA, "watcher", changes[-1].position)
    await first.close()
    rest = await drain_numbers(stream.process())
    acknowledged = numbers_by_key(changes)
    assert {key: acknowledged.get(key, []) + rest.get(key, []) for key in KEYS} == service.written


async def test_an_item_that_the_service_expired_is_reported_as_expired(
    service: StreamService, registry: ConsumerRegistry
):
    service.write("k", userIdentity={"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"})
    service.write("k", userIdentity={"Type": "User", "PrincipalId": "dynamodb.amazonaws.com"})
    service.write("k")
    assert [change.expired for change in await drain(registry, SCHEMA, "watcher")] == [True, False, False]


async def test_a_throttled_read_without_wait_raises(service: StreamService, registry: ConsumerRegistry):
    write(service)
    service.throttled_reads = 1
    with pytest.raises(Throttled):
        await registry.changes(SCHEMA, "watcher", 1)
    assert len(await registry.changes(SCHEMA, "watcher", 1)) == 1


async def test_a_throttled_read_with_wait_is_retried(
    service: StreamService, stream: StreamFixture, registry: ConsumerRegistry
):
    write(service)
    service.throttled_reads = 3
    reading = asyncio.create_task(registry.changes(SCHEMA, "watcher", 1, wait=30))
    await advance_until_read(stream.clock, reading, 0.25, sleepers=1)
    assert len(reading.result()) == 1


async def test_a_throttled_shard_does_not_block_the_others(service: StreamService, registry: ConsumerRegistry):
    service.enable(shards=2)
    write(service)
    service.throttled_reads = 1
    assert await registry.changes(SCHEMA, "watcher", 1)
    service.throttled_reads = 0
    assert await drain_numbers(registry) == service.written


async def test_a_cancelled_read_loses_no_change(service: StreamService, registry: ConsumerRegistry):
    # Cancelled after 0 to 249 turns of the event loop, which covers every point of a read.
    service.enable(shards=2)
    await registry.changes(SCHEMA, "watcher", 1)
    for turns in range(250):
        service.write(KEYS[turns % len(KEYS)])
        reading = asyncio.create_task(registry.changes(SCHEMA, "watcher", 10_000))
        for _ in range(turns):
            await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait({reading})
    assert await drain_numbers(registry) == service.written
