"""What a running room still says of somebody whose account is gone: the table is changed already, the room follows."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from zataku.live import messages as said
from zataku.live.design import Comment
from zataku.live.limits import CommentId, SenderId
from zataku.live.rules.room_state import RoomState
from zataku.live.views import comment_view
from zataku.realtime.rooms.behaviour import Event

_encode = msgspec.json.Encoder().encode


def said_by(state: RoomState, sender: SenderId) -> list[CommentId]:
    """What the room has at hand of somebody."""
    return [it.comment_id for it in (*state.recent, *state.pinned.values()) if it.sender_id == sender]


def forgotten(state: RoomState, sender: SenderId, stored: Mapping[CommentId, Comment]) -> tuple[RoomState, list[Event]]:
    """The room with somebody's comments as they are stored, and what everybody is told: they go, and come back."""

    def as_stored(comment: Comment) -> Comment:
        return stored.get(comment.comment_id, comment) if comment.sender_id == sender else comment

    changed = [
        as_stored(it) for it in state.recent if as_stored(it) != it and not state.standing.is_gone(it.comment_id)
    ]
    gone = [Event(_encode(said.CommentRemoved(comment_id=it.comment_id)), erases=True) for it in changed]
    back = [Event(_encode(said.CommentRestored(comment=comment_view(it)))) for it in changed]
    pinned = {it: as_stored(comment) for it, comment in state.pinned.items()}
    pins = [pinned[it] for it in reversed(state.standing.pinned) if it in pinned and it not in state.standing.hidden]
    told_again = [Event(_encode(said.Pinned(comment=comment_view(it)))) for it in pins]
    state = replace(state, recent=tuple(map(as_stored, state.recent)), pinned=pinned)
    return state, [*gone, *back, *told_again] if changed else []
