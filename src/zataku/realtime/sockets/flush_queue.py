"""Messages of one tick in one write.

The first message to a quiet topic goes out at once. What follows within the tick is gathered and goes out at its end.
That is worth it only where several come together: after a tick that gathered one message, the next few do not wait.

Most sockets get the same joined bytes; only who is meant alone, or hears several busy topics, gets bytes of its own.
Everything has a place in one order, so each socket gets what is meant for it in the order in which it was told.
"""

import asyncio
import itertools
from collections.abc import Iterable

import structlog

from zataku.clock import Clock
from zataku.platform.limits import AccountId
from zataku.realtime.sockets.counters import SocketCounters
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.slow_readers import SlowReaders
from zataku.realtime.sockets.socket import Socket, Waiting
from zataku.realtime.sockets.subscribers import Subscribers

_SPARE = 32  # how many messages go out at once after one has waited in vain

_log = structlog.get_logger(__name__)


class FlushQueue:
    """What goes out of a process, and when."""

    def __init__(self, clock: Clock, limits: SocketLimits, counts: SocketCounters, slow_readers: SlowReaders) -> None:
        self._clock, self._limits, self._counts, self._slow_readers = clock, limits, counts, slow_readers
        self._order = itertools.count()
        self._busy: list[Subscribers] = []
        self._alone: dict[Socket, None] = {}
        self._task: asyncio.Task[None] | None = None

    def send(self, socket: Socket, framed: bytes) -> None:
        """Tell one socket."""
        if _waits(socket):
            self._add(socket, framed, None)
        else:
            self._write(socket, [(0, framed, None)])

    def tell(self, subscribers: Subscribers, framed: bytes) -> None:
        """Tell everybody who hears a topic."""
        if self._must_wait(subscribers):
            subscribers.gathered.append((next(self._order), framed))
            return
        self._write_same(subscribers, framed, 1, self._free(subscribers.members, framed, subscribers))

    def tell_some(self, subscribers: Subscribers, framed: bytes, only: frozenset[AccountId]) -> None:
        """Tell those of a topic's subscribers who are named."""
        named = [member for member in subscribers.members if member.identity.account_id in only]
        if self._must_wait(subscribers):
            for member in named:
                self._add(member, framed, subscribers)
            return
        self._write_same(subscribers, framed, 1, self._free(named, framed, subscribers))

    def come(self, socket: Socket, subscribers: Subscribers) -> None:
        """Somebody hears a topic from here on: what was gathered before is not for them."""
        subscribers.members[socket] = None
        if subscribers.gathered:
            subscribers.late[socket] = len(subscribers.gathered)
            self._waiting(socket)

    def go(self, socket: Socket, subscribers: Subscribers) -> None:
        """Somebody hears a topic no more, but gets what was told before."""
        gathered = subscribers.gathered_for(socket)
        if gathered:
            self._waiting(socket).extend((order, framed, subscribers) for order, framed in gathered)
        subscribers.members.pop(socket, None)
        subscribers.late.pop(socket, None)

    def forget(self, socket: Socket) -> None:
        """Nothing is written to a socket any more."""
        self._alone.pop(socket, None)
        socket.waiting = None

    def end(self) -> None:
        """Write everything that was gathered, and begin the next tick."""
        told = self._next_tick()
        alone, self._alone = self._alone, {}
        for socket in alone:
            self._write(socket, _all_waiting(socket))
        for subscribers in told:
            self._end(subscribers, alone)
        for subscribers in told:
            subscribers.gathered = []
            subscribers.late.clear()
            subscribers.told = 0
        for socket in alone:
            socket.waiting = None
            socket.settle()

    async def stop(self) -> None:
        """Write what is left, and end."""
        self.end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _end(self, subscribers: Subscribers, served: dict[Socket, None]) -> None:
        same: list[Socket] = []
        mixed: list[tuple[Socket, list[Waiting]]] = []
        for member in subscribers.members:
            if member.plain:
                same.append(member)
            elif member not in served:
                served[member] = None
                waiting = _all_waiting(member)
                if len(waiting) == len(subscribers.gathered):
                    same.append(member)
                else:
                    mixed.append((member, waiting))
        framed = b"".join([framed for _, framed in subscribers.gathered])
        self._write_same(subscribers, framed, len(subscribers.gathered), same)
        for member, waiting in mixed:
            self._write(member, waiting)

    def _write_same(self, subscribers: Subscribers, framed: bytes, messages: int, sockets: Iterable[Socket]) -> None:
        """The one hot loop: the same bytes to many."""
        # Whoever has taken everything is not slow, however much comes at once.
        room = max(self._limits.backlog - len(framed), 0)
        slow: list[Socket] = []
        written = 0
        for socket in sockets:
            wire = socket.wire
            if wire.pending() > room:
                slow.append(socket)
            else:
                wire.write(framed)
                written += 1
        self._counts.messages_out += messages * written
        self._counts.bytes_out += len(framed) * written
        for socket in slow:
            self._counts.dropped += messages
            self._slow_readers.mute(socket, subscribers)

    def _write(self, socket: Socket, waiting: list[Waiting]) -> None:
        """Everything that waits for one socket. If it is too much, what was told to topics is left out."""
        pending = socket.wire.pending()
        size = sum([len(framed) for _, framed, _ in waiting])
        if pending and pending + size > self._limits.backlog:
            for _, _, subscribers in waiting:
                if subscribers is not None:
                    self._counts.dropped += 1
                    self._slow_readers.mute(socket, subscribers)
            waiting = [it for it in waiting if it[2] is None]
            # Answers are not left out. Who asks on and on and reads nothing is let go.
            if pending > 2 * self._limits.backlog:
                self._slow_readers.let_go(socket)
                return
        if waiting:
            framed = b"".join([framed for _, framed, _ in waiting])
            socket.wire.write(framed)
            self._counts.messages_out += len(waiting)
            self._counts.bytes_out += len(framed)

    def _free(self, sockets: Iterable[Socket], framed: bytes, subscribers: Subscribers) -> list[Socket]:
        """Those who can be told at once. For the others something else must go out first, so that this waits, too."""
        free: list[Socket] = []
        for socket in sockets:
            if socket.plain or not _waits(socket):
                free.append(socket)
            else:
                self._add(socket, framed, subscribers)
        return free

    def _add(self, socket: Socket, framed: bytes, subscribers: Subscribers | None) -> None:
        self._waiting(socket).append((next(self._order), framed, subscribers))

    def _waiting(self, socket: Socket) -> list[Waiting]:
        if socket.waiting is None:
            socket.waiting, socket.plain = [], False
            self._alone[socket] = None
        return socket.waiting

    def _must_wait(self, subscribers: Subscribers) -> bool:
        """True when a message waits for the tick's end; else it goes out now, and a tick begins."""
        now = self._clock.now()
        if subscribers.busy:
            if subscribers.told or not subscribers.spare or now - subscribers.written < self._limits.tick / 8:
                subscribers.told += 1
                return True
            subscribers.spare -= 1
        else:
            subscribers.busy = True
            self._busy.append(subscribers)
            if self._task is None:
                self._task = asyncio.get_running_loop().create_task(self._run())
        subscribers.written = now
        return False

    def _next_tick(self) -> list[Subscribers]:
        """The topics that something waits for. They stay busy; the others are quiet again."""
        now = self._clock.now()
        told = [subscribers for subscribers in self._busy if subscribers.told]
        for subscribers in self._busy:
            subscribers.busy = subscribers.told > 0
        for subscribers in told:
            # One message alone waited in vain: people wait for each other here, and the next ones need not wait.
            subscribers.spare = _SPARE if subscribers.told == 1 else 0
            subscribers.written = now
        self._busy = told
        return told

    async def _run(self) -> None:
        try:
            while self._busy or self._alone:
                await self._clock.sleep(self._limits.tick)
                try:
                    self.end()
                except Exception:  # noqa: BLE001 - what follows must still go out
                    _log.exception("A tick could not be written.")
        finally:
            self._task = None


def _waits(socket: Socket) -> bool:
    return socket.waiting is not None or any(it.gathered_for(socket) for it in socket.hearing.values())


def _all_waiting(socket: Socket) -> list[Waiting]:
    """What waits for a socket, in order."""
    waiting = [it for it in socket.waiting or () if it[2] is None or socket not in it[2].muted]
    for subscribers in socket.hearing.values():
        waiting += [(order, framed, subscribers) for order, framed in subscribers.gathered_for(socket)]
    waiting.sort(key=lambda it: it[0])
    return waiting
