"""What became of the comments of a room, and who and what is kept out of it, as its owner holds it in memory."""

from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from zataku.live.limits import CommentId, MarkKind, SenderId
from zataku.live.moderation.design import Block, Mark, Upvotes

Marked = frozenset[CommentId]


class ModerationState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything beside the comments. `pinned` has the latest pin first; `senders` says for which comment."""

    words: frozenset[str] = frozenset()
    senders: Mapping[SenderId, CommentId | None] = {}
    pinned: tuple[CommentId, ...] = ()
    hidden: Marked = frozenset()
    answered: Marked = frozenset()
    deleted: Mapping[CommentId, None] = {}
    """In the order in which they were."""
    votes: Mapping[CommentId, int] = {}

    def has(self, mark: MarkKind, comment_id: CommentId) -> bool:
        """Whether a comment is marked so."""
        return comment_id in self._marked(mark)

    def marked(self, mark: MarkKind, comment_id: CommentId, *, on: bool) -> "ModerationState":
        """The same with a comment marked so, or no longer."""
        if mark == "PINNED":
            others = tuple(it for it in self.pinned if it != comment_id)
            return replace(self, pinned=(comment_id, *others) if on else others)
        if mark == "DELETED":
            return replace(self, deleted={**self.deleted, comment_id: None})
        before = frozenset(self._marked(mark))
        return replace(self, **{mark.lower(): before | {comment_id} if on else before - {comment_id}})

    def without(self, comment_id: CommentId) -> "ModerationState":
        """The same after a comment was deleted with all its traces."""
        cleared = self
        for mark in ("PINNED", "HIDDEN", "ANSWERED"):
            cleared = cleared.marked(mark, comment_id, on=False)
        votes = {voted: count for voted, count in self.votes.items() if voted != comment_id}
        return replace(cleared.marked("DELETED", comment_id, on=True), votes=votes)

    def counted(self, comment_id: CommentId, votes: int) -> "ModerationState":
        """The same with so many upvotes on a comment."""
        return replace(self, votes={**self.votes, comment_id: votes})

    def is_gone(self, comment_id: CommentId) -> bool:
        """True for a comment that nobody but the host sees, or nobody at all."""
        return comment_id in self.hidden or comment_id in self.deleted

    def _marked(self, mark: MarkKind) -> Collection[CommentId]:
        match mark:
            case "PINNED":
                return self.pinned
            case "HIDDEN":
                return self.hidden
            case "ANSWERED":
                return self.answered
            case "DELETED":
                return self.deleted


def loaded(blocks: Sequence[Block], marks: Sequence[Mark], votes: Sequence[Upvotes]) -> ModerationState:
    """How things stand by what lies in the table."""

    def marked(kind: MarkKind) -> list[CommentId]:
        found = sorted((it for it in marks if it.mark == kind), key=lambda mark: mark.at, reverse=True)
        return [it.comment_id for it in found]

    return ModerationState(
        words=frozenset(it.value for it in blocks if it.what == "WORD"),
        senders={SenderId(it.value): it.comment_id for it in blocks if it.what == "SENDER"},
        pinned=tuple(marked("PINNED")),
        hidden=frozenset(marked("HIDDEN")),
        answered=frozenset(marked("ANSWERED")),
        deleted=dict.fromkeys(reversed(marked("DELETED"))),
        votes={it.comment_id: it.votes for it in votes},
    )
