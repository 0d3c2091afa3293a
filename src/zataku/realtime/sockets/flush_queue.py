"""The flush queue: messages of one tick go out in one write.

The first message to a quiet topic is written at once, unless it may wait. What follows within the tick is queued and
flushed at its end. That pays only where several messages come together: after a tick that queued a single one, the next
few do not wait.

Sockets with the same busy topics get the same joined bytes; only a socket with messages of its own gets bytes of its
own. Everything has a sequence number, so that each socket gets its messages in the order of their sending.

A large room is written over several turns of the event loop (`Deliveries`). Until that has ended, what follows is
queued, and no flush begins.
"""

import asyncio
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec
import structlog

from zataku.clock import Clock
from zataku.platform.limits import AccountId
from zataku.realtime.messages import ServerMessage
from zataku.realtime.sockets.connection import binary_frame, text_frame
from zataku.realtime.sockets.deliveries import Deliveries
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.slow_readers import SlowReaders
from zataku.realtime.sockets.socket import QueuedFrame, Socket, SocketCounters
from zataku.realtime.sockets.subscribers import Subscribers

IMMEDIATE_CREDIT = 32
"""How many messages are written at once after one has waited alone for a flush."""
MIN_GAP_FRACTION = 8
"""Two messages within this fraction of a tick are queued in spite of the credit."""

_encode = msgspec.json.Encoder().encode
log = structlog.get_logger(__name__)


class FlushQueue:
    """The outgoing frames of a process."""

    def __init__(
        self,
        clock: Clock,
        limits: SocketLimits,
        counters: SocketCounters,
        slow_readers: SlowReaders,
        topics: Mapping[str, Subscribers],
    ) -> None:
        self._clock, self._limits, self._counters, self._slow_readers = clock, limits, counters, slow_readers
        self._topics = topics
        self._sequence = itertools.count()
        self._busy: list[Subscribers] = []
        self._queued_sockets: dict[Socket, None] = {}
        self._deliveries = Deliveries(limits.sockets_per_turn)
        self._tick_seconds = limits.min_flush_seconds
        self._task: asyncio.Task[None] | None = None

    def send(self, socket: Socket, message: ServerMessage) -> None:
        """Send a message to one socket."""
        if not socket.is_closed:
            self._send(socket, text_frame(_encode(message)))

    def send_binary(self, socket: Socket, topic: str, payload: bytes) -> None:
        """Send bytes of a topic to one subscribed socket."""
        subscribers = socket.subscriptions.get(topic)
        if subscribers is not None and not socket.is_closed:
            self._send(socket, binary_frame(subscribers.channel, payload))

    def _send(self, socket: Socket, framed: bytes) -> None:
        if socket.undelivered or _has_queued(socket):
            self._enqueue(socket, framed, None)
        else:
            self._write(socket, [(0, framed, None)])

    def broadcast(self, topic: str, payload: bytes, recipients: frozenset[AccountId] | None = None) -> None:
        """Send an encoded message to all subscribers of a topic, or to those who are among the recipients."""
        subscribers = self._topics.get(topic)
        if subscribers is None:
            return
        if recipients is None:
            self._broadcast(subscribers, text_frame(payload))
        else:
            self._broadcast_to(subscribers, text_frame(payload), recipients)

    def broadcast_later(self, topic: str, payload: bytes) -> None:
        """Send an encoded message to all subscribers of a topic with the next flush, which other topics share."""
        subscribers = self._topics.get(topic)
        if subscribers is not None:
            self._begin_tick(subscribers)
            subscribers.queued_count += 1
            subscribers.queued.append((next(self._sequence), text_frame(payload)))

    def broadcast_binary(self, topic: str, payload: bytes) -> None:
        """Send bytes to all subscribers of a topic."""
        subscribers = self._topics.get(topic)
        if subscribers is not None:
            self._broadcast(subscribers, binary_frame(subscribers.channel, payload))

    def _broadcast(self, subscribers: Subscribers, framed: bytes) -> None:
        if self._must_wait(subscribers):
            subscribers.queued.append((next(self._sequence), framed))
            return
        self._deliver((subscribers,), framed, 1, self._ready(subscribers.members, framed, subscribers))

    def _broadcast_to(self, subscribers: Subscribers, framed: bytes, recipients: frozenset[AccountId]) -> None:
        members = [member for member in subscribers.members if member.identity.account_id in recipients]
        if self._must_wait(subscribers):
            for member in members:
                self._enqueue(member, framed, subscribers)
            return
        self._deliver((subscribers,), framed, 1, self._ready(members, framed, subscribers))

    def add_member(self, socket: Socket, subscribers: Subscribers) -> None:
        """Add a member to a topic; it does not get what was queued before."""
        subscribers.members[socket] = None
        if subscribers.queued:
            subscribers.joined_at[socket] = len(subscribers.queued)
            self._queue_of(socket)

    def remove_member(self, socket: Socket, subscribers: Subscribers) -> None:
        """Remove a member from a topic; it still gets what was queued before."""
        queued = subscribers.queued_for(socket)
        if queued:
            self._queue_of(socket).extend((number, framed, subscribers) for number, framed in queued)
        subscribers.members.pop(socket, None)
        subscribers.joined_at.pop(socket, None)

    def discard(self, socket: Socket) -> None:
        """Drop the queue of a socket that has ended."""
        self._queued_sockets.pop(socket, None)
        socket.queue = None

    def flush(self) -> None:
        """Write everything that is queued at once, and start the next tick."""
        self._deliveries.finish()
        self._start_flush()
        self._deliveries.finish()

    async def stop(self) -> None:
        """Flush, and stop the task."""
        self.flush()
        self._deliveries.stop()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _start_flush(self) -> None:
        flushed = self._next_tick()
        queued_sockets, self._queued_sockets = self._queued_sockets, {}
        own = {socket: _all_queued(socket) for socket in queued_sockets}
        same = _group_by_topics(flushed, own)
        individually = [socket for socket, queued in own.items() if queued]
        self._write_own(self._deliveries.admit(individually, lambda part: self._write_own(part, own)), own)
        for topics, sockets in same.items():
            frames = _queued_in(topics)
            self._deliver(topics, b"".join(frames), len(frames), sockets)
        for subscribers in flushed:
            subscribers.queued = []
            subscribers.joined_at.clear()
            subscribers.queued_count = 0
        for socket in queued_sockets:
            socket.queue = None
            socket.update_is_plain()

    def _write_own(self, sockets: Sequence[Socket], own: dict[Socket, list[QueuedFrame]]) -> None:
        for socket in sockets:
            self._write(socket, own[socket])

    def _deliver(self, topics: Sequence[Subscribers], framed: bytes, messages: int, sockets: Sequence[Socket]) -> None:
        def write(part: Sequence[Socket]) -> None:
            self._write_same(topics, framed, messages, part)

        first = self._deliveries.admit(sockets, write, topics)
        self._write_same(topics, framed, messages, first)

    def _write_same(
        self, topics: Sequence[Subscribers], framed: bytes, messages: int, sockets: Iterable[Socket]
    ) -> None:
        """The hot loop: the same bytes to many sockets."""
        # A reader that has read everything is not slow, however much comes at once.
        allowed = max(self._limits.max_backlog_bytes - len(framed), 0)
        max_writes = self._limits.max_backlog_writes
        slow: list[Socket] = []
        written = 0
        for socket in sockets:
            connection = socket.connection
            if connection.has_backlog:
                socket.unsent_writes += 1
                if connection.pending_bytes() > allowed or socket.unsent_writes > max_writes:
                    slow.append(socket)
                    continue
            else:
                socket.unsent_writes = 0
            # An attribute: called as a method, it would first be searched for in the classes, each time.
            write = connection.write
            write(framed)
            written += 1
        self._counters.messages_out += messages * written
        self._counters.bytes_out += len(framed) * written
        for socket in slow:
            self._counters.dropped += messages
            for subscribers in topics:
                self._slow_readers.mute(socket, subscribers)

    def _write(self, socket: Socket, queued: list[QueuedFrame]) -> None:
        """Write the frames of one socket. If they are too much for it, broadcasts are dropped."""
        pending = socket.connection.pending_bytes()
        size = sum([len(framed) for _, framed, _ in queued])
        limits = self._limits
        socket.unsent_writes = socket.unsent_writes + 1 if pending else 0
        if pending and (pending + size > limits.max_backlog_bytes or socket.unsent_writes > limits.max_backlog_writes):
            for _, _, subscribers in queued:
                if subscribers is not None:
                    self._counters.dropped += 1
                    self._slow_readers.mute(socket, subscribers)
            queued = [frame for frame in queued if frame[2] is None]
            # Replies are never dropped. Only those to messages that were running already are more than this.
            if pending > limits.max_reply_backlog_bytes:
                self._slow_readers.close_stuck(socket)
                return
        if queued:
            framed = b"".join([framed for _, framed, _ in queued])
            socket.connection.write(framed)
            self._counters.messages_out += len(queued)
            self._counters.bytes_out += len(framed)

    def _ready(self, sockets: Iterable[Socket], framed: bytes, subscribers: Subscribers) -> list[Socket]:
        """The sockets that can be written to at once. For the others the frame is queued behind their earlier ones."""
        ready: list[Socket] = []
        for socket in sockets:
            if socket.is_plain or not _has_queued(socket):
                ready.append(socket)
            else:
                self._enqueue(socket, framed, subscribers)
        return ready

    def _enqueue(self, socket: Socket, framed: bytes, subscribers: Subscribers | None) -> None:
        self._queue_of(socket).append((next(self._sequence), framed, subscribers))

    def _queue_of(self, socket: Socket) -> list[QueuedFrame]:
        if socket.queue is None:
            socket.queue, socket.is_plain = [], False
            self._queued_sockets[socket] = None
        return socket.queue

    def _must_wait(self, subscribers: Subscribers) -> bool:
        """True when a message waits for the flush; else it goes out now, and a tick begins."""
        now = self._clock.now()
        if subscribers.is_busy:
            gap = now - subscribers.written_at
            # The tick is as long as all busy topics need: a small room need not wait for a large one.
            is_own_tick_over = gap >= self._tick_seconds_for(len(subscribers.members))
            is_close = gap < self._tick_seconds / MIN_GAP_FRACTION
            may_go = is_own_tick_over or (subscribers.immediate_credit and not is_close)
            if subscribers.queued_count or subscribers.undelivered or not may_go:
                subscribers.queued_count += 1
                return True
            if not is_own_tick_over:
                subscribers.immediate_credit -= 1
        else:
            self._begin_tick(subscribers)
        subscribers.written_at = now
        return False

    def _begin_tick(self, subscribers: Subscribers) -> None:
        if not subscribers.is_busy:
            subscribers.is_busy = True
            self._busy.append(subscribers)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def _next_tick(self) -> list[Subscribers]:
        """The topics with queued messages. They stay busy; the others are quiet again."""
        now = self._clock.now()
        queued = [subscribers for subscribers in self._busy if subscribers.queued_count]
        for subscribers in self._busy:
            subscribers.is_busy = subscribers.queued_count > 0
        for subscribers in queued:
            # A single message waited for nothing: this is a conversation, and the next messages need not wait.
            subscribers.immediate_credit = IMMEDIATE_CREDIT if subscribers.queued_count == 1 else 0
            subscribers.written_at = now
        self._busy = queued
        return queued

    def _next_tick_seconds(self) -> float:
        """The length of a tick, in proportion to the writes that its flush may need."""
        return self._tick_seconds_for(sum([len(subscribers.members) for subscribers in self._busy]))

    def _tick_seconds_for(self, sockets: int) -> float:
        limits = self._limits
        seconds = max(limits.min_flush_seconds, sockets * limits.flush_seconds_per_socket)
        return min(seconds, limits.max_flush_seconds)

    async def _run(self) -> None:
        try:
            while self._busy or self._queued_sockets or self._deliveries:
                self._tick_seconds = self._next_tick_seconds()
                await self._clock.sleep(self._tick_seconds)
                await self._deliveries.wait_until_finished()
                try:
                    self._start_flush()
                except Exception:  # what follows must still go out
                    log.exception("socket_flush_failed")
        finally:
            self._task = None


def _has_queued(socket: Socket) -> bool:
    return socket.queue is not None or any(
        subscribers.queued_for(socket) for subscribers in socket.subscriptions.values()
    )


def _group_by_topics(
    flushed: Sequence[Subscribers], own: Collection[Socket]
) -> dict[tuple[Subscribers, ...], list[Socket]]:
    """The members without messages of their own, by their topics among those that are flushed."""
    groups: dict[tuple[Subscribers, ...], list[Socket]] = {}
    topics_of: dict[Socket, list[Subscribers]] = {}
    for subscribers in flushed:
        # What is queued for some members only is among their own messages.
        if not subscribers.queued:
            continue
        plain = groups[(subscribers,)] = []
        for member in subscribers.members:
            if member.is_plain:
                plain.append(member)
            elif member not in own:
                topics_of.setdefault(member, []).append(subscribers)
    for member, topics in topics_of.items():
        groups.setdefault(tuple(topics), []).append(member)
    return groups


def _queued_in(topics: Sequence[Subscribers]) -> list[bytes]:
    """The queued broadcasts of some topics, in order."""
    return [framed for _, framed in sorted(frame for subscribers in topics for frame in subscribers.queued)]


def _all_queued(socket: Socket) -> list[QueuedFrame]:
    """The queued frames of a socket, in order."""
    queued = [frame for frame in socket.queue or () if frame[2] is None or socket not in frame[2].muted]
    for subscribers in socket.subscriptions.values():
        queued += [(number, framed, subscribers) for number, framed in subscribers.queued_for(socket)]
    queued.sort(key=lambda frame: frame[0])
    return queued
