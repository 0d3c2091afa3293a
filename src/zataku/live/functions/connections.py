"""Connections of sockets to rooms: joins, leaves, and the sweep after a crash."""

from collections.abc import Sequence

from zataku.live.design import Connection, left_behind
from zataku.live.functions import Function
from zataku.live.limits import ConnectionId, ProcessName, RoomId
from zataku.live.writes import join, sweep_connection
from zataku.table import BadInput, ConditionFailed, InstantMs, TransactionCancelled


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
