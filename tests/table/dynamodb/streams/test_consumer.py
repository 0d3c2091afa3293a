"""Consumers of a table's stream on independent DynamoDB servers."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from tests.support.dynamodb_servers import ServerName
from tests.table.dynamodb.streams.stream_tables import (
    SERVERS,
    StreamFixture,
    advance_until_read,
    drain,
    open_stream,
    sort_keys,
    wait_for_pause,
)
from zataku.table.backend.errors import BadInput, StoreClosed
from zataku.table.dynamodb.streams import ConsumerRegistry


@pytest.fixture(params=SERVERS)
def server_name(request: pytest.FixtureRequest) -> ServerName:
    return request.param


@pytest.fixture
async def stream(server_name: ServerName) -> AsyncIterator[StreamFixture]:
    async with open_stream(server_name) as stream:
        yield stream


@pytest.fixture
def registry(stream: StreamFixture) -> ConsumerRegistry:
    return stream.process()


async def put_each(stream: StreamFixture, letters: str) -> None:
    for letter in letters:
        await stream.put(letter)


async def test_each_kind_of_change_carries_its_images(stream: StreamFixture, registry: ConsumerRegistry):
    await stream.put("a", n=1, blob=b"x", tags=frozenset({"t", "s"}))
    await stream.put("a", n=2)
    await stream.delete("a")
    first, second, third = await drain(registry, stream.table, "watcher")
    inserted = {"pk": "p", "sk": "a", "n": 1, "blob": b"x", "tags": frozenset({"t", "s"})}
    assert (first.kind, first.old, first.new) == ("INSERT", None, inserted)
    assert (second.kind, second.old, second.new) == ("MODIFY", inserted, {"pk": "p", "sk": "a", "n": 2})
    assert (third.kind, third.old, third.new) == ("REMOVE", {"pk": "p", "sk": "a", "n": 2}, None)
    assert first.keys == second.keys == third.keys == {"pk": "p", "sk": "a"}
    assert not first.expired
    assert first.at > 1_700_000_000


async def test_a_write_that_changes_nothing_is_not_in_the_stream(stream: StreamFixture, registry: ConsumerRegistry):
    await stream.put("a", n=1, tags=frozenset({"t", "s"}))
    await stream.put("a", n=1, tags=frozenset({"s", "t"}))
    await stream.put("a", n=True, tags=frozenset({"s", "t"}))
    assert [change.kind for change in await drain(registry, stream.table, "watcher")] == ["INSERT", "MODIFY"]


@pytest.mark.parametrize("view", ["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE"])
async def test_a_change_carries_the_images_of_the_stream_view(server_name: ServerName, view):
    async with open_stream(server_name, view) as stream:
        await stream.put("a", n=1)
        await stream.put("a", n=2)
        _, second = await drain(stream.process(), stream.table, "watcher")
    assert (second.old is not None, second.new is not None) == (view == "OLD_IMAGE", view == "NEW_IMAGE")
    assert second.keys == {"pk": "p", "sk": "a"}


async def test_unacknowledged_changes_are_read_again_in_the_same_order(
    stream: StreamFixture, registry: ConsumerRegistry
):
    await put_each(stream, "abcd")
    first = await registry.changes(stream.table, "watcher", 2)
    assert sort_keys(first) == ["a", "b"]
    assert await registry.changes(stream.table, "watcher", 2) == first
    assert sort_keys(await registry.changes(stream.table, "watcher", 100)) == [*"abcd"]
    await registry.acknowledge(stream.table, "watcher", first[-1].position)
    assert sort_keys(await drain(registry, stream.table, "watcher")) == ["c", "d"]
    assert await registry.changes(stream.table, "watcher", 100) == []


async def test_an_acknowledgement_covers_everything_before_it_and_never_goes_back(
    stream: StreamFixture, registry: ConsumerRegistry
):
    await put_each(stream, "abcd")
    changes = await registry.changes(stream.table, "watcher", 100)
    await registry.acknowledge(stream.table, "watcher", changes[2].position)
    await registry.acknowledge(stream.table, "watcher", changes[0].position)
    await registry.acknowledge(stream.table, "watcher", changes[2].position)
    assert await registry.changes(stream.table, "watcher", 100) == changes[3:]


async def test_an_acknowledgement_outlives_the_process(stream: StreamFixture):
    await put_each(stream, "abcd")
    first = stream.process()
    changes = await first.changes(stream.table, "watcher", 100)
    await first.acknowledge(stream.table, "watcher", changes[1].position)
    await first.close()
    assert await stream.process().changes(stream.table, "watcher", 100) == changes[2:]


async def test_each_consumer_has_its_own_position(stream: StreamFixture, registry: ConsumerRegistry):
    await put_each(stream, "a")
    assert sort_keys(await drain(registry, stream.table, "fast")) == ["a"]
    await put_each(stream, "b")
    assert sort_keys(await drain(registry, stream.table, "slow")) == ["a", "b"]
    assert sort_keys(await drain(registry, stream.table, "fast")) == ["b"]


async def test_a_forgotten_consumer_leaves_no_items_and_starts_from_the_beginning(
    stream: StreamFixture, registry: ConsumerRegistry
):
    await put_each(stream, "ab")
    old = await drain(registry, stream.table, "watcher")
    await registry.forget(stream.table, "watcher")
    assert await stream.metadata.items(f"stream#{stream.table.name}#watcher") == []
    assert await drain(registry, stream.table, "watcher") == old
    await registry.forget(stream.table, "unknown")


async def test_positions_of_one_item_sort_in_the_order_of_its_changes(
    stream: StreamFixture, registry: ConsumerRegistry
):
    for number in range(12):
        await stream.put("a", n=number)
    positions = [change.position for change in await drain(registry, stream.table, "watcher")]
    assert all(earlier < later for earlier, later in pairwise(positions))


async def test_two_readers_of_one_process_lose_nothing(stream: StreamFixture, registry: ConsumerRegistry):
    await put_each(stream, "abcdef")
    both = await asyncio.gather(*(registry.changes(stream.table, "watcher", 4) for _ in range(2)))
    assert both[0] == both[1]
    assert sort_keys(await drain(registry, stream.table, "watcher")) == [*"abcdef"]


async def test_a_waiting_read_returns_when_the_first_change_arrives(stream: StreamFixture, registry: ConsumerRegistry):
    reading = asyncio.create_task(registry.changes(stream.table, "watcher", 10, wait=30))
    await wait_for_pause(stream.clock)
    await stream.put("a")
    await advance_until_read(stream.clock, reading, 0.5)
    assert sort_keys(await reading) == ["a"]
    assert stream.clock.now() < 1_767_225_600 + 30


async def test_a_reader_is_woken_by_a_write_of_its_own_process(stream: StreamFixture, registry: ConsumerRegistry):
    reading = asyncio.create_task(registry.changes(stream.table, "watcher", 10, wait=30))
    await wait_for_pause(stream.clock)
    await stream.put("a")
    registry.notify(stream.table)
    assert sort_keys(await asyncio.wait_for(reading, 20)) == ["a"]


async def test_a_reader_returns_nothing_when_its_wait_is_over(stream: StreamFixture, registry: ConsumerRegistry):
    reading = asyncio.create_task(registry.changes(stream.table, "watcher", 10, wait=3))
    await advance_until_read(stream.clock, reading, 0.25)
    assert reading.result() == []
    assert stream.clock.now() >= 1_767_225_600 + 3


@pytest.mark.parametrize(
    "position",
    ["", "x", "1/2/3", "a/b/02.123", "a/b/03.12x", "9999/shardId-00000001/01.1"],
    ids=["empty", "a word", "no width", "a wrong width", "no number", "a future stream"],
)
async def test_acknowledging_an_unknown_position_is_bad_input(
    stream: StreamFixture, registry: ConsumerRegistry, position: str
):
    await stream.put("a")
    with pytest.raises(BadInput):
        await registry.acknowledge(stream.table, "watcher", position)
    assert sort_keys(await registry.changes(stream.table, "watcher", 10)) == ["a"]


async def test_acknowledging_a_position_of_an_unknown_shard_is_bad_input(
    stream: StreamFixture, registry: ConsumerRegistry
):
    await stream.put("a")
    (change,) = await registry.changes(stream.table, "watcher", 10)
    label, _, sequence = change.position.split("/")
    with pytest.raises(BadInput):
        await registry.acknowledge(stream.table, "watcher", f"{label}/shardId-00000000000000000009-deadbeef/{sequence}")


async def test_reading_needs_a_consumer_and_a_limit(stream: StreamFixture, registry: ConsumerRegistry):
    for consumer, limit in (("", 1), ("watcher", 0), ("watcher", -1)):
        with pytest.raises(BadInput):
            await registry.changes(stream.table, consumer, limit)
    for call in (registry.acknowledge(stream.table, "", "x"), registry.forget(stream.table, "")):
        with pytest.raises(BadInput):
            await call


async def test_reading_a_table_without_a_stream_is_bad_input(server_name: ServerName):
    async with open_stream(server_name, None) as stream:
        with pytest.raises(BadInput, match="stream="):
            await stream.process().changes(stream.table, "watcher", 1)


async def test_a_closed_registry_cannot_be_read(stream: StreamFixture, registry: ConsumerRegistry):
    await registry.changes(stream.table, "watcher", 1)
    await registry.close()
    await registry.close()
    with pytest.raises(StoreClosed):
        await registry.changes(stream.table, "watcher", 1)


async def test_closing_the_store_ends_a_wait_for_changes(stream: StreamFixture, registry: ConsumerRegistry):
    reads = [asyncio.create_task(registry.changes(stream.table, "watcher", 1, wait=30)) for _ in range(3)]
    await wait_for_pause(stream.clock)
    await registry.close()
    for read in reads:
        with pytest.raises(StoreClosed):
            await asyncio.wait_for(read, 20)
    items = await stream.metadata.items(f"stream#{stream.table.name}#watcher")
    assert [item.get("owner") for item in items] == [None, None]


async def test_a_consumer_continues_with_a_stream_disabled_and_enabled_again(
    stream: StreamFixture, registry: ConsumerRegistry
):
    await stream.put("a")
    assert sort_keys(await drain(registry, stream.table, "watcher")) == ["a"]
    off, on = {"StreamEnabled": False}, {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    for setting in (off, on):
        await stream.client.call("UpdateTable", TableName=stream.table.name, StreamSpecification=setting)
    await stream.put("b")
    await stream.clock.advance(10)
    # Both servers keep one list of changes for each table, so the new stream repeats the old changes.
    assert sort_keys(await drain(registry, stream.table, "watcher")) == ["a", "b"]
    assert await registry.changes(stream.table, "watcher", 1) == []
