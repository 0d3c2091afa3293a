"""What a host does with a room and what is said in it: each act together with its entry in the log, or not at all."""

from typing import Annotated, Any

from msgspec import Struct

from zataku.live.design import Comment, Room, moderation
from zataku.live.limits import (
    EXTERNAL_ID,
    UUID_V4,
    Action,
    CommentId,
    Epoch,
    HostId,
    HostMark,
    LogId,
    RoomId,
    SenderId,
    SlowMode,
    fold_word,
)
from zataku.live.moderation.design import Block, LogEntry, Mark, Upvotes
from zataku.table import Budget, Condition, InstantMs, Plan, Step, check, delete, path, put, update

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


class HostAction(Struct, frozen=True, kw_only=True):
    """Who does something in which room and when, with the id of the log entry that tells of it."""

    room_id: Annotated[RoomId, UUID_V4]
    host_id: Annotated[HostId, EXTERNAL_ID]
    at: InstantMs
    log_id: Annotated[LogId, UUID_V4]


# What is said in the room: while it is open, through the process that owns it, which alone must heed what is decided.
# When it is over, there is no owner and no epoch, and the timeline and the exports stay.


@moderation.write(budget=Budget(writes=8, of="a comment of 60 characters"))
def mark_comment(act: HostAction, mark: HostMark, comment_id: CommentId, epoch: Epoch | None) -> Plan[Mark]:
    """The host hides, pins or marks as answered a comment that is there and not marked so yet."""
    made = Mark(room_id=act.room_id, mark=mark, comment_id=comment_id, at=act.at)
    return Plan(
        put(made, if_absent=True),
        check(Comment.key(room_id=act.room_id, comment_id=comment_id)),
        _hosted(act, epoch),
        _logged(act, _MARKING[mark], comment_id),
    )


@moderation.write(budget=Budget(writes=6, of="a marked comment"))
def unmark_comment(act: HostAction, mark: HostMark, comment_id: CommentId, epoch: Epoch | None) -> Plan[Mark]:
    """The host shows a comment again, unpins it, or asks its question anew."""
    marked = Mark.key(room_id=act.room_id, mark=mark, comment_id=comment_id)
    gone = delete(marked, when=marked_at.exists())
    return Plan(gone, _hosted(act, epoch), _logged(act, _UNMARKING[mark], comment_id))


@moderation.write(budget=Budget(writes=17, of="a comment of 60 characters"))
def delete_comment(act: HostAction, comment_id: CommentId, epoch: Epoch | None) -> Plan[Mark]:
    """The host deletes a comment with its marks and its count of upvotes; a mark tells readers that come back."""
    made = Mark(room_id=act.room_id, mark="DELETED", comment_id=comment_id, at=act.at)
    return Plan(
        put(made),
        delete(Comment.key(room_id=act.room_id, comment_id=comment_id), when=posted_at.exists()),
        *traces_gone(act.room_id, comment_id),
        _hosted(act, epoch),
        _logged(act, "DELETE", comment_id),
    )


def traces_gone(room_id: RoomId, comment_id: CommentId) -> list[Step[Any]]:
    """What goes with a comment, whoever deletes it: the marks that the host can make, and the count of upvotes.

    The single upvotes stay. They are up to thousands, nobody is shown them, and the comment's id never comes again.
    """
    marks = [delete(Mark.key(room_id=room_id, mark=mark, comment_id=comment_id)) for mark in _MARKING]
    return [*marks, delete(Upvotes.key(room_id=room_id, comment_id=comment_id))]


# The room itself, while it is open.


@moderation.write(budget=Budget(writes=6, of="a word"))
def block_word(act: HostAction, epoch: Epoch, word: str) -> Plan[Block]:
    """The host keeps a word out of the room from now on."""
    made = Block(room_id=act.room_id, what="WORD", value=fold_word(word), at=act.at)
    return Plan(put(made, if_absent=True), _governed(act, epoch), _logged(act, "BLOCK_WORD", made.value))


@moderation.write(budget=Budget(writes=6, of="a word"))
def unblock_word(act: HostAction, epoch: Epoch, word: str) -> Plan[Block]:
    """The host lets a word in again."""
    blocked = Block.key(room_id=act.room_id, what="WORD", value=fold_word(word))
    return Plan(
        delete(blocked, when=blocked_at.exists()), _governed(act, epoch), _logged(act, "UNBLOCK_WORD", fold_word(word))
    )


@moderation.write(budget=Budget(writes=6, of="a sender"))
def block_sender(act: HostAction, epoch: Epoch, sender_id: SenderId, comment_id: CommentId) -> Plan[Block]:
    """The host keeps whoever wrote a comment out of the room. The log names the comment, not the session."""
    made = Block(room_id=act.room_id, what="SENDER", value=sender_id, at=act.at, comment_id=comment_id)
    return Plan(put(made, if_absent=True), _governed(act, epoch), _logged(act, "BLOCK_SENDER", comment_id))


@moderation.write(budget=Budget(writes=6, of="a sender"))
def unblock_sender(act: HostAction, epoch: Epoch, sender_id: SenderId, comment_id: CommentId) -> Plan[Block]:
    """The host lets a sender's session in again."""
    blocked = Block.key(room_id=act.room_id, what="SENDER", value=sender_id)
    return Plan(
        delete(blocked, when=blocked_at.exists()), _governed(act, epoch), _logged(act, "UNBLOCK_SENDER", comment_id)
    )


@moderation.write(budget=Budget(writes=5, of="a room"))
def pause_room(act: HostAction, epoch: Epoch, pause: bool) -> Plan[Room]:
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
def slow_room(act: HostAction, epoch: Epoch, seconds: SlowMode | None) -> Plan[Room]:
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


def _hosted(act: HostAction, epoch: Epoch | None) -> Step[Room]:
    over = host.equals(act.host_id) & status.equals("CLOSED")
    return check(Room.key(room_id=act.room_id), over if epoch is None else _governing(act, epoch))


def _governed(act: HostAction, epoch: Epoch) -> Step[Room]:
    return check(Room.key(room_id=act.room_id), _governing(act, epoch))


def _governing(act: HostAction, epoch: Epoch) -> Condition[Room]:
    return host.equals(act.host_id) & status.equals("OPEN") & owner_epoch.equals(epoch)


def _logged(act: HostAction, action: Action, subject: str | None = None) -> Step[LogEntry]:
    entry = LogEntry(room_id=act.room_id, at=act.at, log_id=act.log_id, action=action, subject=subject)
    return put(entry, if_absent=True)
