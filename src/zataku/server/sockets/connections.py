"""Who is connected now: for whoever looks after the server, and so that a socket ends with the session it came with."""

from collections.abc import Awaitable, Callable, Iterable
from random import Random

import msgspec
import structlog

from zataku.clock import Clock
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.bus.client import BusClient
from zataku.realtime.sockets.connection import Connection
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket
from zataku.table import TableError

log = structlog.stdlib.get_logger()

_CHANNEL = "server/ended"
_SIGNED_OUT = 4001
LOOKS_EVERY = 180.0
"""Seconds between two looks at who is still who they came as."""


class Seat(msgspec.Struct, frozen=True):
    """Somebody's socket, since when it is open, and what it hears."""

    identity: Identity
    address: str
    since: float
    topics: tuple[str, ...]


class Ended(msgspec.Struct, frozen=True):
    """A session or key has ended, or with None all sessions of an account."""

    account_id: AccountId
    what: str | None = None


class ConnectionHub(Hub):
    """The hub, which also knows since when everybody is here."""

    def __init__(self, clock: Clock, random: Random, limits: SocketLimits) -> None:
        super().__init__(clock, random, limits)
        self._since: dict[Socket, float] = {}

    def open(self, wire: Connection, identity: Identity, address: str) -> Socket:
        """Somebody has connected."""
        socket = super().open(wire, identity, address)
        self._since[socket] = self.clock.now()
        return socket

    def closed(self, socket: Socket) -> None:
        """A connection has ended."""
        self._since.pop(socket, None)
        super().closed(socket)

    def seated(self) -> Iterable[Seat]:
        """Everybody who is connected to this process."""
        return [
            Seat(socket.identity, socket.address, since, tuple(socket.topics)) for socket, since in self._since.items()
        ]

    def dismiss(self, ended: Ended) -> None:
        """Close the sockets that came with what has ended. Their browsers come back as whoever they are now."""
        for socket in list(self._since):
            who = socket.identity
            if who.account_id == ended.account_id and ended.what in (None, who.session_hash, who.key_hash):
                self.close(socket, _SIGNED_OUT, "You have signed out.")

    def dismiss_all_of(self, identity: Identity) -> None:
        """Close the sockets of somebody who is not any more who they came as."""
        for socket in list(self._since):
            if socket.identity == identity:
                self.close(socket, _SIGNED_OUT, "You have signed out.")


async def close_expired_connections(hub: ConnectionHub, holds: Callable[[Identity], Awaitable[bool]]) -> None:
    """Every few minutes, for ever, close the sockets of those whose session, key or account has ended meanwhile.

    Nobody tells when one expires, and what another process tells may be lost.
    """
    while True:
        await hub.clock.sleep(LOOKS_EVERY)
        try:
            for identity in {seat.identity for seat in hub.seated()}:
                if not await holds(identity):
                    hub.dismiss_all_of(identity)
        except TableError as problem:
            log.warning("seats_not_looked_after", code=problem.code, problem=problem.message)


class SignOutBroadcast:
    """Tells every process of the server when somebody has signed out."""

    def __init__(self, hub: ConnectionHub, bus: BusClient) -> None:
        self._hub = hub
        self._bus = bus

    async def start(self) -> None:
        """Begin to hear what ends in other processes."""
        await self._bus.hear(_CHANNEL, self._heard)

    def tell(self, account_id: AccountId, what: str | None) -> None:
        """A session or key has ended here."""
        self._bus.send(_CHANNEL, msgspec.json.encode(Ended(account_id, what)))

    def _heard(self, message: bytes) -> None:
        self._hub.dismiss(msgspec.json.decode(message, type=Ended))
