"""The messages of live rooms. No struct here has a sender: that stays with the server."""

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from zataku.live.limits import (
    MAX_WORD_LENGTH,
    ONE_LINE,
    UUID_V4,
    Action,
    CommentId,
    Content,
    HostMark,
    LogId,
    Nickname,
    Reaction,
    RoomCode,
    RoomId,
    RoomName,
    RoomStatus,
    Seq,
    SlowMode,
)
from zataku.table import InstantMs

CommentIdField: TypeAlias = Annotated[CommentId, UUID_V4]
Word: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_WORD_LENGTH, pattern=ONE_LINE)]


class _Message(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class _EventMessage(_Message, frozen=True, kw_only=True, tag_field="k"):
    pass


class _CommandMessage(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="k", forbid_unknown_fields=True
):
    pass


# Over HTTP


class NewRoom(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The request to open a room."""

    name: RoomName


class RoomView(_Message, frozen=True, kw_only=True):
    """A room. `mine` says whether the viewer is its host, where the viewer is known; an open room has a `code`."""

    room_id: RoomId
    name: str
    status: RoomStatus
    created_at: InstantMs
    closed_at: InstantMs | None = None
    mine: bool | None = None
    paused: bool = False
    slow_mode_seconds: int | None = None
    code: RoomCode | None = None


class RoomList(_Message, frozen=True, kw_only=True):
    """A page of the caller's rooms, newest first; `next` is the cursor of the next page. `demo` is the demo's room."""

    rooms: list[RoomView]
    next: str | None = None
    demo: RoomView | None = None


class CommentView(_Message, frozen=True, kw_only=True):
    """A comment; `seq` is its position in the room.

    `host` says that the host of the room wrote it. `anonymousNumber` tells senders without a nickname apart.
    """

    comment_id: CommentId
    seq: Seq
    content: str
    nickname: str
    created_at: InstantMs
    host: bool = False
    anonymous_number: int | None = None


class CommentList(_Message, frozen=True, kw_only=True):
    """A page of comments in order. With `more` there are others in the direction of reading."""

    comments: list[CommentView]
    more: bool = False


class Reactions(_Message, frozen=True, kw_only=True):
    """The number of reactions of each kind."""

    clap: int = 0
    aha: int = 0
    lol: int = 0


class ModerationStateView(_Message, frozen=True, kw_only=True):
    """The public moderation of a room: marks, upvotes and reactions.

    `pinned` has the latest pin first; `gone` are the hidden and deleted comments; `votes` counts upvotes by comment.
    """

    pinned: list[CommentView] = []
    answered: list[CommentId] = []
    gone: list[CommentId] = []
    votes: dict[CommentId, int] = {}
    reactions: Reactions = Reactions()


# For the host


class LogView(_Message, frozen=True, kw_only=True):
    """An entry of the host's log: `subject` is a comment's id, a word, or seconds; `about` the text of the comment."""

    log_id: LogId
    at: InstantMs
    action: Action
    subject: str | None = None
    about: str | None = None


class BlockedSender(_Message, frozen=True, kw_only=True):
    """A blocked sender, known by a comment of theirs; `about` is its text, if it still exists."""

    comment_id: CommentId
    at: InstantMs
    about: str | None = None
    nickname: str | None = None
    anonymous_number: int | None = None


class HostView(_Message, frozen=True, kw_only=True):
    """The host's view of a room: the log, newest first, the blocks, and the hidden comments."""

    log: list[LogView]
    words: list[str]
    senders: list[BlockedSender]
    hidden: list[CommentView]


class ModerationResult(_Message, frozen=True, kw_only=True):
    """The log entry of an action, or none when it changed nothing."""

    entry: LogView | None = None


# Commands of the room


class PostComment(_CommandMessage, frozen=True, kw_only=True, tag="comment"):
    """Post a comment. The reply is the comment. Sent again with the same `id` it is still one comment."""

    content: Content
    nickname: Annotated[Nickname | None, Meta(description="Anonymous when absent")] = None
    id: Annotated[CommentIdField | None, Meta(description="A UUIDv4; the server makes one when absent")] = None


class RetractComment(_CommandMessage, frozen=True, kw_only=True, tag="take_back"):
    """Delete a comment of the sender, within 60 seconds."""

    comment_id: CommentIdField


class Upvote(_CommandMessage, frozen=True, kw_only=True, tag="upvote"):
    """Upvote a comment of somebody else, once, or take the upvote back. The reply is `upvoted`."""

    comment_id: CommentIdField
    on: bool = True


class CloseRoom(_CommandMessage, frozen=True, kw_only=True, tag="close"):
    """Close the room for good, by its host. The reply is the room."""


class MarkComment(_CommandMessage, frozen=True, kw_only=True, tag="mark"):
    """Hide, pin or mark as answered a comment, or undo that, by the host."""

    comment_id: CommentIdField
    mark: HostMark
    on: bool = True


class DeleteComment(_CommandMessage, frozen=True, kw_only=True, tag="delete"):
    """Delete a comment for good, by the host."""

    comment_id: CommentIdField


class PauseRoom(_CommandMessage, frozen=True, kw_only=True, tag="pause"):
    """Pause the comments of the room, or resume them, by the host."""

    on: bool = True


class SetSlowMode(_CommandMessage, frozen=True, kw_only=True, tag="slow"):
    """Set the seconds between two comments of a sender, or switch slow mode off, by the host."""

    seconds: SlowMode | None = None


class BlockWord(_CommandMessage, frozen=True, kw_only=True, tag="block_word"):
    """Block a word, or unblock it, by the host."""

    word: Word
    on: bool = True


class BlockSender(_CommandMessage, frozen=True, kw_only=True, tag="block_sender"):
    """Block the sender of a comment, or unblock them, by the host."""

    comment_id: CommentIdField
    on: bool = True


ModerationAction: TypeAlias = MarkComment | DeleteComment | PauseRoom | SetSlowMode | BlockWord | BlockSender
"""The actions of a host. The reply to each is its log entry."""

Command: TypeAlias = (
    PostComment
    | RetractComment
    | Upvote
    | CloseRoom
    | MarkComment
    | DeleteComment
    | PauseRoom
    | SetSlowMode
    | BlockWord
    | BlockSender
)


class React(_CommandMessage, frozen=True, kw_only=True, tag="react"):
    """React, without a reply."""

    reaction: Reaction


# Events of the room


class CommentPosted(_EventMessage, frozen=True, kw_only=True, tag="commented"):
    """A comment was posted."""

    comment: CommentView


class CommentRemoved(_EventMessage, frozen=True, kw_only=True, tag="gone"):
    """A comment was hidden; with `deleted`, deleted for good."""

    comment_id: CommentId
    deleted: bool = False


class CommentRestored(_EventMessage, frozen=True, kw_only=True, tag="back"):
    """A hidden comment is shown again, at its old position."""

    comment: CommentView


class Pinned(_EventMessage, frozen=True, kw_only=True, tag="pinned"):
    """A comment was pinned."""

    comment: CommentView


class Unpinned(_EventMessage, frozen=True, kw_only=True, tag="unpinned"):
    """A comment was unpinned."""

    comment_id: CommentId


class Answered(_EventMessage, frozen=True, kw_only=True, tag="answered"):
    """A comment was marked as answered, or as not answered."""

    comment_id: CommentId
    on: bool


class Upvoted(_EventMessage, frozen=True, kw_only=True, tag="upvoted"):
    """The new number of upvotes of a comment."""

    comment_id: CommentId
    votes: int


class RoomChanged(_EventMessage, frozen=True, kw_only=True, tag="changed"):
    """The room was paused, resumed, or its slow mode changed."""

    room: RoomView


class Moderated(_EventMessage, frozen=True, kw_only=True, tag="moderated"):
    """An action was logged; sent to the host alone."""

    entry: LogView


class RoomClosed(_EventMessage, frozen=True, kw_only=True, tag="closed"):
    """The room was closed."""


class Reacted(_EventMessage, frozen=True, kw_only=True, tag="reacted"):
    """The reactions since the last such event. It is not repeated to clients that resume."""

    clap: int = 0
    aha: int = 0
    lol: int = 0


Event: TypeAlias = (
    CommentPosted
    | CommentRemoved
    | CommentRestored
    | Pinned
    | Unpinned
    | Answered
    | Upvoted
    | RoomChanged
    | Moderated
    | RoomClosed
    | Reacted
)


class Snapshot(_Message, frozen=True, kw_only=True):
    """The room, and its comments after what the reader has seen; for a new reader the latest.

    With `more` there are comments after these, to be fetched; with `earlier` there are comments before them. Hidden and
    deleted comments are left out.
    """

    room: RoomView
    comments: list[CommentView]
    standing: ModerationStateView = ModerationStateView()
    more: bool = False
    earlier: bool = False
