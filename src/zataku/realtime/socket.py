"""A browser's connection, with somebody behind it."""

from collections.abc import KeysView
from typing import TypeAlias

from zataku.platform.identity import Identity
from zataku.realtime.hearers import Hearers
from zataku.realtime.limits import Allowance, Limits
from zataku.realtime.wire import Wire

Waiting: TypeAlias = tuple[int, bytes, Hearers | None]
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

    def __init__(self, number: int, wire: Wire, identity: Identity, address: str, limits: Limits, now: float) -> None:
        self.id = number
        self.wire = wire
        self.identity = identity
        self.address = address
        self.hearing: dict[str, Hearers] = {}
        self.waiting: list[Waiting] | None = None
        self.plain = True
        self.silent = 0
        self.closed = False
        self.commands = Allowance(limits.commands, limits.commands_at_once, now)
        self.passing = Allowance(limits.passing, limits.passing_at_once, now)

    @property
    def topics(self) -> KeysView[str]:
        """What it hears."""
        return self.hearing.keys()

    def settle(self) -> None:
        """Find out anew whether it is like all others."""
        self.plain = self.waiting is None and len(self.hearing) <= 1
