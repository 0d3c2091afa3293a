"""What the owner of a room does beside running it: tell the other processes, count the people, serve what they ask."""

import asyncio
from typing import Any

import msgspec
import structlog
from msgspec.structs import replace

from zataku.errors import RequestError
from zataku.realtime.rooms.actor import LINGER, Answer, Ending, RoomActor
from zataku.realtime.rooms.behaviour import Command, RoomBehaviour
from zataku.realtime.rooms.bus_messages import (
    Ask,
    CallReply,
    Counted,
    Happened,
    Left,
    Look,
    Over,
    PassedBy,
    Passes,
    People,
    Renewed,
    WhoIsThere,
    Word,
    decode_command,
    encode,
)
from zataku.realtime.rooms.context import RoomContext, process_channel, room_channel
from zataku.realtime.rooms.deduplication import CommandDeduplicator
from zataku.realtime.rooms.leases import HeldLease
from zataku.realtime.rooms.mirror import Mirror
from zataku.realtime.rooms.moved import RoomMoved
from zataku.realtime.rooms.presence import Presence
from zataku.realtime.rooms.rpc import BROKEN, refusal

BEAT = 1.0
FLUSH = 0.5
COUNT = 1.0
"""Seconds between two beats, two flushes and two counts, at least."""

_log = structlog.get_logger(__name__)


class LocalOwner:
    """A room that runs in this process, with everybody who hears it here and elsewhere."""

    def __init__(
        self,
        context: RoomContext,
        topic: str,
        behaviour: RoomBehaviour[Any],
        state: Any,
        holding: HeldLease,
        mirror: Mirror,
    ) -> None:
        self._context = context
        self._topic = topic
        self._behaviour = behaviour
        self._mirror = mirror
        self._presence = Presence()
        self._answers = CommandDeduplicator(context.clock)
        self._counted_at = self._flushed_at = self._beat_at = 0.0
        self._empty_since = context.clock.now()
        self.room: RoomActor[Any] = RoomActor(
            topic, behaviour, state, holding=holding, owner=context.process, clock=context.clock, tell=self._tell
        )

    async def run(self) -> Ending:
        """Run the room to its end, then let it go and tell everybody."""
        room, leases = self.room, self._context.leases
        self._count(self._context.clock.now())
        try:
            ending = await room.run()
        except asyncio.CancelledError:
            leases.forget(room.holding)
            raise
        if ending == "lost":
            leases.forget(room.holding)
        else:
            await leases.release(room.holding)
        if ending != "over":
            room.leave(freely=ending != "lost")
        return ending

    @property
    def here(self) -> int:
        """How many people are in the room now."""
        return self._presence.here

    @property
    def idle(self) -> bool:
        """True when nobody has been there or asked for anything for a while."""
        return self._context.clock.now() - max(self._empty_since, self.room.asked_at) > LINGER

    def pulse(self, now: float) -> None:
        """A moment has passed."""
        if self._presence.here:
            self._empty_since = now
        if not self.room.holding.fresh:
            # Perhaps it is another's by now: nothing is said until the lease is confirmed.
            return
        self.room.beat()
        if now - self._counted_at >= COUNT:
            self._count(now)
        if now - self._flushed_at >= FLUSH:
            self._flushed_at = now
            self.room.flush_soon()
        if now - self._beat_at >= BEAT and self._watched:
            self._beat_at = now
            self._context.bus.send(room_channel(self._topic), encode(self.room.alive))

    # What other processes ask

    def serve(self, letter: Ask | Look | Passes | People) -> None:
        """Do what another process asks. Whoever writes hears what happens from now on."""
        self._presence.came(letter.sender, (), self._context.clock.now())
        if isinstance(letter, Passes):
            self._handle_transient(letter)
        elif isinstance(letter, People):
            self._count_elsewhere(letter)
        else:
            self._context.background.start(self._reply(letter))

    def _handle_transient(self, call: Passes) -> None:
        try:
            command = decode_command(self._behaviour, call.command, transient=True)
        except RequestError:
            return
        self.room.passing(command)

    async def _reply(self, letter: Ask | Look) -> None:
        reply = CallReply(sender=self._context.process, topic=self._topic, id=letter.id)
        try:
            if isinstance(letter, Ask):
                result = await self._ask(decode_command(self._behaviour, letter.command))
                reply = replace(reply, result=None if result is None else msgspec.json.encode(result))
            else:
                reply = replace(reply, sight=await self.room.look(letter.who, letter.since, whole=letter.whole))
        except RequestError as problem:
            reply = replace(reply, refusal=refusal(problem))
        except RoomMoved as moved:
            reply = replace(reply, moved=True, perhaps=moved.perhaps)
        except Exception:  # noqa: BLE001 - the asker is in another process and must hear that nothing will come
            _log.exception("What another process asked could not be carried out.", topic=self._topic)
            reply = replace(reply, refusal=BROKEN)
        self._context.bus.send(process_channel(letter.sender), encode(reply))

    async def _ask(self, asked: Command) -> Answer:
        """Have a command of another process carried out, once, however often it comes."""
        return await self._answers.only(asked.id, lambda: self.room.ask(asked))

    def _count_elsewhere(self, letter: People) -> None:
        now = self._context.clock.now()
        if letter.all:
            self._presence.only(letter.sender, letter.came, now)
        else:
            self._presence.left(letter.sender, letter.left)
            self._presence.came(letter.sender, letter.came, now)
        if self._presence.at(letter.sender) != letter.total:
            wanted = WhoIsThere(sender=self._context.process, topic=self._topic)
            self._context.bus.send(process_channel(letter.sender), encode(wanted))

    # What it tells

    @property
    def _watched(self) -> bool:
        return len(self._presence.processes) > 1

    def _tell(self, word: Word) -> None:
        if isinstance(word, Happened | PassedBy | Counted):
            self._mirror.hear(word)
        elif isinstance(word, Renewed):
            self._mirror.begin(word)
        elif isinstance(word, Over):
            self._mirror.end(word.problem)
        # A change of hands is told even when nobody is known to listen: somebody may still wait for an earlier owner.
        if self._watched or (not self._context.alone and isinstance(word, Renewed | Left | Over)):
            self._context.bus.send(room_channel(self._topic), encode(word))

    def _count(self, now: float) -> None:
        self._presence.only(self._context.process, self._mirror.people, now)
        self._presence.forget_silent(now, but=self._context.process)
        change = self._presence.change()
        if change is not None:
            self._counted_at = now
            self.room.seen(change, self._presence.here)
