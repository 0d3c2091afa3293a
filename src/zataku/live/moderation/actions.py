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
    PINS,
    WORD_CHARACTERS,
    Action,
    CommentId,
    Epoch,
    HostMark,
    SenderId,
    folded,
    refuse_invisible,
)
from zataku.live.moderation.writes import (
    HostAct,
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
from zataku.live.rules.room_state import Talk
from zataku.live.views import comment_view, room_view
from zataku.table import Plan

MOST_BLOCKS = 200
"""How many words, and how many senders, can be kept out of a room."""

MARKING: dict[tuple[HostMark, bool], Action] = {
    ("HIDDEN", True): "HIDE",
    ("HIDDEN", False): "SHOW",
    ("PINNED", True): "PIN",
    ("PINNED", False): "UNPIN",
    ("ANSWERED", True): "ANSWER",
    ("ANSWERED", False): "REASK",
}


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """An act that is about to be stored. `subject` and `about` are what the log says of it."""

    plan: Plan[Any]
    state: Talk
    told: tuple[said.Event, ...] = ()
    action: Action
    subject: str | None = None
    about: str | None = None


def marking(state: Talk, act: HostAct, command: said.MarkComment, comment: Comment, epoch: Epoch | None) -> Deed | None:
    """Hide, pin or mark as answered a comment, or take that back; None when it is so already."""
    mark, on, comment_id = command.mark, command.on, command.comment_id
    if state.standing.has(mark, comment_id) == on:
        return None
    if mark == "PINNED" and on and len(state.standing.pinned) >= PINS:
        raise too_many_pins()
    write = mark_comment if on else unmark_comment
    standing = state.standing.marked(mark, comment_id, on=on)
    pinned = {it: state.pinned.get(it, comment) for it in standing.pinned}
    return Deed(
        plan=write(act, mark, comment_id, epoch),
        state=replace(state, standing=standing, pinned=pinned),
        told=_told_of_mark(state, command, comment),
        action=MARKING[mark, on],
        subject=comment_id,
        about=comment.content,
    )


def _told_of_mark(state: Talk, command: said.MarkComment, comment: Comment) -> tuple[said.Event, ...]:
    """What everybody hears. Of a hidden comment nobody hears anything, until it is shown again."""
    comment_id, view = command.comment_id, comment_view(comment)
    is_hidden = state.standing.has("HIDDEN", comment_id)
    match command.mark, command.on:
        case "HIDDEN", True:
            return (said.CommentGone(comment_id=comment_id),)
        case "HIDDEN", False:
            is_pinned = state.standing.has("PINNED", comment_id)
            # All of them once more, so that each is where it was.
            pins = (state.pinned.get(it) for it in reversed(state.standing.pinned)) if is_pinned else ()
            told = (said.Pinned(comment=comment_view(it)) for it in pins if it is not None)
            return (said.CommentBack(comment=view), *told)
        case "PINNED", True:
            return () if is_hidden else (said.Pinned(comment=view),)
        case "PINNED", False:
            return (said.Unpinned(comment_id=comment_id),)
        case _, on:
            return (said.Answered(comment_id=comment_id, on=on),)


def deleting(state: Talk, act: HostAct, comment: Comment, epoch: Epoch | None) -> Deed:
    """Delete a comment with all its traces."""
    comment_id = comment.comment_id
    return Deed(
        plan=delete_comment(act, comment_id, epoch),
        state=state.without(comment_id),
        told=(said.CommentGone(comment_id=comment_id, deleted=True),),
        action="DELETE",
        subject=comment_id,
    )


def pausing(state: Talk, act: HostAct, on: bool) -> Deed | None:
    """Let the room take no comments, or take them again."""
    if (state.room.paused is True) == on:
        return None
    room = replace(state.room, paused=True if on else None, updated_at=act.at)
    return _changing(state, room, pause_room(act, state.epoch, on), "PAUSE" if on else "RESUME")


def slowing(state: Talk, act: HostAct, seconds: int | None) -> Deed | None:
    """Make everybody wait between two comments, or no longer."""
    if state.room.slow_mode_seconds == seconds:
        return None
    room = replace(state.room, slow_mode_seconds=seconds, updated_at=act.at)
    action, subject = ("HURRY", None) if seconds is None else ("SLOW", str(seconds))
    return _changing(state, room, slow_room(act, state.epoch, seconds), action, subject)


def _changing(state: Talk, room: Room, plan: Plan[Any], action: Action, subject: str | None = None) -> Deed:
    told = (said.Changed(room=room_view(room)),)
    return Deed(plan=plan, state=replace(state, room=room), told=told, action=action, subject=subject)


def keeping_out_word(state: Talk, act: HostAct, command: said.BlockWord) -> Deed | None:
    """Keep a word out of the room, or let it in again."""
    word, words = folded(command.word), state.standing.words
    try:
        refuse_invisible("word", word)
    except ValueError as wrong:
        raise InvalidRequest(f"{wrong}.") from None
    if len(word) > WORD_CHARACTERS:
        # Some characters stand for a whole line of others.
        raise InvalidRequest(
            f"A word has at most {WORD_CHARACTERS} characters when it is written out. Take a part of it."
        )
    if (word in words) == command.on:
        return None
    if command.on and len(words) >= MOST_BLOCKS:
        raise too_many_blocks(MOST_BLOCKS)
    write: Callable[[HostAct, Epoch, str], Plan[Any]] = block_word if command.on else unblock_word
    standing = replace(state.standing, words=words | {word} if command.on else words - {word})
    return Deed(
        plan=write(act, state.epoch, word),
        state=replace(state, standing=standing),
        action="BLOCK_WORD" if command.on else "UNBLOCK_WORD",
        subject=word,
    )


def keeping_out_sender(state: Talk, act: HostAct, comment: Comment) -> Deed | None:
    """Keep whoever wrote a comment out of the room."""
    sender, senders = comment.sender_id, state.standing.senders
    if sender is None:
        # Their account is gone, and the comment is nobody's.
        raise no_such_comment()
    if sender == SenderId(act.host_id):
        raise own_comment()
    if sender in senders:
        return None
    if len(senders) >= MOST_BLOCKS:
        raise too_many_blocks(MOST_BLOCKS)
    standing = replace(state.standing, senders={**senders, sender: comment.comment_id})
    return Deed(
        plan=block_sender(act, state.epoch, sender, comment.comment_id),
        state=replace(state, standing=standing),
        action="BLOCK_SENDER",
        subject=comment.comment_id,
        about=comment.content,
    )


def letting_in(state: Talk, act: HostAct, comment_id: CommentId, comment: Comment | None) -> Deed | None:
    """Let somebody in again, who is known by the comment for which they were kept out, or by another of theirs."""
    senders = state.standing.senders
    named = (sender for sender, known_by in senders.items() if known_by == comment_id)
    author = None if comment is None else comment.sender_id
    sender = next(named, author)
    if sender is None or sender not in senders:
        return None
    standing = replace(state.standing, senders={it: by for it, by in senders.items() if it != sender})
    return Deed(
        plan=unblock_sender(act, state.epoch, sender, senders[sender] or comment_id),
        state=replace(state, standing=standing),
        action="UNBLOCK_SENDER",
        subject=senders[sender] or comment_id,
        about=None if comment is None else comment.content,
    )
