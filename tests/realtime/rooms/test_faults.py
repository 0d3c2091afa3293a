"""A simulation of faults: processes are killed, stopped and paused, and messages are lost, under load."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from random import Random

import pytest

from tests.realtime.rooms.counter_room import CounterRooms, count_of
from tests.realtime.rooms.room_process import ROOM, CounterClient, ProcessClock, RoomProcess, advance_until
from tests.support.store_link import wait_for_pending_calls
from zataku.errors import OutcomeUnknown, RequestError, Unavailable
from zataku.realtime.bus.in_process import InProcessBus, InProcessNetwork
from zataku.realtime.messages import Join
from zataku.table import Store


class LossyBus(InProcessBus):
    """A bus that loses some messages, and reports most of the gaps."""

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


class FaultSimulation:
    """Processes that start and stop, and clients that add to one counter and watch it."""

    def __init__(self, store: Store, clock: ProcessClock, seed: int) -> None:
        self.store, self.clock, self.random = store, clock, Random(seed)
        self.network = InProcessNetwork()
        self.processes: deque[RoomProcess] = deque()
        self.clients: list[CounterClient] = []
        self.names = iter(range(1000))
        self.acknowledged = self.unknown = 0
        self.tasks: list[tuple[RoomProcess, asyncio.Task[None]]] = []

    async def open(self) -> None:
        process = RoomProcess(f"web-{next(self.names)}", LossyBus(self.network, self.random), self.store, self.clock)
        await process.start()
        self.processes.append(process)
        for number in range(3):
            client = process.client(f"p{number}")
            self.clients.append(client)
            self.begin(process, self._join(client))

    def begin(self, process: RoomProcess, work: Coroutine[None, None, None]) -> None:
        self.tasks.append((process, asyncio.create_task(work)))

    async def _join(self, client: CounterClient) -> None:
        try:
            await client.process.router.join(client.socket, Join(id=1, to=ROOM))
        except Unavailable:
            self.clients.remove(client)

    async def _add(self, process: RoomProcess) -> None:
        number = self.random.randint(1, 9)
        try:
            await process.add(number, "adder")
        except (OutcomeUnknown, asyncio.CancelledError):
            self.unknown += number
        except RequestError:
            pass
        else:
            self.acknowledged += number

    async def close(self, *, kill: bool) -> None:
        process = self.processes.popleft()
        self.clients = [client for client in self.clients if client.process is not process]
        if kill:
            for caller, task in self.tasks:
                if caller is process:
                    task.cancel()
            await process.kill()
            await process.bus.stop()
            await process.hub.stop()
        else:
            await process.stop()

    async def step(self) -> None:
        await self.clock.advance(0.25)
        await wait_for_pending_calls()
        for client in self.clients:
            client.read()
        if self.random.random() < 0.6:
            process = self.random.choice(self.processes)
            self.begin(process, self._add(process))
        if self.random.random() < 0.03:
            await self.open()
            await self.close(kill=self.random.random() < 0.5)
        if self.random.random() < 0.02:
            # A paused process wakes up and acquires the room of another process.
            await CounterRooms(self.store).acquire("one")


@pytest.mark.parametrize("seed", range(2))
async def test_acknowledged_commands_are_stored_once_and_delivered_to_all(store: Store, clock: ProcessClock, seed: int):
    simulation = FaultSimulation(store, clock, seed)
    for _ in range(3):
        await simulation.open()
    for _ in range(160):
        await simulation.step()
    # The bus still loses messages, so that the last one may be noticed only at another heartbeat.
    await advance_until(clock, lambda: all(task.done() for _, task in simulation.tasks), 40)
    assert [task for _, task in simulation.tasks if not task.cancelled() and task.exception() is not None] == []
    stored = await store.get(count_of("one"))
    assert stored is not None
    assert simulation.acknowledged <= stored.value <= simulation.acknowledged + simulation.unknown
    assert simulation.acknowledged > 50
    connected = [client for client in simulation.clients if client.gone is None]
    assert len(connected) > 3
    await advance_until(clock, lambda: {client.read().sum for client in connected} == {stored.value}, 40)
    while simulation.processes:
        await simulation.close(kill=False)
