"""RoomRegistry, wherever they run: in this process when it owns them, else in the one that does."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from random import Random
from typing import Any, TypeVar, cast
from uuid import uuid4

import msgspec
import structlog
from msgspec.structs import replace

from zataku.background_tasks import BackgroundTasks
from zataku.clock import Clock
from zataku.errors import NotFound, OutcomeUnknown, Unavailable
from zataku.platform.identity import Identity
from zataku.platform.limits import OwnerId
from zataku.realtime.bus.client import BusClient
from zataku.realtime.messages import Join
from zataku.realtime.rooms.behaviour import Command, RoomBehaviour
from zataku.realtime.rooms.bus_messages import Ask, CallReply, Letter, Look, WhoIsThere, decode_letter, encode
from zataku.realtime.rooms.context import RoomContext, process_channel
from zataku.realtime.rooms.directory import RoomDirectory
from zataku.realtime.rooms.handle import SEEK_WITHIN, RoomHandle
from zataku.realtime.rooms.leases import RoomLeases
from zataku.realtime.rooms.moved import RoomMoved
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.socket import Socket
from zataku.table import Store

PULSE = 0.25
LONGEST_ID = 120
R = TypeVar("R")
_log = structlog.get_logger(__name__)
_IN_AN_ID = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-")


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
            leases=RoomLeases(store, clock, OwnerId(process), alone=bus.alone),
            background=self._background,
        )
        self._behaviours: dict[str, RoomBehaviour[Any]] = {}
        self._stations: dict[str, RoomHandle] = {}
        self._directory = RoomDirectory(self._context)
        self._renewing: asyncio.Task[None] | None = None
        self._pulsing: asyncio.Task[None] | None = None
        self._stopped = False

    def add(self, behaviour: RoomBehaviour[Any]) -> None:
        """Serve the rooms of a system, whose topics are `kind/ID`."""
        self._behaviours[behaviour.kind] = behaviour

    async def start(self) -> None:
        """Begin, when the bus has started."""
        if not self._context.alone:
            await self._context.bus.hear(process_channel(self._context.process), self._hear)
            self._context.bus.on_gap(self._doubt)
        await self._directory.start()
        self._pulsing = self._background.start(self._pulses())

    async def stop(self) -> None:
        """Store everything, and leave the rooms to other processes at once. From now on none is taken."""
        self._stopped = True
        await asyncio.gather(*(station.stop() for station in list(self._stations.values())))
        self._directory.update({})
        await self._background.stop()

    async def renew(self) -> None:
        """All tables were replaced, as by a backup: nothing that the rooms of this process hold is true any more.

        They are given up as they are, and loaded anew for whoever is there.
        """
        await asyncio.gather(*(station.renew() for station in list(self._stations.values())))

    # For everybody

    async def ask(self, topic: str, sender: Identity, body: object, reply_type: type[R]) -> R:
        """The reply to a durable command of an HTTP handler or a job; see `execute`."""
        reply = await self.execute(topic, sender, body)
        return cast("R", msgspec.json.decode(reply, type=reply_type) if isinstance(reply, msgspec.Raw) else reply)

    async def execute(self, topic: str, sender: Identity, body: object) -> msgspec.Struct | msgspec.Raw | None:
        """Execute and store a durable command in whichever process owns the room.

        Gives its reply: the value, or from another process the value as JSON. The room is acquired when no process runs
        it. Raises `RequestError` with the room's reason, `Unavailable` when no owner could be found, and
        `OutcomeUnknown` when the command may or may not have been stored.
        """
        clock, asked = self._context.clock, Command(sender=sender, body=body, id=str(uuid4()))
        until = clock.now() + SEEK_WITHIN
        with self._used(topic) as station:
            while True:
                try:
                    return await station.ask(asked)
                except RoomMoved as moved:
                    asked = replace(asked, is_retry=asked.is_retry or moved.perhaps)
                except Unavailable as away:
                    if asked.is_retry:
                        raise _unsettled() from away
                    raise
                if clock.now() >= until:
                    raise _unsettled() if asked.is_retry else Unavailable("Nobody runs this room just now. Try again.")
                await station.left_behind()

    def here(self, topic: str) -> int:
        """How many people are in a room, as far as this process knows."""
        station = self._stations.get(topic)
        return station.mirror.here if station is not None else self._directory.running().get(topic, 0)

    def running(self, kind: str) -> dict[str, int]:
        """The topics of all rooms of a kind that run now in any process, and how many people are in each."""
        self._update_directory()
        return {topic: here for topic, here in self._directory.running().items() if topic.startswith(f"{kind}/")}

    # For sockets

    def has(self, topic: str) -> bool:
        """True when there can be a room of this name."""
        kind, _, room_id = topic.partition("/")
        return kind in self._behaviours and 0 < len(room_id) <= LONGEST_ID and _IN_AN_ID.issuperset(room_id)

    def decode_command(self, topic: str, payload: bytes) -> object:
        """The body of a client's durable command to a room. Raises `RequestError`."""
        if not self.has(topic):
            raise NotFound("There is no room of that name.")
        return self._behaviours[topic.partition("/")[0]].decode_command(payload)

    async def join(self, socket: Socket, join: Join) -> None:
        """Let a socket hear a room, or raise `RequestError`."""
        with self._used(join.to) as station:
            await station.mirror.join(socket, join)

    def leave(self, socket: Socket, topic: str) -> None:
        """Let a socket hear it no more."""
        station = self._stations.get(topic)
        if station is not None:
            station.mirror.leave(socket)

    def passed(self, socket: Socket, topic: str, payload: bytes, *, binary: bool = False) -> None:
        """Carry on a passing command of somebody who hears the room."""
        station = self._stations.get(topic)
        if station is not None and socket in station.mirror.members:
            behaviour = self._behaviours[topic.partition("/")[0]]
            body = payload if binary else behaviour.decode_transient(payload)
            station.passing(Command(sender=socket.identity, body=body, binary=binary))

    async def behind(self, socket: Socket, topic: str) -> None:
        """Bring a socket up to date that was too slow."""
        station = self._stations.get(topic)
        if station is not None:
            await station.mirror.bring(socket)

    # Inside

    @contextmanager
    def _used(self, topic: str) -> Generator[RoomHandle]:
        if not self.has(topic):
            raise NotFound("There is no room of that name.")
        if self._stopped:
            raise Unavailable("This server stops. Try again in a moment.")
        station = self._stations.get(topic)
        if station is None:
            behaviour = self._behaviours[topic.partition("/")[0]]
            station = self._stations[topic] = RoomHandle(self._context, topic, behaviour)
        station.users += 1
        try:
            yield station
        finally:
            station.users -= 1

    async def _pulses(self) -> None:
        while True:
            await self._context.clock.sleep(PULSE)
            now = self._context.clock.now()
            if self._renewing is None or self._renewing.done():
                self._renewing = self._background.start(self._context.leases.renew_due())
            for station in list(self._stations.values()):
                try:
                    self._pulse(station, now)
                except Exception:  # noqa: BLE001 - the leases and people of all other rooms depend on this, too
                    _log.exception("A room missed a beat.", topic=station.topic)
            self._update_directory()

    def _pulse(self, station: RoomHandle, now: float) -> None:
        station.pulse(now)
        if station.idle:
            station.close()
            del self._stations[station.topic]

    def _update_directory(self) -> None:
        owners = [(station.topic, station.owner) for station in self._stations.values()]
        self._directory.update({topic: owner.here for topic, owner in owners if owner is not None})

    def _doubt(self) -> None:
        for station in self._stations.values():
            station.doubt()

    def _hear(self, message: bytes) -> None:
        letter = decode_letter(message)
        station = self._stations.get(letter.topic)
        if isinstance(letter, CallReply):
            if station is not None:
                station.answered(letter)
        elif isinstance(letter, WhoIsThere):
            if station is not None and station.following is not None:
                station.following.tell_everybody()
        elif station is not None and station.owner is not None:
            station.owner.serve(letter)
        elif isinstance(letter, Ask | Look):
            self._background.start(self._serve_later(letter))

    async def _serve_later(self, letter: Ask | Look) -> None:
        """Somebody takes us for the owner: we are about to be, or not any more."""
        station = self._stations.get(letter.topic)
        if station is not None:
            await station.settling()
            if station.owner is not None:
                station.owner.serve(letter)
                return
        reply: Letter = CallReply(sender=self._context.process, topic=letter.topic, id=letter.id, moved=True)
        self._context.bus.send(process_channel(letter.sender), encode(reply))


def _unsettled() -> OutcomeUnknown:
    return OutcomeUnknown("Nobody knows whether this was stored. Look before you ask again.")
