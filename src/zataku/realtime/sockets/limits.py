"""How much one socket may ask for and hold, and how often."""

import msgspec


class SocketLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of sockets. Sizes are bytes, times are seconds, rates are messages a second."""

    text: int = 32 * 1024
    """The largest text message from a browser."""
    binary: int = 64 * 1024
    """The largest binary message from a browser, without its channel number."""
    commands: float = 20
    commands_at_once: float = 40
    passing: float = 200
    passing_at_once: float = 400
    topics: int = 20
    """How many topics one socket may hear."""
    running: int = 8
    """How many commands of one socket may be under way; the next ones wait in the network."""
    per_identity: int = 30
    per_address: int = 1000
    """How many sockets somebody, and an address, may have open. A school shares one address."""
    backlog: int = 1024 * 1024
    """What may wait for a slow reader before it is left behind."""
    stuck: float = 60
    """A reader that was left behind and takes nothing for so long is closed."""
    tick: float = 0.04
    """What is told to a busy topic within this time goes out in one write."""
    beat: float = 20
    """The time between two beats. A socket not heard from for two and a half beats is closed."""


class TokenBucket:
    """How much somebody may still ask for at once. It grows with time; whoever asks on regardless gets into debt."""

    __slots__ = ("_at", "_left", "_most", "_rate")

    def __init__(self, rate: float, most: float, now: float) -> None:
        self._rate, self._most = rate, most
        self._left, self._at = most, now

    def take(self, now: float, price: float = 1) -> float:
        """Spend some of it. Gives 0, or when there was too little the seconds until there will be enough."""
        gained = max(0.0, now - self._at) * self._rate
        self._at = now
        self._left = min(self._most, self._left + gained) - price
        return 0.0 if self._left >= 0 else -self._left / self._rate

    @property
    def overdrawn(self) -> bool:
        """True for somebody who went on asking although they were told to wait."""
        return self._left < -self._most
