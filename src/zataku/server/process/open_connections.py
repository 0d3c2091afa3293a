"""The open connections of the process: how many one address may have, and which one ends when there are too many."""

from collections import Counter
from collections.abc import Callable
from typing import Protocol

import msgspec

from zataku.accounts.rate_limits import client_network

MAX_IDLE_PER_ADDRESS = 1000
"""Connections of one address without a request: a hall opens six for each phone, whose requests follow at once."""


class ConnectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How many connections may be open. Those without a request are idle."""

    total: int
    per_address: int
    idle: int
    idle_per_address: int

    @classmethod
    def within(cls, file_limit: int, per_address: int) -> "ConnectionLimits":
        """The limits for so many open files. A quarter is left to other files and to bursts of new connections.

        One address gets three quarters of the rest at most, so that others can always connect.
        """
        total = max(4, file_limit * 3 // 4)
        allowed = min(per_address, total * 3 // 4)
        return cls(
            total=total,
            per_address=allowed,
            idle=total // 2,
            idle_per_address=max(1, min(MAX_IDLE_PER_ADDRESS, allowed // 2)),
        )

    @staticmethod
    def needed_files(per_address: int) -> int:
        """The fewest open files with which one address may have so many connections."""
        return -(-per_address * 16 // 9)


class ClosableConnection(Protocol):
    """A connection, such as a transport of asyncio."""

    def close(self) -> None:
        """Close it; it counts as open until it has ended."""
        ...


class OpenConnections:
    """Every connection of this process with its address, and the idle ones in the order in which they became so.

    Connections of exempt addresses count in the total only: behind a proxy all come from its address.
    """

    def __init__(self, limits: ConnectionLimits, is_exempt: Callable[[str], bool]) -> None:
        self._limits = limits
        self._is_exempt = is_exempt
        self._networks: dict[ClosableConnection, str | None] = {}
        self._by_network: Counter[str] = Counter()
        self._idle: dict[ClosableConnection, None] = {}
        self._idle_by_network: dict[str, dict[ClosableConnection, None]] = {}

    def __len__(self) -> int:
        return len(self._networks)

    def open(self, connection: ClosableConnection, address: str | None) -> bool:
        """Count a new connection, which is idle. False when there are too many and none of them is idle."""
        network = None if address is None or self._is_exempt(address) else client_network(address)
        is_allowed = len(self) < self._limits.total or self.close_idle()
        if is_allowed and network is not None and self._by_network[network] >= self._limits.per_address:
            is_allowed = self._close_idle_of(network)
        self._networks[connection] = network
        if network is not None:
            self._by_network[network] += 1
        if is_allowed:
            self.set_idle(connection)
        return is_allowed

    def is_exempt(self, connection: ClosableConnection) -> bool:
        """True for a connection of an exempt address, which many clients may share."""
        return self._networks.get(connection) is None

    def set_idle(self, connection: ClosableConnection) -> None:
        """A connection has no request; when too many are idle, the oldest is closed."""
        if connection in self._idle or connection not in self._networks:
            return
        self._idle[connection] = None
        network = self._networks[connection]
        if network is not None:
            idle = self._idle_by_network.setdefault(network, {})
            idle[connection] = None
            if len(idle) > self._limits.idle_per_address:
                self._close_idle_of(network)
        if len(self._idle) > self._limits.idle:
            self.close_idle()

    def set_busy(self, connection: ClosableConnection) -> None:
        """The headers of a request have arrived on a connection."""
        if connection not in self._idle:
            return
        del self._idle[connection]
        network = self._networks[connection]
        if network is not None:
            idle = self._idle_by_network[network]
            del idle[connection]
            if not idle:
                del self._idle_by_network[network]

    def forget(self, connection: ClosableConnection) -> None:
        """A connection has ended."""
        self.set_busy(connection)
        network = self._networks.pop(connection, None)
        if network is not None:
            self._by_network[network] -= 1
            if not self._by_network[network]:
                del self._by_network[network]

    def close_idle(self, count: int = 1) -> bool:
        """Close the connections that are idle for the longest time. False when none is."""
        oldest = [connection for connection, _ in zip(self._idle, range(count), strict=False)]
        for connection in oldest:
            self._close(connection)
        return bool(oldest)

    def _close_idle_of(self, network: str) -> bool:
        oldest = next(iter(self._idle_by_network.get(network, ())), None)
        if oldest is not None:
            self._close(oldest)
        return oldest is not None

    def _close(self, connection: ClosableConnection) -> None:
        self.set_busy(connection)
        connection.close()
