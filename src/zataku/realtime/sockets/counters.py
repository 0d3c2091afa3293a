"""What a hub has counted since it started, for metrics."""


class SocketCounters:
    """Sockets, messages and bytes. Out counts what was handed to the network, once for every receiver."""

    def __init__(self) -> None:
        self.opened = 0
        """Sockets that were let in."""
        self.refused = 0
        """Sockets and messages that were over a limit."""
        self.messages_in = 0
        self.bytes_in = 0
        self.messages_out = 0
        self.bytes_out = 0
        self.dropped = 0
        """Messages that a reader did not get because it was too slow."""
        self.slow = 0
        """How often a reader fell behind in a topic."""
        self.stuck = 0
        """Readers that were closed because they took nothing any more."""
