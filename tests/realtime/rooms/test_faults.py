"""A rough day: processes are killed, stopped and paused, messages are lost, and people go on counting."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from random import Random

import pytest

from tests.realtime.rooms.counter_room import Counters, count_of
from tests.realtime.rooms.room_process import ROOM, House, ProcessClock, Reader, as_time_goes_by
from zataku.errors import OutcomeUnknown, RequestError, Unavailable
from zataku.realtime.bus.in_process import InProcessBus, InProcessNetwork
from zataku.realtime.messages import Join
from zataku.table import Store


class LeakyBus(InProcessBus):
    """A bus that loses some of what it should bring, and mostly notices."""

    def __init__(self, network: InProcessNetwork, random: Random) -> None:
        super().__init__(network)
        self.random = random

    async def start(self, on_message, on_gap):  # type: ignore[no-untyped-def]
        self.report_gap = on_gap
        await super().start(on_message, on_gap)

    def enqueue(self, channel: str, message: bytes) -> None:
        if self.random.random() < 0.02:
            if self.random.random() < 0.5:
                asyncio.get_running_loop().call_soon(self.report_gap)
            return
        super().enqueue(channel, message)


class Day:
    """Some processes that come and go, and people who add to one number and look at it."""

    def __init__(self, store: Store, clock: ProcessClock, seed: int) -> None:
        self.store, self.clock, self.random = store, clock, Random(seed)
        self.network = InProcessNetwork()
        self.houses: deque[House] = deque()
        self.readers: list[Reader] = []
        self.names = iter(range(1000))
        self.acknowledged = self.perhaps = 0
        self.tasks: list[tuple[House, asyncio.Task[None]]] = []

    async def open(self) -> None:
        house = House(f"web-{next(self.names)}", LeakyBus(self.network, self.random), self.store, self.clock)
        await house.start()
        self.houses.append(house)
        for number in range(3):
            reader = house.reader(f"p{number}")
            self.readers.append(reader)
            self.begin(house, self._join(reader))

    def begin(self, house: House, work: Coroutine[None, None, None]) -> None:
        self.tasks.append((house, asyncio.create_task(work)))

    async def _join(self, reader: Reader) -> None:
        try:
            await reader.house.router.join(reader.socket, Join(id=1, to=ROOM))
        except Unavailable:
            self.readers = [each for each in self.readers if each is not reader]

    async def _add(self, house: House) -> None:
        number = self.random.randint(1, 9)
        try:
            await house.add(number, "adder")
        except (OutcomeUnknown, asyncio.CancelledError):
            self.perhaps += number
        except RequestError:
            pass
        else:
            self.acknowledged += number

    async def close(self, *, kill: bool) -> None:
        house = self.houses.popleft()
        self.readers = [reader for reader in self.readers if reader.house is not house]
        if kill:
            for at, task in self.tasks:
                if at is house:
                    task.cancel()
            await house.kill()
            await house.bus.stop()
            await house.hub.stop()
        else:
            await house.stop()

    async def hour(self) -> None:
        await self.clock.advance(0.25)
        for _ in range(4):
            await asyncio.sleep(0.0005)
        for reader in self.readers:
            reader.read()
        if self.random.random() < 0.6:
            house = self.random.choice(self.houses)
            self.begin(house, self._add(house))
        if self.random.random() < 0.03:
            await self.open()
            await self.close(kill=self.random.random() < 0.5)
        if self.random.random() < 0.02:
            # Somebody who was paused wakes up and takes the room, though it is another's.
            await Counters(self.store).acquire("one")


@pytest.mark.parametrize("seed", range(2))
async def test_what_was_acknowledged_is_stored_once_and_seen_by_everybody(store: Store, clock: ProcessClock, seed: int):
    day = Day(store, clock, seed)
    for _ in range(3):
        await day.open()
    for _ in range(160):
        await day.hour()
    # Then it gets quiet. The bus still loses messages, so that a last one may take another beat to be missed.
    clock.houses = list(day.houses)
    await as_time_goes_by(clock, lambda: all(task.done() for _, task in day.tasks), 40)
    assert [task for _, task in day.tasks if not task.cancelled() and task.exception() is not None] == []
    stored = await store.get(count_of("one"))
    assert stored is not None
    assert day.acknowledged <= stored.value <= day.acknowledged + day.perhaps
    assert day.acknowledged > 50
    reading = [reader for reader in day.readers if reader.gone is None]
    assert len(reading) > 3
    await as_time_goes_by(clock, lambda: {reader.read().sum for reader in reading} == {stored.value}, 40)
    while day.houses:
        await day.close(kill=False)
