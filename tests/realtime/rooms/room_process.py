"""A server process for tests: a hub with recording connections, and rooms and topics on a bus."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import msgspec

from tests.realtime.bus.intercepted_bus import InterceptedBus
from tests.realtime.rooms.counter_room import CounterCommand, CounterRooms
from tests.support.manual_clock import ManualClock
from tests.support.store_link import linked_store, wait_for_pending_calls
from zataku.clock import Clock
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.bus.client import BusClient
from zataku.realtime.bus.port import Bus
from zataku.realtime.messages import Join, Leave, Position, TransientMessage
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.realtime.router import SocketRouter
from zataku.realtime.sockets.connection import FrameCounter
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.socket import Socket
from zataku.realtime.topics import Topics
from zataku.table import Store

ROOM = "counter/one"
_guest_numbers = itertools.count()


def guest(name: str = "hana") -> Identity:
    return Identity(account_id=AccountId(name), role="guest", language="ja")


class RecordingConnection:
    """A connection that records the messages written to it, decoded."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.binary: list[bytes] = []
        self.slow = 0
        self.closed: int | None = None

    def write(self, framed: bytes) -> None:
        while framed:
            first, length, start = framed[0], framed[1], 2
            if length == 126:
                length, start = int.from_bytes(framed[2:4]), 4
            elif length == 127:
                length, start = int.from_bytes(framed[2:10]), 10
            payload, framed = framed[start : start + length], framed[start + length :]
            if first == 0x81:
                self.messages.append(msgspec.json.decode(payload))
            elif first == 0x82:
                self.binary.append(payload[2:])

    @property
    def has_backlog(self) -> bool:
        return self.slow > 0

    def pending_bytes(self) -> int:
        return self.slow

    def was_active(self) -> bool:
        return True

    def set_frame_counter(self, count: FrameCounter) -> None:
        pass

    def charge_command(self) -> None:
        pass

    def pause(self, seconds: float) -> None:
        pass

    def close(self, code: int, reason: str) -> None:
        self.closed = code


class CounterClient:
    """A client of a counter that follows the protocol, and fails on a gap or a repeated event."""

    def __init__(self, process: "RoomProcess", socket: Socket, connection: RecordingConnection) -> None:
        self.process, self.socket, self.connection = process, socket, connection
        self.sum: int | None = None
        self.at: Position | None = None
        self.snapshots = 0
        self.resumed = 0
        self.events: list[dict[str, Any]] = []
        self.gone: dict[str, Any] | None = None
        self.here: int | None = None
        self.transient_events: list[Any] = []
        self.missed = 0

    def read(self) -> "CounterClient":
        """Process all messages that have arrived."""
        self.process.hub._flush_queue.flush()  # these tests are not about coalesced writes
        messages, self.connection.messages = self.connection.messages, []
        for message in messages:
            self._receive(message)
        return self

    def _receive(self, message: dict[str, Any]) -> None:
        match message["t"]:
            case "joined" if message.get("snapshot") is not None:
                self._load_snapshot(message)
                self.here = message["here"]
            case "joined":
                assert "at" not in message or self.at == Position(**message["at"])
                self.resumed += 1
            case "snapshot":
                self._load_snapshot(message)
            case "events":
                assert self.at == Position(message["epoch"], message["after"]), (self.at, message)
                self.at = Position(message["epoch"], message["seq"])
                self.events += message["events"]
                for event in message["events"]:
                    if "sum" in event:
                        assert event["sum"] > (self.sum or 0), (self.sum, message)
                        self.sum = event["sum"]
            case "passing":
                self.transient_events += message["events"]
            case "presence":
                self.here = message["here"]
            case "gone":
                self.gone = message["error"]
            case "missed":
                self.missed += 1
            case "beat":
                pass
            case other:
                raise AssertionError(other)

    def _load_snapshot(self, message: dict[str, Any]) -> None:
        self.snapshots += 1
        self.at = Position(**message["at"])
        self.sum = message["snapshot"]["sum"]
        self.lines = message["snapshot"]["lines"]

    async def join(
        self, topic: str = ROOM, *, at: Position | None = None, since: str | None = None, observer: bool = False
    ) -> "CounterClient":
        async with asyncio.timeout(20):
            await self.process.router.join(self.socket, Join(id=1, to=topic, at=at, since=since, observer=observer))
        return self.read()

    async def leave(self, topic: str = ROOM) -> None:
        await self.process.router.leave(self.socket, Leave(to=topic))

    def send_transient(self, body: Any, topic: str = ROOM) -> None:
        self.process.router.handle_transient(
            self.socket, TransientMessage(to=topic, what=msgspec.Raw(msgspec.json.encode(body)))
        )

    def disconnect(self) -> None:
        self.process.router.disconnected(self.socket)
        self.process.hub.forget(self.socket)


class PausableClock:
    """The clock of one process. While it is paused no sleep ends, as in a process that SIGSTOP has stopped."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._running = asyncio.Event()
        self._running.set()

    def now(self) -> float:
        return self._clock.now()

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        await self._running.wait()

    def pause(self) -> None:
        self._running.clear()

    def resume(self) -> None:
        self._running.set()


class RoomProcess:
    """One server process, with a clock that can be paused and a link to the store that can be cut."""

    def __init__(self, name: str, bus: Bus, store: Store, clock: ManualClock, seed: int = 7) -> None:
        self.name, self.clock = name, PausableClock(clock)
        self.store, self.link = linked_store(store, clock)
        random = Random(seed)
        self.hub = Hub(self.clock, random)
        self.transport = InterceptedBus(bus)
        self.bus = BusClient(self.transport)
        self.topics = Topics(bus=self.bus, hub=self.hub)
        self.rooms = RoomRegistry(
            store=self.store, clock=self.clock, random=random, process=name, bus=self.bus, hub=self.hub
        )
        self.counters = CounterRooms(self.store)
        self.rooms.register(self.counters)
        self.router = SocketRouter(self.rooms, self.topics)

    async def start(self) -> None:
        await self.bus.start()
        await self.hub.start(self.router.catch_up)
        await self.rooms.start()

    async def stop(self) -> None:
        await self.rooms.stop()
        await self.hub.stop()
        await self.bus.stop()

    async def kill(self) -> None:
        """End as by SIGKILL: nothing is stored, released or published."""
        for handle in self.rooms._handles.values():
            for task in (handle._running, handle._search):
                if task is not None:
                    task.cancel()
        await self.rooms._background.stop()
        await asyncio.sleep(0)

    def client(self, name: str = "hana") -> CounterClient:
        connection = RecordingConnection()
        return CounterClient(self, self.hub.open(connection, guest(name), "127.0.0.1"), connection)

    async def add(self, number: int, sender: str | None = None, topic: str = ROOM) -> int:
        """Add to a counter, as a new guest each time: the pending commands of one sender are limited."""
        identity = guest(sender or f"guest {next(_guest_numbers)}")
        async with asyncio.timeout(20):
            total = await self.rooms.ask(topic, identity, CounterCommand(add=number), int)
        return total or 0

    @property
    def owns(self) -> bool:
        return ROOM in self.rooms.owned()


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, for ten seconds at most."""
    async with asyncio.timeout(10):
        while not condition():
            await wait_for_pending_calls()


class ProcessClock(ManualClock):
    """A manual clock for processes that share a store."""

    async def run(self, seconds: float) -> None:
        """Advance in small steps. Every call to the store ends before the next one, so that no lease is lost."""
        until = self.now() + seconds
        while self.now() < until:
            await self.advance(min(0.25, until - self.now()))
            await wait_for_pending_calls()


async def advance_until(clock: ProcessClock, condition: Callable[[], bool], seconds: float) -> float:
    """Advance the clock until a condition holds; fails after so many of its seconds. Returns how many it took."""
    began = clock.now()
    while not condition():
        assert clock.now() - began < seconds, f"not within {seconds} s"
        await clock.run(0.25)
    return clock.now() - began


async def run_with_clock(clock: ProcessClock, work: Awaitable[Any], seconds: float) -> Any:
    """The result of an awaitable while the clock advances, within so many of its seconds."""
    task = asyncio.ensure_future(work)
    await advance_until(clock, task.done, seconds)
    return await task


@asynccontextmanager
async def run_process(name: str, bus: Bus, store: Store, clock: ProcessClock) -> AsyncIterator[RoomProcess]:
    process = RoomProcess(name, bus, store, clock)
    await process.start()
    try:
        yield process
    finally:
        await process.stop()
