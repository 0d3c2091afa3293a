"""The moderation of a room in memory: blocks, marks on comments, upvote counts, and the senders who may upvote."""

from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from zataku.errors import RequestError
from zataku.live.design import Comment
from zataku.live.errors import comment_not_found, own_upvote, sender_blocked
from zataku.live.limits import MAX_UPVOTES_PER_WRITE, CommentId, MarkKind, SenderId
from zataku.live.moderation.design import Block, Mark, Upvotes


class ModerationState(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks, marks and upvotes. `pinned` has the latest pin first, `deleted` is in order of deletion.

    `blocked_senders` maps each sender to the comment that was the reason for the block.
    """

    blocked_words: frozenset[str] = frozenset()
    blocked_senders: Mapping[SenderId, CommentId | None] = {}
    pinned: tuple[CommentId, ...] = ()
    hidden: frozenset[CommentId] = frozenset()
    answered: frozenset[CommentId] = frozenset()
    deleted: Mapping[CommentId, None] = {}
    votes: Mapping[CommentId, int] = {}

    def has_mark(self, mark: MarkKind, comment_id: CommentId) -> bool:
        """True when the comment has the mark."""
        return comment_id in self._marked(mark)

    def with_mark(self, mark: MarkKind, comment_id: CommentId, *, on: bool) -> "ModerationState":
        """The state after a mark was set or removed. A deletion is never removed."""
        match mark:
            case "PINNED":
                others = tuple(it for it in self.pinned if it != comment_id)
                return replace(self, pinned=(comment_id, *others) if on else others)
            case "HIDDEN":
                return replace(self, hidden=self.hidden | {comment_id} if on else self.hidden - {comment_id})
            case "ANSWERED":
                return replace(self, answered=self.answered | {comment_id} if on else self.answered - {comment_id})
            case "DELETED":
                return replace(self, deleted={**self.deleted, comment_id: None})

    def with_deleted(self, comment_id: CommentId) -> "ModerationState":
        """The state after a comment was deleted: its marks and its count are gone with it."""
        cleared = self
        for mark in ("PINNED", "HIDDEN", "ANSWERED"):
            cleared = cleared.with_mark(mark, comment_id, on=False)
        votes = {voted: count for voted, count in self.votes.items() if voted != comment_id}
        return replace(cleared.with_mark("DELETED", comment_id, on=True), votes=votes)

    def with_votes(self, comment_id: CommentId, votes: int) -> "ModerationState":
        """The state after upvotes were counted or taken back; `votes` is the new total."""
        others = {voted: count for voted, count in self.votes.items() if voted != comment_id}
        return replace(self, votes={**others, comment_id: votes} if votes else others)

    def is_gone(self, comment_id: CommentId) -> bool:
        """True for a comment that is hidden or deleted."""
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


def moderation_state(blocks: Sequence[Block], marks: Sequence[Mark], votes: Sequence[Upvotes]) -> ModerationState:
    """The state that stored items describe."""

    def marked(kind: MarkKind) -> list[CommentId]:
        latest_first = sorted((it for it in marks if it.mark == kind), key=lambda mark: mark.at, reverse=True)
        return [it.comment_id for it in latest_first]

    return ModerationState(
        blocked_words=frozenset(it.value for it in blocks if it.what == "WORD"),
        blocked_senders={SenderId(it.value): it.comment_id for it in blocks if it.what == "SENDER"},
        pinned=tuple(marked("PINNED")),
        hidden=frozenset(marked("HIDDEN")),
        answered=frozenset(marked("ANSWERED")),
        deleted=dict.fromkeys(reversed(marked("DELETED"))),
        votes={it.comment_id: it.votes for it in votes},
    )


class Ballot(msgspec.Struct, frozen=True):
    """The upvotes of a batch on one comment: the command of each voter, and the errors of commands refused."""

    voters: Mapping[SenderId, int]
    errors: Mapping[int, RequestError]


def admit_voters(moderation: ModerationState, comment: Comment | None, votes: Sequence[tuple[int, SenderId]]) -> Ballot:
    """The senders who may upvote a comment, each once. A second vote of a sender waits for the reply to the first."""
    voters: dict[SenderId, int] = {}
    errors: dict[int, RequestError] = {}
    for index, sender in votes:
        if comment is None or moderation.is_gone(comment.comment_id):
            errors[index] = comment_not_found()
        elif sender in moderation.blocked_senders:
            errors[index] = sender_blocked()
        elif sender == comment.sender_id:
            errors[index] = own_upvote()
        elif sender not in voters and len(voters) < MAX_UPVOTES_PER_WRITE:
            voters[sender] = index
    return Ballot(voters, errors)
