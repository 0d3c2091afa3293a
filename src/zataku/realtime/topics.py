"""Topics: names that events are published under, without any state of their own."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec
from msgspec import Raw

from zataku.errors import Forbidden, NotFound
from zataku.platform.identity import Identity
from zataku.realtime.bus.client import BusClient
from zataku.realtime.messages import EventsMissed, Join, Joined, TransientBroadcast
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.socket import Socket

TopicExists: TypeAlias = Callable[[str], Awaitable[bool]]
"""Returns whether there is a topic of that id; the empty id is that of the topic called `kind` alone."""
TopicAccess: TypeAlias = Callable[[str, Identity], Awaitable[bool]]
"""Returns whether an identity may subscribe to the topic of that id."""

MAX_TOPIC_LENGTH = 160

_encode = msgspec.json.Encoder().encode


async def only_without_id(topic_id: str) -> bool:
    """Whether a topic exists of a kind that has no ids."""
    return not topic_id


async def admit_everyone(_topic_id: str, _identity: Identity) -> bool:
    """Whether an identity may subscribe to a topic that is for all."""
    return True


class TopicKind(msgspec.Struct, frozen=True):
    """The topics `kind/ID` of one kind: which of them exist, and who may subscribe to each."""

    exists: TopicExists
    access: TopicAccess


class Topics:
    """Every topic without a room, across all processes.

    `_members` are the sockets that are subscribed, or admitted and waiting for the bus.
    """

    def __init__(self, *, bus: BusClient, hub: Hub) -> None:
        self._bus = bus
        self._hub = hub
        self._kinds: dict[str, TopicKind] = {}
        self._members: dict[str, set[Socket]] = {}
        bus.on_gap(self._handle_gap)

    def declare(self, kind: str, *, exists: TopicExists, access: TopicAccess = admit_everyone) -> None:
        """Declare the topics `kind/ID`, and the one called `kind` alone, whose id is empty.

        `exists` is asked for every join: an id that it accepts costs memory and a subscription on the bus.
        """
        self._kinds[kind] = TopicKind(exists, access)

    def publish(self, topic: str, event: bytes) -> None:
        """Send an event, as JSON, to all subscribers in all processes. It is not stored; this does not wait."""
        self._bus.publish(_channel(topic), event)

    # For sockets

    async def join(self, socket: Socket, join: Join) -> None:
        """Subscribe a socket to a topic. Raises `RequestError`; then nothing is kept of the attempt."""
        topic = join.to
        try:
            await self._admit(socket, topic)
            self._members.setdefault(topic, set()).add(socket)
            await self._bus.subscribe(_channel(topic), lambda event: self._receive(topic, event))
            # A socket that has left since is not subscribed, and the hub refuses one that has ended.
            if socket in self._members.get(topic, ()):
                self._hub.send(socket, Joined(id=join.id, to=topic, channel=self._hub.subscribe(socket, topic)))
        except BaseException:
            self.leave(socket, topic)
            raise

    async def _admit(self, socket: Socket, topic: str) -> None:
        """Raise `RequestError` unless the topic exists and the socket may subscribe to it."""
        name, slash, topic_id = topic.partition("/")
        kind = self._kinds.get(name)
        if kind is None or len(topic) > MAX_TOPIC_LENGTH or bool(slash) != bool(topic_id):
            raise _not_found()
        self._hub.check_subscription(socket, topic)
        if not await kind.exists(topic_id):
            raise _not_found()
        if not await kind.access(topic_id, socket.identity):
            raise Forbidden("You may not subscribe to this topic.")

    def leave(self, socket: Socket, topic: str) -> None:
        """Unsubscribe a socket."""
        members = self._members.get(topic)
        if members is None or socket not in members:
            return
        members.remove(socket)
        self._hub.unsubscribe(socket, topic)
        if not members:
            del self._members[topic]
            self._bus.unsubscribe(_channel(topic))

    def catch_up(self, socket: Socket, topic: str) -> None:
        """Send `EventsMissed` to a socket that was too slow."""
        self._hub.send(socket, EventsMissed(to=topic))

    def _receive(self, topic: str, event: bytes) -> None:
        self._hub.broadcast(topic, _encode(TransientBroadcast(to=topic, events=[Raw(event)])))

    def _handle_gap(self) -> None:
        for topic in self._members:
            self._hub.broadcast(topic, _encode(EventsMissed(to=topic)))


def _not_found() -> NotFound:
    """The error for every name without a topic."""
    return NotFound("There is no topic of that name.")


def _channel(topic: str) -> str:
    return f"topic/{topic}"
