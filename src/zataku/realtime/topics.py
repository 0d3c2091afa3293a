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

TopicAccess: TypeAlias = Callable[[str, Identity], Awaitable[bool]]
"""Returns whether an identity may subscribe to the topic of that id."""

MAX_TOPIC_LENGTH = 160

_encode = msgspec.json.Encoder().encode


class Topics:
    """Every topic without a room, across all processes."""

    def __init__(self, *, bus: BusClient, hub: Hub) -> None:
        self._bus = bus
        self._hub = hub
        self._access_by_kind: dict[str, TopicAccess] = {}
        self._members: dict[str, set[Socket]] = {}
        bus.on_gap(self._handle_gap)

    def declare(self, kind: str, access: TopicAccess) -> None:
        """Declare the topics `kind/ID`, and the one called `kind` alone, whose id is empty."""
        self._access_by_kind[kind] = access

    def publish(self, topic: str, event: bytes) -> None:
        """Send an event, as JSON, to all subscribers in all processes. It is not stored; this does not wait."""
        self._bus.publish(_channel(topic), event)

    # For sockets

    def is_declared(self, topic: str) -> bool:
        """True when the topic is a possible name of a topic."""
        return topic.partition("/")[0] in self._access_by_kind and len(topic) <= MAX_TOPIC_LENGTH

    async def join(self, socket: Socket, join: Join) -> None:
        """Subscribe a socket to a topic. Raises `RequestError`."""
        topic = join.to
        kind, _, topic_id = topic.partition("/")
        if not self.is_declared(topic):
            raise NotFound("There is no topic of that name.")
        self._members.setdefault(topic, set()).add(socket)
        try:
            if not await self._access_by_kind[kind](topic_id, socket.identity):
                raise Forbidden("You may not subscribe to this topic.")
            await self._bus.subscribe(_channel(topic), lambda event: self._receive(topic, event))
        except BaseException:
            self.leave(socket, topic)
            raise
        # A socket that has left or ended since is not subscribed.
        if socket in self._members.get(topic, ()):
            self._hub.send(socket, Joined(id=join.id, to=topic, channel=self._hub.subscribe(socket, topic)))

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


def _channel(topic: str) -> str:
    return f"topic/{topic}"
