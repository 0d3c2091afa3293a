"""Limits of sockets."""

import msgspec

MAX_FRAGMENTS = 1000
"""How many fragments a message may come in."""
SOCKETS_PER_TURN = 4
"""How many sockets are parsed, and ended, in one turn of the loop. A message takes about a hundred microseconds."""
COMMAND_PLACES = 8
"""How many of these places a command or a join takes, whose work goes on in later turns."""
PIECE_BYTES = 512
"""What is parsed at a time: less than a hundred of the smallest frames."""
MAX_FRAMES_PER_TURN = 64
"""How many frames of a connection are parsed before others have their turn; one takes about ten microseconds, and of
those that complete a message only one is handled in a turn.
"""
CLOSE_SECONDS = 2.0
"""How long the answer to a close frame may take, and a client may read what was sent before."""
MAX_CLOSING_FRAMES = 256
MAX_CLOSING_BYTES = 128 * 1024
"""How much is read after a close frame was sent, to find the answer behind what was in flight."""


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
    max_topics_per_address: int = 1000
    """How many different topics all sockets of an address may subscribe to; a process has 65,536."""
    address_joins_per_second: float = 100
    address_join_burst: float = 2000
    """Joins and leaves of all sockets of an address. A hall reconnects within seconds after a restart."""
    address_commands_per_second: float = 100
    address_command_burst: float = 2000
    """Commands of all sockets of an address: guests cost nothing, so that a limit for each does not bound a crowd."""
    address_transients_per_second: float = 3000
    address_transient_burst: float = 6000
    address_excess_per_second: float = 500
    address_excess_burst: float = 4000
    """Refused messages, control frames and fragments of all sockets of an address; browsers answer a ping at once."""
    excess_pause_seconds: float = 1
    """How long nothing is read of a socket after one beyond that: refusals of a crowd take time as well."""
    max_excess_pause_seconds: float = 4
    """The longest pause after a refusal. Each is twice as long as the one before, until a message is accepted."""
    max_backlog_bytes: int = 256 * 1024
    """What may be buffered for a slow reader before it gets a snapshot instead, and its next messages wait."""
    max_backlog_writes: int = 500
    """How many writes that may be: the bytes of a broadcast are shared, but a write takes 700 more for each socket."""
    max_reply_backlog_bytes: int = 2 * 1024 * 1024
    """What may be buffered with the replies to messages that were running already; beyond it, the socket is closed."""
    stuck_seconds: float = 60
    """A slow reader that reads nothing for so long is closed."""
    min_flush_seconds: float = 0.005
    max_flush_seconds: float = 0.04
    """Messages to a busy topic within this time go out in one write."""
    flush_seconds_per_socket: float = 0.00004
    """Four times what a write takes, so that flushes leave most of the event loop to others: small rooms wait less."""
    sockets_per_turn: int = 128
    """Sockets written in one turn of the event loop. The kernel takes about ten microseconds for each."""
    heartbeat_seconds: float = 4
    """The time between two heartbeats. A client that receives nothing for two of them opens another socket."""
    ping_seconds: float = 20
    """The time between two pings. A socket that is silent for two and a half of them is closed."""
