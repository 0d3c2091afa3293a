"""The mirror of a room: what the sockets of this process see of it, whichever process owns it.

The mirror applies every update of the owner in order, delivers it to the sockets of this process, and keeps the latest
ones. A snapshot is of one moment; the updates since that moment follow it out of the history, so that a client misses
none and gets none twice. When updates are missing or the room is reset, nothing is delivered until every client has a
snapshot.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

import msgspec
import structlog
from msgspec import Raw

from zataku.background_tasks import BackgroundTasks
from zataku.errors import Problem, RequestError, Unavailable
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.messages import Join, Joined, Position, Presence, Snapshot, TopicClosed
from zataku.realtime.rooms.behaviour import RoomBehaviour
from zataku.realtime.rooms.bus_messages import (
    DurableEvents,
    EventUpdate,
    OwnerHeartbeat,
    PresenceCount,
    RoomClosed,
    RoomReset,
    RoomSnapshot,
    RoomUpdate,
    TransientEvents,
)
from zataku.realtime.rooms.delivery import message_for, messages_for_all
from zataku.realtime.rooms.history import UpdateHistory
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.socket import Socket

MAX_SNAPSHOT_ATTEMPTS = 8
MAX_CONCURRENT_SNAPSHOTS = 16

FetchSnapshot: TypeAlias = Callable[[Identity, str | None, bool], Awaitable[RoomSnapshot]]
"""Fetches a viewer's snapshot since something from the owner; with False, only their admission."""
SnapshotResult: TypeAlias = RoomSnapshot | RequestError

# For all rooms together: the id of a join stays unique when a room was forgotten here and is joined again.
_join_numbers = itertools.count(1)

_encode = msgspec.json.Encoder().encode
log = structlog.get_logger(__name__)


class Mirror:
    """What the sockets of this process see of a room.

    `members` are the sockets, each with the id of its join where the behaviour has an `attendance`. `observers` are
    those of them that do not take part; `accounts` counts the other sockets of each account.
    """

    def __init__(
        self,
        topic: str,
        *,
        process: str,
        hub: Hub,
        fetch_snapshot: FetchSnapshot,
        background: BackgroundTasks,
        behaviour: RoomBehaviour[Any],
    ) -> None:
        self.topic = topic
        self.members: dict[Socket, str | None] = {}
        self.observers: set[Socket] = set()
        self.accounts: Counter[AccountId] = Counter()
        self._room_id = topic.partition("/")[2]
        self._process = process
        self._hub = hub
        self._fetch_snapshot = fetch_snapshot
        self._background = background
        self._behaviour = behaviour
        self._history = UpdateHistory()
        self._owner_count = 0
        self._owner_count_at = (0, 0)
        self._in_sync = asyncio.Event()
        self._in_sync.set()
        self._restarts = 0
        self._forgotten = 0

    @property
    def present(self) -> int:
        """How many people are in the room, as the owner counted them; at least those in this process."""
        return max(self._owner_count, len(self.accounts))

    # Updates of the owner

    def apply(self, update: RoomUpdate) -> None:
        """Apply an update of the owner, and deliver it."""
        if isinstance(update, DurableEvents | TransientEvents | PresenceCount):
            self._apply_next(update)
        elif isinstance(update, RoomReset | OwnerHeartbeat):
            self._compare(update)
        elif isinstance(update, RoomClosed):
            self.close(update.problem)

    def close(self, problem: Problem) -> None:
        """Unsubscribe every socket, with the reason."""
        # One by one: a socket that is too slow gets no broadcast of the room, but must learn of its end.
        for socket in list(self.members):
            self._remove(socket, problem)
        # No client resumes in a room that has ended.
        self.forget()

    def resynchronise(self) -> None:
        """Give every client a snapshot: updates may have been lost."""
        if not self.members:
            self._history.forget()
        self._restart_sync()

    def forget(self) -> None:
        """Forget everything that was received of the room. Every client gets a snapshot when it is loaded again."""
        self._forgotten += 1
        self._history.forget()
        self._owner_count_at = (0, 0)
        self._restart_sync()

    def _apply_next(self, update: EventUpdate | PresenceCount) -> None:
        if self._history.includes(update.epoch, update.number):
            return
        if not self._history.is_next(update):
            self._restart_history(update.epoch, update.seq, update.number)
            return
        self._history.append(update)
        if isinstance(update, PresenceCount):
            self._set_owner_count(update)
        if self.members and self._in_sync.is_set():
            if isinstance(update, PresenceCount):
                self._broadcast_presence()
            else:
                self._deliver(update)

    def _compare(self, update: RoomReset | OwnerHeartbeat) -> None:
        """Give every client a snapshot if the owner is further than the updates that arrived here."""
        before = self.present
        self._set_owner_count(update)
        if not self._history.includes(update.epoch, update.number):
            self._restart_history(update.epoch, update.seq, update.number, is_reset=isinstance(update, RoomReset))
        elif self.present != before and self._in_sync.is_set():
            self._broadcast_presence()

    # Sockets

    async def join(self, socket: Socket, join: Join) -> None:
        """Subscribe a socket, with the events after its position or with a snapshot. Raises `RequestError`."""
        if socket in self.members:
            # It starts again, without regard to what it has received before.
            self.leave(socket)
        elif join.at is not None and await self._resume(socket, join, join.at):
            return
        snapshot, updates = await self._snapshot_with_updates(socket.identity, join.since)
        assert snapshot.body is not None
        channel = self._hub.subscribe(socket, self.topic)
        self._add(socket, is_observer=join.observer)
        position, body = Position(snapshot.epoch, snapshot.seq), Raw(snapshot.body)
        self._hub.send(
            socket,
            Joined(id=join.id, to=self.topic, channel=channel, at=position, snapshot=body, here=self.present),
        )
        self._send_updates(socket, updates)

    def leave(self, socket: Socket) -> None:
        """Unsubscribe a socket."""
        if socket in self.members:
            connection = self.members.pop(socket)
            if socket in self.observers:
                self.observers.discard(socket)
            else:
                self._uncount(socket.identity.account_id)
            if self._behaviour.attendance is not None and connection is not None:
                self._behaviour.attendance.left(self._room_id, connection)
        self._hub.unsubscribe(socket, self.topic)

    async def catch_up(self, socket: Socket, since: str | None = None) -> None:
        """Send a snapshot to a socket that was too slow."""
        try:
            snapshot, updates = await self._snapshot_with_updates(socket.identity, since)
        except RequestError as error:
            self._remove(socket, error.problem)
            return
        if socket in self.members:
            self._send_snapshot(socket, snapshot, updates)

    async def _resume(self, socket: Socket, join: Join, at: Position) -> bool:
        await self._in_sync.wait()
        if not self._history.can_resume(at):
            return False
        if self._behaviour.restricted:
            await self._fetch_snapshot(socket.identity, join.since, False)
            await self._in_sync.wait()
            if not self._history.can_resume(at):
                return False
        channel = self._hub.subscribe(socket, self.topic)
        self._add(socket, is_observer=join.observer)
        self._hub.send(socket, Joined(id=join.id, to=self.topic, channel=channel, at=at, here=self.present))
        self._send_updates(socket, self._history.durable_after(at))
        return True

    def _add(self, socket: Socket, *, is_observer: bool) -> None:
        if socket in self.members:
            return
        connection = None
        if self._behaviour.attendance is not None:
            connection = f"{self._process}:{next(_join_numbers)}"
            self._behaviour.attendance.joined(self._room_id, connection)
        self.members[socket] = connection
        if is_observer:
            self.observers.add(socket)
        else:
            self.accounts[socket.identity.account_id] += 1

    def _uncount(self, account: AccountId) -> None:
        self.accounts[account] -= 1
        if not self.accounts[account]:
            del self.accounts[account]

    def _remove(self, socket: Socket, problem: Problem) -> None:
        self._hub.send(socket, TopicClosed(to=self.topic, error=problem))
        self.leave(socket)

    # Snapshots

    async def _snapshot_with_updates(
        self, viewer: Identity, since: str | None
    ) -> tuple[RoomSnapshot, list[EventUpdate]]:
        """A snapshot and the updates after it. The caller must send both without awaiting anything."""
        for _ in range(MAX_SNAPSHOT_ATTEMPTS):
            forgotten = self._forgotten
            snapshot = await self._fetch_snapshot(viewer, since, True)
            await self._in_sync.wait()
            updates = self._updates_after(snapshot) if forgotten == self._forgotten else None
            if updates is not None:
                return snapshot, updates
        raise Unavailable("The room changes too fast to be shown just now. Try again in a moment.")

    def _updates_after(self, snapshot: RoomSnapshot) -> list[EventUpdate] | None:
        self._set_owner_count(snapshot)
        if not self._history.includes(snapshot.epoch, snapshot.number):
            # The owner is further than the updates here: some were lost, or this is the first that arrives.
            self._restart_history(snapshot.epoch, snapshot.seq, snapshot.number)
            if not self._in_sync.is_set():
                return None
        return self._history.after(Position(snapshot.epoch, snapshot.seq), snapshot.number)

    def _restart_history(self, epoch: int, seq: int, number: int, *, is_reset: bool = False) -> None:
        self._history.restart(epoch, seq, number, is_reset=is_reset)
        self._restart_sync()

    def _restart_sync(self) -> None:
        self._restarts += 1
        if self.members and self._in_sync.is_set():
            self._in_sync.clear()
            self._background.start(self._synchronise())

    async def _synchronise(self) -> None:
        try:
            while self.members:
                restarts = self._restarts
                snapshots = await self._fetch_all_snapshots()
                if restarts == self._restarts and self._send_all_snapshots(snapshots):
                    self._broadcast_presence()
                    return
        finally:
            self._in_sync.set()

    async def _fetch_all_snapshots(self) -> dict[AccountId, SnapshotResult]:
        """The snapshots of all members, each by itself unless all see the same."""
        viewers = {socket.identity.account_id: socket.identity for socket in self.members}
        if self._behaviour.shared_snapshot:
            snapshot = await self._try_snapshot(next(iter(viewers.values())))
            if isinstance(snapshot, RoomSnapshot):
                return dict.fromkeys(viewers, snapshot)
        semaphore = asyncio.Semaphore(MAX_CONCURRENT_SNAPSHOTS)

        async def fetch(viewer: Identity) -> SnapshotResult:
            async with semaphore:
                return await self._try_snapshot(viewer)

        return dict(zip(viewers, await asyncio.gather(*map(fetch, viewers.values())), strict=True))

    async def _try_snapshot(self, viewer: Identity) -> SnapshotResult:
        try:
            return await self._fetch_snapshot(viewer, None, True)
        except RequestError as error:
            return error
        except Exception:  # the client is unsubscribed and can join again
            log.exception("snapshot_failed", topic=self.topic)
            return Unavailable("The room cannot be shown just now. Try again in a moment.")

    def _send_all_snapshots(self, snapshots: dict[AccountId, SnapshotResult]) -> bool:
        """Send all snapshots without awaiting; False when one is too old, or ahead of the updates here."""
        fetched = [snapshot for snapshot in snapshots.values() if isinstance(snapshot, RoomSnapshot)]
        newest = max(fetched, key=lambda snapshot: (snapshot.epoch, snapshot.number), default=None)
        if newest is not None:
            self._set_owner_count(newest)
            if not self._history.includes(newest.epoch, newest.number):
                self._history.restart(newest.epoch, newest.seq, newest.number)
        updates: dict[AccountId, list[EventUpdate]] = {}
        for account, snapshot in snapshots.items():
            if isinstance(snapshot, RoomSnapshot):
                missed = self._history.after(Position(snapshot.epoch, snapshot.seq), snapshot.number)
                if missed is None:
                    return False
                updates[account] = missed
        is_shared = self._behaviour.shared_snapshot and all(snapshot is newest for snapshot in snapshots.values())
        if is_shared and newest is not None:
            self._hub.broadcast(self.topic, _encode(self._snapshot_message(newest)))
            for update in next(iter(updates.values())):
                self._deliver(update)
            return True
        for socket in list(self.members):
            account = socket.identity.account_id
            snapshot = snapshots.get(account)
            if isinstance(snapshot, RequestError):
                self._remove(socket, snapshot.problem)
            elif snapshot is not None:
                self._send_snapshot(socket, snapshot, updates[account])
        return True

    # Messages

    def _send_snapshot(self, socket: Socket, snapshot: RoomSnapshot, updates: Sequence[EventUpdate]) -> None:
        self._hub.send(socket, self._snapshot_message(snapshot))
        self._send_updates(socket, updates)

    def _snapshot_message(self, snapshot: RoomSnapshot) -> Snapshot:
        assert snapshot.body is not None
        return Snapshot(to=self.topic, at=Position(snapshot.epoch, snapshot.seq), snapshot=Raw(snapshot.body))

    def _send_updates(self, socket: Socket, updates: Sequence[EventUpdate]) -> None:
        for update in updates:
            message = message_for(socket.identity.account_id, self.topic, update)
            if message is not None:
                self._hub.send(socket, message)
            if isinstance(update, TransientEvents):
                for payload in update.binary:
                    self._hub.send_binary(socket, self.topic, payload)

    def _set_owner_count(self, counted: PresenceCount | RoomReset | OwnerHeartbeat | RoomSnapshot) -> None:
        if (counted.epoch, counted.number) >= self._owner_count_at:
            self._owner_count, self._owner_count_at = counted.present, (counted.epoch, counted.number)

    def _deliver(self, update: EventUpdate) -> None:
        for message, recipients in messages_for_all(self.topic, update, self._viewers):
            self._hub.broadcast(self.topic, _encode(message), recipients)
        if isinstance(update, TransientEvents):
            for payload in update.binary:
                self._hub.broadcast_binary(self.topic, payload)

    @property
    def _viewers(self) -> set[AccountId]:
        return {*self.accounts, *(socket.identity.account_id for socket in self.observers)}

    def _broadcast_presence(self) -> None:
        # All rooms count at the same time: a socket in many of them gets their counts in one write.
        self._hub.broadcast_later(self.topic, _encode(Presence(to=self.topic, here=self.present)))
