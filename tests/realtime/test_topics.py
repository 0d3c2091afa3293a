"""Topics: told to everybody who hears them, in every process, and kept nowhere."""

import asyncio

import pytest

from tests.realtime.rooms.room_process import House, until
from zataku.errors import Forbidden, NotFound
from zataku.platform.identity import Identity

Two = tuple[House, House]


async def allows(topic_id: str, who: Identity) -> bool:
    await asyncio.sleep(0)
    return topic_id != "secret"


@pytest.fixture
def both(two: Two) -> Two:
    for each in two:
        each.topics.declare("news", allows)
    return two


async def test_everybody_hears_what_is_told_in_order(both: Two):
    one, _ = both
    readers = [await each.reader().join("news/today") for each in both]
    for number in range(100):
        one.topics.publish("news/today", b"%d" % number)
    one.topics.publish("news/tomorrow", b'"no"')
    await until(lambda: [reader.read().passed for reader in readers] == [list(range(100))] * 2)


async def test_a_kind_alone_is_a_topic_too(both: Two):
    reader = await both[1].reader().join("news")
    both[0].topics.publish("news", b'"general"')
    await until(lambda: reader.read().passed == ["general"])


async def test_what_may_not_be_heard_and_what_is_not_there(both: Two):
    one, _ = both
    with pytest.raises(Forbidden):
        await one.reader().join("news/secret")
    for topic in ("weather/today", "", "news/" + "x" * 200):
        with pytest.raises(NotFound):
            await one.reader().join(topic)
    assert one.bus._subscribed == {"process/web-1", "rooms"}


async def test_whoever_leaves_or_goes_hears_nothing_more_and_the_channel_is_let_go(both: Two):
    one, _ = both
    stays, leaves = await one.reader("a").join("news/today"), await one.reader("b").join("news/today")
    await leaves.leave("news/today")
    one.topics.publish("news/today", b"1")
    await until(lambda: stays.read().passed == [1])
    assert leaves.read().passed == []
    stays.disconnect()
    await until(lambda: "topic/news/today" not in one.bus._subscribed)
    again = await one.reader("a").join("news/today")
    one.topics.publish("news/today", b"2")
    await until(lambda: again.read().passed == [2])


async def test_leaving_and_coming_back_at_once_ends_in_hearing(both: Two):
    one, other = both
    reader = await one.reader().join("news/today")
    for _ in range(5):
        await reader.leave("news/today")
        await reader.join("news/today")
    other.topics.publish("news/today", b"1")
    await until(lambda: reader.read().passed == [1])


async def test_a_gap_in_the_bus_is_told_to_whoever_hears_a_topic(both: Two):
    one, _ = both
    reader = await one.reader().join("news/today")
    one.bus._dispatch_gap()
    assert reader.read().missed == 1


async def test_a_slow_reader_is_told_that_it_missed_something(both: Two):
    one, _ = both
    reader = await one.reader().join("news/today")
    await one.router.catch_up(reader.socket, "news/today")
    assert reader.read().missed == 1
