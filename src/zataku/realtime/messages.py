"""What crosses a socket, beside the commands and events of the systems, which travel inside as they are.

A socket carries any number of topics, named like `live/ROOM_ID`; whoever it belongs to is settled when it opens. Text
frames hold one of these messages as JSON. A binary frame belongs to a topic: two bytes of its channel number, the
larger first, then the payload, which is a passing command on its way up and a passing event on its way down.

Where a reader is in a room is an epoch and a `seq` in it. Events come without gaps: `after` of a message is the `seq`
that its reader must have. Another epoch always comes with a snapshot.
"""

from typing import TypeAlias

import msgspec
from msgspec import Raw

from zataku.errors import Problem


class _Up(msgspec.Struct, frozen=True, kw_only=True, tag_field="t", rename="camel", forbid_unknown_fields=True):
    pass


class _Down(msgspec.Struct, frozen=True, kw_only=True, tag_field="t", rename="camel", omit_defaults=True):
    pass


class Place(msgspec.Struct, frozen=True):
    """Where a reader is in a room."""

    epoch: int
    seq: int


# From the browser


class Join(_Up, frozen=True, kw_only=True, tag="join"):
    """Hear a topic, after `at` if somebody was there before; `since` is what the system calls the last thing seen."""

    id: int
    to: str
    at: Place | None = None
    since: str | None = None


class Leave(_Up, frozen=True, kw_only=True, tag="leave"):
    """Hear a topic no more."""

    to: str


class Do(_Up, frozen=True, kw_only=True, tag="do"):
    """A kept command: answered by `done` when it is stored, or by `refused`."""

    id: int
    to: str
    what: Raw


class Pass(_Up, frozen=True, kw_only=True, tag="pass"):
    """A passing command: carried on at once and never answered."""

    to: str
    what: Raw


FromBrowser: TypeAlias = Join | Leave | Do | Pass


# To the browser


class Welcome(_Down, frozen=True, kw_only=True, tag="welcome"):
    """The first message: the server's time in milliseconds, and how many milliseconds pass between two beats."""

    now: int
    beat: int


class Beat(_Down, frozen=True, kw_only=True, tag="beat"):
    """The server is there, and this is its time in milliseconds."""

    now: int


class Joined(_Down, frozen=True, kw_only=True, tag="joined"):
    """The topic is heard from here on. Without a snapshot, the events after the reader's place follow."""

    id: int
    to: str
    channel: int
    at: Place | None = None
    snapshot: Raw | None = None
    here: int | None = None


class Done(_Down, frozen=True, kw_only=True, tag="done"):
    """A command is carried out and stored."""

    id: int
    result: Raw | None = None


class No(_Down, frozen=True, kw_only=True, tag="refused"):
    """A command, or joining, is refused and changed nothing."""

    id: int
    error: Problem


class Events(_Down, frozen=True, kw_only=True, tag="events"):
    """What happened in a room after one `seq` and up to another, but for what only others may see."""

    to: str
    epoch: int
    after: int
    seq: int
    events: list[Raw]


class Passing(_Down, frozen=True, kw_only=True, tag="passing"):
    """What is worth seeing now and nowhere kept; also every event of a topic without a room."""

    to: str
    events: list[Raw]


class Snapshot(_Down, frozen=True, kw_only=True, tag="snapshot"):
    """How a room is now: the reader had fallen too far behind, or another process took the room."""

    to: str
    at: Place
    snapshot: Raw


class Missed(_Down, frozen=True, kw_only=True, tag="missed"):
    """Events of a topic were left out. Fetch what it is about anew."""

    to: str


class Presence(_Down, frozen=True, kw_only=True, tag="presence"):
    """How many are here."""

    to: str
    here: int


class Gone(_Down, frozen=True, kw_only=True, tag="gone"):
    """The topic is heard no more: it ended, or cannot be served. Only `unavailable` is worth joining again."""

    to: str
    error: Problem


class ComeBack(_Down, frozen=True, kw_only=True, tag="come_back"):
    """The server stops. Open a new socket after so many milliseconds."""

    after: int


class Wrong(_Down, frozen=True, kw_only=True, tag="wrong"):
    """What came up could not be read or was too much. The socket closes when it goes on like that."""

    error: Problem


ToBrowser: TypeAlias = (
    Welcome | Beat | Joined | Done | No | Events | Passing | Snapshot | Missed | Presence | Gone | ComeBack | Wrong
)
