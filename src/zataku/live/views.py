"""Rooms, comments and what became of them, as people see them."""

from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import islice

from zataku.live.design import Comment, Room
from zataku.live.limits import SEQ_START, CommentId, HostId
from zataku.live.messages import BlockedSender, CommentView, LogView, ModerationStateView, RoomView
from zataku.live.messages import Reactions as ReactionsView
from zataku.live.moderation.design import Block, LogEntry, Reactions
from zataku.live.rules.moderation_state import ModerationState

MAX_SNAPSHOT_ENTRIES = 500
"""How many counts, and how many deletions, come with a snapshot."""


def room_view(room: Room, viewer: HostId | None = None) -> RoomView:
    """A room as somebody sees it; without a viewer, as everybody does."""
    return RoomView(
        room_id=room.room_id,
        name=room.name,
        status=room.status,
        created_at=room.created_at,
        closed_at=room.updated_at if room.status == "CLOSED" else None,
        mine=None if viewer is None else room.host_id == viewer,
        paused=room.paused is True,
        slow_mode_seconds=room.slow_mode_seconds,
        code=room.code,
    )


def comment_view(comment: Comment) -> CommentView:
    """A comment without whoever wrote it."""
    return CommentView(
        comment_id=comment.comment_id,
        seq=comment.seq or SEQ_START,
        content=comment.content,
        nickname=comment.nickname,
        created_at=comment.created_at,
    )


def reactions_view(reactions: Sequence[Reactions]) -> ReactionsView:
    """All reactions of some minutes together."""
    return ReactionsView(
        clap=sum(it.clap for it in reactions),
        aha=sum(it.aha for it in reactions),
        lol=sum(it.lol for it in reactions),
    )


def standing_view(
    standing: ModerationState, pinned: Mapping[CommentId, Comment], reactions: ReactionsView
) -> ModerationStateView:
    """How things stand, without what is kept out. Hidden comments are not shown as pinned.

    Anybody can upvote, and take back what they wrote, for hours: of those, the most wanted and the latest are told.
    """
    shown = (pinned[it] for it in standing.pinned if it in pinned and it not in standing.hidden)
    votes = standing.votes
    told = (
        votes if len(votes) <= MAX_SNAPSHOT_ENTRIES else nlargest(MAX_SNAPSHOT_ENTRIES, votes, key=lambda it: votes[it])
    )
    latest = islice(standing.deleted, max(0, len(standing.deleted) - MAX_SNAPSHOT_ENTRIES), None)
    return ModerationStateView(
        pinned=[comment_view(it) for it in shown],
        answered=sorted(standing.answered),
        gone=[*sorted(standing.hidden), *latest],
        votes={it: votes[it] for it in told},
        reactions=reactions,
    )


def log_view(entry: LogEntry, about: Comment | None) -> LogView:
    """An entry of the host's log."""
    return LogView(
        log_id=entry.log_id,
        at=entry.at,
        action=entry.action,
        subject=entry.subject,
        about=None if about is None else about.content,
    )


def blocked_sender(block: Block, about: Comment | None) -> BlockedSender | None:
    """Somebody who is kept out, known by what they wrote; None when that was never noted."""
    if block.comment_id is None:
        return None
    return BlockedSender(
        comment_id=block.comment_id,
        at=block.at,
        about=None if about is None else about.content,
        nickname=None if about is None else about.nickname,
    )
