"""Who of this process is in which room, kept in the table a moment behind: nobody waits for it when they come or go.

Comments do not depend on it. It tells other programs whom a room reaches, and is put right by itself: what could not be
written is written later, what a crash left behind is taken away at the next start, and the rest is forgotten by the
table after 24 hours.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import islice

import structlog

from zataku.background_tasks import BackgroundTasks
from zataku.clock import Clock
from zataku.live.functions.connections import DisconnectFunction, JoinRoomFunction, SweepConnectionsFunction
from zataku.live.limits import MAX_JOINS_PER_WRITE, ConnectionId, ProcessName, RoomId, instant_ms
from zataku.table import InstantMs, Store, TableError

TICK = 0.5
"""Seconds between two writings."""
AFTER_TROUBLE = 5.0
"""Seconds before a store is tried again that failed."""
MOST_OF_A_TICK = 10 * MAX_JOINS_PER_WRITE
"""How many come, and how many go, in one tick at most: a crowd leaves the store time for comments."""
LEAVES_AT_ONCE = 100
MOST_PENDING = 20_000
"""How many changes wait for a store that fails. What is beyond is dropped, and forgotten by the table in time."""
STOP_WITHIN = 3.0
"""Seconds that taking everybody out may last when the process stops, whatever its clock says."""

_log = structlog.get_logger(__name__)


class ConnectionTracker:
    """The sockets of this process in live rooms. `owner` is a name that the process has again when it is started anew.

    One write is under way at a time. Somebody who left before they were written down never is.
    """

    def __init__(self, store: Store, clock: Clock, owner: str) -> None:
        self._join = JoinRoomFunction(store)
        self._disconnect = DisconnectFunction(store)
        self._sweep = SweepConnectionsFunction(store)
        self._clock = clock
        self._owner = ProcessName(owner)
        self._coming: dict[ConnectionId, RoomId] = {}
        # Whoever may be in the table: written, under way, or with a reply that was lost.
        self._there: set[ConnectionId] = set()
        self._going: dict[ConnectionId, None] = {}
        self._dropped = 0
        self._writing = asyncio.Lock()
        self._over = False

    def joined(self, room_id: str, connection: str) -> None:
        """A socket has come into a room."""
        if self._room_for_one():
            self._coming[ConnectionId(connection)] = RoomId(room_id)

    def left(self, room_id: str, connection: str) -> None:  # noqa: ARG002  an id is of one join
        """It has gone."""
        gone = ConnectionId(connection)
        self._coming.pop(gone, None)
        if gone in self._there and self._room_for_one():
            self._going[gone] = None
        self._there.discard(gone)

    @asynccontextmanager
    async def life(self) -> AsyncGenerator[None]:
        """Keep the table up to date; at the end nobody of this process is in it any more."""
        chores = BackgroundTasks()
        chores.start(self._sweep_up(instant_ms(self._clock.now())))
        chores.start(self._keep())
        try:
            yield
        finally:
            await self._take_all_out()
            await chores.stop()

    async def write(self) -> None:
        """Write down who came and who went, as many as a tick takes. Raises what the store does; nothing is lost."""
        async with self._writing:
            for room_id, came in self._groups():
                # Whoever waits for the end waits for one write at most.
                if not self._over:
                    await self._write_joins(room_id, came)
            for _ in range(0, MOST_OF_A_TICK, LEAVES_AT_ONCE):
                if self._going and not self._over:
                    await self._write_leaves()

    # Inside

    def _room_for_one(self) -> bool:
        if len(self._coming) + len(self._going) < MOST_PENDING:
            return True
        self._dropped += 1
        return False

    def _groups(self) -> list[tuple[RoomId, list[ConnectionId]]]:
        """Whom the tick takes, room by room, as many as fit into a transaction."""
        by_room: defaultdict[RoomId, list[ConnectionId]] = defaultdict(list)
        for connection, room_id in islice(self._coming.items(), MOST_OF_A_TICK):
            by_room[room_id].append(connection)
        return [
            (room_id, came[first : first + MAX_JOINS_PER_WRITE])
            for room_id, came in by_room.items()
            for first in range(0, len(came), MAX_JOINS_PER_WRITE)
        ]

    async def _write_joins(self, room_id: RoomId, came: list[ConnectionId]) -> None:
        staying = [connection for connection in came if self._coming.pop(connection, None) is not None]
        if not staying:
            return
        self._there.update(staying)
        try:
            # A room that is closed or unknown takes nobody; its sockets are being let go.
            await self._join(room_id, self._owner, staying, self._clock.now())
        except TableError:
            # Written or not, they are written again. Whoever left meanwhile is taken out.
            self._coming.update((connection, room_id) for connection in staying if connection in self._there)
            raise

    async def _write_leaves(self) -> None:
        gone = list(islice(self._going, LEAVES_AT_ONCE))
        await self._disconnect(gone)
        for connection in gone:
            del self._going[connection]

    async def _keep(self) -> None:
        pause = TICK
        while True:
            await self._clock.sleep(pause)
            try:
                await self.write()
            except TableError as problem:
                _log.warning("Who is in live rooms cannot be written down yet.", code=problem.code)
                pause = AFTER_TROUBLE
            else:
                pause = TICK
            if self._dropped:
                _log.warning("Some who came or went were not written down.", dropped=self._dropped)
                self._dropped = 0

    async def _sweep_up(self, started_at: InstantMs) -> None:
        """Take away what this process left behind when it last ended without saying so."""
        while True:
            try:
                swept = await self._sweep(self._owner, started_at)
            except TableError as problem:
                _log.warning("Connections left behind cannot be taken away yet.", code=problem.code)
                await self._clock.sleep(AFTER_TROUBLE)
            else:
                if swept:
                    _log.info("Connections left behind were taken away.", swept=swept)
                return

    async def _take_all_out(self) -> None:
        self._over = True
        try:
            async with asyncio.timeout(STOP_WITHIN), self._writing:
                await self._disconnect([*self._going, *self._there])
        except (TableError, TimeoutError) as problem:
            _log.warning("Some connections are left behind for the next start.", problem=type(problem).__name__)
