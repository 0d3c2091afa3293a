"""Consuming the stream of a table on independent DynamoDB servers."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from tests.support.dynamodb_servers import ServerName
from tests.table.dynamodb.streams.stream_tables import (
    SERVERS,
    StreamFixture,
    advance_until_read,
    bench,
    drained,
    names,
    wait_for_pause,
)
from zataku.table.backend.errors import BadInput, StoreClosed
from zataku.table.dynamodb.streams import ConsumerRegistry


@pytest.fixture(params=SERVERS)
def server_name(request: pytest.FixtureRequest) -> ServerName:
    return request.param


@pytest.fixture
async def place(server_name: ServerName) -> AsyncIterator[StreamFixture]:
    async with bench(server_name) as made:
        yield made


@pytest.fixture
def streams(place: StreamFixture) -> ConsumerRegistry:
    return place.process()


async def fill(place: StreamFixture, letters: str) -> None:
    for letter in letters:
        await place.put(letter)


async def test_each_kind_of_change_comes_with_its_images(place: StreamFixture, streams: ConsumerRegistry):
    await place.put("a", n=1, blob=b"x", tags=frozenset({"t", "s"}))
    await place.put("a", n=2)
    await place.delete("a")
    first, second, third = await drained(streams, place.table, "watcher")
    inserted = {"pk": "p", "sk": "a", "n": 1, "blob": b"x", "tags": frozenset({"t", "s"})}
    assert (first.kind, first.old, first.new) == ("INSERT", None, inserted)
    assert (second.kind, second.old, second.new) == ("MODIFY", inserted, {"pk": "p", "sk": "a", "n": 2})
    assert (third.kind, third.old, third.new) == ("REMOVE", {"pk": "p", "sk": "a", "n": 2}, None)
    assert first.keys == second.keys == third.keys == {"pk": "p", "sk": "a"}
    assert not first.expired
    assert first.at > 1_700_000_000


async def test_a_write_that_changes_nothing_is_no_change(place: StreamFixture, streams: ConsumerRegistry):
    await place.put("a", n=1, tags=frozenset({"t", "s"}))
    await place.put("a", n=1, tags=frozenset({"s", "t"}))
    await place.put("a", n=True, tags=frozenset({"s", "t"}))
    assert [it.kind for it in await drained(streams, place.table, "watcher")] == ["INSERT", "MODIFY"]


@pytest.mark.parametrize("view", ["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE"])
async def test_a_stream_holds_the_images_that_were_asked_for(server_name: ServerName, view):
    async with bench(server_name, view) as place:
        await place.put("a", n=1)
        await place.put("a", n=2)
        _, second = await drained(place.process(), place.table, "watcher")
    assert (second.old is not None, second.new is not None) == (view == "OLD_IMAGE", view == "NEW_IMAGE")
    assert second.keys == {"pk": "p", "sk": "a"}


async def test_reading_again_gives_the_same_in_the_same_order_until_it_is_acknowledged(
    place: StreamFixture, streams: ConsumerRegistry
):
    await fill(place, "abcd")
    first = await streams.changes(place.table, "watcher", 2)
    assert names(first) == ["a", "b"]
    assert await streams.changes(place.table, "watcher", 2) == first
    assert names(await streams.changes(place.table, "watcher", 100)) == [*"abcd"]
    await streams.acknowledge(place.table, "watcher", first[-1].position)
    assert names(await drained(streams, place.table, "watcher")) == ["c", "d"]
    assert await streams.changes(place.table, "watcher", 100) == []


async def test_an_acknowledgement_covers_everything_before_it_and_never_goes_back(
    place: StreamFixture, streams: ConsumerRegistry
):
    await fill(place, "abcd")
    changes = await streams.changes(place.table, "watcher", 100)
    await streams.acknowledge(place.table, "watcher", changes[2].position)
    await streams.acknowledge(place.table, "watcher", changes[0].position)
    await streams.acknowledge(place.table, "watcher", changes[2].position)
    assert await streams.changes(place.table, "watcher", 100) == changes[3:]


async def test_an_acknowledgement_outlives_the_process(place: StreamFixture):
    await fill(place, "abcd")
    first = place.process()
    changes = await first.changes(place.table, "watcher", 100)
    await first.acknowledge(place.table, "watcher", changes[1].position)
    await first.close()
    assert await place.process().changes(place.table, "watcher", 100) == changes[2:]


async def test_consumers_follow_each_at_their_own_pace(place: StreamFixture, streams: ConsumerRegistry):
    await fill(place, "a")
    assert names(await drained(streams, place.table, "fast")) == ["a"]
    await fill(place, "b")
    assert names(await drained(streams, place.table, "slow")) == ["a", "b"]
    assert names(await drained(streams, place.table, "fast")) == ["b"]


async def test_a_forgotten_consumer_starts_anew_and_leaves_nothing_behind(
    place: StreamFixture, streams: ConsumerRegistry
):
    await fill(place, "ab")
    old = await drained(streams, place.table, "watcher")
    await streams.forget(place.table, "watcher")
    assert await place.metadata.items(f"stream#{place.table.name}#watcher") == []
    assert await drained(streams, place.table, "watcher") == old
    await streams.forget(place.table, "nobody")


async def test_positions_of_one_item_sort_as_they_happened(place: StreamFixture, streams: ConsumerRegistry):
    for number in range(12):
        await place.put("a", n=number)
    positions = [it.position for it in await drained(streams, place.table, "watcher")]
    assert all(earlier < later for earlier, later in pairwise(positions))


async def test_two_readers_of_one_process_lose_nothing(place: StreamFixture, streams: ConsumerRegistry):
    await fill(place, "abcdef")
    both = await asyncio.gather(*(streams.changes(place.table, "watcher", 4) for _ in range(2)))
    assert both[0] == both[1]
    assert names(await drained(streams, place.table, "watcher")) == [*"abcdef"]


async def test_a_reader_waits_for_the_first_change_by_the_clock(place: StreamFixture, streams: ConsumerRegistry):
    reading = asyncio.create_task(streams.changes(place.table, "watcher", 10, wait=30))
    await wait_for_pause(place.clock)
    await place.put("a")
    await advance_until_read(place.clock, reading, 0.5)
    assert names(await reading) == ["a"]
    assert place.clock.now() < 1_767_225_600 + 30


async def test_a_reader_is_woken_by_a_write_of_its_own_process(place: StreamFixture, streams: ConsumerRegistry):
    reading = asyncio.create_task(streams.changes(place.table, "watcher", 10, wait=30))
    await wait_for_pause(place.clock)
    await place.put("a")
    streams.notify(place.table)
    assert names(await asyncio.wait_for(reading, 20)) == ["a"]


async def test_a_reader_returns_nothing_when_its_wait_is_over(place: StreamFixture, streams: ConsumerRegistry):
    reading = asyncio.create_task(streams.changes(place.table, "watcher", 10, wait=3))
    await advance_until_read(place.clock, reading, 0.25)
    assert reading.result() == []
    assert place.clock.now() >= 1_767_225_600 + 3


@pytest.mark.parametrize(
    "position",
    ["", "x", "1/2/3", "a/b/02.123", "a/b/03.12x", "9999/shardId-00000001/01.1"],
    ids=["empty", "a word", "no width", "a wrong width", "no number", "a stream to come"],
)
async def test_a_position_that_never_came_is_bad_input(place: StreamFixture, streams: ConsumerRegistry, position: str):
    await place.put("a")
    with pytest.raises(BadInput):
        await streams.acknowledge(place.table, "watcher", position)
    assert names(await streams.changes(place.table, "watcher", 10)) == ["a"]


async def test_a_shard_that_is_not_there_is_bad_input(place: StreamFixture, streams: ConsumerRegistry):
    await place.put("a")
    (change,) = await streams.changes(place.table, "watcher", 10)
    label, _, sequence = change.position.split("/")
    with pytest.raises(BadInput):
        await streams.acknowledge(place.table, "watcher", f"{label}/shardId-00000000000000000009-deadbeef/{sequence}")


async def test_reading_needs_a_consumer_and_a_limit(place: StreamFixture, streams: ConsumerRegistry):
    for consumer, limit in (("", 1), ("watcher", 0), ("watcher", -1)):
        with pytest.raises(BadInput):
            await streams.changes(place.table, consumer, limit)
    for call in (streams.acknowledge(place.table, "", "x"), streams.forget(place.table, "")):
        with pytest.raises(BadInput):
            await call


async def test_a_table_without_stream_says_so(server_name: ServerName):
    async with bench(server_name, None) as place:
        with pytest.raises(BadInput, match="stream="):
            await place.process().changes(place.table, "watcher", 1)


async def test_a_closed_registry_cannot_be_read(place: StreamFixture, streams: ConsumerRegistry):
    await streams.changes(place.table, "watcher", 1)
    await streams.close()
    await streams.close()
    with pytest.raises(StoreClosed):
        await streams.changes(place.table, "watcher", 1)


async def test_closing_the_store_ends_a_wait_for_changes(place: StreamFixture, streams: ConsumerRegistry):
    waiting = [asyncio.create_task(streams.changes(place.table, "watcher", 1, wait=30)) for _ in range(3)]
    await wait_for_pause(place.clock)
    await streams.close()
    for each in waiting:
        with pytest.raises(StoreClosed):
            await asyncio.wait_for(each, 20)
    items = await place.metadata.items(f"stream#{place.table.name}#watcher")
    assert [item.get("owner") for item in items] == [None, None]


async def test_a_stream_switched_off_and_on_again_is_followed(place: StreamFixture, streams: ConsumerRegistry):
    await place.put("a")
    assert names(await drained(streams, place.table, "watcher")) == ["a"]
    off, on = {"StreamEnabled": False}, {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    for setting in (off, on):
        await place.client.call("UpdateTable", TableName=place.table.name, StreamSpecification=setting)
    await place.put("b")
    await place.clock.advance(10)
    # Both servers keep one list of changes a table, so that the new stream tells the old ones again.
    assert names(await drained(streams, place.table, "watcher")) == ["a", "b"]
    assert await streams.changes(place.table, "watcher", 1) == []
