"""Messages of the archive: timelines, search results, questions and exports."""

import msgspec

from zataku.live.limits import CommentId, Seq
from zataku.live.messages import CommentView, Reactions, RoomView
from zataku.table import InstantMs


class TimelinePart(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The comments and reactions of one part of a talk, and the `seq` of its first comment."""

    comments: int = 0
    reactions: int = 0
    seq: Seq | None = None


class Timeline(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A talk from its first comment to its last, in parts of equal length."""

    begin: InstantMs
    end: InstantMs
    part_seconds: int
    parts: list[TimelinePart]
    comments: int
    people: int
    reactions: Reactions = Reactions()


class SearchResults(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Comments that match a search, in order; `next` is the `seq` to continue after."""

    comments: list[CommentView]
    next: Seq | None = None


class ExportedComment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A comment with its marks and votes; `host` says that the host of the room wrote it.

    Hidden ones are in the host's exports only.
    """

    seq: Seq
    created_at: InstantMs
    nickname: str
    anonymous_number: int | None
    host: bool
    content: str
    votes: int
    pinned: bool
    answered: bool
    hidden: bool
    comment_id: CommentId


class Export(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A room with all its comments, in order."""

    room: RoomView
    exported_at: InstantMs
    reactions: Reactions
    comments: list[ExportedComment]


class Question(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An upvoted comment, its votes, and whether it was answered."""

    comment: CommentView
    votes: int
    answered: bool


class Questions(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The upvoted comments of a room, the most upvoted first."""

    questions: list[Question]
