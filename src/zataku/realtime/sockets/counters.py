"""Counters of a hub since it started, for metrics."""


class SocketCounters:
    """Sockets, messages and bytes. Outgoing ones count once for every receiver."""

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
        """Readers that were closed because they read nothing any more."""
