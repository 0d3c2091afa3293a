"""The state of a live room in memory: its latest comments, its moderation, and what its senders may do."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from zataku.live.design import Comment, Room, seq_of
from zataku.live.limits import SEQ_START, CommentId, SenderId, Seq
from zataku.live.rules.moderation_state import ModerationState
from zataku.live.rules.rate_limits import CommentRate
from zataku.live.rules.reactions import ReactionCounts

RECENT_COMMENTS = 200
"""How many of the latest comments the owner of a room holds, and a new reader gets."""


class RoomState(msgspec.Struct, frozen=True, kw_only=True):
    """A room as its owner holds it. `last_number` is the last that the table has acknowledged in this epoch."""

    room: Room
    epoch: int
    last_number: int = 0
    recent: tuple[Comment, ...] = ()
    has_earlier: bool = False
    moderation: ModerationState = ModerationState()
    pinned: Mapping[CommentId, Comment] = {}
    rates: Mapping[SenderId, CommentRate] = {}
    reactions: ReactionCounts = ReactionCounts()
    last_action_at: float = 0
    """When the host last moderated: entries of the log have strictly increasing times."""

    def without_comment(self, comment_id: CommentId) -> "RoomState":
        """The room after a comment was deleted."""
        return replace(
            self,
            recent=tuple(it for it in self.recent if it.comment_id != comment_id),
            pinned={pinned: it for pinned, it in self.pinned.items() if pinned != comment_id},
            moderation=self.moderation.with_deleted(comment_id),
        )

    def comments_of(self, sender: SenderId) -> list[CommentId]:
        """The ids of the sender's comments that are in memory."""
        return [it.comment_id for it in (*self.recent, *self.pinned.values()) if it.sender_id == sender]

    def has_all_after(self, since: Seq) -> bool:
        """True when every comment after `since` is in memory."""
        return not self.has_earlier or (bool(self.recent) and (self.recent[0].seq or SEQ_START) <= since)

    def has_acknowledged(self, seq: Seq) -> bool:
        """True up to the last acknowledged write. Above it, the table may show a write in part."""
        return seq <= seq_of(self.epoch, self.last_number) if self.last_number else seq < seq_of(self.epoch, 1)
