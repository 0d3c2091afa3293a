"""The rooms of all systems, whether they run in this process or in another."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from random import Random
from typing import Any, TypeVar, cast

import msgspec
import structlog

from zataku.background_tasks import BackgroundTasks
from zataku.clock import Clock
from zataku.errors import InvalidRequest, NotFound, Unavailable
from zataku.platform.identity import Identity
from zataku.platform.limits import OwnerId
from zataku.realtime.bus.client import BusClient
from zataku.realtime.messages import Join
from zataku.realtime.rooms.actor import CommandResult
from zataku.realtime.rooms.behaviour import Command, RoomBehaviour, ServerCommand
from zataku.realtime.rooms.bus_messages import (
    CallReply,
    CommandCall,
    PresenceQuery,
    SnapshotCall,
    decode_rpc_message,
    encode,
)
from zataku.realtime.rooms.context import RoomContext, process_channel
from zataku.realtime.rooms.handle import RoomHandle
from zataku.realtime.rooms.leases import RoomLeases
from zataku.realtime.rooms.presence import RoomDirectory
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.socket import Socket
from zataku.table import Store

TIMER_SECONDS = 0.25
MAX_ROOM_ID_LENGTH = 120
R = TypeVar("R")

log = structlog.get_logger(__name__)
_ROOM_ID_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-")


class RoomRegistry:
    """Every room, across all processes."""

    def __init__(self, *, store: Store, clock: Clock, random: Random, process: str, bus: BusClient, hub: Hub) -> None:
        self._background = BackgroundTasks()
        self._context = RoomContext(
            process=process,
            clock=clock,
            random=random,
            bus=bus,
            hub=hub,
            leases=RoomLeases(store, clock, OwnerId(process), is_alone=bus.is_alone),
            background=self._background,
        )
        self._behaviours: dict[str, RoomBehaviour[Any]] = {}
        self._handles: dict[str, RoomHandle] = {}
        self._directory = RoomDirectory(self._context)
        self._lease_renewal: asyncio.Task[None] | None = None
        self._stopped = False

    def register(self, behaviour: RoomBehaviour[Any]) -> None:
        """Serve the rooms of a system, whose topics are `kind/ID`."""
        self._behaviours[behaviour.kind] = behaviour

    async def start(self) -> None:
        """Start, after the bus."""
        if not self._context.is_alone:
            await self._context.bus.subscribe(process_channel(self._context.process), self._receive)
            self._context.bus.on_gap(self._handle_gap)
        await self._directory.start()
        self._background.start(self._run_timers_forever())

    async def stop(self) -> None:
        """Store everything and release all rooms. From now on none is acquired."""
        self._stopped = True
        await asyncio.gather(*(handle.stop() for handle in list(self._handles.values())))
        self._directory.update({})
        await self._background.stop()

    async def reload_all(self) -> None:
        """Drop the state of every room and load it again: all tables were replaced, as by a restored backup."""
        await asyncio.gather(*(handle.reload() for handle in list(self._handles.values())))

    # For HTTP handlers and jobs

    async def ask(self, topic: str, sender: Identity, body: object, reply_type: type[R]) -> R:
        """The reply to a durable command, see `execute`."""
        reply = await self.execute(topic, sender, body)
        return cast("R", msgspec.json.decode(reply, type=reply_type) if isinstance(reply, msgspec.Raw) else reply)

    async def execute(self, topic: str, sender: Identity, body: object) -> CommandResult:
        """Execute and store a durable command, see `RoomHandle.execute`."""
        with self.use(topic) as handle:
            return await handle.execute(sender, body)

    def running(self, kind: str) -> dict[str, int]:
        """The topics of all rooms of a kind that run in any process, and how many people are in each."""
        self._update_directory()
        prefix = f"{kind}/"
        return {topic: present for topic, present in self._directory.running().items() if topic.startswith(prefix)}

    def owned(self) -> dict[str, int]:
        """The topics of the rooms that this process owns, and how many people are in each."""
        owned = [(handle.topic, handle.present_if_owned) for handle in self._handles.values()]
        return {topic: present for topic, present in owned if present is not None}

    # For sockets

    def is_room(self, topic: str) -> bool:
        """True when the topic is a possible name of a room."""
        kind, _, room_id = topic.partition("/")
        is_valid = 0 < len(room_id) <= MAX_ROOM_ID_LENGTH and _ROOM_ID_CHARACTERS.issuperset(room_id)
        return kind in self._behaviours and is_valid

    def decode_command(self, topic: str, payload: bytes) -> object:
        """The body of a client's durable command to a room. Raises `RequestError`."""
        self._require_room(topic)
        body = self._behaviour_of(topic).decode_command(payload)
        if isinstance(body, ServerCommand):
            raise InvalidRequest("Only the server sends this command.")
        return body

    async def join(self, socket: Socket, join: Join) -> None:
        """Subscribe a socket to a room. Raises `RequestError`."""
        self._context.hub.check_subscription(socket, join.to)
        with self.use(join.to) as handle:
            await handle.join(socket, join)

    def leave(self, socket: Socket, topic: str) -> None:
        """Unsubscribe a socket from a room."""
        handle = self._handles.get(topic)
        if handle is not None:
            handle.leave(socket)

    def handle_transient(self, socket: Socket, topic: str, payload: bytes, *, binary: bool = False) -> None:
        """Pass on a transient command of a socket that has joined the room. Raises `RequestError`."""
        handle = self._handles.get(topic)
        if handle is not None:
            behaviour = self._behaviour_of(topic)
            if binary and not behaviour.has_binary_commands:
                raise InvalidRequest("This room has no binary commands.")
            body = payload if binary else behaviour.decode_transient(payload)
            handle.handle_transient(socket, Command(sender=socket.identity, body=body, binary=binary))

    async def catch_up(self, socket: Socket, topic: str) -> None:
        """Send a snapshot to a socket that was too slow."""
        handle = self._handles.get(topic)
        if handle is not None:
            await handle.catch_up(socket)

    def _behaviour_of(self, topic: str) -> RoomBehaviour[Any]:
        return self._behaviours[topic.partition("/")[0]]

    def _require_room(self, topic: str) -> None:
        if not self.is_room(topic):
            raise NotFound("There is no room of that name.")

    @contextmanager
    def use(self, topic: str) -> Generator[RoomHandle]:
        """The handle of a room, which is kept while the block runs. Raises `RequestError`."""
        self._require_room(topic)
        if self._stopped:
            raise Unavailable("This server is stopping. Try again in a moment.")
        handle = self._handles.get(topic)
        if handle is None:
            handle = self._handles[topic] = RoomHandle(self._context, topic, self._behaviour_of(topic))
        handle.users += 1
        try:
            yield handle
        finally:
            handle.users -= 1
            # A client may name any room: nothing is kept of one that turned out not to exist.
            self._forget_if_idle(handle)

    # Time

    async def _run_timers_forever(self) -> None:
        while True:
            await self._context.clock.sleep(TIMER_SECONDS)
            now = self._context.clock.now()
            if self._lease_renewal is None or self._lease_renewal.done():
                self._lease_renewal = self._background.start(self._context.leases.renew_due())
            for handle in list(self._handles.values()):
                try:
                    self._run_timers(handle, now)
                except Exception:  # the leases and presence of all other rooms depend on this, too
                    log.exception("room_timers_failed", topic=handle.topic)
            self._update_directory()

    def _run_timers(self, handle: RoomHandle, now: float) -> None:
        handle.run_timers(now)
        self._forget_if_idle(handle)

    def _forget_if_idle(self, handle: RoomHandle) -> None:
        if handle.is_idle and self._handles.get(handle.topic) is handle:
            handle.close()
            del self._handles[handle.topic]

    def _update_directory(self) -> None:
        self._directory.update(self.owned())

    # Messages of other processes

    def _handle_gap(self) -> None:
        for handle in self._handles.values():
            handle.handle_gap()

    def _receive(self, message: bytes) -> None:
        received = decode_rpc_message(message)
        handle = self._handles.get(received.topic)
        if isinstance(received, CallReply):
            if handle is not None:
                handle.receive_reply(received)
        elif isinstance(received, PresenceQuery):
            if handle is not None:
                handle.report_presence()
        elif (handle is None or not handle.serve_now(received)) and isinstance(received, CommandCall | SnapshotCall):
            self._background.start(self._serve_later(received))

    async def _serve_later(self, call: CommandCall | SnapshotCall) -> None:
        """Serve a call to a room that this process is about to own, or reply that the room has moved."""
        handle = self._handles.get(call.topic)
        if handle is not None and await handle.serve(call):
            return
        reply = CallReply(sender=self._context.process, topic=call.topic, id=call.id, has_moved=True)
        self._context.bus.publish(process_channel(call.sender), encode(reply))
