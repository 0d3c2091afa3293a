"""Connections of sockets to rooms in the table: joins, leaves, the sweep after a crash, and the tracker of a process.

Comments do not depend on them; they show other programs who is in a room. The tracker writes behind: joins and leaves
wait for no write. A failed write is repeated, the connections of a crashed process are swept at its next start, and
time to live removes the rest after 24 hours.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import islice

import structlog

from zataku.background_tasks import BackgroundTasks
from zataku.clock import Clock, instant_ms
from zataku.live.design import Connection, left_behind
from zataku.live.functions import Function
from zataku.live.limits import ConnectionId, ProcessName, RoomId
from zataku.live.writes import join, sweep_connection
from zataku.table import BadInput, ConditionFailed, InstantMs, Store, TableError, TransactionCancelled

FLUSH_SECONDS = 0.5
"""Time between two flushes."""
CROWD_FLUSH_SECONDS = 0.05
"""Time between two flushes while more is pending than one of them writes."""
RETRY_SECONDS = 5.0
"""Time before the next attempt after the store has failed."""
MAX_CONNECTIONS_PER_WRITE = 20
"""A write of a hundred holds the event loop and the store's thread for ten milliseconds, in which comments wait."""
MAX_WRITES_PER_FLUSH = 5
"""Of joins, and of leaves: a crowd leaves the store time for comments."""
MAX_JOINS_PER_FLUSH = MAX_WRITES_PER_FLUSH * MAX_CONNECTIONS_PER_WRITE
MAX_JOINS_SEARCHED = 10 * MAX_JOINS_PER_FLUSH
"""Among how many pending joins those of one room are looked for, to write them together."""
MAX_PENDING = 20_000
"""How many changes wait for a store that fails. The rest is dropped, and left to time to live."""
STOP_SECONDS = 3.0
"""How long the last deletion may take when the process stops, by the machine's clock."""

log = structlog.get_logger(__name__)


class JoinRoomFunction(Function):
    """Sockets join a room."""

    async def __call__(
        self, room_id: RoomId, owner: ProcessName, connection_ids: Sequence[ConnectionId], now: float
    ) -> bool:
        """Store at most 99 connections, all or none; False when the room is closed or unknown.

        A join may be repeated: it changes nothing but the time.
        """
        try:
            await self._store.write(join(room_id, owner, connection_ids, now))
        except BadInput:
            # Not the id of a room.
            return False
        except TransactionCancelled as cancelled:
            # The only condition is that the room is open; other reasons are temporary.
            if any(reason.code == "condition_failed" for reason in cancelled.reasons):
                return False
            raise
        return True


class DisconnectFunction(Function):
    """Sockets leave."""

    async def __call__(self, connection_ids: Sequence[ConnectionId]) -> None:
        """Delete any number of connections, whether they exist or not."""
        await self._store.write_many(delete=[Connection.key(connection_id=it) for it in dict.fromkeys(connection_ids)])


class SweepConnectionsFunction(Function):
    """A process deletes the connections that it left behind in a crash."""

    async def __call__(self, owner: ProcessName, started_at: InstantMs) -> int:
        """Delete the connections that a process of this name had before it started; returns their number."""
        swept = 0
        async for connection in self._store.each(left_behind(owner, started_at)):
            try:
                await self._store.write(sweep_connection(owner, connection))
            except ConditionFailed:
                # The index is eventually consistent: the connection is deleted or has joined again.
                continue
            swept += 1
        return swept


class ConnectionTracker:
    """The sockets of this process in live rooms. `owner` is a name that the process has again after a restart.

    One write is under way at a time. A connection that ends before its join is written is never written.
    """

    def __init__(self, store: Store, clock: Clock, owner: str) -> None:
        self._join = JoinRoomFunction(store)
        self._disconnect = DisconnectFunction(store)
        self._sweep = SweepConnectionsFunction(store)
        self._clock = clock
        self._owner = ProcessName(owner)
        self._pending_joins: dict[ConnectionId, RoomId] = {}
        # All that may be in the table: written, being written, or written with a lost reply.
        self._stored: set[ConnectionId] = set()
        self._pending_leaves: dict[ConnectionId, None] = {}
        self._dropped = 0
        self._write_lock = asyncio.Lock()
        self._is_stopping = False

    def joined(self, room_id: str, connection: str) -> None:
        """A socket has joined a room."""
        if self._has_capacity():
            self._pending_joins[ConnectionId(connection)] = RoomId(room_id)

    def left(self, room_id: str, connection: str) -> None:  # noqa: ARG002  a connection id has one join
        """A socket has left."""
        connection_id = ConnectionId(connection)
        self._pending_joins.pop(connection_id, None)
        if connection_id in self._stored and self._has_capacity():
            self._pending_leaves[connection_id] = None
        self._stored.discard(connection_id)

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Keep the table up to date; at the end delete all connections of this process."""
        tasks = BackgroundTasks()
        tasks.start(self._sweep_until_done(instant_ms(self._clock.now())))
        tasks.start(self._flush_forever())
        try:
            yield
        finally:
            await self._delete_all()
            await tasks.stop()

    async def flush(self) -> None:
        """Write pending joins and leaves, as many as fit one flush. Raises `TableError`; what failed stays pending."""
        async with self._write_lock:
            for room_id, connection_ids in self._join_groups():
                # Stopping waits for one write at most.
                if not self._is_stopping:
                    await self._write_joins(room_id, connection_ids)
            for _ in range(MAX_WRITES_PER_FLUSH):
                if self._pending_leaves and not self._is_stopping:
                    await self._write_leaves()

    def _has_capacity(self) -> bool:
        if len(self._pending_joins) + len(self._pending_leaves) < MAX_PENDING:
            return True
        self._dropped += 1
        return False

    def _join_groups(self) -> list[tuple[RoomId, list[ConnectionId]]]:
        """The joins of one flush by room, in groups for one transaction each."""
        by_room: defaultdict[RoomId, list[ConnectionId]] = defaultdict(list)
        for connection_id, room_id in islice(self._pending_joins.items(), MAX_JOINS_SEARCHED):
            by_room[room_id].append(connection_id)
        groups = (
            (room_id, connection_ids[first : first + MAX_CONNECTIONS_PER_WRITE])
            for room_id, connection_ids in by_room.items()
            for first in range(0, len(connection_ids), MAX_CONNECTIONS_PER_WRITE)
        )
        return list(islice(groups, MAX_WRITES_PER_FLUSH))

    async def _write_joins(self, room_id: RoomId, connection_ids: list[ConnectionId]) -> None:
        joining = [it for it in connection_ids if self._pending_joins.pop(it, None) is not None]
        if not joining:
            return
        self._stored.update(joining)
        try:
            # A closed or unknown room accepts no join; its sockets are being closed.
            await self._join(room_id, self._owner, joining, self._clock.now())
        except TableError:
            # The joins may be stored or not: they are written again, except for sockets that have left since.
            self._pending_joins.update((it, room_id) for it in joining if it in self._stored)
            raise

    async def _write_leaves(self) -> None:
        leaving = list(islice(self._pending_leaves, MAX_CONNECTIONS_PER_WRITE))
        await self._disconnect(leaving)
        for connection_id in leaving:
            del self._pending_leaves[connection_id]

    async def _flush_forever(self) -> None:
        pause = FLUSH_SECONDS
        while True:
            await self._clock.sleep(pause)
            try:
                await self.flush()
            except TableError as error:
                log.warning("connection_flush_failed", code=error.code)
                pause = RETRY_SECONDS
            else:
                pause = CROWD_FLUSH_SECONDS if self._pending_joins or self._pending_leaves else FLUSH_SECONDS
            if self._dropped:
                log.warning("connection_changes_dropped", dropped=self._dropped)
                self._dropped = 0

    async def _sweep_until_done(self, started_at: InstantMs) -> None:
        """Delete the connections that this process left behind when it last crashed."""
        while True:
            try:
                swept = await self._sweep(self._owner, started_at)
            except TableError as error:
                log.warning("connection_sweep_failed", code=error.code)
                await self._clock.sleep(RETRY_SECONDS)
            else:
                if swept:
                    log.info("connections_swept", swept=swept)
                return

    async def _delete_all(self) -> None:
        self._is_stopping = True
        try:
            async with asyncio.timeout(STOP_SECONDS), self._write_lock:
                await self._disconnect([*self._pending_leaves, *self._stored])
        except (TableError, TimeoutError) as error:
            log.warning("connections_left_behind", error=type(error).__name__)
