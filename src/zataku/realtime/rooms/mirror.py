"""A room as a process shows it to its own people, whoever runs it: here, or in another process.

It hears every word of the owner in order, hands it on to the sockets of this process, and remembers the last ones. A
snapshot is of one moment; what was told since that moment follows it out of memory, so that nothing is lost and
nothing comes twice. When words are missing or the room begins anew, nothing more is handed on until everybody has a
snapshot.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec
import structlog
from msgspec import Raw

from zataku.background_tasks import BackgroundTasks
from zataku.errors import Problem, RequestError, Unavailable
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.messages import Gone, Join, Joined, Place, Presence, Snapshot
from zataku.realtime.rooms.behaviour import Attendance
from zataku.realtime.rooms.bus_messages import Alive, Counted, Happened, PassedBy, Renewed, Sight
from zataku.realtime.rooms.delivery import tell, told_to
from zataku.realtime.rooms.history import History
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.socket import Socket

TRIES = 8
LOOKS_AT_ONCE = 16

LookUp: TypeAlias = Callable[[Identity, str | None, bool], Awaitable[Sight]]
"""Asks the owner, once there is one, what somebody sees since when; False: only whether they may."""

# For all rooms together: an id is of one join, also when a room was forgotten here and is joined again.
_join_numbers = itertools.count(1)

_encode = msgspec.json.Encoder().encode
_log = structlog.get_logger(__name__)


class Mirror:
    """What the people of this process see of a room.

    `members` are their sockets, each with the id of its join where somebody keeps attendance.
    """

    def __init__(
        self,
        topic: str,
        *,
        process: str,
        hub: Hub,
        look: LookUp,
        background: BackgroundTasks,
        shared_snapshot: bool,
        asks: bool,
        attendance: Attendance | None,
    ) -> None:
        self.topic = topic
        self.members: dict[Socket, str | None] = {}
        self.people: Counter[AccountId] = Counter()
        self._process = process
        self._attendance = attendance
        self._hub = hub
        self._look = look
        self._background = background
        self._shared_snapshot = shared_snapshot
        self._asks = asks
        self._history = History()
        self._counted = 0
        self._counted_at = (0, 0)
        self._whole = asyncio.Event()
        self._whole.set()
        self._beginnings = 0
        self._forgotten = 0

    @property
    def here(self) -> int:
        """How many people are in the room, as the owner counted them; at least those who are here."""
        return max(self._counted, len(self.people))

    # What the owner tells

    def hear(self, word: Happened | PassedBy | Counted) -> None:
        """Hand something on to everybody."""
        if self._history.knows(word.epoch, word.number):
            return
        if not self._history.follows(word):
            self._begin(word.epoch, word.seq, word.number)
            return
        self._history.add(word)
        if isinstance(word, Counted):
            self._count(word)
        if self.members and self._whole.is_set():
            self._hand_on(word)

    def begin(self, word: Renewed | Alive) -> None:
        """The room begins anew, or is further than was heard: everybody needs a snapshot."""
        before = self.here
        self._count(word)
        if not self._history.knows(word.epoch, word.number):
            self._begin(word.epoch, word.seq, word.number, renewed=isinstance(word, Renewed))
        elif self.here != before and self._whole.is_set():
            self._tell_presence()

    def end(self, problem: Problem) -> None:
        """The room is heard no more: everybody is told why, and let go."""
        # To each by themselves: who is behind in the room is told nothing of it, but must hear of its end.
        for socket in list(self.members):
            self._let_go(socket, problem)
        # Nobody goes on from where they were in a room that is not there any more.
        self.forget()

    def doubt(self) -> None:
        """Words may have been lost: everybody gets a snapshot, and so does whoever comes back to an empty room."""
        if not self.members:
            self._history.forget()
        self._renew()

    def forget(self) -> None:
        """Nothing that was heard of the room holds any more: everybody gets a snapshot when it is loaded anew."""
        self._forgotten += 1
        self._history.forget()
        self._counted_at = (0, 0)
        self._renew()

    # Who comes and goes

    async def join(self, socket: Socket, join: Join) -> None:
        """Let somebody hear the room, after what they know or with a snapshot."""
        if socket in self.members:
            # Whatever it has heard since it asked, it begins anew.
            self.leave(socket)
        elif join.at is not None and await self._resume(socket, join, join.at):
            return
        sight, words = await self._caught_up(socket.identity, join.since)
        assert sight.body is not None
        channel = self._hub.subscribe(socket, self.topic)
        self._enter(socket)
        place = Place(sight.epoch, sight.seq)
        self._hub.send(
            socket,
            Joined(id=join.id, to=self.topic, channel=channel, at=place, snapshot=Raw(sight.body), here=self.here),
        )
        self._send(socket, words)

    def leave(self, socket: Socket) -> None:
        """Somebody hears the room no more."""
        if socket in self.members:
            connection = self.members.pop(socket)
            account = socket.identity.account_id
            self.people[account] -= 1
            if not self.people[account]:
                del self.people[account]
            if self._attendance is not None and connection is not None:
                self._attendance.left(self._room_id, connection)
        self._hub.unsubscribe(socket, self.topic)

    async def bring(self, socket: Socket, since: str | None = None) -> None:
        """Bring somebody up to date who was too slow."""
        try:
            sight, words = await self._caught_up(socket.identity, since)
        except RequestError as refused:
            self._let_go(socket, refused.problem)
            return
        if socket in self.members:
            self._show(socket, sight, words)

    # Inside

    async def _resume(self, socket: Socket, join: Join, at: Place) -> bool:
        await self._whole.wait()
        if not self._history.resumes(at):
            return False
        if self._asks:
            await self._look(socket.identity, join.since, False)
            await self._whole.wait()
            if not self._history.resumes(at):
                return False
        channel = self._hub.subscribe(socket, self.topic)
        self._enter(socket)
        self._hub.send(socket, Joined(id=join.id, to=self.topic, channel=channel, at=at, here=self.here))
        self._send(socket, self._history.happened_after(at))
        return True

    async def _caught_up(self, who: Identity, since: str | None) -> tuple[Sight, list[Happened | PassedBy]]:
        """A snapshot and everything that was told after it. From here to their sending, nobody must wait."""
        for _ in range(TRIES):
            forgotten = self._forgotten
            sight = await self._look(who, since, True)
            await self._whole.wait()
            words = self._since(sight) if forgotten == self._forgotten else None
            if words is not None:
                return sight, words
        raise Unavailable("The room changes too fast to be shown just now. Try again in a moment.")

    def _since(self, sight: Sight) -> list[Happened | PassedBy] | None:
        self._count(sight)
        if not self._history.knows(sight.epoch, sight.number):
            # The owner is further than what was heard from it: words were lost, or this is the first that is heard.
            self._begin(sight.epoch, sight.seq, sight.number)
            if not self._whole.is_set():
                return None
        return self._history.after(Place(sight.epoch, sight.seq), sight.number)

    def _begin(self, epoch: int, seq: int, number: int, *, renewed: bool = False) -> None:
        self._history.begin(epoch, seq, number, renewed=renewed)
        self._renew()

    def _count(self, told: Counted | Renewed | Alive | Sight) -> None:
        if (told.epoch, told.number) >= self._counted_at:
            self._counted, self._counted_at = told.here, (told.epoch, told.number)

    def _renew(self) -> None:
        self._beginnings += 1
        if self.members and self._whole.is_set():
            self._whole.clear()
            self._background.start(self._make_whole())

    async def _make_whole(self) -> None:
        try:
            while self.members:
                beginning = self._beginnings
                sights = await self._sights()
                if beginning == self._beginnings and self._show_all(sights):
                    self._tell_presence()
                    return
        finally:
            self._whole.set()

    async def _sights(self) -> dict[AccountId, Sight | RequestError]:
        """What everybody sees now, each by themselves unless all see the same."""
        who = {socket.identity.account_id: socket.identity for socket in self.members}
        if self._shared_snapshot:
            sight = await self._sight(next(iter(who.values())))
            if isinstance(sight, Sight):
                return dict.fromkeys(who, sight)
        looks = asyncio.Semaphore(LOOKS_AT_ONCE)

        async def one(identity: Identity) -> Sight | RequestError:
            async with looks:
                return await self._sight(identity)

        return dict(zip(who, await asyncio.gather(*map(one, who.values())), strict=True))

    async def _sight(self, who: Identity) -> Sight | RequestError:
        try:
            return await self._look(who, None, True)
        except RequestError as refused:
            return refused
        except Exception:  # noqa: BLE001 - whoever cannot be shown the room is let go and can come again
            _log.exception("A room could not be shown.", topic=self.topic)
            return Unavailable("The room cannot be shown just now. Try again in a moment.")

    def _show_all(self, sights: dict[AccountId, Sight | RequestError]) -> bool:
        """Give everybody their snapshot, at one stroke; False when one is too old, or ahead of what was heard."""
        shown = [sight for sight in sights.values() if isinstance(sight, Sight)]
        newest = max(shown, key=lambda sight: (sight.epoch, sight.number), default=None)
        if newest is not None:
            self._count(newest)
            if not self._history.knows(newest.epoch, newest.number):
                self._history.begin(newest.epoch, newest.seq, newest.number)
        words: dict[AccountId, list[Happened | PassedBy]] = {}
        for account, sight in sights.items():
            if isinstance(sight, Sight):
                told = self._history.after(Place(sight.epoch, sight.seq), sight.number)
                if told is None:
                    return False
                words[account] = told
        if self._shared_snapshot and newest is not None and all(sight is newest for sight in sights.values()):
            self._hub.tell(self.topic, _encode(self._snapshot(newest)))
            for word in next(iter(words.values())):
                self._hand_on(word)
            return True
        for socket in list(self.members):
            account = socket.identity.account_id
            sight = sights.get(account)
            if isinstance(sight, RequestError):
                self._let_go(socket, sight.problem)
            elif sight is not None:
                self._show(socket, sight, words[account])
        return True

    def _show(self, socket: Socket, sight: Sight, words: list[Happened | PassedBy]) -> None:
        self._hub.send(socket, self._snapshot(sight))
        self._send(socket, words)

    def _snapshot(self, sight: Sight) -> Snapshot:
        assert sight.body is not None
        return Snapshot(to=self.topic, at=Place(sight.epoch, sight.seq), snapshot=Raw(sight.body))

    def _let_go(self, socket: Socket, problem: Problem) -> None:
        self._hub.send(socket, Gone(to=self.topic, error=problem))
        self.leave(socket)

    def _send(self, socket: Socket, words: list[Happened] | list[Happened | PassedBy]) -> None:
        for word in words:
            message = told_to(socket.identity.account_id, self.topic, word)
            if message is not None:
                self._hub.send(socket, message)
            if isinstance(word, PassedBy):
                for payload in word.binary:
                    self._hub.send_binary(socket, self.topic, payload)

    def _hand_on(self, word: Happened | PassedBy | Counted) -> None:
        if isinstance(word, Counted):
            self._tell_presence()
        else:
            tell(self._hub, self.topic, word)

    def _tell_presence(self) -> None:
        self._hub.tell(self.topic, _encode(Presence(to=self.topic, here=self.here)))

    def _enter(self, socket: Socket) -> None:
        if socket in self.members:
            return
        connection = None
        if self._attendance is not None:
            connection = f"{self._process}:{next(_join_numbers)}"
            self._attendance.joined(self._room_id, connection)
        self.members[socket] = connection
        self.people[socket.identity.account_id] += 1

    @property
    def _room_id(self) -> str:
        return self.topic.partition("/")[2]
