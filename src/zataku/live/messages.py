"""What crosses the wire of a live room. Whose comment it is stays with the server: no struct here has a sender."""

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from zataku.live.limits import CommentId, Content, Nickname, RoomId, RoomName, RoomStatus, Seq
from zataku.table.forms import InstantMs


class _Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class _Said(_Wire, frozen=True, kw_only=True, tag_field="k"):
    pass


class _Asked(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="k", forbid_unknown_fields=True):
    pass


# Over HTTP


class NewRoom(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What a presenter says to open a room."""

    name: RoomName


class RoomView(_Wire, frozen=True, kw_only=True):
    """A room as people see it. `mine` tells its host, where that is known."""

    room_id: RoomId
    name: str
    status: RoomStatus
    created_at: InstantMs
    mine: bool | None = None


class RoomList(_Wire, frozen=True, kw_only=True):
    """Some of the caller's rooms, newest first; `next` leads to the others."""

    rooms: list[RoomView]
    next: str | None = None


class CommentView(_Wire, frozen=True, kw_only=True):
    """A comment as people see it; `seq` is its place in the room."""

    comment_id: CommentId
    seq: Seq
    content: str
    nickname: str
    created_at: InstantMs


class CommentList(_Wire, frozen=True, kw_only=True):
    """Comments in the order of the room. With `more` there are others after the last."""

    comments: list[CommentView]
    more: bool = False


# Commands of the room


class Say(_Asked, frozen=True, kw_only=True, tag="comment"):
    """Write a comment. Answered by the comment."""

    content: Content
    nickname: Annotated[Nickname | None, Meta(description="Anonymous without one")] = None


class Close(_Asked, frozen=True, kw_only=True, tag="close"):
    """The host closes the room, for good. Answered by the room."""


Command: TypeAlias = Say | Close


# Events of the room


class Commented(_Said, frozen=True, kw_only=True, tag="commented"):
    """Somebody wrote something."""

    comment: CommentView


class Closed(_Said, frozen=True, kw_only=True, tag="closed"):
    """The host closed the room."""


Event: TypeAlias = Commented | Closed


class Snapshot(_Wire, frozen=True, kw_only=True):
    """The room, and what was said in it after what the reader has seen; the latest for a newcomer.

    With `more` there is more after the last of these, to be fetched. `earlier` says that there was more before them.
    """

    room: RoomView
    comments: list[CommentView]
    more: bool = False
    earlier: bool = False
