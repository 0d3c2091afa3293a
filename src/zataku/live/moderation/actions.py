"""What an act of the host comes to: the write, the room after it, and what is told of it. Nothing is stored here."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from zataku.errors import InvalidRequest
from zataku.live import messages as said
from zataku.live.design import Comment, Room
from zataku.live.errors import no_such_comment, own_comment, too_many_blocks, too_many_pins
from zataku.live.limits import (
    MAX_PINS,
    MAX_WORD_LENGTH,
    Action,
    CommentId,
    Epoch,
    HostMark,
    SenderId,
    fold_word,
    require_visible,
)
from zataku.live.moderation.writes import (
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
from zataku.live.views import comment_view, room_view
from zataku.table import Plan

MAX_BLOCKS = 200
"""How many words, and how many senders, can be kept out of a room."""

MARKING: dict[tuple[HostMark, bool], Action] = {
    ("HIDDEN", True): "HIDE",
    ("HIDDEN", False): "SHOW",
    ("PINNED", True): "PIN",
    ("PINNED", False): "UNPIN",
    ("ANSWERED", True): "ANSWER",
    ("ANSWERED", False): "REASK",
}


class ModerationChange(msgspec.Struct, frozen=True, kw_only=True):
    """An act that is about to be stored. `subject` and `about` are what the log says of it."""

    plan: Plan[Any]
    state: RoomState
    told: tuple[said.Event, ...] = ()
    action: Action
    subject: str | None = None
    about: str | None = None


def marking(
    state: RoomState, act: HostAction, command: said.MarkComment, comment: Comment, epoch: Epoch | None
) -> ModerationChange | None:
    """Hide, pin or mark as answered a comment, or take that back; None when it is so already."""
    mark, on, comment_id = command.mark, command.on, command.comment_id
    if state.standing.has(mark, comment_id) == on:
        return None
    if mark == "PINNED" and on and len(state.standing.pinned) >= MAX_PINS:
        raise too_many_pins()
    write = mark_comment if on else unmark_comment
    standing = state.standing.marked(mark, comment_id, on=on)
    pinned = {it: state.pinned.get(it, comment) for it in standing.pinned}
    return ModerationChange(
        plan=write(act, mark, comment_id, epoch),
        state=replace(state, standing=standing, pinned=pinned),
        told=_told_of_mark(state, command, comment),
        action=MARKING[mark, on],
        subject=comment_id,
        about=comment.content,
    )


def _told_of_mark(state: RoomState, command: said.MarkComment, comment: Comment) -> tuple[said.Event, ...]:
    """What everybody hears. Of a hidden comment nobody hears anything, until it is shown again."""
    comment_id, view = command.comment_id, comment_view(comment)
    is_hidden = state.standing.has("HIDDEN", comment_id)
    match command.mark, command.on:
        case "HIDDEN", True:
            return (said.CommentRemoved(comment_id=comment_id),)
        case "HIDDEN", False:
            is_pinned = state.standing.has("PINNED", comment_id)
            # All of them once more, so that each is where it was.
            pins = (state.pinned.get(it) for it in reversed(state.standing.pinned)) if is_pinned else ()
            told = (said.Pinned(comment=comment_view(it)) for it in pins if it is not None)
            return (said.CommentRestored(comment=view), *told)
        case "PINNED", True:
            return () if is_hidden else (said.Pinned(comment=view),)
        case "PINNED", False:
            return (said.Unpinned(comment_id=comment_id),)
        case _, on:
            return (said.Answered(comment_id=comment_id, on=on),)


def deleting(state: RoomState, act: HostAction, comment: Comment, epoch: Epoch | None) -> ModerationChange:
    """Delete a comment with all its traces."""
    comment_id = comment.comment_id
    return ModerationChange(
        plan=delete_comment(act, comment_id, epoch),
        state=state.without(comment_id),
        told=(said.CommentRemoved(comment_id=comment_id, deleted=True),),
        action="DELETE",
        subject=comment_id,
    )


def pausing(state: RoomState, act: HostAction, on: bool) -> ModerationChange | None:
    """Let the room take no comments, or take them again."""
    if (state.room.paused is True) == on:
        return None
    room = replace(state.room, paused=True if on else None, updated_at=act.at)
    return _changing(state, room, pause_room(act, state.epoch, on), "PAUSE" if on else "RESUME")


def slowing(state: RoomState, act: HostAction, seconds: int | None) -> ModerationChange | None:
    """Make everybody wait between two comments, or no longer."""
    if state.room.slow_mode_seconds == seconds:
        return None
    room = replace(state.room, slow_mode_seconds=seconds, updated_at=act.at)
    action, subject = ("HURRY", None) if seconds is None else ("SLOW", str(seconds))
    return _changing(state, room, slow_room(act, state.epoch, seconds), action, subject)


def _changing(
    state: RoomState, room: Room, plan: Plan[Any], action: Action, subject: str | None = None
) -> ModerationChange:
    told = (said.RoomChanged(room=room_view(room)),)
    return ModerationChange(plan=plan, state=replace(state, room=room), told=told, action=action, subject=subject)


def keeping_out_word(state: RoomState, act: HostAction, command: said.BlockWord) -> ModerationChange | None:
    """Keep a word out of the room, or let it in again."""
    word, words = fold_word(command.word), state.standing.words
    try:
        require_visible("word", word)
    except ValueError as wrong:
        raise InvalidRequest(f"{wrong}.") from None
    if len(word) > MAX_WORD_LENGTH:
        # Some characters stand for a whole line of others.
        raise InvalidRequest(
            f"A word has at most {MAX_WORD_LENGTH} characters when it is written out. Take a part of it."
        )
    if (word in words) == command.on:
        return None
    if command.on and len(words) >= MAX_BLOCKS:
        raise too_many_blocks(MAX_BLOCKS)
    write: Callable[[HostAction, Epoch, str], Plan[Any]] = block_word if command.on else unblock_word
    standing = replace(state.standing, words=words | {word} if command.on else words - {word})
    return ModerationChange(
        plan=write(act, state.epoch, word),
        state=replace(state, standing=standing),
        action="BLOCK_WORD" if command.on else "UNBLOCK_WORD",
        subject=word,
    )


def keeping_out_sender(state: RoomState, act: HostAction, comment: Comment) -> ModerationChange | None:
    """Keep whoever wrote a comment out of the room."""
    sender, senders = comment.sender_id, state.standing.senders
    if sender is None:
        # Their account is gone, and the comment is nobody's.
        raise no_such_comment()
    if sender == SenderId(act.host_id):
        raise own_comment()
    if sender in senders:
        return None
    if len(senders) >= MAX_BLOCKS:
        raise too_many_blocks(MAX_BLOCKS)
    standing = replace(state.standing, senders={**senders, sender: comment.comment_id})
    return ModerationChange(
        plan=block_sender(act, state.epoch, sender, comment.comment_id),
        state=replace(state, standing=standing),
        action="BLOCK_SENDER",
        subject=comment.comment_id,
        about=comment.content,
    )


def letting_in(
    state: RoomState, act: HostAction, comment_id: CommentId, comment: Comment | None
) -> ModerationChange | None:
    """Let somebody in again, who is known by the comment for which they were kept out, or by another of theirs."""
    senders = state.standing.senders
    named = (sender for sender, known_by in senders.items() if known_by == comment_id)
    author = None if comment is None else comment.sender_id
    sender = next(named, author)
    if sender is None or sender not in senders:
        return None
    standing = replace(state.standing, senders={it: by for it, by in senders.items() if it != sender})
    return ModerationChange(
        plan=unblock_sender(act, state.epoch, sender, senders[sender] or comment_id),
        state=replace(state, standing=standing),
        action="UNBLOCK_SENDER",
        subject=senders[sender] or comment_id,
        about=None if comment is None else comment.content,
    )
