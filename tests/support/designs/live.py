"""Live comments: three small tables with the environment in their names, and a permission matrix."""

from typing import Annotated, Literal

from msgspec import Meta

from zataku.table import (
    CHECK,
    DELETE,
    NEW_AND_OLD,
    READ,
    READ_WRITE,
    STREAM,
    Entity,
    Grant,
    PermissionMatrix,
    Span,
    Table,
    number,
)

rooms = Table("LiveComment-Rooms-{env}", pk="roomId", transactions=True)
by_host = rooms.index("hostId-index", pk="hostId", sk="createdAt")

comments = Table("LiveComment-Comments-{env}", pk="roomId", sk="commentId", stream=NEW_AND_OLD, transactions=True)
by_seq = comments.local_index("seq-index", sk=number("seq"))

connections = Table("LiveComment-Connections-{env}", pk="connectionId", ttl="ttl")
by_room = connections.index("roomId-index", pk="roomId")

TABLES = (rooms, comments, connections)


@rooms.entity(pk="{room_id}")
class Room(Entity, frozen=True, kw_only=True, rename="camel"):
    """A room with comments."""

    room_id: str
    name: Annotated[str, Meta(min_length=1, max_length=100, description="Name of the room")] = "Talk"
    host_id: str = "host"
    status: Literal["OPEN", "CLOSED"] = "OPEN"
    created_at: str = "2026-02-21T10:30:00Z"


@comments.entity(pk="{room_id}", sk="{comment_id}")
class Comment(Entity, frozen=True, kw_only=True, rename="camel"):
    """A comment in a room."""

    room_id: str
    comment_id: str
    content: Annotated[str, Meta(min_length=1, max_length=500)] = "Hello"
    nickname: Annotated[str, Meta(max_length=30)] = "Anonymous"
    seq: int | None = None


@connections.entity(pk="{connection_id}")
class Connection(Entity, frozen=True, kw_only=True, rename="camel"):
    """An open socket."""

    connection_id: str
    room_id: str = "room"
    timestamp: str = "2026-02-21T10:30:00Z"
    ttl: int | None = None


@rooms.query(returns=Room)
def rooms_of(host_id: str) -> Span:
    """The rooms of a host, oldest first."""
    return by_host.partition(host_id)


@comments.query(returns=Comment)
def comments_of(room_id: str) -> Span:
    """All comments of a room."""
    return comments.partition(room_id)


@comments.query(returns=Comment, strong=True)
def comments_after(room_id: str, seq: int) -> Span:
    """The comments of a room after a sequence number, in order, for clients that reconnect."""
    return by_seq.partition(room_id).after(seq)


@connections.query(returns=Connection)
def connections_in(room_id: str) -> Span:
    """The open sockets in a room."""
    return by_room.partition(room_id)


# The matrix of the document, row by row; comments mark where the design departs from it.
matrix = PermissionMatrix(
    {
        "CreateRoomFunction": [Grant(rooms, READ_WRITE)],
        "PostCommentFunction": [
            Grant(comments, READ_WRITE),
            Grant(connections, READ | DELETE),  # also deletes closed connections
            Grant(rooms, CHECK),  # also checks that the room is open
        ],
        "GetRoomCommentsFunction": [Grant(comments, READ)],
        "CloseRoomFunction": [Grant(rooms, READ_WRITE), Grant(connections, READ)],  # also notifies the sockets
        "GetUserRoomsFunction": [Grant(rooms, READ)],
        "DisconnectFunction": [Grant(connections, READ_WRITE)],
        "JoinRoomFunction": [Grant(connections, READ_WRITE), Grant(rooms, READ)],
        "CountCommentsFunction": [Grant(comments, STREAM)],
    }
)
