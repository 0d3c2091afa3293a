"""The messages of the socket protocol, around the commands and events of the systems.

A socket carries any number of topics, named like `live/ROOM_ID`; its identity is settled when it opens. A text frame
holds one of these messages as JSON. A binary frame belongs to a topic: two bytes of its channel number, big-endian,
then the payload, which is a transient command from the client or a transient event from the server.

A client's position in a room is an epoch and a `seq`. Events come without gaps: `after` of a message is the `seq` that
the client must have. Another epoch always comes with a snapshot.
"""

from typing import TypeAlias

import msgspec
from msgspec import Raw

from zataku.errors import Problem


class _FromClient(msgspec.Struct, frozen=True, kw_only=True, tag_field="t", rename="camel", forbid_unknown_fields=True):
    pass


class _ToClient(msgspec.Struct, frozen=True, kw_only=True, tag_field="t", rename="camel", omit_defaults=True):
    pass


class Position(msgspec.Struct, frozen=True):
    """A client's position in a room."""

    epoch: int
    seq: int


# From the client


class Join(_FromClient, frozen=True, kw_only=True, tag="join"):
    """Subscribe to a topic, from `at` if there is one; `since` is what the system calls the last thing seen.

    An `observer` of a room, such as a screen, is not counted among the people there and sends no commands.
    """

    id: int
    to: str
    at: Position | None = None
    since: str | None = None
    observer: bool = False


class Leave(_FromClient, frozen=True, kw_only=True, tag="leave"):
    """Unsubscribe from a topic."""

    to: str


class CommandMessage(_FromClient, frozen=True, kw_only=True, tag="do"):
    """A durable command: answered by `done` when it is stored, or by `refused`."""

    id: int
    to: str
    what: Raw


class TransientMessage(_FromClient, frozen=True, kw_only=True, tag="pass"):
    """A transient command: executed at once and never answered."""

    to: str
    what: Raw


ClientMessage: TypeAlias = Join | Leave | CommandMessage | TransientMessage


# To the client


class Welcome(_ToClient, frozen=True, kw_only=True, tag="welcome"):
    """The first message: the server's time, and the time between two heartbeats, in milliseconds."""

    now: int
    beat: int


class HeartbeatMessage(_ToClient, frozen=True, kw_only=True, tag="beat"):
    """The heartbeat, with the server's time in milliseconds."""

    now: int


class Joined(_ToClient, frozen=True, kw_only=True, tag="joined"):
    """The subscription has started. Without a snapshot, the events after the client's position follow."""

    id: int
    to: str
    channel: int
    at: Position | None = None
    snapshot: Raw | None = None
    here: int | None = None


class CommandDone(_ToClient, frozen=True, kw_only=True, tag="done"):
    """A command is executed and stored."""

    id: int
    result: Raw | None = None


class CommandRefused(_ToClient, frozen=True, kw_only=True, tag="refused"):
    """A command or a join was refused and changed nothing."""

    id: int
    error: Problem


class Events(_ToClient, frozen=True, kw_only=True, tag="events"):
    """The events of a room after one `seq` and up to another, without those for other recipients."""

    to: str
    epoch: int
    after: int
    seq: int
    events: list[Raw]


class TransientBroadcast(_ToClient, frozen=True, kw_only=True, tag="passing"):
    """Transient events of a room, or the events of a topic; they are not stored."""

    to: str
    events: list[Raw]


class Snapshot(_ToClient, frozen=True, kw_only=True, tag="snapshot"):
    """The state of a room: the client was too slow, or another process acquired the room."""

    to: str
    at: Position
    snapshot: Raw


class EventsMissed(_ToClient, frozen=True, kw_only=True, tag="missed"):
    """Events of a topic were dropped. Fetch its data again."""

    to: str


class Presence(_ToClient, frozen=True, kw_only=True, tag="presence"):
    """How many people are in a room."""

    to: str
    here: int


class TopicClosed(_ToClient, frozen=True, kw_only=True, tag="gone"):
    """The subscription has ended: the topic is closed or cannot be served. Join again only after `unavailable`."""

    to: str
    error: Problem


class Reconnect(_ToClient, frozen=True, kw_only=True, tag="come_back"):
    """The server is stopping. Open a new socket after so many milliseconds."""

    after: int


class MessageRejected(_ToClient, frozen=True, kw_only=True, tag="wrong"):
    """A message could not be read or exceeded a limit. The socket is closed when this continues."""

    error: Problem


ServerMessage: TypeAlias = (
    Welcome
    | HeartbeatMessage
    | Joined
    | CommandDone
    | CommandRefused
    | Events
    | TransientBroadcast
    | Snapshot
    | EventsMissed
    | Presence
    | TopicClosed
    | Reconnect
    | MessageRejected
)
