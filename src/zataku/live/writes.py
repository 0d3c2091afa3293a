"""Everything that changes a live room, each as one conditional write or one transaction.

Whoever calls, the rules hold: a closed room takes nothing, only its host closes and moderates it, and only the process
that took a room last writes comments into it. What the host does is in `hosting`.
"""

from itertools import pairwise

from zataku.live import hosting as hosting
from zataku.live.design import (
    Comment,
    Connection,
    Mark,
    Room,
    Upvote,
    Upvotes,
    comments,
    connections,
    moderation,
    rooms,
)
from zataku.live.errors import UnfitComments
from zataku.live.limits import (
    COMMENTS_AT_ONCE,
    CONNECTION_SECONDS,
    OWN_REMOVAL_SECONDS,
    CommentId,
    ConnectionId,
    Epoch,
    HostId,
    ProcessName,
    RoomId,
    SenderId,
    moment,
    seq_of,
)
from zataku.table import Budget, Condition, Plan, check, delete, path, put, update

status = path(Room, lambda room: room.status)
host = path(Room, lambda room: room.host_id)
updated_at = path(Room, lambda room: room.updated_at)
paused = path(Room, lambda room: room.paused)
owner_epoch = path(Room, lambda room: room.epoch)
sender = path(Comment, lambda comment: comment.sender_id)
posted_at = path(Comment, lambda comment: comment.created_at)
votes = path(Upvotes, lambda upvotes: upvotes.votes)

IS_OPEN: Condition[Room] = status.equals("OPEN")


# Rooms


@rooms.write(budget=Budget(writes=2, of="a room"))
def create_room(room: Room) -> Plan[Room]:
    """A presenter opens a room, unless its id is taken."""
    if room.status != "OPEN":
        raise ValueError("A room begins open. Create it with the status OPEN")
    return Plan(put(room, if_absent=True))


@rooms.write(budget=Budget(writes=2, of="a room"), example={"now": 1_771_669_800.0})
def close_room(room_id: RoomId, host_id: HostId, now: float) -> Plan[Room]:
    """The host closes the room, for good. From then on it takes no comment and nobody joins."""
    return Plan(
        update(
            Room.key(room_id=room_id),
            status.set("CLOSED"),
            updated_at.set(moment(now)),
            when=IS_OPEN & host.equals(host_id),
        )
    )


@rooms.write(budget=Budget(writes=2, of="a room"))
def take_room(room_id: RoomId) -> Plan[Room]:
    """A process becomes the owner of an open room; the epoch of the room that comes back is its own.

    Comments of earlier owners are refused from now on, so that what `latest_comments` then tells is the last word. When
    the reply is lost, the room is taken again.
    """
    return Plan(update(Room.key(room_id=room_id), owner_epoch.add(1), when=IS_OPEN))


# Comments

_FIRST = Comment(
    room_id=RoomId("456e7890-e89b-42d3-a456-426614174001"),
    comment_id=CommentId("0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11"),
    content="はじめまして",
    created_at="2026-02-21T10:30:00.000Z",
    seq=seq_of(1),
)


@comments.write(
    budget=Budget(writes=299, of="99 comments of 60 characters in one tick"),
    example={"posted": [_FIRST], "epoch": 1},
)
def post_comments(posted: list[Comment], epoch: Epoch) -> Plan[Comment]:
    """The owner of a room writes all comments of a tick, numbered one after the other, if the room is open for them.

    All of them are there afterwards, or none: a room that is closed, paused, or owned by another process by now takes
    none. There are at most 99; what comes after them waits for the next tick. Slow mode and blocks are the owner's to
    keep: they change only on condition of its epoch, so that it knows them for certain.
    """
    _refuse_unfit(posted)
    open_to_all = IS_OPEN & owner_epoch.equals(epoch) & paused.not_equals(True)
    first, *others = (put(comment, if_absent=True) for comment in posted)
    return Plan(first, *others, check(Room.key(room_id=posted[0].room_id), open_to_all))


def _refuse_unfit(posted: list[Comment]) -> None:
    if not 1 <= len(posted) <= COMMENTS_AT_ONCE:
        raise UnfitComments(
            f"A tick has 1 to {COMMENTS_AT_ONCE} comments, not {len(posted)}. Leave the rest for the next"
        )
    if len({comment.room_id for comment in posted}) > 1:
        raise UnfitComments("The comments are of different rooms. Write each room's by themselves")
    numbers = [int(comment.seq or 0) for comment in posted]
    if numbers[0] < 1 or any(after != before + 1 for before, after in pairwise(numbers)):
        raise UnfitComments(
            "The comments are not numbered one after the other. Give each the number after the last one's"
        )


@comments.write(budget=Budget(writes=7, of="a comment of 60 characters"), example={"now": 1_771_669_800.0})
def remove_own_comment(room_id: RoomId, comment_id: CommentId, sender_id: SenderId, now: float) -> Plan[Comment]:
    """Somebody takes back what they wrote in the last 60 seconds. Readers that come back learn of it from its mark."""
    mine = sender.equals(sender_id) & posted_at.at_least(moment(now - OWN_REMOVAL_SECONDS))
    return Plan(
        delete(Comment.key(room_id=room_id, comment_id=comment_id), when=mine),
        put(Mark(room_id=room_id, mark="DELETED", comment_id=comment_id, at=moment(now))),
        delete(Upvotes.key(room_id=room_id, comment_id=comment_id)),
    )


# Connections


@connections.write(budget=Budget(writes=6, of="a connection"), example={"now": 1_771_669_800.0})
def join(connection_id: ConnectionId, room_id: RoomId, owner: ProcessName, now: float) -> Plan[Connection]:
    """A client joins an open room and is forgotten after 24 hours. Joining again moves it to the other room."""
    joined = Connection(
        connection_id=connection_id,
        room_id=room_id,
        timestamp=moment(now),
        ttl=int(now) + CONNECTION_SECONDS,
        owner=owner,
    )
    return Plan(put(joined), check(Room.key(room_id=room_id), IS_OPEN))


@connections.write(budget=Budget(writes=3, of="a connection"))
def leave(connection_id: ConnectionId) -> Plan[Connection]:
    """A client has gone: it left, a delivery found it gone, or it was left behind by a crash."""
    return Plan(delete(Connection.key(connection_id=connection_id)))


# Upvotes


@moderation.write(
    budget=Budget(writes=6, of="a question that was upvoted before"),
    example={"now": 1_771_669_800.0, "counted": True},
)
def upvote(room_id: RoomId, comment_id: CommentId, sender_id: SenderId, now: float, counted: bool) -> Plan[Upvote]:
    """Somebody wants a question answered: once for each session, while the room is open.

    `counted` says whether the question has a count already. The first upvote makes it, if the comment is there; whoever
    is wrong about it is refused, reads the count and tries again. The count goes when its comment does.
    """
    mark = put(Upvote(room_id=room_id, comment_id=comment_id, sender_id=sender_id, at=moment(now)), if_absent=True)
    room = check(Room.key(room_id=room_id), IS_OPEN)
    if counted:
        return Plan(mark, update(Upvotes.key(room_id=room_id, comment_id=comment_id), votes.add(1)), room)
    first = put(Upvotes(room_id=room_id, comment_id=comment_id, votes=1), if_absent=True)
    return Plan(mark, first, check(Comment.key(room_id=room_id, comment_id=comment_id)), room)
