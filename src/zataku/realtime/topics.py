"""Topics: names that events are told under, without any state of their own."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec
from msgspec import Raw

from zataku.errors import Forbidden, NotFound
from zataku.platform.identity import Identity
from zataku.realtime.bus.client import BusClient
from zataku.realtime.messages import Join, Joined, Missed, Passing
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.socket import Socket

Allows: TypeAlias = Callable[[str, Identity], Awaitable[bool]]
"""Says whether somebody may hear the topic of that id."""

LONGEST_NAME = 160

_encode = msgspec.json.Encoder().encode


class Topics:
    """Every topic without a room, across all processes."""

    def __init__(self, *, bus: BusClient, hub: Hub) -> None:
        self._bus = bus
        self._hub = hub
        self._kinds: dict[str, Allows] = {}
        self._members: dict[str, set[Socket]] = {}
        bus.on_gap(self._missed)

    def declare(self, kind: str, allows: Allows) -> None:
        """Let people hear the topics `kind/ID`, and the one called `kind` alone, whose id is empty."""
        self._kinds[kind] = allows

    def tell(self, topic: str, event: bytes) -> None:
        """Tell everybody who hears the topic, in any process, something as JSON. It is not kept; it does not wait."""
        self._bus.send(_channel(topic), event)

    # For sockets

    def declared(self, topic: str) -> bool:
        """True when there can be a topic of this name."""
        return topic.partition("/")[0] in self._kinds and len(topic) <= LONGEST_NAME

    async def join(self, socket: Socket, join: Join) -> None:
        """Let a socket hear a topic, or raise `RequestError`."""
        topic = join.to
        kind, _, topic_id = topic.partition("/")
        if not self.declared(topic):
            raise NotFound("There is no topic of that name.")
        self._members.setdefault(topic, set()).add(socket)
        try:
            if not await self._kinds[kind](topic_id, socket.identity):
                raise Forbidden("You may not hear this.")
            await self._bus.hear(_channel(topic), lambda event: self._heard(topic, event))
        except BaseException:
            self.leave(socket, topic)
            raise
        # Whoever left or lost the connection meanwhile hears nothing.
        if socket in self._members.get(topic, ()):
            self._hub.send(socket, Joined(id=join.id, to=topic, channel=self._hub.subscribe(socket, topic)))

    def leave(self, socket: Socket, topic: str) -> None:
        """Let a socket hear it no more."""
        members = self._members.get(topic)
        if members is None or socket not in members:
            return
        members.remove(socket)
        self._hub.unsubscribe(socket, topic)
        if not members:
            del self._members[topic]
            self._bus.leave(_channel(topic))

    def gone(self, socket: Socket) -> None:
        """A socket is closed."""
        for topic in [topic for topic, members in self._members.items() if socket in members]:
            self.leave(socket, topic)

    def behind(self, socket: Socket, topic: str) -> None:
        """A socket was too slow, and some events were left out for it."""
        self._hub.send(socket, Missed(to=topic))

    def _heard(self, topic: str, event: bytes) -> None:
        self._hub.tell(topic, _encode(Passing(to=topic, events=[Raw(event)])))

    def _missed(self) -> None:
        for topic in self._members:
            self._hub.tell(topic, _encode(Missed(to=topic)))


def _channel(topic: str) -> str:
    return f"topic/{topic}"
