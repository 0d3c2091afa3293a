"""Who is connected to a room: sockets that come in, that have gone, and that died with their process."""

from collections.abc import Sequence

from zataku.live.design import Connection, left_behind
from zataku.live.functions.function import Function
from zataku.live.limits import ConnectionId, ProcessName, RoomId
from zataku.live.writes import join, sweep_connection
from zataku.table import BadInput, ConditionFailed, InstantMs, TransactionCancelled


class JoinRoomFunction(Function):
    """Sockets come into a room."""

    async def __call__(
        self, room_id: RoomId, owner: ProcessName, connection_ids: Sequence[ConnectionId], now: float
    ) -> bool:
        """Write down at most 99 that came together, all or none; False when the room is closed or unknown.

        Joining again changes nothing but the time, so that a join whose reply was lost is simply repeated.
        """
        try:
            await self._store.write(join(room_id, owner, connection_ids, now))
        except BadInput:
            # No room can have such an id.
            return False
        except TransactionCancelled as cancelled:
            # The one condition is that the room is open; whatever else is in the way may pass.
            if any(reason.code == "condition_failed" for reason in cancelled.reasons):
                return False
            raise
        return True


class DisconnectFunction(Function):
    """Sockets have gone."""

    async def __call__(self, connection_ids: Sequence[ConnectionId]) -> None:
        """Take any number of them away. Those that are not there any more are no trouble."""
        await self._store.write_many(delete=[Connection.key(connection_id=it) for it in dict.fromkeys(connection_ids)])


class SweepConnectionsFunction(Function):
    """Sockets died with a process that could not say so."""

    async def __call__(self, owner: ProcessName, started_at: InstantMs) -> int:
        """Take away what a process of this name held before it started anew; gives how many there were."""
        swept = 0
        async for left in self._store.each(left_behind(owner, started_at)):
            try:
                await self._store.write(sweep_connection(owner, left))
            except ConditionFailed:
                # The index told of one that has gone meanwhile.
                continue
            swept += 1
        return swept
