"""What is told of a room that is over: its questions, and all of it as somebody takes it along."""

import msgspec

from zataku.live.limits import CommentId, Seq
from zataku.live.messages import CommentView, Reactions, RoomView
from zataku.table import InstantMs


class ExportedComment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A comment and what became of it. Hidden ones are in the host's exports only."""

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
    """A room with everything that was said in it, in order."""

    room: RoomView
    exported_at: InstantMs
    reactions: Reactions
    comments: list[ExportedComment]


class Question(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A comment that people want answered, how many of them, and whether it was."""

    comment: CommentView
    votes: int
    answered: bool


class Questions(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What people wanted to know, the most wanted first."""

    questions: list[Question]
