"""One room as a process sees it: its mirror for the sockets of this process, and its owner here or elsewhere."""

import asyncio
from typing import Any
from uuid import uuid4

import structlog
from msgspec.structs import replace

from zataku.clock import has_passed
from zataku.errors import OUTCOME_UNKNOWN, STORAGE_FULL, OutcomeUnknown, RequestError, StorageFull, Unavailable
from zataku.platform.identity import Identity
from zataku.realtime.messages import Join
from zataku.realtime.rooms.actor import CommandResult
from zataku.realtime.rooms.behaviour import Command, RoomBehaviour
from zataku.realtime.rooms.bus_messages import (
    CallReply,
    CommandCall,
    OwnerHeartbeat,
    OwnerLeft,
    PresenceReport,
    RoomClosed,
    RoomReset,
    RoomSnapshot,
    SnapshotCall,
    TransientCall,
    decode_update,
)
from zataku.realtime.rooms.context import RoomContext, RoomMoved, room_channel
from zataku.realtime.rooms.leases import HeldLease
from zataku.realtime.rooms.local_owner import IDLE_SECONDS, LocalOwner
from zataku.realtime.rooms.mirror import Mirror
from zataku.realtime.rooms.remote_owner import RemoteOwner
from zataku.realtime.sockets.socket import Socket
from zataku.table import StoreFull, TableError

OWNER_SEARCH_SECONDS = 12.0
"""A caller waits so long for a process to own the room."""
SEARCH_INTERVAL_SECONDS = 1.0
SEARCH_RETRY_SECONDS = 0.4
STOP_TIMEOUT_SECONDS = 5.0
NO_OWNER = "No server process runs this room just now. Try again in a moment."

log = structlog.get_logger(__name__)


class RoomHandle:
    """One room in this process.

    Either this process owns the room, or it follows the process that does, or it searches for the owner: the process
    that holds the lease, and if none does, itself.
    """

    def __init__(self, context: RoomContext, topic: str, behaviour: RoomBehaviour[Any]) -> None:
        self.topic = topic
        self.users = 0
        self._room_id = topic.partition("/")[2]
        self._context = context
        self._behaviour = behaviour
        self._local: LocalOwner | None = None
        self._remote: RemoteOwner | None = None
        self._mirror = Mirror(
            topic,
            process=context.process,
            hub=context.hub,
            fetch_snapshot=self.snapshot,
            background=context.background,
            behaviour=behaviour,
        )
        self._epoch = 0
        self._used_at = context.clock.now()
        self._search: asyncio.Task[None] | None = None
        self._running: asyncio.Task[None] | None = None
        self._searched_at = 0.0
        self._stopped = False

    # Commands and snapshots

    async def execute(self, sender: Identity, body: object) -> CommandResult:
        """Execute and store a durable command in the process that owns the room; the room is acquired when none does.

        Returns the reply: the value, or from another process its JSON. Raises `RequestError` with the room's reason,
        `Unavailable` when no owner could be found, and `OutcomeUnknown` when the command may have been stored.
        """
        clock, command = self._context.clock, Command(sender=sender, body=body, id=str(uuid4()))
        deadline = clock.now() + OWNER_SEARCH_SECONDS
        while True:
            try:
                owner = self._local or await self._find_owner()
                self._used_at = clock.now()
                return await owner.ask(command)
            except RoomMoved as moved:
                command = replace(command, is_retry=command.is_retry or moved.maybe_executed)
            except Unavailable as unavailable:
                if command.is_retry:
                    raise OutcomeUnknown(OUTCOME_UNKNOWN) from unavailable
                raise
            if clock.now() >= deadline:
                raise OutcomeUnknown(OUTCOME_UNKNOWN) if command.is_retry else Unavailable(NO_OWNER)
            await self.wait_until_released()

    async def snapshot(self, viewer: Identity, since: str | None, with_body: bool) -> RoomSnapshot:
        """The room as a viewer may see it, from the process that owns it by now."""
        deadline = self._context.clock.now() + OWNER_SEARCH_SECONDS
        while True:
            owner = self._local or await self._find_owner()
            self._used_at = self._context.clock.now()
            try:
                return await owner.snapshot(viewer, since, with_body=with_body)
            except RoomMoved:
                if self._context.clock.now() >= deadline:
                    raise Unavailable(NO_OWNER) from None
                await self.wait_until_released()

    def handle_transient(self, socket: Socket, command: Command) -> None:
        """Pass on a transient command of a socket that has joined, if the owner is known."""
        owner = self._local or self._remote
        if owner is not None and socket in self._mirror.members and not self.is_observer(socket):
            owner.handle_transient(command)

    async def wait_until_released(self) -> None:
        """Wait until a room that stops running here has released everything."""
        if self._running is not None:
            await asyncio.wait([self._running])

    # Sockets

    async def join(self, socket: Socket, join: Join) -> None:
        """Subscribe a socket to the room. Raises `RequestError`."""
        await self._mirror.join(socket, join)

    def leave(self, socket: Socket) -> None:
        """Unsubscribe a socket."""
        self._mirror.leave(socket)

    def is_observer(self, socket: Socket) -> bool:
        """True for a socket that has joined to observe only."""
        return socket in self._mirror.observers

    async def catch_up(self, socket: Socket) -> None:
        """Send a snapshot to a socket that was too slow."""
        await self._mirror.catch_up(socket)

    @property
    def present_if_owned(self) -> int | None:
        """How many people are in the room if this process owns it, else None."""
        return None if self._local is None else self._local.present

    # Messages of other processes

    async def serve(self, call: CommandCall | SnapshotCall | TransientCall | PresenceReport) -> bool:
        """Serve a call if this process owns the room, after a running search for the owner; False if it does not."""
        if self._local is None and self._search is not None:
            await asyncio.wait([self._search])
        return self.serve_now(call)

    def serve_now(self, call: CommandCall | SnapshotCall | TransientCall | PresenceReport) -> bool:
        """Serve a call if this process owns the room; False if it does not."""
        if self._local is None:
            return False
        self._local.serve(call)
        return True

    def receive_reply(self, reply: CallReply) -> None:
        """Take a reply to a call of this process."""
        remote = self._remote
        if remote is not None:
            remote.receive(reply)
            if reply.has_moved and reply.sender == remote.process:
                self._unfollow(suspect=reply.sender)

    def report_presence(self) -> None:
        """Report all accounts that are in the room in this process to the owner."""
        if self._remote is not None:
            self._remote.report_presence()

    def handle_gap(self) -> None:
        """Recover after messages on the bus may have been lost."""
        if self._remote is not None:
            self._remote.abandon_calls()
            self._remote.report_presence()
            self._mirror.resynchronise()

    def _receive_update(self, message: bytes) -> None:
        update = decode_update(message)
        if self._stopped:
            return
        if self._local is not None:
            if isinstance(update, RoomReset):
                self._local.lose_to(update.epoch)
            return
        if update.epoch < self._epoch:
            return
        self._epoch = update.epoch
        if isinstance(update, OwnerLeft):
            if self._remote is not None and self._remote.process == update.owner:
                self._unfollow(suspect=None if update.is_released else update.owner)
            return
        if isinstance(update, RoomReset | OwnerHeartbeat):
            self._follow(update.owner)
        elif not isinstance(update, RoomClosed) and self._remote is not None:
            # After a close, replies may still be in flight, so the owner is followed until it is silent.
            self._remote.mark_alive()
        self._mirror.apply(update)

    # Time

    def run_timers(self, now: float) -> None:
        """Do what is due at this time."""
        if self._mirror.members:
            self._used_at = now
        if self._local is not None:
            self._local.run_timers(now)
            if self._local.is_idle and not self._mirror.members and not self.users:
                self._local.stop()
        elif self._remote is not None:
            self._remote.run_timers(now)
            if self._remote.is_silent:
                log.warning("room_owner_silent", topic=self.topic, owner=self._remote.process)
                self._unfollow(suspect=self._remote.process)
        elif self._mirror.members and has_passed(self._searched_at, now, SEARCH_INTERVAL_SECONDS):
            self._start_search(None)

    @property
    def is_idle(self) -> bool:
        """True when this process does not need the room."""
        if self._local is not None or self._mirror.members or self.users or self._search is not None:
            return False
        return self._remote is None or self._context.clock.now() - self._used_at > IDLE_SECONDS

    def close(self) -> None:
        """Forget a room that this process does not own."""
        self._stopped = True
        self._context.bus.unsubscribe(room_channel(self.topic))

    async def reload(self) -> None:
        """Drop the room's state without storing it, and load it again: the table was replaced."""
        if self._search is not None:
            await asyncio.wait([self._search])
        if self._local is not None:
            self._local.lose()
            await self.wait_until_released()

    async def stop(self) -> None:
        """Store everything and release the room: the process stops."""
        self._stopped = True
        if self._search is not None:
            self._search.cancel()
            await asyncio.wait([self._search])
        if self._local is not None:
            self._local.stop()
        running = self._running
        if running is not None:
            # A table that does not answer must not keep the process from ending, even with a clock that does not run.
            await asyncio.wait([running], timeout=STOP_TIMEOUT_SECONDS)
            running.cancel()
            await asyncio.wait([running])
        if self._remote is not None:
            self._remote.leave()
            self._remote = None

    # Finding the owner

    async def _find_owner(self) -> LocalOwner | RemoteOwner:
        """The owner of the room. Raises `RequestError` when there is none."""
        while True:
            owner = self._local or self._remote
            if owner is not None:
                return owner
            if self._stopped:
                raise Unavailable(NO_OWNER)
            # A caller who is cancelled does not end the search of the others.
            search = self._start_search(None)
            await asyncio.wait([search])
            if not search.cancelled():
                search.result()

    def _start_search(self, suspect: str | None) -> asyncio.Task[None]:
        if self._search is None:
            self._search = asyncio.create_task(self._acquire_or_follow(suspect))
            self._search.add_done_callback(self._end_search)
        return self._search

    def _end_search(self, task: asyncio.Task[None]) -> None:
        self._search = None
        error = None if task.cancelled() else task.exception()
        self._searched_at = self._context.clock.now()
        if isinstance(error, RequestError):
            if not isinstance(error, Unavailable | StorageFull):
                self._mirror.close(error.problem)
        elif error is not None:
            log.error("room_owner_search_failed", topic=self.topic, exc_info=error)

    async def _acquire_or_follow(self, suspect: str | None) -> None:
        """Acquire the room, or follow the process that holds its lease, unless that is suspected to be gone."""
        clock, known_until, exists = self._context.clock, None, False
        deadline = clock.now() + OWNER_SEARCH_SECONDS
        while self._remote is None:
            try:
                if not exists:
                    await self._behaviour.require_open(self._room_id)
                    exists = True
                    if not self._context.is_alone:
                        await self._context.bus.subscribe(room_channel(self.topic), self._receive_update)
                lease = await self._context.leases.acquire(self.topic)
                if isinstance(lease, HeldLease):
                    await self._acquire(lease)
                    return
            except StoreFull:
                raise StorageFull(STORAGE_FULL) from None
            except TableError as error:
                log.warning("room_acquisition_postponed", topic=self.topic, code=error.code)
            else:
                known_until = known_until or lease.until
                # A process that extends its lease is alive, although no message of it arrived.
                if lease.owner != suspect or lease.until > known_until:
                    self._follow(lease.owner)
                    return
            if clock.now() >= deadline:
                raise Unavailable(NO_OWNER)
            await clock.sleep(SEARCH_RETRY_SECONDS * (0.75 + self._context.random.random() / 2))

    async def _acquire(self, lease: HeldLease) -> None:
        """Become the owner: from now on no earlier owner can write."""
        try:
            state = await self._behaviour.acquire(self._room_id)
        except BaseException:
            await self._context.leases.release(lease)
            raise
        if state.epoch <= self._epoch:
            # Epochs only grow, unless the table was replaced by an older one.
            self._mirror.forget()
        self._local = LocalOwner(self._context, self.topic, self._behaviour, state, lease, self._mirror)
        self._epoch = state.epoch
        if self._remote is not None:
            self._remote.abandon_calls()
            self._remote = None
        self._running = asyncio.create_task(self._run(self._local))

    async def _run(self, owner: LocalOwner) -> None:
        try:
            if await owner.run() == "failed":
                # A room that fails again at once must not be acquired in a tight loop.
                await self._context.clock.sleep(SEARCH_RETRY_SECONDS)
        finally:
            self._local = self._running = None
        if self._mirror.members and not self._stopped:
            self._start_search(None)

    def _follow(self, process: str) -> None:
        if self._remote is not None and self._remote.process == process:
            self._remote.mark_alive()
            return
        if self._remote is not None:
            self._remote.abandon_calls()
        # A viewer who may be refused needs a snapshot call of their own.
        shared = self._behaviour.shared_snapshot and not self._behaviour.restricted
        self._remote = RemoteOwner(self._context, self.topic, process, self._mirror, shared_snapshot=shared)
        self._mirror.resynchronise()

    def _unfollow(self, suspect: str | None) -> None:
        if self._remote is not None:
            self._remote.abandon_calls()
            self._remote = None
        if self._mirror.members or self.users:
            self._start_search(suspect)
