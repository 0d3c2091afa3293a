"""Presence over all processes: who is in a room, and which rooms run where."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from zataku.clock import has_passed
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.bus_messages import RunningRooms, decode_running_rooms, encode
from zataku.realtime.rooms.context import RoomContext

PROCESS_TIMEOUT_SECONDS = 6.0
"""A process that was silent for so long is gone, with all accounts connected to it."""
DIRECTORY_INTERVAL_SECONDS = 2.0
DIRECTORY_CHANNEL = "rooms"


class PresenceChange(msgspec.Struct, frozen=True):
    """The accounts that joined and left."""

    joined: frozenset[AccountId]
    left: frozenset[AccountId]


class RoomPresence:
    """The accounts in a room by the process they are connected to. An account with two sockets counts once."""

    def __init__(self) -> None:
        self._by_process: dict[str, set[AccountId]] = {}
        self._received_at: dict[str, float] = {}
        self._connections: Counter[AccountId] = Counter()
        self._last_seen: frozenset[AccountId] = frozenset()

    @property
    def total(self) -> int:
        """How many accounts are in the room."""
        return len(self._connections)

    @property
    def process_count(self) -> int:
        """How many processes have reported, this one included."""
        return len(self._by_process)

    def add(self, process: str, accounts: Iterable[AccountId], now: float) -> None:
        """Accounts are connected to a process."""
        connected = self._by_process.setdefault(process, set())
        self._received_at[process] = now
        for account in accounts:
            if account not in connected:
                connected.add(account)
                self._connections[account] += 1

    def remove(self, process: str, accounts: Iterable[AccountId]) -> None:
        """Accounts have disconnected from a process."""
        connected = self._by_process.get(process, set())
        for account in accounts:
            if account in connected:
                connected.discard(account)
                self._connections[account] -= 1
                if not self._connections[account]:
                    del self._connections[account]

    def replace(self, process: str, accounts: Iterable[AccountId], now: float) -> None:
        """Exactly these accounts are connected to a process."""
        current = set(accounts)
        self.remove(process, self._by_process.get(process, set()) - current)
        self.add(process, current, now)

    def count_in(self, process: str) -> int:
        """How many accounts are connected to a process."""
        return len(self._by_process.get(process, ()))

    def remove_silent(self, now: float, own_process: str) -> None:
        """Remove the processes that have been silent for too long; never our own."""
        silent = [
            process
            for process, received_at in self._received_at.items()
            if process != own_process and now - received_at > PROCESS_TIMEOUT_SECONDS
        ]
        for process in silent:
            self.remove(process, list(self._by_process[process]))
            del self._by_process[process], self._received_at[process]

    def take_change(self) -> PresenceChange | None:
        """What changed since this was last called."""
        present = frozenset(self._connections)
        change = PresenceChange(present - self._last_seen, self._last_seen - present)
        self._last_seen = present
        return change if change.joined or change.left else None


class RoomDirectory:
    """The running rooms of all processes. Each announces its own every two seconds, and whenever they change."""

    def __init__(self, context: RoomContext) -> None:
        self._context = context
        self._remote: dict[str, tuple[float, dict[str, int]]] = {}
        self._local: dict[str, int] = {}
        self._announced_at = 0.0

    async def start(self) -> None:
        """Subscribe to the announcements of the other processes."""
        if not self._context.is_alone:
            await self._context.bus.subscribe(DIRECTORY_CHANNEL, self._receive)

    def update(self, running: dict[str, int]) -> None:
        """Set the rooms that run in this process."""
        now = self._context.clock.now()
        changed, self._local = running != self._local, running
        if self._context.is_alone or not (changed or has_passed(self._announced_at, now, DIRECTORY_INTERVAL_SECONDS)):
            return
        self._announced_at = now
        self._context.bus.publish(DIRECTORY_CHANNEL, encode(RunningRooms(process=self._context.process, rooms=running)))

    def running(self) -> dict[str, int]:
        """All rooms that run in any process by their topics, and how many people are in each."""
        now = self._context.clock.now()
        for process in [name for name, (at, _) in self._remote.items() if now - at > PROCESS_TIMEOUT_SECONDS]:
            del self._remote[process]
        remote: dict[str, int] = {}
        for _, rooms in self._remote.values():
            remote |= rooms
        return remote | self._local

    def _receive(self, message: bytes) -> None:
        announced = decode_running_rooms(message)
        if announced.process != self._context.process:
            self._remote[announced.process] = (self._context.clock.now(), announced.rooms)
