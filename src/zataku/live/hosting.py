"""What a host does with a room and what is said in it: each act together with its entry in the log, or not at all."""

from typing import Annotated, Any

from msgspec import Struct

from zataku.live.design import Block, Comment, LogEntry, Mark, Room, Upvotes, moderation
from zataku.live.limits import (
    HANDLE,
    UUID_V4,
    Action,
    BlockKind,
    CommentId,
    Epoch,
    HostId,
    HostMark,
    LogId,
    RoomId,
    SlowMode,
    folded,
)
from zataku.table import Budget, Condition, Plan, Step, check, delete, path, put, update
from zataku.table.forms import InstantMs

host = path(Room, lambda room: room.host_id)
status = path(Room, lambda room: room.status)
owner_epoch = path(Room, lambda room: room.epoch)
paused = path(Room, lambda room: room.paused)
slow_mode = path(Room, lambda room: room.slow_mode_seconds)
updated_at = path(Room, lambda room: room.updated_at)
posted_at = path(Comment, lambda comment: comment.created_at)
marked_at = path(Mark, lambda mark: mark.at)
blocked_at = path(Block, lambda block: block.at)

_MARKING: dict[HostMark, Action] = {"HIDDEN": "HIDE", "PINNED": "PIN", "ANSWERED": "ANSWER"}
_UNMARKING: dict[HostMark, Action] = {"HIDDEN": "SHOW", "PINNED": "UNPIN", "ANSWERED": "REASK"}
_BLOCKING: dict[BlockKind, Action] = {"SENDER": "BLOCK_SENDER", "WORD": "BLOCK_WORD"}
_UNBLOCKING: dict[BlockKind, Action] = {"SENDER": "UNBLOCK_SENDER", "WORD": "UNBLOCK_WORD"}


class HostAct(Struct, frozen=True, kw_only=True):
    """Who does something in which room and when, with the id of the log entry that tells of it."""

    room_id: Annotated[RoomId, UUID_V4]
    host_id: Annotated[HostId, HANDLE]
    at: InstantMs
    log_id: Annotated[LogId, UUID_V4]


# What is said in the room: also when it is over, since the timeline and the exports stay.


@moderation.write(budget=Budget(writes=8, of="a comment of 60 characters"))
def mark_comment(act: HostAct, mark: HostMark, comment_id: CommentId) -> Plan[Mark]:
    """The host hides, pins or marks as answered a comment that is there and not marked so yet."""
    made = Mark(room_id=act.room_id, mark=mark, comment_id=comment_id, at=act.at)
    return Plan(
        put(made, if_absent=True),
        check(Comment.key(room_id=act.room_id, comment_id=comment_id)),
        _hosted(act),
        _logged(act, _MARKING[mark], comment_id),
    )


@moderation.write(budget=Budget(writes=6, of="a marked comment"))
def unmark_comment(act: HostAct, mark: HostMark, comment_id: CommentId) -> Plan[Mark]:
    """The host shows a comment again, unpins it, or asks its question anew."""
    marked = Mark.key(room_id=act.room_id, mark=mark, comment_id=comment_id)
    return Plan(delete(marked, when=marked_at.exists()), _hosted(act), _logged(act, _UNMARKING[mark], comment_id))


@moderation.write(budget=Budget(writes=17, of="a comment of 60 characters"))
def delete_comment(act: HostAct, comment_id: CommentId) -> Plan[Mark]:
    """The host deletes a comment with its marks and its count of upvotes; a mark tells readers that come back."""
    made = Mark(room_id=act.room_id, mark="DELETED", comment_id=comment_id, at=act.at)
    return Plan(
        put(made),
        delete(Comment.key(room_id=act.room_id, comment_id=comment_id), when=posted_at.exists()),
        *traces_gone(act.room_id, comment_id),
        _hosted(act),
        _logged(act, "DELETE", comment_id),
    )


def traces_gone(room_id: RoomId, comment_id: CommentId) -> list[Step[Any]]:
    """What goes with a comment, whoever deletes it: the marks that the host can make, and the count of upvotes.

    The single upvotes stay. They are up to thousands, nobody is shown them, and the comment's id never comes again.
    """
    marks = [delete(Mark.key(room_id=room_id, mark=mark, comment_id=comment_id)) for mark in _MARKING]
    return [*marks, delete(Upvotes.key(room_id=room_id, comment_id=comment_id))]


# The room itself: while it is open, through the process that owns it, which alone must heed what is decided.


@moderation.write(budget=Budget(writes=6, of="a sender or a word"))
def block(act: HostAct, epoch: Epoch, what: BlockKind, value: str) -> Plan[Block]:
    """The host keeps a sender's session or a word out of the room from now on."""
    value = folded(value) if what == "WORD" else value
    made = Block(room_id=act.room_id, what=what, value=value, at=act.at)
    return Plan(put(made, if_absent=True), _governed(act, epoch), _logged(act, _BLOCKING[what], value))


@moderation.write(budget=Budget(writes=6, of="a sender or a word"))
def unblock(act: HostAct, epoch: Epoch, what: BlockKind, value: str) -> Plan[Block]:
    """The host lets a sender's session or a word in again."""
    value = folded(value) if what == "WORD" else value
    blocked = Block.key(room_id=act.room_id, what=what, value=value)
    return Plan(
        delete(blocked, when=blocked_at.exists()), _governed(act, epoch), _logged(act, _UNBLOCKING[what], value)
    )


@moderation.write(budget=Budget(writes=5, of="a room"))
def pause_room(act: HostAct, epoch: Epoch, pause: bool) -> Plan[Room]:
    """The host lets the room take no comments for a while, or lets it take them again; not what is so already."""
    changes = paused.not_equals(True) if pause else paused.equals(True)
    return Plan(
        update(
            Room.key(room_id=act.room_id),
            paused.set(True if pause else None),
            updated_at.set(act.at),
            when=_governing(act, epoch) & changes,
        ),
        _logged(act, "PAUSE" if pause else "RESUME"),
    )


@moderation.write(budget=Budget(writes=5, of="a room"))
def slow_room(act: HostAct, epoch: Epoch, seconds: SlowMode | None) -> Plan[Room]:
    """The host makes every sender wait so many seconds between two comments, or no longer; not what is so already."""
    changes = slow_mode.exists() if seconds is None else slow_mode.not_equals(seconds)
    return Plan(
        update(
            Room.key(room_id=act.room_id),
            slow_mode.set(seconds),
            updated_at.set(act.at),
            when=_governing(act, epoch) & changes,
        ),
        _logged(act, "HURRY" if seconds is None else "SLOW", None if seconds is None else str(seconds)),
    )


def _hosted(act: HostAct) -> Step[Room]:
    return check(Room.key(room_id=act.room_id), host.equals(act.host_id))


def _governed(act: HostAct, epoch: Epoch) -> Step[Room]:
    return check(Room.key(room_id=act.room_id), _governing(act, epoch))


def _governing(act: HostAct, epoch: Epoch) -> Condition[Room]:
    return host.equals(act.host_id) & status.equals("OPEN") & owner_epoch.equals(epoch)


def _logged(act: HostAct, action: Action, subject: str | None = None) -> Step[LogEntry]:
    entry = LogEntry(room_id=act.room_id, at=act.at, log_id=act.log_id, action=action, subject=subject)
    return put(entry, if_absent=True)
