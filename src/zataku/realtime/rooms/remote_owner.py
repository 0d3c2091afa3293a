"""A room that another process owns: what is asked for here is asked of that process."""

import asyncio

from msgspec import Raw

from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.actor import Answer
from zataku.realtime.rooms.behaviour import Command
from zataku.realtime.rooms.bus_messages import Ask, CallReply, Look, Passes, People, Sight, encode_command
from zataku.realtime.rooms.context import RoomContext
from zataku.realtime.rooms.mirror import Mirror
from zataku.realtime.rooms.moved import RoomMoved
from zataku.realtime.rooms.rpc import RpcClient

SILENCE = 3.0
"""An owner that was not heard of for so many seconds is given up."""
PEOPLE_EVERY = 2.0
PEOPLE_AT_MOST_EVERY = 1.0


class RemoteOwner:
    """The owner of a room in another process, as it is heard and written to from here."""

    def __init__(self, context: RoomContext, topic: str, owner: str, mirror: Mirror, *, shared_snapshot: bool) -> None:
        self.owner = owner
        self._shared_snapshot = shared_snapshot
        self._looking: dict[str | None, asyncio.Future[Sight]] = {}
        self._context = context
        self._topic = topic
        self._mirror = mirror
        self._mail = RpcClient(context)
        self._heard_at = context.clock.now()
        self._told: frozenset[AccountId] = frozenset()
        self._told_at = 0.0
        # With this the owner knows that somebody listens here, and tells everything from now on.
        self.tell_everybody()

    async def ask(self, asked: Command) -> Answer:
        """Have a command carried out. Raises `RequestError`, or `RoomMoved` when it must be asked again."""
        me, encoded = self._context.process, encode_command(asked)
        reply = await self._mail.ask(
            self.owner, lambda number: Ask(sender=me, topic=self._topic, id=number, command=encoded)
        )
        return None if reply.result is None else Raw(reply.result)

    async def look(self, who: Identity, since: str | None, *, whole: bool) -> Sight:
        """What somebody sees of the room. Raises `RequestError`, or `RoomMoved` when it must be asked again.

        Where everybody sees the same, a crowd that comes in at once shares what is fetched for the first of them.
        """
        if not self._shared_snapshot or not whole:
            return await self._look(who, since, whole=whole)
        looking = self._looking.get(since)
        if looking is None:
            looking = self._looking[since] = asyncio.ensure_future(self._look(who, since, whole=True))
            looking.add_done_callback(lambda done: self._looked(since, done))
        # Somebody who goes away meanwhile does not take it from the others.
        return await asyncio.shield(looking)

    def _looked(self, since: str | None, done: asyncio.Future[Sight]) -> None:
        del self._looking[since]
        if not done.cancelled():
            # Whoever still waits for it is told; when nobody does, it is nobody's problem.
            done.exception()

    async def _look(self, who: Identity, since: str | None, *, whole: bool) -> Sight:
        me = self._context.process
        reply = await self._mail.ask(
            self.owner,
            lambda number: Look(sender=me, topic=self._topic, id=number, who=who, since=since, whole=whole),
        )
        if reply.sight is None:
            raise RoomMoved
        return reply.sight

    def passing(self, asked: Command) -> None:
        """Carry a passing command on."""
        self._mail.write(
            self.owner, Passes(sender=self._context.process, topic=self._topic, command=encode_command(asked))
        )

    def answered(self, reply: CallReply) -> None:
        """The owner replied."""
        if reply.sender == self.owner:
            self.heard()
        self._mail.take(reply)

    def heard(self) -> None:
        """The owner gave a sign of life."""
        self._heard_at = self._context.clock.now()

    @property
    def silent(self) -> bool:
        """True when the owner was not heard of for too long."""
        return self._context.clock.now() - self._heard_at > SILENCE

    def pulse(self, now: float) -> None:
        """A moment has passed: give up waiting for what must have been lost, and say who is here."""
        self._mail.give_up(now)
        since = now - self._told_at
        if since >= PEOPLE_EVERY or (since >= PEOPLE_AT_MOST_EVERY and self._mirror.people.keys() != self._told):
            self._tell_people(everybody=False)

    def tell_everybody(self) -> None:
        """Tell the owner everybody who is here."""
        self._tell_people(everybody=True)

    def end(self) -> None:
        """It is not the owner any more, or letters were lost: whoever waits for a reply asks again."""
        self._mail.give_up()

    def leave(self) -> None:
        """Nobody is here any more."""
        self._mail.give_up()
        self._write_people((), (), 0, everybody=True)

    def _tell_people(self, *, everybody: bool) -> None:
        here = frozenset(self._mirror.people)
        before: frozenset[AccountId] = frozenset() if everybody else self._told
        self._told, self._told_at = here, self._context.clock.now()
        self._write_people(tuple(here - before), tuple(before - here), len(here), everybody=everybody)

    def _write_people(
        self, came: tuple[AccountId, ...], left: tuple[AccountId, ...], total: int, *, everybody: bool
    ) -> None:
        me = self._context.process
        people = People(sender=me, topic=self._topic, came=came, left=left, total=total, all=everybody)
        self._mail.write(self.owner, people)
