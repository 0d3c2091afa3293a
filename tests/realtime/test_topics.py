"""Topics are published to the subscribers of all processes and not stored."""

import asyncio

import pytest

from tests.realtime.rooms.room_process import RoomProcess, wait_until
from zataku.errors import Forbidden, NotFound, RateLimited, Unavailable
from zataku.platform.identity import Identity

Two = tuple[RoomProcess, RoomProcess]


async def allows(topic_id: str, identity: Identity) -> bool:
    await asyncio.sleep(0)
    return topic_id != "secret"


async def is_known(topic_id: str) -> bool:
    await asyncio.sleep(0)
    return topic_id in ("", "today", "secret") or topic_id.isdecimal()


@pytest.fixture
def both(two: Two) -> Two:
    for process in two:
        process.topics.declare("news", exists=is_known, access=allows)
    return two


def kept_topics(process: RoomProcess) -> set[str]:
    """The names of topics that are kept anywhere in a process."""
    topics = process.topics._members.keys() | process.hub._topics.keys()
    channels = process.bus._handlers.keys() | process.transport.channels
    return topics | {channel.removeprefix("topic/") for channel in channels if channel.startswith("topic/")}


async def test_subscribers_get_events_in_order(both: Two):
    one, _ = both
    clients = [await process.client().join("news/today") for process in both]
    for number in range(100):
        one.topics.publish("news/today", b"%d" % number)
    one.topics.publish("news/1", b'"no"')
    await wait_until(lambda: [client.read().transient_events for client in clients] == [list(range(100))] * 2)


async def test_a_kind_without_an_id_is_a_topic_too(both: Two):
    client = await both[1].client().join("news")
    both[0].topics.publish("news", b'"general"')
    await wait_until(lambda: client.read().transient_events == ["general"])


async def test_forbidden_and_unknown_topics_are_refused(both: Two):
    one, _ = both
    with pytest.raises(Forbidden):
        await one.client().join("news/secret")
    for topic in ("weather/today", "", "news/" + "1" * 200, "news/yesterday", "news/", "news/today/"):
        with pytest.raises(NotFound):
            await one.client().join(topic)
    assert kept_topics(one) == set()


async def test_a_join_beyond_the_limit_of_a_socket_leaves_nothing_behind(both: Two):
    one, _ = both
    client = one.client()
    limit = one.hub.limits.max_topics
    for number in range(limit):
        await client.join(f"news/{number}")
    for number in range(limit, limit + 50):
        with pytest.raises(RateLimited):
            await client.join(f"news/{number}")
    assert kept_topics(one) == {f"news/{number}" for number in range(limit)}
    client.disconnect()
    await wait_until(lambda: not kept_topics(one))


async def test_concurrent_joins_beyond_the_limit_leave_nothing_behind(both: Two):
    one, _ = both
    client, limit = one.client(), one.hub.limits.max_topics
    joins = (client.join(f"news/{number}") for number in range(limit + 30))
    outcomes = await asyncio.gather(*joins, return_exceptions=True)
    assert sum(isinstance(outcome, RateLimited) for outcome in outcomes) == 30
    await wait_until(lambda: len(kept_topics(one)) == limit)
    assert kept_topics(one) == client.socket.topics


@pytest.mark.parametrize("waits_for", ["exists", "access", "bus"])
async def test_a_socket_that_ends_while_its_join_waits_leaves_nothing_behind(
    both: Two, waits_for: str, monkeypatch: pytest.MonkeyPatch
):
    one, _ = both
    reached, gate = asyncio.Event(), asyncio.Event()

    async def wait(*_: object) -> bool:
        reached.set()
        return await gate.wait()

    if waits_for == "bus":
        monkeypatch.setattr(one.transport, "subscribe", wait)
    else:
        one.topics.declare("news", **{"exists": is_known, "access": allows} | {waits_for: wait})  # type: ignore[arg-type]
    client = one.client()
    joining = asyncio.create_task(client.join("news/today"))
    await asyncio.wait_for(reached.wait(), 10)
    client.disconnect()
    gate.set()
    with pytest.raises(Unavailable):
        await joining
    await wait_until(lambda: not kept_topics(one))
    assert client.connection.messages == []


async def test_a_join_that_is_cancelled_leaves_nothing_behind(both: Two):
    one, _ = both
    client = one.client()
    for steps in range(12):
        joining = asyncio.create_task(client.join("news/today"))
        for _ in range(steps):
            await asyncio.sleep(0)
        joining.cancel()
        await asyncio.gather(joining, return_exceptions=True)
        client.disconnect()
        await wait_until(lambda: not kept_topics(one))
        client = one.client()


async def test_a_member_that_is_admitted_no_longer_is_unsubscribed_by_joining_again(both: Two):
    one, _ = both
    client = await one.client().join("news/today")

    async def refuse(topic_id: str, identity: Identity) -> bool:
        return False

    one.topics.declare("news", exists=is_known, access=refuse)
    with pytest.raises(Forbidden):
        await client.join("news/today")
    assert not client.socket.topics
    await wait_until(lambda: not kept_topics(one))


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
