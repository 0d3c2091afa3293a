"""The channels of a process: each subscriber gets its messages, or an error."""

import asyncio

import pytest

from tests.realtime.bus.intercepted_bus import InterceptedBus
from zataku.errors import Unavailable
from zataku.realtime.bus.client import BusClient
from zataku.realtime.bus.in_process import InProcessNetwork


class FailingBus(InterceptedBus):
    """A bus whose next subscriptions fail."""

    failures = 0

    async def subscribe(self, channel: str) -> None:
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise Unavailable("The bus cannot be reached. Try again in a moment.")
        await super().subscribe(channel)


async def open_client(failures: int) -> tuple[BusClient, FailingBus]:
    bus = FailingBus(InProcessNetwork().bus())
    client = BusClient(bus)
    await client.start()
    bus.failures = failures
    return client, bus


async def test_a_subscriber_beside_one_that_fails_is_subscribed():
    client, bus = await open_client(failures=1)
    received: list[bytes] = []
    first, second = await asyncio.gather(
        client.subscribe("topic/1", lambda _: None),
        client.subscribe("topic/1", received.append),
        return_exceptions=True,
    )
    assert isinstance(first, Unavailable)
    assert second is None
    assert bus.channels == {"topic/1"}
    client.publish("topic/1", b"1")
    await asyncio.sleep(0)
    assert received == [b"1"]
    await client.stop()


async def test_when_every_subscription_fails_nothing_is_kept():
    client, bus = await open_client(failures=2)
    results = await asyncio.gather(
        *(client.subscribe("topic/1", lambda _: None) for _ in range(2)), return_exceptions=True
    )
    assert all(isinstance(result, Unavailable) for result in results)
    await client.subscribe("topic/1", lambda _: None)
    client.unsubscribe("topic/1")
    await bus.expect_unsubscription("topic/1")
    assert not bus.channels
    await client.stop()


async def test_an_unsubscription_during_a_subscription_takes_effect():
    client, bus = await open_client(failures=0)
    subscribing = asyncio.create_task(client.subscribe("topic/1", pytest.fail))
    await asyncio.sleep(0)
    client.unsubscribe("topic/1")
    await subscribing
    async with asyncio.timeout(10):
        while bus.channels:
            await asyncio.sleep(0)
    await client.stop()
