"""The messages about rooms that cross the bus.

The owner of a room publishes every update on the room's own channel. Updates are numbered, so that a process that
misses one notices by the number of the next. Calls to a process go to its own channel, replies to the caller's.

The tags and the names of `EncodedCommand` are the wire format between processes of different versions.
"""

from typing import Any, TypeAlias

import msgspec

from zataku.errors import Problem
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import Command, Event, RoomBehaviour, ServerCommand

# Updates, from the owner to all mirrors


class _Update(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """`epoch` is the owner's, `number` grows by one with each update, and `seq` by one with each durable event."""

    epoch: int
    number: int
    seq: int


class DurableEvents(_Update, frozen=True, kw_only=True, tag="happened"):
    """Durable events; `seq` is that of the last one."""

    events: tuple[Event, ...]

    @property
    def after(self) -> int:
        """The `seq` of the event before these."""
        return self.seq - len(self.events)


class TransientEvents(_Update, frozen=True, kw_only=True, tag="passed_by"):
    """Events that are not stored.

    `changes_state` says that the room's state is another after them, as a drawing with one more stroke. A process that
    missed such an update does not know the state, even with all durable events.
    """

    changes_state: bool
    events: tuple[Event, ...]
    binary: tuple[bytes, ...]


class PresenceCount(_Update, frozen=True, kw_only=True, tag="counted"):
    """How many people are in the room."""

    present: int


class RoomReset(_Update, frozen=True, kw_only=True, tag="renewed"):
    """The room was reloaded or has a new owner: every client needs a snapshot."""

    owner: str
    present: int


class RoomClosed(_Update, frozen=True, kw_only=True, tag="over"):
    """The room has ended."""

    problem: Problem


class OwnerHeartbeat(_Update, frozen=True, kw_only=True, tag="alive"):
    """The owner is running. `number` is that of the last update; a heartbeat has none of its own."""

    owner: str
    present: int


class OwnerLeft(_Update, frozen=True, kw_only=True, tag="left"):
    """The owner has stopped running the room. `is_released` says that its lease is free."""

    owner: str
    is_released: bool


RoomUpdate: TypeAlias = (
    DurableEvents | TransientEvents | PresenceCount | RoomReset | RoomClosed | OwnerHeartbeat | OwnerLeft
)
EventUpdate: TypeAlias = DurableEvents | TransientEvents


# Calls, to the owner and back


class EncodedCommand(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"sender": "who", "body": "what", "is_retry": "again", "id": "mark"},
):
    """A `Command` on its way to another process, with its body as JSON or as the bytes of a binary message.

    `is_server` says that the body is a `ServerCommand`, which the decoder of clients' messages does not know.
    """

    sender: Identity
    body: bytes
    binary: bool = False
    is_retry: bool = False
    id: str = ""
    is_server: bool = False


class _RpcMessage(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """`sender` is the process that sends it."""

    sender: str
    topic: str


class CommandCall(_RpcMessage, frozen=True, kw_only=True, tag="ask"):
    """A durable command for the owner, answered by a `CallReply`."""

    id: int
    command: EncodedCommand


class TransientCall(_RpcMessage, frozen=True, kw_only=True, tag="passes"):
    """A transient command for the owner, without a reply."""

    command: EncodedCommand


class SnapshotCall(_RpcMessage, frozen=True, kw_only=True, tag="look"):
    """A request for a snapshot, answered by a `CallReply`. Without `with_body`, the reply only admits the viewer."""

    id: int
    viewer: Identity
    since: str | None
    with_body: bool


class PresenceReport(_RpcMessage, frozen=True, kw_only=True, tag="people"):
    """Who joined and left in the sender's process, and how many are there; `is_complete`: `joined` names all."""

    joined: tuple[AccountId, ...]
    left: tuple[AccountId, ...]
    total: int
    is_complete: bool


class PresenceQuery(_RpcMessage, frozen=True, kw_only=True, tag="who_is_there"):
    """A request for a complete report, from an owner whose count differs from the total of the report."""


class RemoteError(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A `RequestError` on its way back to the caller."""

    status: int
    problem: Problem


class RoomSnapshot(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A room as a viewer may see it, after the update `number`. Without a body it only says that they are admitted."""

    epoch: int
    seq: int
    number: int
    present: int
    body: bytes | None = None


class CallReply(_RpcMessage, frozen=True, kw_only=True, tag="reply"):
    """The reply to a command or a snapshot call: its result, a snapshot, or an error.

    `has_moved` says that the sender does not own the room, and `maybe_executed` that it may have executed the command
    before it lost the room.
    """

    id: int
    result: bytes | None = None
    snapshot: RoomSnapshot | None = None
    error: RemoteError | None = None
    has_moved: bool = False
    maybe_executed: bool = False


RpcMessage: TypeAlias = CommandCall | TransientCall | SnapshotCall | PresenceReport | PresenceQuery | CallReply


class RunningRooms(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """The rooms that a process runs, by topic, and how many people are in each."""

    process: str
    rooms: dict[str, int]


encode = msgspec.msgpack.Encoder().encode
decode_update = msgspec.msgpack.Decoder(RoomUpdate).decode
decode_rpc_message = msgspec.msgpack.Decoder(RpcMessage).decode
decode_running_rooms = msgspec.msgpack.Decoder(RunningRooms).decode


def encode_command(command: Command) -> EncodedCommand:
    """A command in the form that crosses the bus."""
    return EncodedCommand(
        sender=command.sender,
        body=command.body if command.binary else msgspec.json.encode(command.body),
        binary=command.binary,
        is_retry=command.is_retry,
        id=command.id,
        is_server=isinstance(command.body, ServerCommand),
    )


def decode_command(behaviour: RoomBehaviour[Any], encoded: EncodedCommand, *, transient: bool = False) -> Command:
    """The command that another process sent. Raises `RequestError` when its body is not valid."""
    body: Any = encoded.body
    if encoded.is_server:
        body = behaviour.decode_server_command(encoded.body)
    elif not encoded.binary:
        body = (behaviour.decode_transient if transient else behaviour.decode_command)(encoded.body)
    return Command(sender=encoded.sender, body=body, binary=encoded.binary, is_retry=encoded.is_retry, id=encoded.id)
