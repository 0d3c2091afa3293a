"""What only a large stream shows: shards that split and end, iterators that expire, records that are trimmed.

The servers at hand have one shard that never ends. So here the streams come from a small service that answers as AWS
documents it, and the metadata table is in a real server.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from tests.support.dynamodb_servers import shared_server
from tests.support.plain_client import PlainClient
from tests.table.dynamodb.streams.scripted_service import TABLE, StreamService, served
from tests.table.dynamodb.streams.stream_tables import StreamFixture, advance_until_read, drained, unique
from zataku.clock import ManualClock
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
async def place(service: StreamService) -> AsyncIterator[StreamFixture]:
    async with served(service) as endpoint:
        client, keeping = PlainClient(endpoint), PlainClient(shared_server("dynoxide").endpoint)
        metadata = MetadataTable(keeping, unique("ZatakuStore"), ManualClock())
        await metadata.start()
        made = StreamFixture(client, SCHEMA, metadata)
        yield made
        await made.close()
        await client.close()
        await keeping.close()


@pytest.fixture
def streams(place: StreamFixture) -> ConsumerRegistry:
    return place.process()


def write(service: StreamService, rounds: int = 1) -> None:
    for _ in range(rounds):
        for key in KEYS:
            service.write(key)


def told(changes: list[RawChange]) -> dict[str, list[int]]:
    """The numbers of the changes by key, in the order in which they came."""
    found: dict[str, list[int]] = {}
    for change in changes:
        assert isinstance(change.new, dict)
        found.setdefault(change.new["pk"], []).append(change.new["n"])
    return found


async def all_of(streams: ConsumerRegistry, limit: int = 5) -> dict[str, list[int]]:
    return told(await drained(streams, SCHEMA, "watcher", limit))


async def leased(place: StreamFixture) -> list[str]:
    """The shards in the metadata table."""
    items = await place.metadata.items(f"stream#{TABLE}#watcher")
    return [it["sk"].rpartition("#")[2] for it in items if it["sk"] != "consumer"]


async def test_changes_of_all_shards_come_in_the_order_of_each_item(service: StreamService, streams: ConsumerRegistry):
    service.split(service.open_shards[0])
    write(service, 3)
    assert await all_of(streams) == service.told


async def test_a_parent_is_wholly_acknowledged_before_its_children_are_read(
    service: StreamService, streams: ConsumerRegistry
):
    write(service)
    service.split(service.open_shards[0])
    write(service)
    first = await streams.changes(SCHEMA, "watcher", 100)
    assert set(told(first)) <= set(KEYS)
    assert all(numbers == [1] for numbers in told(first).values())
    await streams.acknowledge(SCHEMA, "watcher", first[0].position)
    assert all(numbers == [1] for numbers in told(await streams.changes(SCHEMA, "watcher", 100)).values())
    await all_of(streams)
    write(service)
    assert await all_of(streams) == {key: [3] for key in KEYS}


async def test_generations_of_shards_are_read_in_one_go(service: StreamService, streams: ConsumerRegistry):
    for parts in (1, 2, 1, 2, 2):
        write(service)
        for shard in service.open_shards:
            service.split(shard, parts)
    write(service)
    assert await all_of(streams) == service.told


async def test_a_shard_that_splits_while_it_is_read_goes_on_in_its_children(
    service: StreamService, streams: ConsumerRegistry
):
    write(service)
    seen = await all_of(streams)
    for shard in service.open_shards:
        service.split(shard)
    write(service)
    later = await all_of(streams)
    assert {key: seen[key] + later[key] for key in KEYS} == service.told


async def test_empty_closed_shards_do_not_hold_up_a_reader(service: StreamService, streams: ConsumerRegistry):
    for _ in range(5):
        service.split(service.open_shards[0], 1)
    write(service)
    assert len(await streams.changes(SCHEMA, "watcher", 1)) == 1


async def test_empty_pages_are_not_the_end(service: StreamService, streams: ConsumerRegistry):
    service.gaps = 3
    write(service)
    assert await all_of(streams) == service.told


async def test_a_long_stretch_of_empty_pages_is_crossed_in_several_reads(
    service: StreamService, streams: ConsumerRegistry
):
    service.gaps = 9
    write(service)
    reads = 0
    while not await streams.changes(SCHEMA, "watcher", 1):
        reads += 1
        assert reads < 10
    assert reads > 1


async def test_a_quiet_shard_is_asked_once_a_read(service: StreamService, streams: ConsumerRegistry):
    for _ in range(5):
        await streams.changes(SCHEMA, "watcher", 1)
    before = service.calls["GetRecords"]
    await streams.changes(SCHEMA, "watcher", 1)
    assert service.calls["GetRecords"] == before + 1


async def test_an_expired_iterator_is_replaced_by_one_after_what_was_read(
    service: StreamService, streams: ConsumerRegistry
):
    write(service)
    first = await streams.changes(SCHEMA, "watcher", 2)
    service.expire_iterators()
    assert (await streams.changes(SCHEMA, "watcher", 100))[:2] == first
    await streams.acknowledge(SCHEMA, "watcher", first[-1].position)
    service.expire_iterators()
    rest = await all_of(streams)
    assert {key: told(first).get(key, []) + rest.get(key, []) for key in KEYS} == service.told


async def test_a_consumer_that_comes_too_late_goes_on_with_what_is_left(service: StreamService, place: StreamFixture):
    write(service)
    first = place.process()
    (change,) = await first.changes(SCHEMA, "watcher", 1)
    await first.acknowledge(SCHEMA, "watcher", change.position)
    await first.close()
    service.trim(service.open_shards[0], 4)
    with capture_logs() as notes:
        assert await all_of(place.process()) == {key: [1] for key in KEYS[4:]}
    assert [note["event"] for note in notes] == ["stream_records_trimmed"]


async def test_records_trimmed_under_an_iterator_are_passed_over(service: StreamService, streams: ConsumerRegistry):
    write(service)
    (change,) = await streams.changes(SCHEMA, "watcher", 1)
    await streams.acknowledge(SCHEMA, "watcher", change.position)
    service.trim(service.open_shards[0], 5)
    assert await all_of(streams) == {key: [1] for key in KEYS[5:]}


async def test_the_book_forgets_finished_shards_when_they_are_trimmed(
    service: StreamService, place: StreamFixture, streams: ConsumerRegistry
):
    write(service)
    (old,) = service.open_shards
    service.split(old)
    await all_of(streams)
    assert old.name in await leased(place)
    service.trim(old, 100)
    await place.clock.advance(10)
    assert await all_of(streams) == {}
    assert await leased(place) == sorted(shard.name for shard in service.open_shards)


async def test_a_finished_shard_that_the_description_leaves_out_is_not_read_again(
    service: StreamService, place: StreamFixture, streams: ConsumerRegistry
):
    write(service)
    (old,) = service.open_shards
    service.split(old)
    await all_of(streams)
    describe = service._describe
    service._describe = lambda asked: _without(describe(asked), old.name)
    await place.clock.advance(10)
    assert await all_of(streams) == {}
    service._describe = describe
    await place.clock.advance(10)
    assert await all_of(streams) == {}
    assert old.name in await leased(place)


def _without(answer: dict, name: str) -> dict:
    told = answer["StreamDescription"]
    return {"StreamDescription": told | {"Shards": [it for it in told["Shards"] if it["ShardId"] != name]}}


async def test_a_shard_trimmed_before_its_end_was_read_lets_its_children_go_on(
    service: StreamService, place: StreamFixture, streams: ConsumerRegistry
):
    write(service)
    (change,) = await streams.changes(SCHEMA, "watcher", 1)
    await streams.acknowledge(SCHEMA, "watcher", change.position)
    (old,) = service.open_shards
    service.split(old)
    write(service)
    service.trim(old, 100)
    await streams.close()
    with capture_logs() as notes:
        assert await all_of(place.process()) == {key: [2] for key in KEYS}
    assert [note["event"] for note in notes] == ["shard_gone"]


async def test_a_stream_switched_off_and_on_is_finished_before_the_new_one(
    service: StreamService, place: StreamFixture, streams: ConsumerRegistry
):
    write(service)
    first = await streams.changes(SCHEMA, "watcher", 3)
    service.disable()
    service.enable(shards=2)
    write(service)
    service.disable()
    service.enable()
    write(service)
    await place.clock.advance(10)
    assert told(first) == {key: [1] for key in KEYS[:3]}
    assert await all_of(streams) == service.told
    assert await leased(place) == [service.open_shards[0].name]


async def test_a_stream_that_is_gone_is_left_with_a_note(
    service: StreamService, place: StreamFixture, streams: ConsumerRegistry
):
    write(service)
    await streams.changes(SCHEMA, "watcher", 1)
    service.disable()
    service.enable()
    del service.streams[0]
    write(service)
    await place.clock.advance(10)
    with capture_logs() as notes:
        assert await all_of(streams) == {key: [2] for key in KEYS}
    assert [note["event"] for note in notes] == ["stream_gone"]


async def test_a_new_consumer_begins_with_the_stream_of_today(service: StreamService, streams: ConsumerRegistry):
    write(service)
    service.disable()
    service.enable()
    write(service)
    assert await all_of(streams) == {key: [2] for key in KEYS}


async def test_a_late_acknowledgement_of_an_earlier_stream_changes_nothing(
    service: StreamService, place: StreamFixture, streams: ConsumerRegistry
):
    write(service)
    (old, *_) = await streams.changes(SCHEMA, "watcher", 1)
    await all_of(streams)
    service.disable()
    service.enable()
    write(service)
    await place.clock.advance(10)
    assert len(await streams.changes(SCHEMA, "watcher", 100)) > 0
    await streams.acknowledge(SCHEMA, "watcher", old.position)
    assert await all_of(streams) == {key: [2] for key in KEYS}


async def test_an_acknowledgement_reaches_back_over_all_shards(service: StreamService, place: StreamFixture):
    service.split(service.open_shards[0])
    write(service, 2)
    first = place.process()
    changes = await first.changes(SCHEMA, "watcher", 100)
    assert len({change.position.split("/")[1] for change in changes}) == 2
    await first.acknowledge(SCHEMA, "watcher", changes[-1].position)
    await first.close()
    rest = await all_of(place.process())
    given = told(changes)
    assert {key: given.get(key, []) + rest.get(key, []) for key in KEYS} == service.told


async def test_an_item_that_the_service_expired_is_reported_as_expired(
    service: StreamService, streams: ConsumerRegistry
):
    service.write("k", userIdentity={"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"})
    service.write("k", userIdentity={"Type": "Somebody", "PrincipalId": "dynamodb.amazonaws.com"})
    service.write("k")
    assert [it.expired for it in await drained(streams, SCHEMA, "watcher")] == [True, False, False]


async def test_a_throttled_read_without_wait_raises(service: StreamService, streams: ConsumerRegistry):
    write(service)
    service.busy = 1
    with pytest.raises(Throttled):
        await streams.changes(SCHEMA, "watcher", 1)
    assert len(await streams.changes(SCHEMA, "watcher", 1)) == 1


async def test_a_throttled_read_with_wait_is_retried(
    service: StreamService, place: StreamFixture, streams: ConsumerRegistry
):
    write(service)
    service.busy = 3
    reading = asyncio.create_task(streams.changes(SCHEMA, "watcher", 1, wait=30))
    await advance_until_read(place.clock, reading, 0.25, sleepers=1)
    assert len(reading.result()) == 1


async def test_a_busy_shard_does_not_hold_up_the_others(service: StreamService, streams: ConsumerRegistry):
    service.enable(shards=2)
    write(service)
    service.busy = 1
    assert await streams.changes(SCHEMA, "watcher", 1)
    service.busy = 0
    assert await all_of(streams) == service.told


async def test_a_reader_that_stops_waiting_loses_nothing(service: StreamService, streams: ConsumerRegistry):
    # Stopped after ever more turns of the event loop, at every point where a read can be.
    service.enable(shards=2)
    await streams.changes(SCHEMA, "watcher", 1)
    for turns in range(250):
        service.write(KEYS[turns % len(KEYS)])
        reading = asyncio.create_task(streams.changes(SCHEMA, "watcher", 10_000))
        for _ in range(turns):
            await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait({reading})
    assert await all_of(streams) == service.told
