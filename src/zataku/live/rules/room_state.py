"""A live room as its owner holds it in memory: what was said last, what became of it, and who has just spoken."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from zataku.live.design import Comment, Room
from zataku.live.limits import SEQ_START, CommentId, SenderId, Seq, seq_of
from zataku.live.moderation.design import Reactions
from zataku.live.rules.moderation_state import ModerationState
from zataku.live.rules.rate_limits import CommentRate
from zataku.realtime.rooms.behaviour import Reply

RECENT_COMMENTS = 200
"""How many of the latest comments somebody sees who comes in late, and how many an owner has at hand."""

Replies: TypeAlias = list[Reply]


class ReactionCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How people react: since the last beat, in this minute, in minutes not stored yet, and before all of those."""

    untold: Mapping[str, int] = {}
    minute: Reactions | None = None
    unstored: tuple[Reactions, ...] = ()
    before: Mapping[str, int] = {}


class RoomState(msgspec.Struct, frozen=True, kw_only=True):
    """A room as its owner holds it. `number` is the last that it gave and had acknowledged."""

    room: Room
    epoch: int
    number: int = 0
    recent: tuple[Comment, ...] = ()
    earlier: bool = False
    standing: ModerationState = ModerationState()
    pinned: Mapping[CommentId, Comment] = {}
    paces: Mapping[SenderId, CommentRate] = {}
    applause: ReactionCounts = ReactionCounts()
    acted_at: float = 0
    """When the host last did something, for entries in the log that follow one another."""

    def said(self, comments: Iterable[Comment]) -> "RoomState":
        """The room after these were said and stored, in this order."""
        new = tuple(comments)
        recent = (*self.recent, *new)
        return replace(
            self,
            number=self.number + len(new),
            recent=recent[-RECENT_COMMENTS:],
            earlier=self.earlier or len(recent) > RECENT_COMMENTS,
        )

    def without(self, comment_id: CommentId) -> "RoomState":
        """The room after a comment was deleted."""
        return replace(
            self,
            recent=tuple(it for it in self.recent if it.comment_id != comment_id),
            pinned={pinned: it for pinned, it in self.pinned.items() if pinned != comment_id},
            standing=self.standing.without(comment_id),
        )

    def at_hand(self, comment_id: CommentId) -> Comment | None:
        """A comment, if it is among the latest or pinned."""
        found = self.pinned.get(comment_id)
        return found or next((it for it in reversed(self.recent) if it.comment_id == comment_id), None)

    def has_all_after(self, since: Seq) -> bool:
        """True when all that was said after `since` is in memory."""
        return not self.earlier or (bool(self.recent) and (self.recent[0].seq or SEQ_START) <= since)

    def acknowledged(self, seq: Seq) -> bool:
        """True for what was certainly stored whole. Above that, the table may show a tick in part."""
        return seq <= seq_of(self.epoch, self.number) if self.number else seq < seq_of(self.epoch, 1)
