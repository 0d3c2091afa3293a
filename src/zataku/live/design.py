"""A presenter opens a room, the audience comments from their phones without an account, and the comments fly over the
slides. Rooms, comments and connections have a table each; a fourth table holds the moderation.

One process at a time owns a room and numbers its comments. Taking a room adds one to its `epoch`, and every comment is
written on condition of that epoch, so that of two processes that believe they own a room only the later one can write.
The `seq` of a comment is the epoch followed by the owner's own count from 1: a new owner starts without reading earlier
comments, and no two owners give the same `seq`, even when comments were deleted or replies lost in between.
"""

from typing import Annotated

from msgspec import Meta

from zataku.live.departures import DEPARTURES as DEPARTURES
from zataku.live.limits import (
    ANONYMOUS,
    EXTERNAL_ID,
    MAX_COMMENT_NUMBER,
    MAX_EPOCH,
    UUID_V4,
    AnonymousNumber,
    CommentId,
    ConnectionId,
    Content,
    Epoch,
    HostId,
    Nickname,
    ProcessName,
    RoomCode,
    RoomId,
    RoomName,
    RoomStatus,
    SenderId,
    Seq,
    SlowMode,
    require_visible,
)
from zataku.live.moderation import design as moderation_design
from zataku.live.moderation.design import EXAMPLE_COMMENT, EXAMPLE_ROOM
from zataku.table import (
    CHECK,
    DELETE,
    KEYS_ONLY,
    READ,
    READ_WRITE,
    Budget,
    Entity,
    Grant,
    InstantMs,
    Key,
    PermissionMatrix,
    Seconds,
    Span,
    Table,
    View,
)
from zataku.table.lint import check

TITLE = "Live Comment: DynamoDB table design"

# 1. Rooms

rooms = Table("LiveComment-Rooms-{env}", pk="roomId", transactions=True)
by_host = rooms.index("hostId-index", pk="hostId", sk="createdAt")
by_code = rooms.index("code-index", pk="code", projection=KEYS_ONLY)


@rooms.entity(pk="{room_id}")
class Room(Entity, frozen=True, kw_only=True, rename="camel"):
    """A room that a presenter opened for comments."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="Identifies the room, a UUIDv4")]
    name: Annotated[RoomName, Meta(description="Name of the room")]
    host_id: Annotated[HostId, EXTERNAL_ID, Meta(description="The host who created the room")]
    status: Annotated[RoomStatus, Meta(description="`OPEN` until the host closes the room, then `CLOSED`")]
    created_at: Annotated[InstantMs, Meta(description="When the room was created")]
    updated_at: Annotated[InstantMs, Meta(description="When the host last changed the room")]
    epoch: (
        Annotated[Epoch, Meta(description="How often a process has taken the room; absent before the first")] | None
    ) = None
    paused: Annotated[bool, Meta(description="True while comments are paused")] | None = None
    slow_mode_seconds: Annotated[SlowMode, Meta(description="Seconds between two comments of a sender")] | None = None
    code: Annotated[RoomCode, Meta(description="Short number to enter by")] | None = None
    host_name: Annotated[Nickname, Meta(description="The host's account name; nobody else may use it")] | None = None

    def __post_init__(self) -> None:
        require_visible("name of the room", self.name)


@rooms.item(example=EXAMPLE_ROOM, budget=Budget(reads=0.5, of="a room"))
def room(room_id: RoomId) -> Key[Room]:
    """One room by its id, to show it."""
    return Room.key(room_id=room_id)


@rooms.item(strong=True, example=EXAMPLE_ROOM, budget=Budget(reads=1, of="a room"))
def room_now(room_id: RoomId) -> Key[Room]:
    """One room by its id as stored now, to decide by it."""
    return Room.key(room_id=room_id)


@rooms.view(Room)
class RoomByCode(View, frozen=True, kw_only=True, rename="camel"):
    """The id of a room that has a code."""

    room_id: RoomId
    code: RoomCode


@rooms.query(returns=RoomByCode, budget=Budget(reads=0.5, of="a room"))
def rooms_by_code(code: RoomCode) -> Span:
    """The rooms that a code was given to: the open one, or two that were opened at the same moment, and ended ones."""
    return by_code.partition(code)


@rooms.query(returns=Room, budget=Budget(reads=1.5, of="a page of 50 rooms"))
def newest_rooms_of(host_id: HostId) -> Span:
    """The rooms of a host, newest first."""
    return by_host.partition(host_id).newest_first()


# 2. Comments

comments = Table("LiveComment-Comments-{env}", pk="roomId", sk="commentId", transactions=True)
by_seq = comments.local_index("seq-index", sk="seq")
by_sender = comments.index("senderId-index", pk="senderId", projection=KEYS_ONLY)


def seq_of(epoch: Epoch, number: int) -> Seq:
    """The `seq` that the owner of an epoch gives to a comment by its number. It sorts after all of earlier epochs."""
    if not 1 <= epoch <= MAX_EPOCH:
        raise ValueError(f"An epoch is from 1 to {MAX_EPOCH}, not {epoch}")
    if not 1 <= number <= MAX_COMMENT_NUMBER:
        raise ValueError(f"An owner numbers comments from 1 to {MAX_COMMENT_NUMBER}, not {number}. Take the room again")
    return f"{epoch:05d}{number:07d}"


@comments.entity(pk="{room_id}", sk="{comment_id}")
class Comment(Entity, frozen=True, kw_only=True, rename="camel"):
    """A comment in a room."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room that the comment was posted in")]
    comment_id: Annotated[CommentId, UUID_V4, Meta(description="Identifies the comment, a UUIDv4")]
    content: Annotated[Content, Meta(description="Text of the comment")]
    nickname: Annotated[Nickname, Meta(description="Nickname of the sender")] = ANONYMOUS
    created_at: Annotated[InstantMs, Meta(description="When the comment was posted")]
    seq: (
        Annotated[Seq, Meta(description="Position in the room, strictly increasing: owner's epoch, owner's number")]
        | None
    ) = None
    sender_id: (
        Annotated[SenderId, EXTERNAL_ID, Meta(description="The session that posted it, for blocks and own removal")]
        | None
    ) = None
    anonymous_number: (
        Annotated[AnonymousNumber, Meta(description="Number of the sender in the room, without a nickname")] | None
    ) = None

    def __post_init__(self) -> None:
        require_visible("comment", self.content)
        require_visible("nickname", self.nickname)


@comments.view(Comment)
class CommentBySender(View, frozen=True, kw_only=True, rename="camel"):
    """The key of a comment of one sender."""

    room_id: RoomId
    comment_id: CommentId


@comments.item(example=EXAMPLE_COMMENT, budget=Budget(reads=0.5, of="a comment"))
def comment(room_id: RoomId, comment_id: CommentId) -> Key[Comment]:
    """One comment by its id."""
    return Comment.key(room_id=room_id, comment_id=comment_id)


@comments.query(returns=Comment, budget=Budget(reads=2.5, of="a page of 50 comments of 60 characters"))
def comments_of(room_id: RoomId) -> Span:
    """All comments of a room, in the order of their ids, which is random. `createdAt` gives their order in time."""
    return comments.partition(room_id)


@comments.query(returns=Comment, strong=True, budget=Budget(reads=5, of="50 missed comments of 60 characters"))
def comments_after(room_id: RoomId, seq: Seq) -> Span:
    """The comments of a room after a `seq`, in order and with none left out, for a reader that resumes.

    DynamoDB may show a transaction in part while it is being written. The owner of the room therefore sends no comment
    above the last acknowledged `seq`; what is above follows as an event.
    """
    return by_seq.partition(room_id).after(seq)


@comments.query(returns=Comment, strong=True, budget=Budget(reads=5, of="a page of 50 comments of 60 characters"))
def latest_comments(room_id: RoomId) -> Span:
    """The comments of a room, latest first: a new owner loads them for new readers."""
    return by_seq.partition(room_id).newest_first()


@comments.query(returns=Comment, budget=Budget(reads=2.5, of="a page of 50 comments of 60 characters"))
def comments_before(room_id: RoomId, seq: Seq) -> Span:
    """The comments of a room before a `seq`, latest first, for a reader that scrolls up."""
    return by_seq.partition(room_id).before(seq).newest_first()


@comments.query(returns=CommentBySender, budget=Budget(reads=6.5, of="500 comments, read whole"))
def comments_by(sender_id: SenderId) -> Span:
    """The comments of a sender in all rooms, for the removal of an account."""
    return by_sender.partition(sender_id)


# 3. Connections

connections = Table("LiveComment-Connections-{env}", pk="connectionId", ttl="ttl", transactions=True)
by_room = connections.index("roomId-index", pk="roomId")
by_owner = connections.index("owner-index", pk="owner", sk="timestamp", projection=KEYS_ONLY)


@connections.entity(pk="{connection_id}")
class Connection(Entity, frozen=True, kw_only=True, rename="camel"):
    """A WebSocket that has joined a room."""

    connection_id: Annotated[ConnectionId, EXTERNAL_ID, Meta(description="Identifies the join of a WebSocket")]
    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room it is connected to")]
    timestamp: Annotated[InstantMs, Meta(description="When the join was stored")]
    ttl: Annotated[Seconds, Meta(description="When the connection expires: 24 hours after that")] | None = None
    owner: Annotated[ProcessName, EXTERNAL_ID, Meta(description="The process that holds the socket")] | None = None


@connections.view(Connection)
class OwnedConnection(View, frozen=True, kw_only=True, rename="camel"):
    """The key and the time of a connection of one process."""

    connection_id: ConnectionId
    timestamp: InstantMs


@connections.item(budget=Budget(reads=0.5, of="a connection"))
def connection(connection_id: ConnectionId) -> Key[Connection]:
    """One connection by its id."""
    return Connection.key(connection_id=connection_id)


@connections.query(returns=Connection, budget=Budget(reads=16, of="a room of 1,000 connections, read whole"))
def connections_in(room_id: RoomId) -> Span:
    """All connections to a room."""
    return by_room.partition(room_id)


@connections.query(returns=OwnedConnection, budget=Budget(reads=10, of="1,000 connections left behind, read whole"))
def left_behind(owner: ProcessName, started_at: InstantMs) -> Span:
    """The connections that a process of this name held before it started, for `sweep_connection`.

    A name belongs to one running process at a time: two processes of one name would sweep each other's connections.
    """
    return by_owner.partition(owner).before(started_at)


# 4. Moderation

moderation = moderation_design.moderation


# Permissions. The rows of the document come first, as it has them; what is added is a departure.

MATRIX = PermissionMatrix(
    {
        "CreateRoomFunction": [Grant(rooms, READ_WRITE)],
        "PostCommentFunction": [
            Grant(comments, READ_WRITE),
            Grant(connections, READ),
            # Added: the room must be open; senders without a nickname are numbered, and the host's names are stored.
            Grant(rooms, CHECK),
            Grant(moderation, frozenset({"PutItem"})),
        ],
        "GetRoomCommentsFunction": [Grant(comments, READ)],
        "CloseRoomFunction": [Grant(rooms, READ_WRITE)],
        "GetUserRoomsFunction": [Grant(rooms, READ)],
        "DisconnectFunction": [Grant(connections, READ_WRITE)],
        "JoinRoomFunction": [Grant(connections, READ_WRITE), Grant(rooms, READ)],
        # Functions that the document does not have: the actions they use and no others.
        "OwnRoomFunction": [
            Grant(rooms, frozenset({"UpdateItem"})),
            Grant(moderation, frozenset({"GetItem", "Query"})),
        ],
        "SweepConnectionsFunction": [Grant(connections, frozenset({"Query", "DeleteItem"}))],
        "ModerateRoomFunction": [
            Grant(moderation, frozenset({"PutItem", "DeleteItem"})),
            Grant(rooms, frozenset({"ConditionCheckItem", "UpdateItem"})),
            Grant(comments, CHECK | DELETE),
        ],
        "RemoveCommentFunction": [
            Grant(comments, DELETE),
            Grant(moderation, frozenset({"PutItem", "DeleteItem"})),
            Grant(rooms, CHECK),
        ],
        "UpvoteFunction": [
            Grant(moderation, frozenset({"PutItem", "UpdateItem", "DeleteItem"})),
            Grant(rooms, CHECK),
            Grant(comments, CHECK),
        ],
        "ReactFunction": [Grant(moderation, frozenset({"PutItem"})), Grant(rooms, CHECK)],
        "GetRoomModerationFunction": [Grant(moderation, frozenset({"GetItem", "BatchGetItem", "Query"}))],
    }
)

TABLES = (rooms, comments, connections, moderation)
check(*TABLES)
