"""Erasure of a removed account from a running room: the table is changed already, the room follows it."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from zataku.live.design import Comment
from zataku.live.limits import CommentId, SenderId
from zataku.live.rules.room_state import RoomState


class Erasure(msgspec.Struct, frozen=True):
    """The room after an erasure, its visible comments that changed, and the pins to show again, the latest last."""

    state: RoomState
    changed: Sequence[Comment]
    pins: Sequence[Comment]


def erase_sender(state: RoomState, sender: SenderId, stored: Mapping[CommentId, Comment]) -> Erasure:
    """The room with the sender's comments as they are stored. When one changed, all pins are shown again in order."""

    def as_stored(comment: Comment) -> Comment:
        return stored.get(comment.comment_id, comment) if comment.sender_id == sender else comment

    moderation = state.moderation
    changed = [as_stored(it) for it in state.recent if as_stored(it) != it and not moderation.is_gone(it.comment_id)]
    pinned = {it: as_stored(comment) for it, comment in state.pinned.items()}
    pins = [pinned[it] for it in reversed(moderation.pinned) if it in pinned and it not in moderation.hidden]
    state = replace(state, recent=tuple(map(as_stored, state.recent)), pinned=pinned)
    return Erasure(state, changed, pins if changed else [])
