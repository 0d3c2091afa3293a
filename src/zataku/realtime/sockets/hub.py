"""The sockets of one process: open connections, subscriptions, and everything that is sent to them."""

import itertools
from collections import Counter
from random import Random

import msgspec

from zataku.clock import Clock
from zataku.errors import RateLimited, Unavailable
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.messages import Reconnect
from zataku.realtime.sockets.addresses import Addresses
from zataku.realtime.sockets.connection import Connection
from zataku.realtime.sockets.flush_queue import FlushQueue
from zataku.realtime.sockets.heartbeat import Heartbeat
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.slow_readers import CatchUp, SlowReaders
from zataku.realtime.sockets.socket import Socket, SocketCounters
from zataku.realtime.sockets.subscribers import Subscribers

MAX_CHANNELS = 1 << 16
RECONNECT_SPREAD_MS = 1000
"""Clients reconnect over this time, so that they do not all come at once."""
_SERVICE_RESTART = 1012

_encode = msgspec.json.Encoder().encode


class Hub:
    """Every socket of this process. Nothing here waits for a reader."""

    def __init__(self, clock: Clock, random: Random, limits: SocketLimits | None = None) -> None:
        self.limits = limits or SocketLimits()
        self.counters = SocketCounters()
        self.clock = clock
        self._random = random
        self._sockets: dict[Socket, None] = {}
        self._sockets_by_account: Counter[AccountId] = Counter()
        self._addresses = Addresses(self.limits)
        self._topics: dict[str, Subscribers] = {}
        self._channels: dict[int, Subscribers] = {}
        self._socket_numbers = itertools.count(1)
        self._channel_numbers = itertools.cycle(range(MAX_CHANNELS))
        self._slow_readers = SlowReaders(clock, self.limits, self.counters, restore=self._restore, close=self.close)
        self._flush_queue = FlushQueue(clock, self.limits, self.counters, self._slow_readers, self._topics)
        # Everything that is sent goes through the queue's own functions, without a call in between.
        self.send = self._flush_queue.send
        self.send_binary = self._flush_queue.send_binary
        self.broadcast = self._flush_queue.broadcast
        self.broadcast_later = self._flush_queue.broadcast_later
        self.broadcast_binary = self._flush_queue.broadcast_binary
        self._heartbeat = Heartbeat(clock, self.limits, self._sockets, self._slow_readers, self.close)

    # Connections

    async def start(self, catch_up: CatchUp) -> None:
        """Start the heartbeat. `catch_up` brings slow readers up to date when they have drained."""
        self._slow_readers.set_catch_up(catch_up)
        self._heartbeat.start()

    async def stop(self) -> None:
        """Stop all tasks; open sockets are closed by the server that accepted them."""
        await self._heartbeat.stop()
        await self._flush_queue.stop()
        await self._slow_readers.stop()

    def open(self, connection: Connection, identity: Identity, address: str) -> Socket:
        """A socket for a new connection. Raises `RateLimited` when its account or address has too many of them."""
        if (
            self._sockets_by_account[identity.account_id] >= self.limits.max_sockets_per_account
            or self._addresses.socket_count(address) >= self.limits.max_sockets_per_address
        ):
            self.counters.refused += 1
            retry_after = self.limits.ping_seconds
            raise RateLimited("Too many connections are open. Close some of your pages.", retry_after=retry_after)
        now = self.clock.now()
        usage = self._addresses.add_socket(address, now)
        socket = Socket(next(self._socket_numbers), connection, identity, usage, self.limits, now)
        self._sockets[socket] = None
        self._sockets_by_account[identity.account_id] += 1
        self.counters.opened += 1
        return socket

    def close(self, socket: Socket, code: int, reason: str) -> None:
        """Close a connection. It counts as open until `forget`."""
        if not socket.is_closed:
            socket.is_closed = True
            self._slow_readers.forget(socket)
            socket.connection.close(code, reason)

    def forget(self, socket: Socket) -> None:
        """Remove a socket whose connection has ended."""
        socket.is_closed = True
        if socket not in self._sockets:
            return
        del self._sockets[socket]
        account = socket.identity.account_id
        self._sockets_by_account[account] -= 1
        if not self._sockets_by_account[account]:
            del self._sockets_by_account[account]
        for topic in list(socket.topics):
            self.unsubscribe(socket, topic)
        self._addresses.remove_socket(socket.address_usage)
        self._flush_queue.discard(socket)
        self._slow_readers.forget(socket)

    def disconnect_all(self, reconnect_after_ms: int) -> None:
        """Close every socket and ask its client to reconnect after so many milliseconds: the server stops."""
        self._flush_queue.flush()
        for socket in list(self._sockets):
            self.send(socket, Reconnect(after=reconnect_after_ms + self._random.randrange(RECONNECT_SPREAD_MS)))
            self.close(socket, _SERVICE_RESTART, "The server is stopping. Connect again.")

    @property
    def socket_count(self) -> int:
        """How many sockets are open."""
        return len(self._sockets)

    # Subscriptions

    def check_subscription(self, socket: Socket, topic: str) -> None:
        """Raise `RequestError` when the socket could not subscribe to one more topic, before anything is kept of it."""
        if topic in socket.subscriptions:
            return
        if socket.is_closed:
            raise Unavailable("The connection has ended.")
        limits, of_address = self.limits, socket.address_usage.topics
        if len(socket.subscriptions) >= limits.max_topics:
            self.counters.refused += 1
            raise RateLimited(
                f"You are subscribed to {limits.max_topics} topics already. Leave one first.", retry_after=1
            )
        if topic not in of_address and len(of_address) >= limits.max_topics_per_address:
            self.counters.refused += 1
            raise RateLimited(
                "Too many different rooms are open from your network. Close some, or try again in a moment.",
                retry_after=limits.ping_seconds,
            )

    def subscribe(self, socket: Socket, topic: str) -> int:
        """Subscribe a socket to a topic from now on. Returns the topic's channel number in binary messages."""
        subscribers = socket.subscriptions.get(topic)
        if subscribers is not None:
            return subscribers.channel
        self.check_subscription(socket, topic)
        subscribers = self._topics.get(topic) or self._open_topic(topic)
        socket.subscriptions[topic] = subscribers
        socket.address_usage.add_topic(topic)
        socket.update_is_plain()
        self._flush_queue.add_member(socket, subscribers)
        return subscribers.channel

    def unsubscribe(self, socket: Socket, topic: str) -> None:
        """Unsubscribe a socket; it still gets what was broadcast before."""
        subscribers = socket.subscriptions.get(topic)
        if subscribers is None:
            return
        self._flush_queue.remove_member(socket, subscribers)
        subscribers.muted.discard(socket)
        del socket.subscriptions[topic]
        socket.address_usage.remove_topic(topic)
        socket.update_is_plain()
        if subscribers.is_empty:
            del self._topics[topic]
            del self._channels[subscribers.channel]

    def topic_of(self, socket: Socket, channel: int) -> str | None:
        """The topic of a channel number; None when the socket is not subscribed to it."""
        subscribers = self._channels.get(channel)
        return None if subscribers is None or subscribers.topic not in socket.subscriptions else subscribers.topic

    def _open_topic(self, topic: str) -> Subscribers:
        if len(self._channels) >= MAX_CHANNELS:
            raise Unavailable("Too many topics are open on this server. Try again in a moment.")
        channel = next(number for number in self._channel_numbers if number not in self._channels)
        subscribers = self._topics[topic] = self._channels[channel] = Subscribers(topic, channel)
        return subscribers

    def _restore(self, socket: Socket, subscribers: Subscribers) -> None:
        subscribers.muted.discard(socket)
        self._flush_queue.add_member(socket, subscribers)
