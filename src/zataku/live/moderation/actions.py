"""What each action of a host changes: the write, the room after it, the events, and the log entry. Pure."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from zataku.errors import InvalidRequest
from zataku.live import messages
from zataku.live.design import Comment, Room
from zataku.live.errors import comment_not_found, own_comment, too_many_blocks, too_many_pins
from zataku.live.limits import (
    MAX_PINS,
    MAX_WORD_LENGTH,
    Action,
    CommentId,
    Epoch,
    SenderId,
    fold_word,
    require_visible,
)
from zataku.live.moderation.writes import (
    MARK_ACTIONS,
    HostAction,
    block_sender,
    block_word,
    delete_comment,
    mark_comment,
    pause_room,
    slow_room,
    unblock_sender,
    unblock_word,
    unmark_comment,
)
from zataku.live.rules.room_state import RoomState
from zataku.live.rules.views import comment_view, room_view
from zataku.table import Plan

MAX_BLOCKS = 200
"""How many words, and how many senders, a host can block in a room."""

COMMENT_ACTIONS = frozenset({*MARK_ACTIONS.values(), "DELETE", "BLOCK_SENDER", "UNBLOCK_SENDER"})
"""Actions whose log entry has a comment as its subject."""


class ModerationChange(msgspec.Struct, frozen=True, kw_only=True):
    """An action that is about to be stored: its write, the room after it, its events, and its log entry."""

    plan: Plan[Any]
    state: RoomState
    events: tuple[messages.Event, ...] = ()
    action: Action
    subject: str | None = None
    about: str | None = None


def change_mark(
    state: RoomState, host_action: HostAction, command: messages.MarkComment, comment: Comment, epoch: Epoch | None
) -> ModerationChange | None:
    """Hide, pin or mark as answered a comment, or undo that; None when nothing changes."""
    mark, on, comment_id = command.mark, command.on, command.comment_id
    if state.moderation.has_mark(mark, comment_id) == on:
        return None
    if mark == "PINNED" and on and len(state.moderation.pinned) >= MAX_PINS:
        raise too_many_pins()
    write = mark_comment if on else unmark_comment
    moderation = state.moderation.with_mark(mark, comment_id, on=on)
    pinned = {it: state.pinned.get(it, comment) for it in moderation.pinned}
    return ModerationChange(
        plan=write(host_action, mark, comment_id, epoch),
        state=replace(state, moderation=moderation, pinned=pinned),
        events=_mark_events(state, command, comment),
        action=MARK_ACTIONS[mark, on],
        subject=comment_id,
        about=comment.content,
    )


def _mark_events(state: RoomState, command: messages.MarkComment, comment: Comment) -> tuple[messages.Event, ...]:
    """The events of a mark. A hidden comment appears in none until it is shown again."""
    comment_id, view = command.comment_id, comment_view(comment, state.room.host_id)
    is_hidden = state.moderation.has_mark("HIDDEN", comment_id)
    match command.mark, command.on:
        case "HIDDEN", True:
            return (messages.CommentRemoved(comment_id=comment_id),)
        case "HIDDEN", False:
            is_pinned = state.moderation.has_mark("PINNED", comment_id)
            # All pins again, the latest last, so that their order stays.
            pins = (state.pinned.get(it) for it in reversed(state.moderation.pinned)) if is_pinned else ()
            shown = (messages.Pinned(comment=comment_view(it, state.room.host_id)) for it in pins if it is not None)
            return (messages.CommentRestored(comment=view), *shown)
        case "PINNED", True:
            return () if is_hidden else (messages.Pinned(comment=view),)
        case "PINNED", False:
            return (messages.Unpinned(comment_id=comment_id),)
        case _, on:
            return (messages.Answered(comment_id=comment_id, on=on),)


def change_deletion(
    state: RoomState, host_action: HostAction, comment: Comment, epoch: Epoch | None
) -> ModerationChange:
    """Delete a comment with its marks and its upvote count."""
    comment_id = comment.comment_id
    return ModerationChange(
        plan=delete_comment(host_action, comment_id, epoch),
        state=state.without_comment(comment_id),
        events=(messages.CommentRemoved(comment_id=comment_id, deleted=True),),
        action="DELETE",
        subject=comment_id,
    )


def change_pause(state: RoomState, host_action: HostAction, on: bool) -> ModerationChange | None:
    """Pause the comments of the room, or resume them; None when nothing changes."""
    if (state.room.paused is True) == on:
        return None
    room = replace(state.room, paused=True if on else None, updated_at=host_action.at)
    return _change_room(state, room, pause_room(host_action, state.epoch, on), "PAUSE" if on else "RESUME")


def change_slow_mode(state: RoomState, host_action: HostAction, seconds: int | None) -> ModerationChange | None:
    """Set the seconds of slow mode, or switch it off; None when nothing changes."""
    if state.room.slow_mode_seconds == seconds:
        return None
    room = replace(state.room, slow_mode_seconds=seconds, updated_at=host_action.at)
    action, subject = ("HURRY", None) if seconds is None else ("SLOW", str(seconds))
    return _change_room(state, room, slow_room(host_action, state.epoch, seconds), action, subject)


def _change_room(
    state: RoomState, room: Room, plan: Plan[Any], action: Action, subject: str | None = None
) -> ModerationChange:
    events = (messages.RoomChanged(room=room_view(room)),)
    return ModerationChange(plan=plan, state=replace(state, room=room), events=events, action=action, subject=subject)


def change_word_block(
    state: RoomState, host_action: HostAction, command: messages.BlockWord
) -> ModerationChange | None:
    """Block a word, or unblock it; None when nothing changes."""
    word, words = fold_word(command.word), state.moderation.blocked_words
    try:
        require_visible("word", word)
    except ValueError as error:
        raise InvalidRequest(f"{error}.") from None
    if len(word) > MAX_WORD_LENGTH:
        # Folding makes some single characters long: ﷺ becomes a phrase.
        raise InvalidRequest(
            f"A word has at most {MAX_WORD_LENGTH} characters when it is written out. Take a part of it."
        )
    if (word in words) == command.on:
        return None
    if command.on and len(words) >= MAX_BLOCKS:
        raise too_many_blocks(MAX_BLOCKS)
    write: Callable[[HostAction, Epoch, str], Plan[Any]] = block_word if command.on else unblock_word
    moderation = replace(state.moderation, blocked_words=words | {word} if command.on else words - {word})
    return ModerationChange(
        plan=write(host_action, state.epoch, word),
        state=replace(state, moderation=moderation),
        action="BLOCK_WORD" if command.on else "UNBLOCK_WORD",
        subject=word,
    )


def change_sender_block(state: RoomState, host_action: HostAction, comment: Comment) -> ModerationChange | None:
    """Block the sender of a comment; None when they are blocked already."""
    sender, senders = comment.sender_id, state.moderation.blocked_senders
    if sender is None:
        # The account was removed, and the sender of the comment with it.
        raise comment_not_found()
    if sender == SenderId(host_action.host_id):
        raise own_comment()
    if sender in senders:
        return None
    if len(senders) >= MAX_BLOCKS:
        raise too_many_blocks(MAX_BLOCKS)
    moderation = replace(state.moderation, blocked_senders={**senders, sender: comment.comment_id})
    return ModerationChange(
        plan=block_sender(host_action, state.epoch, sender, comment.comment_id),
        state=replace(state, moderation=moderation),
        action="BLOCK_SENDER",
        subject=comment.comment_id,
        about=comment.content,
    )


def change_sender_unblock(
    state: RoomState, host_action: HostAction, comment_id: CommentId, comment: Comment | None
) -> ModerationChange | None:
    """Unblock a sender, found by the comment they were blocked for or by another of theirs; None when not blocked."""
    senders = state.moderation.blocked_senders
    blocked_for_comment = (sender for sender, reason in senders.items() if reason == comment_id)
    author = None if comment is None else comment.sender_id
    sender = next(blocked_for_comment, author)
    if sender is None or sender not in senders:
        return None
    others = {it: reason for it, reason in senders.items() if it != sender}
    return ModerationChange(
        plan=unblock_sender(host_action, state.epoch, sender, senders[sender] or comment_id),
        state=replace(state, moderation=replace(state.moderation, blocked_senders=others)),
        action="UNBLOCK_SENDER",
        subject=senders[sender] or comment_id,
        about=None if comment is None else comment.content,
    )
