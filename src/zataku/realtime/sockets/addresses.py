"""What the clients of one address use together: their sockets, their topics, and the rates of their messages."""

from collections import Counter, OrderedDict

from zataku.realtime.sockets.limits import SocketLimits
from zataku.token_buckets import TokenBucket

MAX_IDLE_ADDRESSES = 10_000
"""Addresses without a socket whose rates are remembered: a client that reconnects does not start afresh."""


class AddressUsage:
    """The usage of one address: how many sockets it has, how many of them each topic, and the buckets of all."""

    __slots__ = ("address", "command_bucket", "excess_bucket", "join_bucket", "sockets", "topics", "transient_bucket")

    def __init__(self, address: str, limits: SocketLimits, now: float) -> None:
        self.address = address
        self.sockets = 0
        self.topics: Counter[str] = Counter()
        self.join_bucket = TokenBucket(limits.address_joins_per_second, limits.address_join_burst, now)
        self.command_bucket = TokenBucket(limits.address_commands_per_second, limits.address_command_burst, now)
        self.transient_bucket = TokenBucket(limits.address_transients_per_second, limits.address_transient_burst, now)
        self.excess_bucket = TokenBucket(limits.address_excess_per_second, limits.address_excess_burst, now)

    def add_topic(self, topic: str) -> None:
        """Count a subscription of one of its sockets."""
        self.topics[topic] += 1

    def remove_topic(self, topic: str) -> None:
        """Count a subscription less."""
        self.topics[topic] -= 1
        if not self.topics[topic]:
            del self.topics[topic]


class Addresses:
    """The usage of every address with open sockets, and of those that had some lately."""

    def __init__(self, limits: SocketLimits) -> None:
        self._limits = limits
        self._open: dict[str, AddressUsage] = {}
        self._idle: OrderedDict[str, AddressUsage] = OrderedDict()

    def socket_count(self, address: str) -> int:
        """How many sockets an address has open."""
        usage = self._open.get(address)
        return 0 if usage is None else usage.sockets

    def add_socket(self, address: str, now: float) -> AddressUsage:
        """Count a new socket; returns the usage that it shares."""
        usage = self._open.get(address) or self._idle.pop(address, None) or AddressUsage(address, self._limits, now)
        self._open[address] = usage
        usage.sockets += 1
        return usage

    def remove_socket(self, usage: AddressUsage) -> None:
        """Count a socket less."""
        usage.sockets -= 1
        if usage.sockets:
            return
        del self._open[usage.address]
        self._idle[usage.address] = usage
        if len(self._idle) > MAX_IDLE_ADDRESSES:
            self._idle.popitem(last=False)
