"""A browser's connection, with somebody behind it."""

from collections.abc import KeysView
from typing import TypeAlias

from zataku.platform.identity import Identity
from zataku.realtime.sockets.connection import Connection
from zataku.realtime.sockets.limits import SocketLimits, TokenBucket
from zataku.realtime.sockets.subscribers import Subscribers

Waiting: TypeAlias = tuple[int, bytes, Subscribers | None]
"""A framed message with its place in the order of all, and the topic it was told to, None when it was sent."""


class Socket:
    """One connection. It knows what it hears; the hub writes to it.

    `waiting` is None but for ticks in which something is meant for this socket alone. `plain` says that the socket
    hears one topic and nothing waits for it alone: it gets the same bytes as all others like it.
    """

    __slots__ = (
        "address",
        "closed",
        "commands",
        "hearing",
        "id",
        "identity",
        "passing",
        "plain",
        "silent",
        "waiting",
        "wire",
    )

    def __init__(
        self, number: int, wire: Connection, identity: Identity, address: str, limits: SocketLimits, now: float
    ) -> None:
        self.id = number
        self.wire = wire
        self.identity = identity
        self.address = address
        self.hearing: dict[str, Subscribers] = {}
        self.waiting: list[Waiting] | None = None
        self.plain = True
        self.silent = 0
        self.closed = False
        self.commands = TokenBucket(limits.commands, limits.commands_at_once, now)
        self.passing = TokenBucket(limits.passing, limits.passing_at_once, now)

    @property
    def topics(self) -> KeysView[str]:
        """What it hears."""
        return self.hearing.keys()

    def settle(self) -> None:
        """Find out anew whether it is like all others."""
        self.plain = self.waiting is None and len(self.hearing) <= 1
