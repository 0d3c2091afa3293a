"""What crosses the wire of a live room. Whose comment it is stays with the server: no struct here has a sender."""

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
    """What a presenter says to open a room."""

    name: RoomName


class RoomView(_Message, frozen=True, kw_only=True):
    """A room as people see it. `mine` tells its host, where that is known; `code` leads to it while it is open."""

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
    """Some of the caller's rooms, newest first; `next` leads to the others."""

    rooms: list[RoomView]
    next: str | None = None


class CommentView(_Message, frozen=True, kw_only=True):
    """A comment as people see it; `seq` is its place in the room."""

    comment_id: CommentId
    seq: Seq
    content: str
    nickname: str
    created_at: InstantMs


class CommentList(_Message, frozen=True, kw_only=True):
    """Comments in the order of the room. With `more` there are others, after the last or before the first of them."""

    comments: list[CommentView]
    more: bool = False


class Reactions(_Message, frozen=True, kw_only=True):
    """How often people clapped, understood and laughed."""

    clap: int = 0
    aha: int = 0
    lol: int = 0


class ModerationStateView(_Message, frozen=True, kw_only=True):
    """What became of the comments of a room, and how often people reacted, all in all.

    The pinned ones come latest first; the `gone` ones are hidden or deleted; `votes` says how many people want which
    answered.
    """

    pinned: list[CommentView] = []
    answered: list[CommentId] = []
    gone: list[CommentId] = []
    votes: dict[CommentId, int] = {}
    reactions: Reactions = Reactions()


# For the host


class LogView(_Message, frozen=True, kw_only=True):
    """Something that the host did: `subject` is a comment's id, a word, or seconds; `about` what the comment says."""

    log_id: LogId
    at: InstantMs
    action: Action
    subject: str | None = None
    about: str | None = None


class BlockedSender(_Message, frozen=True, kw_only=True):
    """Somebody who is kept out, known by a comment of theirs; `about` says what it was, if it is still there."""

    comment_id: CommentId
    at: InstantMs
    about: str | None = None
    nickname: str | None = None


class HostView(_Message, frozen=True, kw_only=True):
    """What only the host sees: the log, newest first; who and what is kept out; and the comments that are hidden."""

    log: list[LogView]
    words: list[str]
    senders: list[BlockedSender]
    hidden: list[CommentView]


class ModerationResult(_Message, frozen=True, kw_only=True):
    """The entry in the log, or none when it was so already."""

    entry: LogView | None = None


# After the talk


class TimelinePart(_Message, frozen=True, kw_only=True):
    """How much was said in one part of the talk, how often people reacted, and where its first comment is."""

    comments: int = 0
    reactions: int = 0
    seq: Seq | None = None


class Timeline(_Message, frozen=True, kw_only=True):
    """A talk from its first comment to its last, in equal parts."""

    begin: InstantMs
    end: InstantMs
    part_seconds: int
    parts: list[TimelinePart]
    comments: int
    people: int
    reactions: Reactions = Reactions()


class SearchResults(_Message, frozen=True, kw_only=True):
    """Comments that have what was looked for, in the order of the room; `next` is where to look on."""

    comments: list[CommentView]
    next: Seq | None = None


# Commands of the room


class PostComment(_CommandMessage, frozen=True, kw_only=True, tag="comment"):
    """Write a comment. Answered by the comment. Sent again with the same `id` it is still one comment."""

    content: Content
    nickname: Annotated[Nickname | None, Meta(description="Anonymous without one")] = None
    id: Annotated[CommentIdField | None, Meta(description="A UUIDv4 to know it by; the server makes one otherwise")] = (
        None
    )


class RetractComment(_CommandMessage, frozen=True, kw_only=True, tag="take_back"):
    """Take back what one wrote in the last 60 seconds."""

    comment_id: CommentIdField


class Upvote(_CommandMessage, frozen=True, kw_only=True, tag="upvote"):
    """Want a question answered, once. Answered by `upvoted`."""

    comment_id: CommentIdField


class CloseRoom(_CommandMessage, frozen=True, kw_only=True, tag="close"):
    """The host closes the room, for good. Answered by the room."""


class EraseSender(_CommandMessage, frozen=True, kw_only=True, tag="forget"):
    """The account of whoever asks is gone: what the room shows of them is looked up anew."""


class MarkComment(_CommandMessage, frozen=True, kw_only=True, tag="mark"):
    """The host hides, pins or marks as answered a comment, or takes that back."""

    comment_id: CommentIdField
    mark: HostMark
    on: bool = True


class DeleteComment(_CommandMessage, frozen=True, kw_only=True, tag="delete"):
    """The host deletes a comment for good."""

    comment_id: CommentIdField


class PauseRoom(_CommandMessage, frozen=True, kw_only=True, tag="pause"):
    """The host lets the room take no comments for a while, or lets it take them again."""

    on: bool = True


class SetSlowMode(_CommandMessage, frozen=True, kw_only=True, tag="slow"):
    """The host makes everybody wait so many seconds between two comments, or no longer."""

    seconds: SlowMode | None = None


class BlockWord(_CommandMessage, frozen=True, kw_only=True, tag="block_word"):
    """The host keeps a word out of the room, or lets it in again."""

    word: Word
    on: bool = True


class BlockSender(_CommandMessage, frozen=True, kw_only=True, tag="block_sender"):
    """The host keeps whoever wrote a comment out of the room, or lets them in again."""

    comment_id: CommentIdField
    on: bool = True


ModerationAction: TypeAlias = MarkComment | DeleteComment | PauseRoom | SetSlowMode | BlockWord | BlockSender
"""What a host does in a room. Each is answered by its entry in the log."""

Command: TypeAlias = (
    PostComment
    | RetractComment
    | Upvote
    | CloseRoom
    | EraseSender
    | MarkComment
    | DeleteComment
    | PauseRoom
    | SetSlowMode
    | BlockWord
    | BlockSender
)


class React(_CommandMessage, frozen=True, kw_only=True, tag="react"):
    """Clap, understand or laugh, in passing."""

    reaction: Reaction


# Events of the room


class CommentPosted(_EventMessage, frozen=True, kw_only=True, tag="commented"):
    """Somebody wrote something."""

    comment: CommentView


class CommentRemoved(_EventMessage, frozen=True, kw_only=True, tag="gone"):
    """A comment is not to be seen any more; with `deleted`, never again."""

    comment_id: CommentId
    deleted: bool = False


class CommentRestored(_EventMessage, frozen=True, kw_only=True, tag="back"):
    """A comment that was hidden is shown again, at its old place."""

    comment: CommentView


class Pinned(_EventMessage, frozen=True, kw_only=True, tag="pinned"):
    """The host pinned a comment."""

    comment: CommentView


class Unpinned(_EventMessage, frozen=True, kw_only=True, tag="unpinned"):
    """The host took a pin away."""

    comment_id: CommentId


class Answered(_EventMessage, frozen=True, kw_only=True, tag="answered"):
    """The host marked a question as answered, or asks it anew."""

    comment_id: CommentId
    on: bool


class Upvoted(_EventMessage, frozen=True, kw_only=True, tag="upvoted"):
    """So many people want a question answered by now."""

    comment_id: CommentId
    votes: int


class RoomChanged(_EventMessage, frozen=True, kw_only=True, tag="changed"):
    """The host paused the room, slowed it down, or took that back."""

    room: RoomView


class Moderated(_EventMessage, frozen=True, kw_only=True, tag="moderated"):
    """The host did something; told to the host alone."""

    entry: LogView


class RoomClosed(_EventMessage, frozen=True, kw_only=True, tag="closed"):
    """The host closed the room."""


class Reacted(_EventMessage, frozen=True, kw_only=True, tag="reacted"):
    """How often people clapped, understood and laughed in the last moment. It passes and is not repeated."""

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
    """The room, and what was said in it after what the reader has seen; the latest for a newcomer.

    With `more` there is more after the last of these, to be fetched. `earlier` says that there was more before them.
    What is gone is not among the comments.
    """

    room: RoomView
    comments: list[CommentView]
    standing: ModerationStateView = ModerationStateView()
    more: bool = False
    earlier: bool = False
