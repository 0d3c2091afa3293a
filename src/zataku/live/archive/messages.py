"""Messages of the archive: questions and exports."""

import msgspec

from zataku.live.limits import CommentId, Seq
from zataku.live.messages import CommentView, Reactions, RoomView
from zataku.table import InstantMs


class ExportedComment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A comment with its marks and votes. Hidden ones are in the host's exports only."""

    seq: Seq
    created_at: InstantMs
    nickname: str
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
