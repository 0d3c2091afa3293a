"""The bus between processes, in one process and on Redis."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from tests.realtime.bus.redis_server import RedisServer
from tests.realtime.rooms.room_process import ProcessClock, RoomProcess, run_process, wait_until
from tests.support.manual_clock import ManualClock
from zataku.clock import SystemClock
from zataku.errors import InvalidRequest, Unavailable
from zataku.realtime.bus.in_process import InProcessBus, InProcessNetwork
from zataku.realtime.bus.port import Bus, open_bus
from zataku.realtime.bus.redis_connection import retry_delay
from zataku.realtime.bus.redis_publisher import MAX_QUEUED_MESSAGES
from zataku.realtime.topics import only_without_id
from zataku.table import Store


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    server = RedisServer()
    server.start()
    yield server
    server.stop()


class BusListener:
    """The messages and gaps that a process received from a bus."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.received: list[tuple[str, bytes]] = []
        self.missed = 0
        self._changed = asyncio.Event()

    async def start(self) -> "BusListener":
        await self.bus.start(self._receive, self._miss)
        return self

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on `received` and `missed` holds, for ten seconds at most."""
        async with asyncio.timeout(10):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def _receive(self, channel: str, message: bytes) -> None:
        self.received.append((channel, message))
        self._changed.set()

    def _miss(self) -> None:
        self.missed += 1
        self._changed.set()


@pytest.fixture(params=["local", "redis"])
async def listeners(request: pytest.FixtureRequest) -> AsyncIterator[tuple[BusListener, BusListener]]:
    if request.param == "local":
        network = InProcessNetwork()
        buses: list[Bus] = [network.bus(), network.bus()]
    else:
        url = request.getfixturevalue("redis").url
        buses = [open_bus(url), open_bus(url)]
    one, other = [await BusListener(bus).start() for bus in buses]
    yield one, other
    await one.bus.stop()
    await other.bus.stop()


async def test_subscribers_get_messages_in_order_over_all_channels(listeners: tuple[BusListener, BusListener]):
    one, other = listeners
    for listener in listeners:
        await listener.bus.subscribe("a")
        await listener.bus.subscribe("b/c d")
    sent = [("ab/c d"[number % 2 :][: 1 if number % 2 == 0 else 5], b"%d" % number) for number in range(2000)]
    for channel, message in sent:
        one.bus.publish(channel, message)
    one.bus.publish("unsubscribed", b"")
    await one.wait_until(lambda: len(one.received) == 2000)
    await other.wait_until(lambda: len(other.received) == 2000)
    assert one.received == other.received == sent
    assert one.missed == other.missed == 0


async def test_an_unsubscribed_channel_delivers_nothing(listeners: tuple[BusListener, BusListener]):
    one, other = listeners
    for channel in ("a", "b"):
        await other.bus.subscribe(channel)
    await other.bus.unsubscribe("a")
    one.bus.publish("a", b"1")
    one.bus.publish("b", b"\x00\xff")
    await other.wait_until(lambda: bool(other.received))
    assert other.received == [("b", b"\x00\xff")]


async def test_every_message_after_a_subscription_arrives(listeners: tuple[BusListener, BusListener]):
    one, other = listeners
    for number in range(50):
        await other.bus.subscribe(f"c{number}")
        one.bus.publish(f"c{number}", b"x")
    await other.wait_until(lambda: len(other.received) == 50)


async def test_messages_published_before_the_stop_arrive(listeners: tuple[BusListener, BusListener]):
    one, other = listeners
    await other.bus.subscribe("a")
    for _ in range(1000):
        one.bus.publish("a", b"x" * 100)
    await one.bus.stop()
    await other.wait_until(lambda: len(other.received) == 1000)


async def test_after_a_redis_outage_messages_arrive_again_and_a_gap_is_reported():
    server = RedisServer()
    server.start()
    clock = ManualClock()
    one, other = [await BusListener(open_bus(server.url, clock)).start() for _ in range(2)]
    try:
        await other.bus.subscribe("a")
        server.stop()
        one.bus.publish("a", b"lost")
        # Five tasks sleep: two that ping, two subscribers, and the publisher of the lost message.
        await asyncio.wait_for(clock.wait_for_sleepers(5), 10)
        server.start()
        await clock.advance(retry_delay(1))
        await other.wait_until(lambda: other.missed >= 1)
        await one.wait_until(lambda: one.missed >= 1)
        one.bus.publish("a", b"delivered")
        await other.wait_until(lambda: ("a", b"delivered") in other.received)
        await other.bus.subscribe("b")
        one.bus.publish("b", b"new")
        await other.wait_until(lambda: other.received[-1] == ("b", b"new"))
    finally:
        await one.bus.stop()
        await other.bus.stop()
        server.stop()


async def test_a_full_publish_queue_is_dropped_and_reported_as_a_gap(redis: RedisServer):
    one = await BusListener(open_bus(redis.url)).start()
    await one.bus.subscribe("a")
    for _ in range(MAX_QUEUED_MESSAGES + 10):
        one.bus.publish("a", b"")
    await one.wait_until(lambda: one.missed == 1)
    await one.wait_until(lambda: len(one.received) == 10)
    await one.bus.stop()


async def test_starting_without_redis_is_refused():
    bus = open_bus("redis://127.0.0.1:1/0")
    with pytest.raises(Unavailable, match="Redis does not answer"):
        await BusListener(bus).start()
    await bus.stop()


@pytest.mark.parametrize("url", ["", "kafka://x", "redis", "redis://", "redis://host:port/0", "redis://host:99999999"])
def test_an_invalid_bus_url_is_refused(url: str):
    with pytest.raises(InvalidRequest, match="redis://HOST:PORT/DB"):
        open_bus(url)


def test_no_error_contains_the_password():
    with pytest.raises(InvalidRequest) as refused:
        open_bus("redis://:sec/ret@host:6379/0")
    assert "sec" not in str(refused.value)


def test_the_bus_of_a_single_process_is_in_memory():
    assert isinstance(open_bus(), InProcessBus)
    assert open_bus().is_alone
    assert not open_bus("rediss://:secret@localhost:6380/3", SystemClock()).is_alone


# Rooms over Redis


@pytest.fixture
async def over_redis(
    redis: RedisServer, store: Store, clock: ProcessClock
) -> AsyncIterator[tuple[RoomProcess, RoomProcess]]:
    first, second = open_bus(redis.url), open_bus(redis.url)
    async with run_process("web-1", first, store, clock) as one, run_process("web-2", second, store, clock) as other:
        yield one, other


async def test_a_room_is_shown_in_two_processes_over_redis(over_redis: tuple[RoomProcess, RoomProcess]):
    one, other = over_redis
    hana, sora = await one.client("hana").join(), await other.client("sora").join()
    assert sorted(await asyncio.gather(*(other.add(1) for _ in range(100)))) == list(range(1, 101))
    await wait_until(lambda: hana.read().sum == sora.read().sum == 100)
    sora.send_transient("wave")
    await wait_until(lambda: hana.read().transient_events == ["wave"])


async def test_a_room_is_handed_over_at_once_over_redis(over_redis: tuple[RoomProcess, RoomProcess]):
    one, other = over_redis
    await one.add(1)
    sora = await other.client("sora").join()
    await one.rooms.stop()
    await wait_until(lambda: other.owns and sora.read().snapshots == 2)
    assert await other.add(1) == 2


async def test_topics_are_published_over_redis(over_redis: tuple[RoomProcess, RoomProcess]):
    one, other = over_redis

    for process in over_redis:
        process.topics.declare("news", exists=only_without_id)
    sora = other.client("sora")
    await sora.join("news")
    one.topics.publish("news", b'{"hot":1}')
    await wait_until(lambda: sora.read().transient_events == [{"hot": 1}])
