"""The behaviour of a room: the base class by which a system gives its rooms rules and storage.

One process at a time owns a room and runs one actor for it. The actor takes the commands that have arrived since its
last write as one batch, calls `handle`, and replies and publishes only after that has returned. The table is the truth:
everything a room holds in memory can be loaded from it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum, auto
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from zataku.errors import InvalidRequest, RequestError
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId

DEFAULT_BATCH_LIMIT = 50


class HasEpoch(Protocol):
    """What the actor needs to know of every room's state."""

    @property
    def epoch(self) -> int:
        """The number of the ownership that this state belongs to."""
        ...


S = TypeVar("S", bound=HasEpoch)


class ServerCommand(msgspec.Struct, frozen=True, kw_only=True, tag_field="k"):
    """A command that only the server itself sends, as a job does. No decoder of clients' messages may produce one."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command and the identity that sends it.

    `body` is what `RoomBehaviour.decode_command` or `decode_transient` made of the client's JSON, or a struct that an
    HTTP handler or a job passes, such as a `ServerCommand`; with `binary` it is the bytes of a binary message.
    `is_retry` says that an earlier owner may have executed the command without being able to reply. `id` is random,
    made by the server when the command arrives, and stays the same in a retry.
    """

    sender: Identity
    body: Any
    binary: bool = False
    is_retry: bool = False
    id: str = ""


class Event(msgspec.Struct, frozen=True, rename={"recipients": "only"}):
    """An event of a room, as JSON. `recipients` are the accounts that may see it; None means all.

    `erases` says that an earlier event must not be seen again: a client that resumes from before it gets a snapshot
    instead of the events.
    """

    body: bytes
    recipients: frozenset[AccountId] | None = None
    erases: bool = False


class Deferred(Enum):
    """The reply to a command that has to wait for the next write."""

    DEFERRED = auto()


DEFERRED: Final = Deferred.DEFERRED
Reply: TypeAlias = msgspec.Struct | RequestError | Deferred | None
"""The reply to one command: a struct that the edge encodes, an error, or nothing."""


class Outcome(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """The result of a batch: the next state, the events, and one reply for each command.

    Commands whose reply is `DEFERRED` come again, in their order and before all others; at least one of a batch must
    have another reply. A `closed` error ends the room: its events are published, every client is unsubscribed with
    this error as the reason, and the actor stops.
    """

    state: S
    events: Sequence[Event] = ()
    replies: Sequence[Reply]
    closed: RequestError | None = None


class Transient(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """The result of a transient command: the next state, events as JSON, and binary events."""

    state: S
    events: Sequence[Event] = ()
    binary: Sequence[bytes] = ()


class LostRoom(Exception):
    """Another process has acquired the room; this one must not write."""


class StaleRoom(Exception):
    """The room's item differs from the loaded one: the actor reloads and repeats the batch."""


class Attendance(Protocol):
    """Receives every join and leave of a socket of this process, once each. Must not block."""

    def joined(self, room_id: str, connection: str) -> None:
        """A socket has joined, under an id that no other join has."""
        ...

    def left(self, room_id: str, connection: str) -> None:
        """The socket of that join has left."""
        ...


class RoomBehaviour(ABC, Generic[S]):
    """The rooms of one system. `kind` is the first part of their topics.

    States are values: none is modified after it was returned, and equal states compare equal.
    """

    kind: str
    batch_limit: int = DEFAULT_BATCH_LIMIT
    """How many commands `handle` takes at most."""
    shared_snapshot: bool = False
    """True when a snapshot depends on the state and `since` alone: one is then made for all concurrent viewers, and
    `viewer` is any of them."""
    restricted: bool = False
    """True when `admits` may refuse a viewer. It is then also called before a client resumes without a snapshot."""
    has_binary_commands: bool = False
    """True when `handle_transient` also takes binary messages, which are refused otherwise."""
    attendance: Attendance | None = None
    """Receives the joins and leaves in this process, also of rooms that run in another."""

    # Commands as they arrive

    @abstractmethod
    def decode_command(self, payload: bytes) -> Any:
        """The body of a durable command from a client's JSON. Raises `RequestError` when it is not valid."""

    def decode_server_command(self, payload: bytes) -> ServerCommand:  # noqa: ARG002
        """The body of a `ServerCommand` from the JSON of another server process."""
        raise InvalidRequest("This room has no commands of the server.")

    def decode_transient(self, payload: bytes) -> Any:  # noqa: ARG002
        """The body of a transient command from a client's JSON. Raises `RequestError` when it is not valid."""
        raise InvalidRequest("This room has no transient commands.")

    # Ownership

    @abstractmethod
    async def require_open(self, room_id: str) -> None:
        """Raise `RequestError` when the room does not exist or is closed. It reads strongly consistent, and only reads.

        Called before anything is kept of a room: a client may name any.
        """

    @abstractmethod
    async def acquire(self, room_id: str) -> S:
        """Become the owner: add one to the epoch in the room's item, and load it.

        Raises `RequestError` when the room does not exist or is closed.
        """

    @abstractmethod
    async def reload(self, state: S) -> S:
        """The room as the table has it now. Raises `LostRoom` when the epoch there is another."""

    # Commands

    @abstractmethod
    async def handle(self, state: S, commands: Sequence[Command], now: float) -> Outcome[S]:
        """Execute durable commands: rules, then one conditional write, then the events.

        A command that is refused has its error in `replies`. Any exception not named here makes the actor reload the
        room and repeat each command of the batch by itself, with `is_retry`.

        Raises `LostRoom` or `StaleRoom` when the write failed on the epoch or the version. A write whose outcome is
        unknown is settled here, if necessary by acquiring the room again; the returned state may have a new epoch.
        """

    def accepts(self, command: Command, now: float) -> bool:  # noqa: ARG002
        """False when a transient command is to be dropped.

        Called once for each command, before `handle_transient`, which may run twice for one command when the room is
        written at the same time.
        """
        return True

    def handle_transient(self, state: S, command: Command, now: float) -> Transient[S]:  # noqa: ARG002
        """Execute a transient command in memory. A `RequestError` drops it silently."""
        return Transient(state=state)

    async def flush(self, state: S) -> S:
        """Store what transient commands changed, where that is wanted. Raises as `handle` does.

        Called at most twice a second after transient commands that changed the state, and before the room is released.
        """
        return state

    def tick(self, state: S, now: float) -> Transient[S]:  # noqa: ARG002
        """Called four times a second while the room runs, to publish in one event what has accumulated.

        A change of the state here does not cause a flush.
        """
        return Transient(state=state)

    def presence_changed(
        self,
        state: S,
        joined: frozenset[AccountId],  # noqa: ARG002
        left: frozenset[AccountId],  # noqa: ARG002
        now: float,  # noqa: ARG002
    ) -> Transient[S]:
        """Accounts have joined or left, in any process; called at most once a second.

        A new owner starts with an empty room: all accounts that are present are reported as joined.
        """
        return Transient(state=state)

    # Snapshots

    def admits(self, state: S, viewer: Identity) -> None:
        """Raise `RequestError` for a viewer who may not see the room. Called before every snapshot."""

    @abstractmethod
    async def snapshot(self, state: S, viewer: Identity, since: str | None) -> bytes:
        """The room as the viewer may see it, as JSON; `since` is the last thing that the system showed them.

        What is read from the table here may be newer than `state`. It must be left out: it follows as an event.
        """
