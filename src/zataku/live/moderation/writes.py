"""The atomic writes of moderation: each action of a host is stored together with its log entry, or not at all."""

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

HOST_MARKS: tuple[HostMark, ...] = ("HIDDEN", "PINNED", "ANSWERED")
MARK_ACTIONS: dict[tuple[HostMark, bool], Action] = {
    ("HIDDEN", True): "HIDE",
    ("HIDDEN", False): "SHOW",
    ("PINNED", True): "PIN",
    ("PINNED", False): "UNPIN",
    ("ANSWERED", True): "ANSWER",
    ("ANSWERED", False): "REASK",
}
"""The action of setting a mark, and of removing it."""


class HostAction(Struct, frozen=True, kw_only=True):
    """The room, the host and the time of an action, with the id of its log entry."""

    room_id: Annotated[RoomId, UUID_V4]
    host_id: Annotated[HostId, EXTERNAL_ID]
    at: InstantMs
    log_id: Annotated[LogId, UUID_V4]


# Comments. In an open room the owner stores these, with its epoch. A closed room has no owner and no epoch, and its
# comments are still shown in its archive.


@moderation.write(budget=Budget(writes=8, of="a comment of 60 characters"))
def mark_comment(host_action: HostAction, mark: HostMark, comment_id: CommentId, epoch: Epoch | None) -> Plan[Mark]:
    """Hide, pin or mark as answered a comment that exists and does not have the mark yet."""
    new_mark = Mark(room_id=host_action.room_id, mark=mark, comment_id=comment_id, at=host_action.at)
    return Plan(
        put(new_mark, if_absent=True),
        check(Comment.key(room_id=host_action.room_id, comment_id=comment_id)),
        _check_host(host_action, epoch),
        _log_entry(host_action, MARK_ACTIONS[mark, True], comment_id),
    )


@moderation.write(budget=Budget(writes=6, of="a marked comment"))
def unmark_comment(host_action: HostAction, mark: HostMark, comment_id: CommentId, epoch: Epoch | None) -> Plan[Mark]:
    """Remove a mark: show a comment again, unpin it, or mark it as not answered."""
    marked = Mark.key(room_id=host_action.room_id, mark=mark, comment_id=comment_id)
    removal = delete(marked, when=marked_at.exists())
    return Plan(
        removal, _check_host(host_action, epoch), _log_entry(host_action, MARK_ACTIONS[mark, False], comment_id)
    )


@moderation.write(budget=Budget(writes=18, of="a comment of 60 characters"))
def delete_comment(host_action: HostAction, comment_id: CommentId, epoch: Epoch | None) -> Plan[Mark]:
    """Delete a comment with its marks and its upvote count; a `DELETED` mark tells readers that resume."""
    new_mark = Mark(room_id=host_action.room_id, mark="DELETED", comment_id=comment_id, at=host_action.at)
    return Plan(
        put(new_mark),
        delete(Comment.key(room_id=host_action.room_id, comment_id=comment_id), when=posted_at.exists()),
        *clear_comment(host_action.room_id, comment_id),
        _check_host(host_action, epoch),
        _log_entry(host_action, "DELETE", comment_id),
    )


def clear_comment(room_id: RoomId, comment_id: CommentId) -> list[Step[Any]]:
    """The steps that delete what belongs to a comment: the marks of the host and the upvote count.

    The single upvotes stay: there are up to thousands, they are never shown, and the owner refuses the id from now on.
    """
    marks = [delete(Mark.key(room_id=room_id, mark=mark, comment_id=comment_id)) for mark in HOST_MARKS]
    return [*marks, delete(Upvotes.key(room_id=room_id, comment_id=comment_id))]


# The room, while it is open.


@moderation.write(budget=Budget(writes=6, of="a word"))
def block_word(host_action: HostAction, epoch: Epoch, word: str) -> Plan[Block]:
    """Block a word."""
    block = Block(room_id=host_action.room_id, what="WORD", value=fold_word(word), at=host_action.at)
    return Plan(
        put(block, if_absent=True), _check_host(host_action, epoch), _log_entry(host_action, "BLOCK_WORD", block.value)
    )


@moderation.write(budget=Budget(writes=6, of="a word"))
def unblock_word(host_action: HostAction, epoch: Epoch, word: str) -> Plan[Block]:
    """Unblock a word."""
    blocked = Block.key(room_id=host_action.room_id, what="WORD", value=fold_word(word))
    return Plan(
        delete(blocked, when=blocked_at.exists()),
        _check_host(host_action, epoch),
        _log_entry(host_action, "UNBLOCK_WORD", fold_word(word)),
    )


@moderation.write(budget=Budget(writes=7, of="a sender"))
def block_sender(host_action: HostAction, epoch: Epoch, sender_id: SenderId, comment_id: CommentId) -> Plan[Block]:
    """Block the sender of a comment. The log names the comment, not the session."""
    block = Block(room_id=host_action.room_id, what="SENDER", value=sender_id, at=host_action.at, comment_id=comment_id)
    return Plan(
        put(block, if_absent=True), _check_host(host_action, epoch), _log_entry(host_action, "BLOCK_SENDER", comment_id)
    )


@moderation.write(budget=Budget(writes=7, of="a sender"))
def unblock_sender(host_action: HostAction, epoch: Epoch, sender_id: SenderId, comment_id: CommentId) -> Plan[Block]:
    """Unblock a sender."""
    blocked = Block.key(room_id=host_action.room_id, what="SENDER", value=sender_id)
    return Plan(
        delete(blocked, when=blocked_at.exists()),
        _check_host(host_action, epoch),
        _log_entry(host_action, "UNBLOCK_SENDER", comment_id),
    )


@moderation.write(budget=Budget(writes=5, of="a room"))
def pause_room(host_action: HostAction, epoch: Epoch, pause: bool) -> Plan[Room]:
    """Pause the comments of a room, or resume them; fails when nothing changes."""
    changes = paused.not_equals(True) if pause else paused.equals(True)
    return Plan(
        update(
            Room.key(room_id=host_action.room_id),
            paused.set(True if pause else None),
            updated_at.set(host_action.at),
            when=_is_owned(host_action, epoch) & changes,
        ),
        _log_entry(host_action, "PAUSE" if pause else "RESUME"),
    )


@moderation.write(budget=Budget(writes=5, of="a room"))
def slow_room(host_action: HostAction, epoch: Epoch, seconds: SlowMode | None) -> Plan[Room]:
    """Set the seconds of slow mode, or switch it off; fails when nothing changes."""
    changes = slow_mode.exists() if seconds is None else slow_mode.not_equals(seconds)
    return Plan(
        update(
            Room.key(room_id=host_action.room_id),
            slow_mode.set(seconds),
            updated_at.set(host_action.at),
            when=_is_owned(host_action, epoch) & changes,
        ),
        _log_entry(host_action, "HURRY" if seconds is None else "SLOW", None if seconds is None else str(seconds)),
    )


def _check_host(host_action: HostAction, epoch: Epoch | None) -> Step[Room]:
    is_closed = host.equals(host_action.host_id) & status.equals("CLOSED")
    return check(Room.key(room_id=host_action.room_id), is_closed if epoch is None else _is_owned(host_action, epoch))


def _is_owned(host_action: HostAction, epoch: Epoch) -> Condition[Room]:
    return host.equals(host_action.host_id) & status.equals("OPEN") & owner_epoch.equals(epoch)


def _log_entry(host_action: HostAction, action: Action, subject: str | None = None) -> Step[LogEntry]:
    entry = LogEntry(
        room_id=host_action.room_id, at=host_action.at, log_id=host_action.log_id, action=action, subject=subject
    )
    return put(entry, if_absent=True)
