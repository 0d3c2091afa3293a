"""The atomic writes of live rooms: each is one conditional write or one transaction.

Their conditions hold for every caller: a closed room accepts nothing, only its host closes it, and only the process
that took a room last writes comments into it. The writes of moderation are in `moderation.writes`.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from zataku.clock import instant_ms
from zataku.live.design import (
    Comment,
    Connection,
    OwnedConnection,
    Room,
    comments,
    connections,
    moderation,
    rooms,
    seq_of,
)
from zataku.live.errors import InvalidBatch
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
    RoomCode,
    RoomId,
    SenderId,
)
from zataku.live.moderation.design import AnonymousSender, HostNames, Mark, Reactions, Upvote, Upvotes
from zataku.live.moderation.writes import clear_comment
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
upvoted_at = path(Upvote, lambda upvote: upvote.at)

IS_OPEN: Condition[Room] = status.equals("OPEN")


# Examples, from which the design document shows each write.
_NOW = 1_771_669_800.0
_ROOM = Room(
    room_id=RoomId("456e7890-e89b-42d3-a456-426614174001"),
    name="技術発表会 2026",
    host_id=HostId("user:midori"),
    status="OPEN",
    created_at=instant_ms(_NOW),
    updated_at=instant_ms(_NOW),
)
_COMMENT = Comment(
    room_id=_ROOM.room_id,
    comment_id=CommentId("0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11"),
    content="はじめまして",
    created_at=instant_ms(_NOW),
    seq=seq_of(1, 1),
)
_ANONYMOUS = AnonymousSender(room_id=_ROOM.room_id, sender_id=SenderId("guest:sora"), number=12)
_VOTE = {
    "room_id": _COMMENT.room_id,
    "comment_id": _COMMENT.comment_id,
    "sender_ids": ["guest:sora"],
    "now": _NOW,
    "epoch": 1,
}

_REACTIONS = Reactions(room_id=_ROOM.room_id, minute=instant_ms(_NOW), clap=12)


# Rooms


@rooms.write(budget=Budget(writes=3, of="a room"), example={"room": _ROOM})
def create_room(room: Room) -> Plan[Room]:
    """Open a room, unless its id is taken."""
    if room.status != "OPEN":
        raise ValueError("A new room is open. Create it with the status OPEN")
    if (room.epoch, room.paused, room.slow_mode_seconds) != (None, None, None):
        raise ValueError("A new room has no epoch, pause or slow mode. Leave them out")
    return Plan(put(room, if_absent=True))


@rooms.write(budget=Budget(writes=2, of="a room"), example={"now": _NOW})
def close_room(room_id: RoomId, host_id: HostId, now: float, epoch: Epoch) -> Plan[Room]:
    """Close a room for good, by its host through its owner. From then on it accepts no comment and no join.

    Its code leads to its archive, until another room is opened with it.
    """
    return Plan(
        update(
            Room.key(room_id=room_id),
            status.set("CLOSED"),
            updated_at.set(instant_ms(now)),
            when=_is_owned(epoch) & host.equals(host_id),
        )
    )


@rooms.write(budget=Budget(writes=3, of="a room"), example={"given": "482159"})
def release_code(room_id: RoomId, given: RoomCode) -> Plan[Room]:
    """Take the code from a room that has ended, to give it to another."""
    return Plan(update(Room.key(room_id=room_id), code.remove(), when=status.equals("CLOSED") & code.equals(given)))


@rooms.write(budget=Budget(writes=2, of="a room"))
def take_room(room_id: RoomId) -> Plan[Room]:
    """Become the owner of an open room; the returned room has the new epoch. The owner's numbers begin at 1.

    Writes of earlier owners fail from now on: none of their comments comes after the first of this owner, and what
    `blocks_of` returns then is final. When the reply is lost, the room is taken again, at most 99,999 times in all.
    """
    has_next_epoch = owner_epoch.missing() | owner_epoch.below(MAX_EPOCH)
    return Plan(update(Room.key(room_id=room_id), owner_epoch.add(1), when=IS_OPEN & has_next_epoch))


# Comments


@comments.write(
    budget=Budget(writes=398, of="99 comments of 60 characters in one batch"),
    example={"posted": [_COMMENT], "epoch": 1, "names": [_ANONYMOUS]},
)
def post_comments(
    posted: list[Comment], epoch: Epoch, names: Sequence[AnonymousSender | HostNames] = ()
) -> Plan[Comment]:
    """Store the comments of a batch, numbered one after the other, by the owner of an open room.

    All of them are stored, or none: not in a room that is closed, owned by another process, or paused, unless they are
    the host's. The limit is 99 items, with `names`: the numbers of senders that had none, and new names of the host.
    Slow mode and blocks are checked by the owner: they change only on condition of its epoch, so its copy is exact.

    The owner is one task and writes one batch after another, each with a token of its own and with numbers above all
    that it used before. While the outcome of a batch is unknown it gives no further number: it repeats the batch with
    the same token within the ten minutes that a token lasts, or takes the room again. After that the batch is stored if
    a strong read finds any of its comments or their `DELETED` marks, and otherwise never will be; it is then numbered
    again in the new epoch. The same happens when the 9,999,999 numbers are used up.

    The id of a comment is the client's, or the server's when the client gives none. A comment that is sent again with
    its id meets the stored one, and the transaction fails. When that one has been deleted, the id is free again:
    the owner therefore refuses ids with a `DELETED` mark, all of which it holds in memory. A repeated batch does not
    bring a deleted comment back either: it writes nothing while its token lasts, and fails once the room was taken.
    """
    _require_count("comments", [*posted, *names] if posted else [], MAX_COMMENTS_PER_WRITE)
    _require_numbers(posted, epoch)
    first, *others = (put(comment, if_absent=True) for comment in posted)
    accepts_comments = _is_owned(epoch) & _hears(posted)
    return Plan(first, *others, *map(_put_name, names), check(Room.key(room_id=posted[0].room_id), accepts_comments))


def _hears(posted: Sequence[Comment]) -> Condition[Room]:
    """The condition that the room is not paused, or that the one sender of these comments is its host."""
    is_running = paused.not_equals(True)
    first, *others = {comment.sender_id for comment in posted}
    return is_running if others or first is None else is_running | host.equals(HostId(first))


def _put_name(name: AnonymousSender | HostNames) -> Step[Any]:
    return put(name, if_absent=True) if isinstance(name, AnonymousSender) else put(name)


def _require_count(name: str, items: Sequence[object], max_count: int) -> None:
    if not 1 <= len(items) <= max_count:
        raise InvalidBatch(f"A write has 1 to {max_count} {name}, not {len(items)}. Leave the rest for the next")


def _require_numbers(posted: list[Comment], epoch: Epoch) -> None:
    if len({comment.room_id for comment in posted}) > 1:
        raise InvalidBatch("The comments are of different rooms. Write the comments of each room separately")
    numbers = [divmod(int(comment.seq or 0), MAX_COMMENT_NUMBER + 1) for comment in posted]
    if any(given_epoch != epoch or number < 1 for given_epoch, number in numbers):
        raise InvalidBatch(f"A comment has a number that is not of epoch {epoch}. Give each the owner's own")
    if any(after != before + 1 for (_, before), (_, after) in pairwise(numbers)):
        raise InvalidBatch(
            "The comments are not numbered one after the other. Give each the number after the last one's"
        )


@comments.write(budget=Budget(writes=16, of="a comment of 60 characters"), example={"now": _NOW})
def remove_own_comment(
    room_id: RoomId, comment_id: CommentId, sender_id: SenderId, now: float, epoch: Epoch | None
) -> Plan[Comment]:
    """Delete a sender's own comment of the last 60 seconds; a `DELETED` mark tells readers that resume.

    In an open room the owner does so, with its epoch; in a closed room there is none.
    """
    is_removable = sender.equals(sender_id) & posted_at.at_least(instant_ms(now - RETRACTION_SECONDS))
    return Plan(
        delete(Comment.key(room_id=room_id, comment_id=comment_id), when=is_removable),
        put(Mark(room_id=room_id, mark="DELETED", comment_id=comment_id, at=instant_ms(now))),
        *clear_comment(room_id, comment_id),
        check(Room.key(room_id=room_id), status.equals("CLOSED") if epoch is None else _is_owned(epoch)),
    )


def _is_owned(epoch: Epoch) -> Condition[Room]:
    """The condition that the room is open and its owner has this epoch."""
    return IS_OPEN & owner_epoch.equals(epoch)


# Connections


@connections.write(
    budget=Budget(writes=398, of="99 connections in one write"),
    example={"room_id": _COMMENT.room_id, "owner": "web-1", "connection_ids": ["L0SM9cOFvHcCIhw="], "now": _NOW},
)
def join(room_id: RoomId, owner: ProcessName, connection_ids: Sequence[ConnectionId], now: float) -> Plan[Connection]:
    """Join at most 99 connections to an open room; they expire after 24 hours. A repeated join moves a connection.

    A closed or unknown room accepts none of them. A process writes the joins of a flush together, since each of them
    checks the one item of the room.
    """
    _require_count("joins", connection_ids, MAX_JOINS_PER_WRITE)
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
    """Delete a connection that has ended."""
    return Plan(delete(Connection.key(connection_id=connection_id)))


@connections.write(budget=Budget(writes=3, of="a connection"))
def sweep_connection(owner: ProcessName, left: OwnedConnection) -> Plan[Connection]:
    """Delete a connection that a process left behind in a crash, unless it has joined again since it was found."""
    is_unchanged = holder.equals(owner) & made_at.equals(left.timestamp)
    return Plan(delete(Connection.key(connection_id=left.connection_id), when=is_unchanged))


# Upvotes: the owner of a room stores those of a batch together, comment by comment, so that a popular one does not
# conflict with itself. Its count is one item.


@moderation.write(budget=Budget(writes=297, of="the first 97 upvotes of a comment, in one write"), example=_VOTE)
def upvote_first(
    room_id: RoomId, comment_id: CommentId, sender_ids: Sequence[SenderId], now: float, epoch: Epoch
) -> Plan[Upvote]:
    """Store the first upvotes of a comment, if it exists, in an open room.

    When there is a count already, the write fails at the count, and `upvote` is to be used.
    """
    first, *others = _upvotes(room_id, comment_id, sender_ids, now)
    count = put(Upvotes(room_id=room_id, comment_id=comment_id, votes=1 + len(others)), if_absent=True)
    exists = check(Comment.key(room_id=room_id, comment_id=comment_id))
    return Plan(first, *others, count, exists, check(Room.key(room_id=room_id), _is_owned(epoch)))


@moderation.write(budget=Budget(writes=295, of="97 further upvotes of a comment, in one write"), example=_VOTE)
def upvote(
    room_id: RoomId, comment_id: CommentId, sender_ids: Sequence[SenderId], now: float, epoch: Epoch
) -> Plan[Upvote]:
    """Store further upvotes of a comment, once for each sender, in an open room.

    The limit is 97. All of them count, or none: a failure has a reason for each step in order, and a sender at whose
    step it fails has upvoted before and is left out of the next attempt. The count is deleted with its comment.
    """
    first, *others = _upvotes(room_id, comment_id, sender_ids, now)
    count = update(Upvotes.key(room_id=room_id, comment_id=comment_id), votes.add(1 + len(others)))
    return Plan(first, *others, count, check(Room.key(room_id=room_id), _is_owned(epoch)))


@moderation.write(
    budget=Budget(writes=295, of="the last 97 upvotes of a comment, in one write"),
    example={
        "room_id": _COMMENT.room_id,
        "comment_id": _COMMENT.comment_id,
        "sender_ids": ["guest:sora"],
        "counted": 1,
    },
)
def withdraw_upvotes(
    room_id: RoomId, comment_id: CommentId, sender_ids: Sequence[SenderId], counted: int, epoch: Epoch
) -> Plan[Upvote]:
    """Take back upvotes of a comment, of senders who have upvoted it, in an open room.

    `counted` is the count before, which the owner has exactly; it is deleted with the last upvote. All are taken back,
    or none: a sender at whose step it fails has no upvote and is left out of the next attempt. The limit is 97.
    """
    _require_count("upvotes", sender_ids, MAX_UPVOTES_PER_WRITE)
    withdrawn = [
        delete(Upvote.key(room_id=room_id, comment_id=comment_id, sender_id=it), when=upvoted_at.exists())
        for it in dict.fromkeys(sender_ids)
    ]
    key, is_known = Upvotes.key(room_id=room_id, comment_id=comment_id), votes.equals(counted)
    is_last = len(withdrawn) >= counted
    count = delete(key, when=is_known) if is_last else update(key, votes.add(-len(withdrawn)), when=is_known)
    first, *others = withdrawn
    return Plan(first, *others, count, check(Room.key(room_id=room_id), _is_owned(epoch)))


# Reactions


@moderation.write(budget=Budget(writes=4, of="a minute"), example={"counted": _REACTIONS, "epoch": 1})
def count_reactions(counted: Reactions, epoch: Epoch) -> Plan[Reactions]:
    """Store the reactions of a minute so far, by the owner of a room, in place of the count before.

    It is the whole count, so that it may be stored twice.
    """
    return Plan(put(counted), check(Room.key(room_id=counted.room_id), _is_owned(epoch)))


def _upvotes(room_id: RoomId, comment_id: CommentId, sender_ids: Sequence[SenderId], now: float) -> list[Step[Upvote]]:
    _require_count("upvotes", sender_ids, MAX_UPVOTES_PER_WRITE)
    return [
        put(Upvote(room_id=room_id, comment_id=comment_id, sender_id=sender_id, at=instant_ms(now)), if_absent=True)
        for sender_id in dict.fromkeys(sender_ids)
    ]
