"""Open socket connections: for the admin page, and so that a socket closes with the session it authenticated with."""

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
_CLOSE_CODE = 4001
_CLOSE_REASON = "You have signed out."
CHECK_INTERVAL = 180.0
"""Seconds between two checks of the sessions and keys behind open connections."""


class OpenConnection(msgspec.Struct, frozen=True):
    """An open socket: its identity, address, the time at which it was opened, and the topics it has joined."""

    identity: Identity
    address: str
    since: float
    topics: tuple[str, ...]


class SignOut(msgspec.Struct, frozen=True):
    """A session or key that has ended, by its hash; with None, all sessions of an account."""

    account_id: AccountId
    credential: str | None = msgspec.field(default=None, name="what")


class ConnectionHub(Hub):
    """A hub that records when each socket was opened, and closes sockets by identity."""

    def __init__(self, clock: Clock, random: Random, limits: SocketLimits) -> None:
        super().__init__(clock, random, limits)
        self._opened_at: dict[Socket, float] = {}

    def open(self, connection: Connection, identity: Identity, address: str) -> Socket:
        """Add the socket of a new connection."""
        socket = super().open(connection, identity, address)
        self._opened_at[socket] = self.clock.now()
        return socket

    def forget(self, socket: Socket) -> None:
        """Remove the socket of a connection that has ended."""
        self._opened_at.pop(socket, None)
        super().forget(socket)

    def open_connections(self) -> Iterable[OpenConnection]:
        """Every connection to this process."""
        return [
            OpenConnection(socket.identity, socket.address, since, tuple(socket.topics))
            for socket, since in self._opened_at.items()
        ]

    def close_signed_out(self, sign_out: SignOut) -> None:
        """Close the sockets of an ended session or key. Browsers reconnect with their current cookies."""
        for socket in list(self._opened_at):
            identity = socket.identity
            credentials = (None, identity.session_hash, identity.key_hash)
            if identity.account_id == sign_out.account_id and sign_out.credential in credentials:
                self.close(socket, _CLOSE_CODE, _CLOSE_REASON)

    def close_identity(self, identity: Identity) -> None:
        """Close every socket of an identity."""
        for socket in list(self._opened_at):
            if socket.identity == identity:
                self.close(socket, _CLOSE_CODE, _CLOSE_REASON)


async def close_expired_connections(hub: ConnectionHub, is_valid: Callable[[Identity], Awaitable[bool]]) -> None:
    """Close, every few minutes without end, the sockets whose session, key or account has ended.

    Expiry is not published, and what another process publishes may be lost.
    """
    while True:
        await hub.clock.sleep(CHECK_INTERVAL)
        try:
            for identity in {connection.identity for connection in hub.open_connections()}:
                if not await is_valid(identity):
                    hub.close_identity(identity)
        except TableError as problem:
            log.warning("connection_check_failed", code=problem.code, problem=problem.message)


class SignOutBroadcast:
    """Publishes every sign-out to all processes, each of which closes the sockets concerned."""

    def __init__(self, hub: ConnectionHub, bus: BusClient) -> None:
        self._hub = hub
        self._bus = bus

    async def start(self) -> None:
        """Subscribe to the sign-outs of all processes."""
        await self._bus.subscribe(_CHANNEL, self._receive)

    def publish(self, account_id: AccountId, credential: str | None) -> None:
        """Publish that a session or key has ended; with None, all sessions of the account."""
        self._bus.publish(_CHANNEL, msgspec.json.encode(SignOut(account_id, credential)))

    def _receive(self, message: bytes) -> None:
        self._hub.close_signed_out(msgspec.json.decode(message, type=SignOut))
