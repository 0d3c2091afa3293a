"""The sockets of one process: who is connected, who hears what, and what goes out to them."""

import itertools
from collections import Counter
from collections.abc import Collection
from random import Random
from typing import TypeVar

import msgspec

from zataku.clock import Clock
from zataku.errors import RateLimited, Unavailable
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.messages import ComeBack, ToBrowser
from zataku.realtime.sockets import frames
from zataku.realtime.sockets.connection import Connection
from zataku.realtime.sockets.counters import SocketCounters
from zataku.realtime.sockets.flush_queue import FlushQueue
from zataku.realtime.sockets.heartbeat import Heartbeat
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.slow_readers import Behind, SlowReaders
from zataku.realtime.sockets.socket import Socket
from zataku.realtime.sockets.subscribers import Subscribers

CHANNELS = 1 << 16
_SERVICE_RESTART = 1012
_SPREAD = 1000  # milliseconds over which browsers return, so that they do not all come at once

K = TypeVar("K")

_encode = msgspec.json.Encoder().encode


class Hub:
    """Every socket of this process. Nothing here waits for a reader."""

    def __init__(self, clock: Clock, random: Random, limits: SocketLimits | None = None) -> None:
        self.limits = limits or SocketLimits()
        self.counts = SocketCounters()
        self.clock = clock
        self._random = random
        self._sockets: dict[Socket, None] = {}
        self._identities: Counter[AccountId] = Counter()
        self._addresses: Counter[str] = Counter()
        self._topics: dict[str, Subscribers] = {}
        self._channels: dict[int, Subscribers] = {}
        self._socket_numbers = itertools.count(1)
        self._channel_numbers = itertools.cycle(range(CHANNELS))
        self._slow_readers = SlowReaders(clock, self.limits, self.counts, back=self._back, close=self.close)
        self._flush_queue = FlushQueue(clock, self.limits, self.counts, self._slow_readers)
        self._beats = Heartbeat(clock, self.limits.beat, self._sockets, self._slow_readers, self.close)

    # Coming and going

    async def start(self, behind: Behind) -> None:
        """Begin to beat. `behind` brings slow readers up to date when they have drained."""
        self._slow_readers.brought_by(behind)
        self._beats.start()

    async def stop(self) -> None:
        """End; sockets that are still open are closed by whoever listens."""
        await self._beats.stop()
        await self._flush_queue.stop()
        await self._slow_readers.stop()

    def open(self, wire: Connection, identity: Identity, address: str) -> Socket:
        """Somebody has connected. Refused when they, or their address, have too many sockets open already."""
        if (
            self._identities[identity.account_id] >= self.limits.per_identity
            or self._addresses[address] >= self.limits.per_address
        ):
            self.counts.refused += 1
            raise RateLimited("Too many connections are open. Close some of your pages.", retry_after=self.limits.beat)
        socket = Socket(next(self._socket_numbers), wire, identity, address, self.limits, self.clock.now())
        self._sockets[socket] = None
        self._identities[identity.account_id] += 1
        self._addresses[address] += 1
        self.counts.opened += 1
        return socket

    def close(self, socket: Socket, code: int, reason: str) -> None:
        """End a connection. It still counts as open until `closed`."""
        if not socket.closed:
            socket.closed = True
            self._slow_readers.forget(socket)
            socket.wire.close(code, reason)

    def closed(self, socket: Socket) -> None:
        """A connection has ended: it hears nothing more and is forgotten."""
        socket.closed = True
        if socket not in self._sockets:
            return
        del self._sockets[socket]
        _one_less(self._identities, socket.identity.account_id)
        _one_less(self._addresses, socket.address)
        for topic in list(socket.topics):
            self.unsubscribe(socket, topic)
        self._flush_queue.forget(socket)
        self._slow_readers.forget(socket)

    def come_back(self, after: int) -> None:
        """The server stops: ask every browser to come back after so many milliseconds, and close its socket."""
        self._flush_queue.end()
        for socket in list(self._sockets):
            self.send(socket, ComeBack(after=after + self._random.randrange(_SPREAD)))
            self.close(socket, _SERVICE_RESTART, "The server stops. Come back soon.")

    @property
    def open_sockets(self) -> int:
        """How many sockets are open."""
        return len(self._sockets)

    # Hearing

    def subscribe(self, socket: Socket, topic: str) -> int:
        """Let a socket hear what is told from now on. Gives the number of the topic in binary messages."""
        subscribers = socket.hearing.get(topic)
        if subscribers is not None:
            return subscribers.channel
        if len(socket.hearing) >= self.limits.topics:
            raise RateLimited(f"You hear {self.limits.topics} topics already. Leave one first.", retry_after=1)
        if socket.closed:
            raise Unavailable("The connection has ended.")
        subscribers = self._topics.get(topic) or self._found(topic)
        socket.hearing[topic] = subscribers
        socket.settle()
        self._flush_queue.come(socket, subscribers)
        return subscribers.channel

    def unsubscribe(self, socket: Socket, topic: str) -> None:
        """It hears the topic no more, but for what was told before."""
        subscribers = socket.hearing.get(topic)
        if subscribers is None:
            return
        self._flush_queue.go(socket, subscribers)
        subscribers.muted.discard(socket)
        del socket.hearing[topic]
        socket.settle()
        if subscribers.empty:
            del self._topics[topic]
            del self._channels[subscribers.channel]

    def members(self, topic: str) -> Collection[Socket]:
        """Who hears the topic, also those who have fallen behind."""
        subscribers = self._topics.get(topic)
        return () if subscribers is None else (*subscribers.members, *subscribers.muted)

    def topic_of(self, socket: Socket, channel: int) -> str | None:
        """The topic that a socket means by a channel number; None when it does not hear it."""
        subscribers = self._channels.get(channel)
        return None if subscribers is None or subscribers.topic not in socket.hearing else subscribers.topic

    # Telling

    def send(self, socket: Socket, message: ToBrowser) -> None:
        """Tell one socket."""
        if not socket.closed:
            self._flush_queue.send(socket, frames.text(_encode(message)))

    def send_binary(self, socket: Socket, topic: str, payload: bytes) -> None:
        """Tell one socket, which hears the topic, some bytes of it."""
        subscribers = socket.hearing.get(topic)
        if subscribers is not None and not socket.closed:
            self._flush_queue.send(socket, frames.binary(subscribers.channel, payload))

    def tell(self, topic: str, payload: bytes, recipients: frozenset[AccountId] | None = None) -> None:
        """Tell everybody who hears the topic, or those of them who are named, a message that is encoded already."""
        subscribers = self._topics.get(topic)
        if subscribers is None:
            return
        if recipients is None:
            self._flush_queue.tell(subscribers, frames.text(payload))
        else:
            self._flush_queue.tell_some(subscribers, frames.text(payload), recipients)

    def tell_binary(self, topic: str, payload: bytes) -> None:
        """Tell everybody who hears the topic some bytes."""
        subscribers = self._topics.get(topic)
        if subscribers is not None:
            self._flush_queue.tell(subscribers, frames.binary(subscribers.channel, payload))

    def _found(self, topic: str) -> Subscribers:
        if len(self._channels) >= CHANNELS:
            raise Unavailable("Too many topics are open on this server. Try again in a moment.")
        channel = next(number for number in self._channel_numbers if number not in self._channels)
        subscribers = self._topics[topic] = self._channels[channel] = Subscribers(topic, channel)
        return subscribers

    def _back(self, socket: Socket, subscribers: Subscribers) -> None:
        subscribers.muted.discard(socket)
        self._flush_queue.come(socket, subscribers)


def _one_less(counted: Counter[K], key: K) -> None:
    counted[key] -= 1
    if not counted[key]:
        del counted[key]
