"""Topics are published to the subscribers of all processes and not stored."""

import asyncio

import pytest

from tests.realtime.rooms.room_process import RoomProcess, wait_until
from zataku.errors import Forbidden, NotFound
from zataku.platform.identity import Identity

Two = tuple[RoomProcess, RoomProcess]


async def allows(topic_id: str, identity: Identity) -> bool:
    await asyncio.sleep(0)
    return topic_id != "secret"


@pytest.fixture
def both(two: Two) -> Two:
    for process in two:
        process.topics.declare("news", allows)
    return two


async def test_subscribers_get_events_in_order(both: Two):
    one, _ = both
    clients = [await process.client().join("news/today") for process in both]
    for number in range(100):
        one.topics.publish("news/today", b"%d" % number)
    one.topics.publish("news/tomorrow", b'"no"')
    await wait_until(lambda: [client.read().transient_events for client in clients] == [list(range(100))] * 2)


async def test_a_kind_without_an_id_is_a_topic_too(both: Two):
    client = await both[1].client().join("news")
    both[0].topics.publish("news", b'"general"')
    await wait_until(lambda: client.read().transient_events == ["general"])


async def test_forbidden_and_unknown_topics_are_refused(both: Two):
    one, _ = both
    with pytest.raises(Forbidden):
        await one.client().join("news/secret")
    for topic in ("weather/today", "", "news/" + "x" * 200):
        with pytest.raises(NotFound):
            await one.client().join(topic)
    assert one.transport.channels == {"process/web-1", "rooms"}


async def test_after_the_last_unsubscription_the_channel_is_unsubscribed(both: Two):
    one, _ = both
    stays, leaves = await one.client("a").join("news/today"), await one.client("b").join("news/today")
    await leaves.leave("news/today")
    one.topics.publish("news/today", b"1")
    await wait_until(lambda: stays.read().transient_events == [1])
    assert leaves.read().transient_events == []
    assert "topic/news/today" in one.transport.channels
    unsubscribed = one.transport.expect_unsubscription("topic/news/today")
    stays.disconnect()
    await asyncio.wait_for(unsubscribed, 10)
    rejoined = await one.client("a").join("news/today")
    one.topics.publish("news/today", b"2")
    await wait_until(lambda: rejoined.read().transient_events == [2])


async def test_leaving_and_rejoining_repeatedly_ends_subscribed(both: Two):
    one, other = both
    client = await one.client().join("news/today")
    for _ in range(5):
        await client.leave("news/today")
        await client.join("news/today")
    other.topics.publish("news/today", b"1")
    await wait_until(lambda: client.read().transient_events == [1])


async def test_a_gap_on_the_bus_is_reported_to_topic_subscribers(both: Two):
    one, _ = both
    client = await one.client().join("news/today")
    one.transport.report_gap()
    assert client.read().missed == 1


async def test_a_slow_reader_of_a_topic_learns_that_it_missed_events(both: Two):
    one, _ = both
    client = await one.client().join("news/today")
    await one.router.catch_up(client.socket, "news/today")
    assert client.read().missed == 1
