"""A presenter opens a room, the audience comments from their phones without an account, and the comments fly over the
slides. Rooms, what is said in them, and who is connected lie in three tables; a fourth holds what the host makes of it.

One process at a time owns a room and numbers its comments. Taking a room adds one to its `epoch`, and every comment is
written on condition of that epoch, so that of two processes that believe they own a room only the later one is heard.
A comment's `seq` begins with the epoch and goes on with the owner's own count from 1: a new owner needs to know nothing
of what was said before, and no `seq` is given by two owners, whatever was deleted or lost in between.
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
from zataku.live.moderation import design as beside
from zataku.live.moderation.design import A_COMMENT, A_ROOM
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
    """A room that a presenter opened and that people comment in."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="Identifies the room, a UUIDv4")]
    name: Annotated[RoomName, Meta(description="Name of the room")]
    host_id: Annotated[HostId, EXTERNAL_ID, Meta(description="The host who created the room")]
    status: Annotated[RoomStatus, Meta(description="`OPEN` while the room is held, `CLOSED` when it is over")]
    created_at: Annotated[InstantMs, Meta(description="When the room was created")]
    updated_at: Annotated[InstantMs, Meta(description="When the host last changed the room")]
    epoch: Annotated[Epoch, Meta(description="How often a process took the room; absent before")] | None = None
    paused: Annotated[bool, Meta(description="True while the room takes no comments")] | None = None
    slow_mode_seconds: Annotated[SlowMode, Meta(description="Seconds between two comments of a sender")] | None = None
    code: Annotated[RoomCode, Meta(description="A short number to come in by; absent when the room is over")] | None = (
        None
    )

    def __post_init__(self) -> None:
        require_visible("name of the room", self.name)


@rooms.item(example=A_ROOM, budget=Budget(reads=0.5, of="a room"))
def room(room_id: RoomId) -> Key[Room]:
    """One room by its id, for showing it."""
    return Room.key(room_id=room_id)


@rooms.item(strong=True, example=A_ROOM, budget=Budget(reads=1, of="a room"))
def room_now(room_id: RoomId) -> Key[Room]:
    """One room as it is right now, for deciding who may do what."""
    return Room.key(room_id=room_id)


@rooms.view(Room)
class RoomByCode(View, frozen=True, kw_only=True, rename="camel"):
    """A room as far as its code leads."""

    room_id: RoomId
    code: RoomCode


@rooms.query(returns=RoomByCode, budget=Budget(reads=0.5, of="a room"))
def rooms_by_code(code: RoomCode) -> Span:
    """The open rooms that a short number leads to: one, but for two that were opened at the very same moment."""
    return by_code.partition(code)


@rooms.query(returns=Room, budget=Budget(reads=1.5, of="a page of 50 rooms"))
def newest_rooms_of(host_id: HostId) -> Span:
    """The rooms of a host, newest first."""
    return by_host.partition(host_id).newest_first()


@rooms.query(returns=Room, budget=Budget(reads=1.5, of="a page of 50 rooms"))
def oldest_rooms_of(host_id: HostId) -> Span:
    """The rooms of a host, oldest first."""
    return by_host.partition(host_id)


# 2. Comments

comments = Table("LiveComment-Comments-{env}", pk="roomId", sk="commentId", transactions=True)
by_seq = comments.local_index("seq-index", sk="seq")


def seq_of(epoch: Epoch, number: int) -> Seq:
    """What an owner of that epoch gives to its first, second, third comment: all sort after those of owners before."""
    if not 1 <= epoch <= MAX_EPOCH:
        raise ValueError(f"An epoch is from 1 to {MAX_EPOCH}, not {epoch}")
    if not 1 <= number <= MAX_COMMENT_NUMBER:
        raise ValueError(f"An owner numbers comments from 1 to {MAX_COMMENT_NUMBER}, not {number}. Take the room again")
    return f"{epoch:05d}{number:07d}"


@comments.entity(pk="{room_id}", sk="{comment_id}")
class Comment(Entity, frozen=True, kw_only=True, rename="camel"):
    """What somebody wrote in a room."""

    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room that the comment was posted in")]
    comment_id: Annotated[CommentId, UUID_V4, Meta(description="Identifies the comment, a UUIDv4")]
    content: Annotated[Content, Meta(description="What the comment says")]
    nickname: Annotated[Nickname, Meta(description="Who says it")] = ANONYMOUS
    created_at: Annotated[InstantMs, Meta(description="When the comment was posted")]
    seq: (
        Annotated[Seq, Meta(description="Its place in the room, strictly increasing: owner's epoch, owner's number")]
        | None
    ) = None
    sender_id: (
        Annotated[SenderId, EXTERNAL_ID, Meta(description="The session that posted it, for blocks and own removal")]
        | None
    ) = None

    def __post_init__(self) -> None:
        require_visible("comment", self.content)
        require_visible("nickname", self.nickname)


@comments.item(example=A_COMMENT, budget=Budget(reads=0.5, of="a comment"))
def comment(room_id: RoomId, comment_id: CommentId) -> Key[Comment]:
    """One comment by its id."""
    return Comment.key(room_id=room_id, comment_id=comment_id)


@comments.query(returns=Comment, budget=Budget(reads=2.5, of="a page of 50 comments of 60 characters"))
def comments_of(room_id: RoomId) -> Span:
    """All comments of a room. They come in the order of their ids, which is none; sort them by `createdAt`."""
    return comments.partition(room_id)


@comments.query(returns=Comment, strong=True, budget=Budget(reads=5, of="50 missed comments of 60 characters"))
def comments_after(room_id: RoomId, seq: Seq) -> Span:
    """The comments of a room after a `seq`, in order and with none left out: what a reader that comes back missed.

    DynamoDB may show a tick in part while it is being written. The owner of the room therefore gives out no `seq`
    above the last that it had acknowledged; what is above comes with the next delivery.
    """
    return by_seq.partition(room_id).after(seq)


@comments.query(returns=Comment, strong=True, budget=Budget(reads=5, of="a page of 50 comments of 60 characters"))
def latest_comments(room_id: RoomId) -> Span:
    """The comments of a room from the latest down: what a new owner shows to somebody who comes in late."""
    return by_seq.partition(room_id).newest_first()


@comments.query(returns=Comment, budget=Budget(reads=2.5, of="a page of 50 comments of 60 characters"))
def comments_before(room_id: RoomId, seq: Seq) -> Span:
    """The comments of a room before a `seq`, from the latest down: what somebody sees who scrolls up."""
    return by_seq.partition(room_id).before(seq).newest_first()


# 3. Connections

connections = Table("LiveComment-Connections-{env}", pk="connectionId", ttl="ttl", transactions=True)
by_room = connections.index("roomId-index", pk="roomId")
by_owner = connections.index("owner-index", pk="owner", sk="timestamp", projection=KEYS_ONLY)


@connections.entity(pk="{connection_id}")
class Connection(Entity, frozen=True, kw_only=True, rename="camel"):
    """A WebSocket that is connected to a room."""

    connection_id: Annotated[ConnectionId, EXTERNAL_ID, Meta(description="Identifies the WebSocket connection")]
    room_id: Annotated[RoomId, UUID_V4, Meta(description="The room it is connected to")]
    timestamp: Annotated[InstantMs, Meta(description="When the connection was made")]
    ttl: Annotated[Seconds, Meta(description="24 hours after that the connection is forgotten")] | None = None
    owner: Annotated[ProcessName, EXTERNAL_ID, Meta(description="The process that holds the socket")] | None = None


@connections.view(Connection)
class OwnedConnection(View, frozen=True, kw_only=True, rename="camel"):
    """A connection as far as it takes to close it."""

    connection_id: ConnectionId
    timestamp: InstantMs


@connections.item(budget=Budget(reads=0.5, of="a connection"))
def connection(connection_id: ConnectionId) -> Key[Connection]:
    """One connection by its id."""
    return Connection.key(connection_id=connection_id)


@connections.query(returns=Connection, budget=Budget(reads=16, of="a room of 1,000 connections, read whole"))
def connections_in(room_id: RoomId) -> Span:
    """All connections to a room: everybody whom a comment is delivered to."""
    return by_room.partition(room_id)


@connections.query(returns=OwnedConnection, budget=Budget(reads=10, of="1,000 connections left behind, read whole"))
def left_behind(owner: ProcessName, started_at: InstantMs) -> Span:
    """What a process of this name held before it started anew: sockets that died with it, for `sweep_connection`.

    A name belongs to one running process at a time, which whoever starts processes must see to: two of one name would
    each take the other's living sockets for dead.
    """
    return by_owner.partition(owner).before(started_at)


# 4. Moderation

moderation = beside.moderation


# Permissions. The rows of the document come first, as it has them; what is added is a departure.

MATRIX = PermissionMatrix(
    {
        "CreateRoomFunction": [Grant(rooms, READ_WRITE)],
        "PostCommentFunction": [
            Grant(comments, READ_WRITE),
            Grant(connections, READ),
            Grant(rooms, CHECK),  # added: the room must be open
        ],
        "GetRoomCommentsFunction": [Grant(comments, READ)],
        "CloseRoomFunction": [Grant(rooms, READ_WRITE)],
        "GetUserRoomsFunction": [Grant(rooms, READ)],
        "DisconnectFunction": [Grant(connections, READ_WRITE)],
        "JoinRoomFunction": [Grant(connections, READ_WRITE), Grant(rooms, READ)],
        # Functions that the document does not have: the actions they use and no others.
        "OwnRoomFunction": [Grant(rooms, frozenset({"UpdateItem"})), Grant(moderation, frozenset({"Query"}))],
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
            Grant(moderation, frozenset({"PutItem", "UpdateItem"})),
            Grant(rooms, CHECK),
            Grant(comments, CHECK),
        ],
        "ReactFunction": [Grant(moderation, frozenset({"PutItem"})), Grant(rooms, CHECK)],
        "GetRoomModerationFunction": [Grant(moderation, frozenset({"GetItem", "Query"}))],
    }
)

TABLES = (rooms, comments, connections, moderation)
check(*TABLES)
