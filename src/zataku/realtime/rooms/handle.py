"""What a process has to do with one room: it shows it to its people, and runs it or knows who does."""

import asyncio
from typing import Any

import structlog

from zataku.errors import RequestError, Unavailable
from zataku.platform.identity import Identity
from zataku.realtime.rooms.actor import LINGER, Answer
from zataku.realtime.rooms.behaviour import Command, RoomBehaviour
from zataku.realtime.rooms.bus_messages import Alive, CallReply, Left, Over, Renewed, Sight, decode_word
from zataku.realtime.rooms.context import RoomContext, room_channel
from zataku.realtime.rooms.leases import HeldLease
from zataku.realtime.rooms.local_owner import LocalOwner
from zataku.realtime.rooms.mirror import Mirror
from zataku.realtime.rooms.moved import RoomMoved
from zataku.realtime.rooms.remote_owner import RemoteOwner
from zataku.table import TableError

SEEK_WITHIN = 12.0
"""Whoever asks for a room waits so many seconds for somebody to run it."""
SEEK_AGAIN = 1.0
STOP_WITHIN = 5.0
PAUSE = 0.4

_AWAY = "Nobody runs this room just now. Try again in a moment."
_log = structlog.get_logger(__name__)


class RoomHandle:
    """One room as this process deals with it.

    Either this process is its `owner`, or it is `following` another process that is, or it seeks one: whoever holds the
    lease, and if nobody does, itself.
    """

    def __init__(self, context: RoomContext, topic: str, behaviour: RoomBehaviour[Any]) -> None:
        self.topic = topic
        self.owner: LocalOwner | None = None
        self.following: RemoteOwner | None = None
        self.users = 0
        self._context = context
        self._behaviour = behaviour
        self.mirror = Mirror(
            topic,
            process=context.process,
            hub=context.hub,
            look=self.look,
            background=context.background,
            shared_snapshot=behaviour.shared_snapshot,
            asks=behaviour.restricted,
            attendance=behaviour.attendance,
        )
        self._epoch = 0
        self._used_at = context.clock.now()
        self._seeking: asyncio.Task[None] | None = None
        self._running: asyncio.Task[None] | None = None
        self._seek_again_at = 0.0
        self._stopped = False

    # What is asked here

    async def ask(self, asked: Command) -> Answer:
        """Have the owner carry a command out. Raises `RequestError`, or `RoomMoved` when it must be asked again."""
        owner = self.owner or await self._settled()
        self._used_at = self._context.clock.now()
        return await (owner.room.ask(asked) if isinstance(owner, LocalOwner) else owner.ask(asked))

    async def look(self, who: Identity, since: str | None, whole: bool) -> Sight:
        """What somebody sees of the room, from whoever owns it by now."""
        until = self._context.clock.now() + SEEK_WITHIN
        while True:
            owner = self.owner or await self._settled()
            self._used_at = self._context.clock.now()
            looking = owner.room if isinstance(owner, LocalOwner) else owner
            try:
                return await looking.look(who, since, whole=whole)
            except RoomMoved:
                if self._context.clock.now() >= until:
                    raise Unavailable(_AWAY) from None
                await self.left_behind()

    def passing(self, asked: Command) -> None:
        """Carry a passing command on, if the owner is known."""
        if self.owner is not None:
            self.owner.room.passing(asked)
        elif self.following is not None:
            self.following.passing(asked)

    async def left_behind(self) -> None:
        """Wait until a room that runs here no more has let go of everything."""
        if self._running is not None:
            await asyncio.wait([self._running])

    async def settling(self) -> None:
        """Wait until it is known who runs the room, if that is being found out."""
        if self._seeking is not None:
            await asyncio.wait([self._seeking])

    # What other processes say

    def answered(self, reply: CallReply) -> None:
        """The process that was asked replied."""
        following = self.following
        if following is not None:
            following.answered(reply)
            if reply.moved and reply.sender == following.owner:
                self._unfollow(suspect=reply.sender)

    def doubt(self) -> None:
        """Words and letters may have been lost."""
        if self.following is not None:
            self.following.end()
            self.following.tell_everybody()
            self.mirror.doubt()

    def _hear(self, message: bytes) -> None:
        word = decode_word(message)
        if self._stopped:
            return
        if self.owner is not None:
            if isinstance(word, Renewed) and word.epoch > self.owner.room.epoch:
                self.owner.room.lose()
            return
        if word.epoch < self._epoch:
            return
        self._epoch = word.epoch
        if isinstance(word, Left):
            if self.following is not None and self.following.owner == word.owner:
                self._unfollow(suspect=None if word.freely else word.owner)
        elif isinstance(word, Over):
            # Replies to what was asked last are still under way, so its owner is followed until it is silent.
            self.mirror.end(word.problem)
        elif isinstance(word, Renewed | Alive):
            self._follow(word.owner)
            self.mirror.begin(word)
        else:
            if self.following is not None:
                self.following.heard()
            self.mirror.hear(word)

    # Time

    def pulse(self, now: float) -> None:
        """A moment has passed."""
        if self.mirror.members:
            self._used_at = now
        if self.owner is not None:
            self.owner.pulse(now)
            if self.owner.idle and not self.mirror.members and not self.users:
                self.owner.room.stop()
        elif self.following is not None:
            self.following.pulse(now)
            if self.following.silent:
                _log.warning("The owner of a room is silent.", topic=self.topic, owner=self.following.owner)
                self._unfollow(suspect=self.following.owner)
        elif self.mirror.members and now >= self._seek_again_at:
            self._seek(None)

    @property
    def idle(self) -> bool:
        """True when this process has nothing to do with the room any more."""
        if self.owner is not None or self.mirror.members or self.users or self._seeking is not None:
            return False
        return self.following is None or self._context.clock.now() - self._used_at > LINGER

    def close(self) -> None:
        """Forget the room, which is not this process's."""
        self._stopped = True
        self._context.bus.leave(room_channel(self.topic))

    async def renew(self) -> None:
        """The table was replaced: let the room go as it is here, without storing anything, and load it anew."""
        await self.settling()
        if self.owner is not None:
            self.owner.room.lose()
            await self.left_behind()

    async def stop(self) -> None:
        """The process stops: store everything, and leave the room to others."""
        self._stopped = True
        if self._seeking is not None:
            self._seeking.cancel()
            await asyncio.wait([self._seeking])
        if self.owner is not None:
            self.owner.room.stop()
        running = self._running
        if running is not None:
            # A table that does not answer must not keep the process from ending, whatever its clock says.
            await asyncio.wait([running], timeout=STOP_WITHIN)
            running.cancel()
            await asyncio.wait([running])
        if self.following is not None:
            self.following.leave()
            self.following = None

    # Finding the owner

    async def _settled(self) -> LocalOwner | RemoteOwner:
        """Whoever owns the room. Raises `RequestError` when there is nobody."""
        while True:
            found = self.owner or self.following
            if found is not None:
                return found
            if self._stopped:
                raise Unavailable(_AWAY)
            # Somebody who goes away does not end the search of the others.
            seeking = self._seek(None)
            await asyncio.wait([seeking])
            if not seeking.cancelled():
                seeking.result()

    def _seek(self, suspect: str | None) -> asyncio.Task[None]:
        if self._seeking is None:
            self._seeking = asyncio.create_task(self._find(suspect))
            self._seeking.add_done_callback(self._sought)
        return self._seeking

    def _sought(self, task: asyncio.Task[None]) -> None:
        self._seeking = None
        problem = None if task.cancelled() else task.exception()
        self._seek_again_at = self._context.clock.now() + SEEK_AGAIN
        if isinstance(problem, RequestError):
            if not isinstance(problem, Unavailable):
                self.mirror.end(problem.problem)
        elif problem is not None:
            _log.error("Nobody could be found to run a room.", topic=self.topic, exc_info=problem)

    async def _find(self, suspect: str | None) -> None:
        """Take the room, or follow whoever holds its lease, unless that is the one who is suspected to be gone."""
        clock, known_until = self._context.clock, None
        until = clock.now() + SEEK_WITHIN
        if not self._context.alone:
            await self._context.bus.hear(room_channel(self.topic), self._hear)
        while self.following is None:
            try:
                found = await self._context.leases.take(self.topic)
                if isinstance(found, HeldLease):
                    await self._take(found)
                    return
            except TableError as problem:
                _log.warning("A room could not be taken yet.", topic=self.topic, code=problem.code)
            else:
                known_until = known_until or found.until
                # Whoever moved its lease on is there, though nothing was heard of it.
                if found.owner != suspect or found.until > known_until:
                    self._follow(found.owner)
                    return
            if clock.now() >= until:
                raise Unavailable(_AWAY)
            await clock.sleep(PAUSE * (0.75 + self._context.random.random() / 2))

    async def _take(self, holding: HeldLease) -> None:
        """Become the owner: from now on nobody who took the room before can write."""
        try:
            state = await self._behaviour.acquire(self.topic.partition("/")[2])
        except BaseException:
            await self._context.leases.release(holding)
            raise
        if state.epoch <= self._epoch:
            # Epochs only grow, unless the table was replaced by an older one.
            self.mirror.forget()
        self.owner = LocalOwner(self._context, self.topic, self._behaviour, state, holding, self.mirror)
        self._epoch = state.epoch
        if self.following is not None:
            self.following.end()
            self.following = None
        self._running = asyncio.create_task(self._run(self.owner))

    async def _run(self, owner: LocalOwner) -> None:
        try:
            if await owner.run() == "failed":
                # What fails again at once must not be taken again and again without a break.
                await self._context.clock.sleep(PAUSE)
        finally:
            self.owner = self._running = None
        if self.mirror.members and not self._stopped:
            self._seek(None)

    def _follow(self, owner: str) -> None:
        if self.following is not None and self.following.owner == owner:
            self.following.heard()
            return
        if self.following is not None:
            self.following.end()
        behaviour = self._behaviour
        shared = behaviour.shared_snapshot and not behaviour.restricted
        self.following = RemoteOwner(self._context, self.topic, owner, self.mirror, shared_snapshot=shared)
        self.mirror.doubt()

    def _unfollow(self, suspect: str | None) -> None:
        if self.following is not None:
            self.following.end()
            self.following = None
        if self.mirror.members or self.users:
            self._seek(suspect)
