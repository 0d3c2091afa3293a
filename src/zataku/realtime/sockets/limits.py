"""Limits of sockets, and the token bucket that enforces rates."""

import msgspec


class SocketLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of the sockets of a process."""

    max_text_bytes: int = 32 * 1024
    """The largest text message from a client."""
    max_binary_bytes: int = 64 * 1024
    """The largest binary message from a client, without its channel number."""
    commands_per_second: float = 20
    command_burst: float = 40
    transients_per_second: float = 200
    transient_burst: float = 400
    max_topics: int = 20
    """How many topics one socket may subscribe to."""
    max_running_commands: int = 8
    """How many commands of one socket may run at the same time; the next ones wait in the network."""
    max_sockets_per_account: int = 30
    max_sockets_per_address: int = 1000
    """A school shares one address."""
    max_backlog_bytes: int = 1024 * 1024
    """What may be buffered for a slow reader before it gets a snapshot instead."""
    stuck_seconds: float = 60
    """A slow reader that reads nothing for so long is closed."""
    flush_seconds: float = 0.04
    """Messages to a busy topic within this time go out in one write."""
    heartbeat_seconds: float = 20
    """The time between two heartbeats. A socket that is silent for two and a half of them is closed."""


class TokenBucket:
    """A token bucket that can be overdrawn, so that a caller who ignores the limit is recognised."""

    __slots__ = ("_at", "_burst", "_rate", "_tokens")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate, self._burst = rate, burst
        self._tokens, self._at = burst, now

    def take(self, now: float, tokens: float = 1) -> float:
        """Take tokens. Returns 0, or when there were too few the seconds until there are enough."""
        gained = max(0.0, now - self._at) * self._rate
        self._at = now
        self._tokens = min(self._burst, self._tokens + gained) - tokens
        return 0.0 if self._tokens >= 0 else -self._tokens / self._rate

    @property
    def is_overdrawn(self) -> bool:
        """True for a caller who continued although they had to wait."""
        return self._tokens < -self._burst
