"""Views of stored entities: the messages that clients see of rooms, comments, moderation and the log."""

from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import islice

from zataku.live.design import Comment, Room
from zataku.live.limits import SEQ_START, CommentId, HostId, SenderId
from zataku.live.messages import BlockedSender, CommentView, LogView, ModerationStateView, RoomView
from zataku.live.messages import Reactions as ReactionsView
from zataku.live.moderation.design import Block, LogEntry, Reactions
from zataku.live.rules.moderation_state import ModerationState

MAX_SNAPSHOT_ENTRIES = 500
"""How many counts, and how many deletions, a snapshot has."""


def room_view(room: Room, viewer: HostId | None = None) -> RoomView:
    """A room as a viewer sees it; without a viewer, `mine` is left out."""
    return RoomView(
        room_id=room.room_id,
        name=room.name,
        status=room.status,
        created_at=room.created_at,
        closed_at=room.updated_at if room.status == "CLOSED" else None,
        mine=None if viewer is None else room.host_id == viewer,
        paused=room.paused is True,
        slow_mode_seconds=room.slow_mode_seconds,
        code=room.code if room.status == "OPEN" else None,
    )


def comment_view(comment: Comment, host_id: HostId) -> CommentView:
    """A comment without its sender, of whom it says only whether they are the host of the room."""
    return CommentView(
        comment_id=comment.comment_id,
        seq=comment.seq or SEQ_START,
        content=comment.content,
        nickname=comment.nickname,
        created_at=comment.created_at,
        host=is_by_host(comment, host_id),
        anonymous_number=comment.anonymous_number,
    )


def is_by_host(comment: Comment, host_id: HostId) -> bool:
    """True when the sender of a comment is the host of its room."""
    return comment.sender_id is not None and comment.sender_id == SenderId(host_id)


def reactions_view(reactions: Sequence[Reactions]) -> ReactionsView:
    """The sum of the reactions of some minutes."""
    return ReactionsView(
        clap=sum(it.clap for it in reactions),
        aha=sum(it.aha for it in reactions),
        lol=sum(it.lol for it in reactions),
    )


def moderation_state_view(
    moderation: ModerationState, pinned: Mapping[CommentId, Comment], reactions: ReactionsView, host_id: HostId
) -> ModerationStateView:
    """The public moderation of a room: no blocks, and no hidden comment among the pinned.

    Upvotes and deletions grow without end, so the view has the most upvoted comments and the latest deletions.
    """
    shown = (pinned[it] for it in moderation.pinned if it in pinned and it not in moderation.hidden)
    deleted = islice(moderation.deleted, max(0, len(moderation.deleted) - MAX_SNAPSHOT_ENTRIES), None)
    return ModerationStateView(
        pinned=[comment_view(it, host_id) for it in shown],
        answered=sorted(moderation.answered),
        gone=[*sorted(moderation.hidden), *deleted],
        votes=most_upvoted(moderation.votes),
        reactions=reactions,
    )


def most_upvoted(votes: Mapping[CommentId, int]) -> dict[CommentId, int]:
    """The counts of the most upvoted comments, as many as a snapshot has."""
    if len(votes) <= MAX_SNAPSHOT_ENTRIES:
        return dict(votes)
    return {it: votes[it] for it in nlargest(MAX_SNAPSHOT_ENTRIES, votes, key=votes.__getitem__)}


def log_view(entry: LogEntry, comment: Comment | None) -> LogView:
    """An entry of the host's log, with the text of the comment it is about."""
    return LogView(
        log_id=entry.log_id,
        at=entry.at,
        action=entry.action,
        subject=entry.subject,
        about=None if comment is None else comment.content,
    )


def blocked_sender(block: Block, comment: Comment | None) -> BlockedSender | None:
    """A blocked sender, known by the comment they were blocked for; None when the block has no comment."""
    if block.comment_id is None:
        return None
    return BlockedSender(
        comment_id=block.comment_id,
        at=block.at,
        about=None if comment is None else comment.content,
        nickname=None if comment is None else comment.nickname,
        anonymous_number=None if comment is None else comment.anonymous_number,
    )
