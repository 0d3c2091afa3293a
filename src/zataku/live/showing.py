"""Rooms and comments as people see them."""

from zataku.live.design import Comment, Room
from zataku.live.limits import BEFORE_ALL, HostId
from zataku.live.messages import CommentView, RoomView


def room_view(room: Room, viewer: HostId | None = None) -> RoomView:
    """A room as somebody sees it; without a viewer, as everybody does."""
    return RoomView(
        room_id=room.room_id,
        name=room.name,
        status=room.status,
        created_at=room.created_at,
        mine=None if viewer is None else room.host_id == viewer,
    )


def comment_view(comment: Comment) -> CommentView:
    """A comment without whoever wrote it."""
    return CommentView(
        comment_id=comment.comment_id,
        seq=comment.seq or BEFORE_ALL,
        content=comment.content,
        nickname=comment.nickname,
        created_at=comment.created_at,
    )
