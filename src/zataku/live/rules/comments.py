"""Comments: which ones of a batch a room accepts, how they are numbered, and the reply to a stored one."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from zataku.clock import instant_ms
from zataku.errors import InvalidRequest, RequestError
from zataku.live.design import Comment, seq_of
from zataku.live.errors import comment_deleted, id_taken, is_too_fast, room_paused, sender_blocked, word_blocked
from zataku.live.limits import ANONYMOUS, CommentId, HostId, SenderId, match_form
from zataku.live.messages import PostComment
from zataku.live.rules.rate_limits import CommentRate, accept_comment, prune_rates, spend_token
from zataku.live.rules.room_state import RECENT_COMMENTS, RoomState

_match_form_of_word = lru_cache(4096)(match_form)


class Submission(msgspec.Struct, frozen=True):
    """A comment that a sender submits, with the index of its command in the batch and the id of that command.

    `is_retry` says that an earlier owner of the room may have stored it.
    """

    index: int
    sender: SenderId
    message: PostComment
    command_id: str
    is_retry: bool


class Draft(msgspec.Struct, frozen=True):
    """A comment that is not stored yet, with the index of its command in the batch."""

    index: int
    comment: Comment


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the rules for the comments of a batch.

    A submission with neither draft nor reply has the id of another of the batch, and waits until that one is stored.
    `refused` are the drafts of refused comments that may be stored already: if the table has one, its sender gets the
    stored comment and not the error.
    """

    drafts: list[Draft]
    refused: list[Draft]
    replies: Mapping[int, Comment | RequestError]
    rates: Mapping[SenderId, CommentRate]


def select_comments(state: RoomState, submissions: Sequence[Submission], now: float) -> Selection:
    """Apply the room's rules to the comments of a batch, in order."""
    slow_mode_seconds = state.room.slow_mode_seconds
    rates = prune_rates(state.rates, now, slow_mode_seconds)
    host = SenderId(state.room.host_id)
    drafts: dict[CommentId, Draft] = {}
    refused: list[Draft] = []
    replies: dict[int, Comment | RequestError] = {}
    for submission in submissions:
        index, sender = submission.index, submission.sender
        comment: Comment | None = None
        try:
            comment = _draft(state, submission, now)
            if comment.comment_id in drafts:
                continue
            rates[sender] = spend_token(rates, sender, now)
            stored = None if submission.message.id is None else find_comment(state, submission.message.id)
            if stored is not None:
                replies[index] = reply_for_stored(comment, stored)
                continue
            _check(state, comment)
            rates[sender] = accept_comment(rates[sender], now, None if sender == host else slow_mode_seconds)
            drafts[comment.comment_id] = Draft(index, comment)
        except RequestError as error:
            replies[index] = error
            may_be_stored = submission.message.id is not None or submission.is_retry
            if comment is not None and may_be_stored and not is_too_fast(error):
                refused.append(Draft(index, comment))
    return Selection(drafts=list(drafts.values()), refused=refused, replies=replies, rates=rates)


def _draft(state: RoomState, submission: Submission, now: float) -> Comment:
    try:
        return Comment(
            room_id=state.room.room_id,
            comment_id=submission.message.id or CommentId(submission.command_id),
            content=submission.message.content,
            nickname=submission.message.nickname or ANONYMOUS,
            created_at=instant_ms(now),
            sender_id=submission.sender,
        )
    except ValueError as error:
        raise InvalidRequest(f"{error}.") from None


def _check(state: RoomState, comment: Comment) -> None:
    """Raise the error for which the room does not accept a comment."""
    moderation, sender = state.moderation, comment.sender_id
    if comment.comment_id in moderation.deleted:
        raise comment_deleted()
    if sender in moderation.blocked_senders and sender != HostId(state.room.host_id):
        raise sender_blocked()
    if state.room.paused:
        raise room_paused()
    if moderation.blocked_words:
        texts = (match_form(comment.content), match_form(comment.nickname))
        if any(word in text for word in map(_match_form_of_word, moderation.blocked_words) for text in texts):
            raise word_blocked()


def reply_for_stored(draft: Comment, stored: Comment) -> Comment | RequestError:
    """The stored comment when its sender sends it again; the error `id_taken` when it is another's."""
    return stored if stored.sender_id == draft.sender_id else id_taken()


def find_comment(state: RoomState, comment_id: CommentId) -> Comment | None:
    """A comment that is in memory: among the latest, or pinned."""
    pinned = state.pinned.get(comment_id)
    return pinned or next((it for it in reversed(state.recent) if it.comment_id == comment_id), None)


def number_comments(state: RoomState, drafts: Sequence[Draft]) -> list[Comment]:
    """The comments of the drafts, each with the owner's next number."""
    first = state.last_number + 1
    return [replace(draft.comment, seq=seq_of(state.epoch, first + at)) for at, draft in enumerate(drafts)]


def append_comments(state: RoomState, stored: Sequence[Comment]) -> RoomState:
    """The room after these comments were stored, in this order."""
    recent = (*state.recent, *stored)
    return replace(
        state,
        last_number=state.last_number + len(stored),
        recent=recent[-RECENT_COMMENTS:],
        has_earlier=state.has_earlier or len(recent) > RECENT_COMMENTS,
    )
