"""Everything that changes a live room, each as one conditional write or one transaction.

Whoever calls, the rules hold: a closed room takes nothing, only its host closes and moderates it, and only the process
that took a room last writes comments into it. What the host does is in `hosting`.
"""

from collections.abc import Sequence
from itertools import pairwise

from zataku.live.design import Comment, Connection, OwnedConnection, Room, comments, connections, moderation, rooms
from zataku.live.errors import UnfitTick
from zataku.live.limits import (
    CONNECTION_TTL_SECONDS,
    MAX_COMMENT_NUMBER,
    MAX_COMMENTS_PER_WRITE,
    MAX_EPOCH,
    MAX_JOINS_PER_WRITE,
    MAX_UPVOTES_PER_WRITE,
    RETRACTION_SECONDS,
    CommentId,
    ConnectionId,
    Epoch,
    HostId,
    ProcessName,
    RoomId,
    SenderId,
    instant_ms,
    seq_of,
)
from zataku.live.moderation import writes as hosting
from zataku.live.moderation.design import Mark, Reactions, Upvote, Upvotes
from zataku.table import Budget, Condition, Plan, Step, check, delete, path, put, update

status = path(Room, lambda room: room.status)
host = path(Room, lambda room: room.host_id)
updated_at = path(Room, lambda room: room.updated_at)
paused = path(Room, lambda room: room.paused)
owner_epoch = path(Room, lambda room: room.epoch)
code = path(Room, lambda room: room.code)
sender = path(Comment, lambda comment: comment.sender_id)
posted_at = path(Comment, lambda comment: comment.created_at)
holder = path(Connection, lambda connection: connection.owner)
made_at = path(Connection, lambda connection: connection.timestamp)
votes = path(Upvotes, lambda upvotes: upvotes.votes)

IS_OPEN: Condition[Room] = status.equals("OPEN")


# Arguments with which writes are tried out.
_NOW = 1_771_669_800.0
_OPENED = Room(
    room_id=RoomId("456e7890-e89b-42d3-a456-426614174001"),
    name="技術発表会 2026",
    host_id=HostId("user:midori"),
    status="OPEN",
    created_at=instant_ms(_NOW),
    updated_at=instant_ms(_NOW),
)
_FIRST = Comment(
    room_id=_OPENED.room_id,
    comment_id=CommentId("0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11"),
    content="はじめまして",
    created_at=instant_ms(_NOW),
    seq=seq_of(1, 1),
)
_A_VOTE = {
    "room_id": _FIRST.room_id,
    "comment_id": _FIRST.comment_id,
    "sender_ids": ["guest:sora"],
    "now": _NOW,
    "epoch": 1,
}

_A_MINUTE = Reactions(room_id=_OPENED.room_id, minute=instant_ms(_NOW), clap=12)


# Rooms


@rooms.write(budget=Budget(writes=3, of="a room"), example={"room": _OPENED})
def create_room(room: Room) -> Plan[Room]:
    """A presenter opens a room, unless its id is taken."""
    if room.status != "OPEN":
        raise ValueError("A room begins open. Create it with the status OPEN")
    if (room.epoch, room.paused, room.slow_mode_seconds) != (None, None, None):
        raise ValueError("A room begins without epoch, pause and slow mode. Leave them out")
    return Plan(put(room, if_absent=True))


@rooms.write(budget=Budget(writes=3, of="a room"), example={"now": _NOW})
def close_room(room_id: RoomId, host_id: HostId, now: float, epoch: Epoch) -> Plan[Room]:
    """The host closes the room through its owner, for good. From then on it takes no comment and nobody joins."""
    return Plan(
        update(
            Room.key(room_id=room_id),
            status.set("CLOSED"),
            code.remove(),
            updated_at.set(instant_ms(now)),
            when=_held(epoch) & host.equals(host_id),
        )
    )


@rooms.write(budget=Budget(writes=2, of="a room"))
def take_room(room_id: RoomId) -> Plan[Room]:
    """A process becomes the owner of an open room. The room that comes back has its epoch; its numbers begin at 1.

    Comments and acts of earlier owners are refused from now on, so that none of theirs comes after the first of this
    one, and what `blocks_of` then tells is the last word. When the reply is lost, the room is taken again. A room that
    was taken 99,999 times is not taken any more.
    """
    not_last = owner_epoch.missing() | owner_epoch.below(MAX_EPOCH)
    return Plan(update(Room.key(room_id=room_id), owner_epoch.add(1), when=IS_OPEN & not_last))


# Comments


@comments.write(
    budget=Budget(writes=299, of="99 comments of 60 characters in one tick"),
    example={"posted": [_FIRST], "epoch": 1},
)
def post_comments(posted: list[Comment], epoch: Epoch) -> Plan[Comment]:
    """The owner of a room writes all comments of a tick, numbered one after the other, if the room is open for them.

    All of them are there afterwards, or none: a room that is closed, paused, or owned by another process by now takes
    none. There are at most 99; what comes after them waits for the next tick. Slow mode and blocks are the owner's to
    keep: they change only on condition of its epoch, so that it knows them for certain.

    Within its epoch the numbers are the owner's to keep. It is one task and writes one tick after the other, each with
    a token and a moment of its own and with numbers above all that it used before; those of a refused tick are left
    out. While it does not know what came of a tick it gives no further number. It repeats that very tick with the same
    token and moment, for less than the ten minutes that a token is known; or it takes the room again, which settles
    the matter: the tick was written if a strong read by their ids finds any of its comments or their `DELETED` marks,
    and else is said anew under the new epoch. So it does too when its 9,999,999 numbers are used up.

    The ids are the server's, a new random one for each comment and never a client's. So no retry of a client's names a
    comment that was deleted. The owner's own writes nothing again while its token is known, and is refused later if the
    room was taken again. Within the epoch and without the token the tick would bring back what was deleted meanwhile,
    still under its `DELETED` mark.
    """
    _refuse_count("comments", posted, MAX_COMMENTS_PER_WRITE)
    _refuse_misnumbered(posted, epoch)
    first, *others = (put(comment, if_absent=True) for comment in posted)
    takes_them = _held(epoch) & paused.not_equals(True)
    return Plan(first, *others, check(Room.key(room_id=posted[0].room_id), takes_them))


def _refuse_count(what: str, given: Sequence[object], most: int) -> None:
    if not 1 <= len(given) <= most:
        raise UnfitTick(f"A tick has 1 to {most} {what}, not {len(given)}. Leave the rest for the next")


def _refuse_misnumbered(posted: list[Comment], epoch: Epoch) -> None:
    if len({comment.room_id for comment in posted}) > 1:
        raise UnfitTick("The comments are of different rooms. Write each room's by themselves")
    given = [divmod(int(comment.seq or 0), MAX_COMMENT_NUMBER + 1) for comment in posted]
    if any(by != epoch or number < 1 for by, number in given):
        raise UnfitTick(f"A comment has a number that is not of epoch {epoch}. Give each the owner's own")
    if any(after != before + 1 for (_, before), (_, after) in pairwise(given)):
        raise UnfitTick("The comments are not numbered one after the other. Give each the number after the last one's")


@comments.write(budget=Budget(writes=15, of="a comment of 60 characters"), example={"now": _NOW})
def remove_own_comment(
    room_id: RoomId, comment_id: CommentId, sender_id: SenderId, now: float, epoch: Epoch | None
) -> Plan[Comment]:
    """Somebody takes back what they wrote in the last 60 seconds; a mark tells readers that come back.

    While the room is open that is done by its owner; without an epoch, when it is over.
    """
    mine = sender.equals(sender_id) & posted_at.at_least(instant_ms(now - RETRACTION_SECONDS))
    return Plan(
        delete(Comment.key(room_id=room_id, comment_id=comment_id), when=mine),
        put(Mark(room_id=room_id, mark="DELETED", comment_id=comment_id, at=instant_ms(now))),
        *hosting.traces_gone(room_id, comment_id),
        check(Room.key(room_id=room_id), status.equals("CLOSED") if epoch is None else _held(epoch)),
    )


def _held(epoch: Epoch) -> Condition[Room]:
    """That the room is open and nobody has taken it since."""
    return IS_OPEN & owner_epoch.equals(epoch)


# Connections


@connections.write(
    budget=Budget(writes=398, of="99 connections in one tick"),
    example={"room_id": _FIRST.room_id, "owner": "web-1", "connection_ids": ["L0SM9cOFvHcCIhw="], "now": _NOW},
)
def join(room_id: RoomId, owner: ProcessName, connection_ids: Sequence[ConnectionId], now: float) -> Plan[Connection]:
    """The clients of a tick join an open room and are forgotten after 24 hours. Joining again moves a client there.

    There are at most 99, and a room that is closed or unknown takes none of them. A process writes those of a tick
    together, since every join asks for the one item of the room.
    """
    _refuse_count("joins", connection_ids, MAX_JOINS_PER_WRITE)
    first, *others = (
        put(
            Connection(
                connection_id=connection_id,
                room_id=room_id,
                timestamp=instant_ms(now),
                ttl=int(now) + CONNECTION_TTL_SECONDS,
                owner=owner,
            )
        )
        for connection_id in dict.fromkeys(connection_ids)
    )
    return Plan(first, *others, check(Room.key(room_id=room_id), IS_OPEN))


@connections.write(budget=Budget(writes=3, of="a connection"))
def leave(connection_id: ConnectionId) -> Plan[Connection]:
    """A client has gone: it left, or a delivery found it gone."""
    return Plan(delete(Connection.key(connection_id=connection_id)))


@connections.write(budget=Budget(writes=3, of="a connection"))
def sweep_connection(owner: ProcessName, left: OwnedConnection) -> Plan[Connection]:
    """A process that starts anew takes away what it left behind, unless that joined again since it was found."""
    still = holder.equals(owner) & made_at.equals(left.timestamp)
    return Plan(delete(Connection.key(connection_id=left.connection_id), when=still))


# Upvotes: the owner of a room writes those of a tick together, question by question, so that a popular one does not
# conflict with itself. Its count is one item.


@moderation.write(budget=Budget(writes=200, of="the first 97 upvotes of a question, in one tick"), example=_A_VOTE)
def upvote_first(
    room_id: RoomId, comment_id: CommentId, sender_ids: Sequence[SenderId], now: float, epoch: Epoch
) -> Plan[Upvote]:
    """People of a tick are the first who want a question answered: if its comment is there and the room is open.

    When somebody else was first, all are refused for the count, and `upvote` takes them.
    """
    first, *others = _upvotes(room_id, comment_id, sender_ids, now)
    count = put(Upvotes(room_id=room_id, comment_id=comment_id, votes=1 + len(others)), if_absent=True)
    said = check(Comment.key(room_id=room_id, comment_id=comment_id))
    return Plan(first, *others, count, said, check(Room.key(room_id=room_id), _held(epoch)))


@moderation.write(budget=Budget(writes=198, of="97 further upvotes of a question, in one tick"), example=_A_VOTE)
def upvote(
    room_id: RoomId, comment_id: CommentId, sender_ids: Sequence[SenderId], now: float, epoch: Epoch
) -> Plan[Upvote]:
    """People of a tick want a question answered that was upvoted before: once for each session, in an open room.

    There are at most 97. All of them count, or none; the refusal has a reason for each step in order, and whoever it
    names has upvoted before and is left out of the next attempt. The count goes when its comment does.
    """
    first, *others = _upvotes(room_id, comment_id, sender_ids, now)
    count = update(Upvotes.key(room_id=room_id, comment_id=comment_id), votes.add(1 + len(others)))
    return Plan(first, *others, count, check(Room.key(room_id=room_id), _held(epoch)))


# Reactions


@moderation.write(budget=Budget(writes=4, of="a minute"), example={"counted": _A_MINUTE, "epoch": 1})
def count_reactions(counted: Reactions, epoch: Epoch) -> Plan[Reactions]:
    """The owner of a room stores how people reacted in a minute so far, in place of what it stored before.

    The whole count and not what was added: stored twice, it is still true.
    """
    return Plan(put(counted), check(Room.key(room_id=counted.room_id), _held(epoch)))


def _upvotes(room_id: RoomId, comment_id: CommentId, sender_ids: Sequence[SenderId], now: float) -> list[Step[Upvote]]:
    _refuse_count("upvotes", sender_ids, MAX_UPVOTES_PER_WRITE)
    return [
        put(Upvote(room_id=room_id, comment_id=comment_id, sender_id=sender_id, at=instant_ms(now)), if_absent=True)
        for sender_id in dict.fromkeys(sender_ids)
    ]
