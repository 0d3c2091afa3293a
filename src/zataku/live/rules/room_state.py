"""The state of a live room in memory: its latest comments, its moderation, and what its senders may do."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from zataku.live.design import Comment, Room, seq_of
from zataku.live.limits import SEQ_START, CommentId, SenderId, Seq
from zataku.live.rules.moderation_state import ModerationState
from zataku.live.rules.nicknames import AnonymousSenders
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
    anonymous: AnonymousSenders = AnonymousSenders()
    host_names: tuple[str, ...] = ()
    """Names that only the host may use in the room, beside `room.host_name`."""
    last_action_at: float = 0
    """When the host last moderated: entries of the log have strictly increasing times."""

    def is_host(self, sender: SenderId | None) -> bool:
        """True for the host of the room."""
        return sender == SenderId(self.room.host_id)

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


class Erasure(msgspec.Struct, frozen=True):
    """A running room after a removed account was erased from the table.

    `changed` are its visible comments that changed, `pins` the pins to show again, the latest last.
    """

    state: RoomState
    changed: Sequence[Comment]
    pins: Sequence[Comment]


def erase_sender(state: RoomState, sender: SenderId, stored: Mapping[CommentId, Comment]) -> Erasure:
    """The room with the sender's comments as they are stored. When one changed, all pins are shown again in order."""

    def as_stored(comment: Comment) -> Comment:
        return stored.get(comment.comment_id, comment) if comment.sender_id == sender else comment

    moderation = state.moderation
    changed = [as_stored(it) for it in state.recent if as_stored(it) != it and not moderation.is_gone(it.comment_id)]
    pinned = {it: as_stored(comment) for it, comment in state.pinned.items()}
    pins = [pinned[it] for it in reversed(moderation.pinned) if it in pinned and it not in moderation.hidden]
    state = replace(
        state,
        recent=tuple(map(as_stored, state.recent)),
        pinned=pinned,
        anonymous=state.anonymous.without(sender),
    )
    return Erasure(state, changed, pins if changed else [])
