"""A client's WebSocket with its identity, subscriptions and rate limits, and the counters of a process's sockets."""

from collections.abc import KeysView
from typing import TypeAlias

from zataku.platform.identity import Identity
from zataku.realtime.sockets.addresses import AddressUsage
from zataku.realtime.sockets.connection import Connection
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.subscribers import Subscribers
from zataku.token_buckets import TokenBucket

QueuedFrame: TypeAlias = tuple[int, bytes, Subscribers | None]
"""A frame with its global sequence number, and the topic it was broadcast to, None when it was sent to one socket."""


class Socket:
    """One connection with its identity. The hub writes to it.

    `queue` is None except in ticks in which frames are queued for this socket alone. `is_plain` says that the socket
    has at most one subscription and no queue: it receives the same bytes as all others like it. `undelivered` counts
    the deliveries in progress that have not reached it, `unsent_writes` the writes since nothing was buffered.
    `excess_pause` is how long its last pause after a refusal was, 0 when a message was accepted since.
    """

    __slots__ = (
        "address_usage",
        "command_bucket",
        "connection",
        "excess_pause",
        "id",
        "identity",
        "is_closed",
        "is_plain",
        "queue",
        "silent_checks",
        "subscriptions",
        "transient_bucket",
        "undelivered",
        "unsent_writes",
    )

    def __init__(
        self,
        number: int,
        connection: Connection,
        identity: Identity,
        address_usage: AddressUsage,
        limits: SocketLimits,
        now: float,
    ) -> None:
        self.id = number
        self.connection = connection
        self.identity = identity
        self.address_usage = address_usage
        self.subscriptions: dict[str, Subscribers] = {}
        self.queue: list[QueuedFrame] | None = None
        self.is_plain = True
        self.undelivered = 0
        self.unsent_writes = 0
        self.silent_checks = 0
        self.excess_pause = 0.0
        self.is_closed = False
        self.command_bucket = TokenBucket(limits.commands_per_second, limits.command_burst, now)
        self.transient_bucket = TokenBucket(limits.transients_per_second, limits.transient_burst, now)

    @property
    def address(self) -> str:
        """The address of its client, or the network that counts as one."""
        return self.address_usage.address

    @property
    def topics(self) -> KeysView[str]:
        """The topics that it is subscribed to."""
        return self.subscriptions.keys()

    def is_behind(self, limits: SocketLimits) -> bool:
        """True while more is buffered for it than a reader may leave unread."""
        pending = self.connection.pending_bytes()
        return pending > limits.max_backlog_bytes or (pending > 0 and self.unsent_writes > limits.max_backlog_writes)

    def update_is_plain(self) -> None:
        """Compute `is_plain` after the queue or the subscriptions have changed."""
        self.is_plain = self.queue is None and len(self.subscriptions) <= 1


class SocketCounters:
    """Sockets, messages and bytes since the hub started, for metrics. Outgoing ones count once for every receiver."""

    def __init__(self) -> None:
        self.opened = 0
        """Sockets that were accepted."""
        self.refused = 0
        """Sockets and messages that exceeded a limit."""
        self.messages_in = 0
        self.bytes_in = 0
        self.messages_out = 0
        self.bytes_out = 0
        self.dropped = 0
        """Messages that were not sent to a reader because it was too slow."""
        self.slow = 0
        """How often a reader fell behind in a topic."""
        self.stuck = 0
        """Readers that were closed because they stopped reading."""
