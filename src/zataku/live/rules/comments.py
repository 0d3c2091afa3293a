"""Comments: which ones of a batch a room accepts, how they are numbered, and the reply to a stored one."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from zataku.clock import instant_ms
from zataku.errors import InvalidRequest, RequestError
from zataku.live.design import Comment, seq_of
from zataku.live.errors import comment_deleted, id_taken, is_too_fast, room_paused, sender_blocked, word_blocked
from zataku.live.limits import ANONYMOUS, MAX_COMMENTS_PER_WRITE, CommentId, SenderId
from zataku.live.messages import PostComment
from zataku.live.rules.blocked_words import contains_blocked_word
from zataku.live.rules.nicknames import add_host_names, check_nickname
from zataku.live.rules.rate_limits import CommentRate, accept_comment, prune_rates, spend_token
from zataku.live.rules.room_state import RECENT_COMMENTS, RoomState


class Submission(msgspec.Struct, frozen=True):
    """A comment that a sender submits, with the index of its command in the batch and the id of that command.

    `is_retry` says that an earlier owner of the room may have stored it.
    """

    index: int
    sender: SenderId
    message: PostComment
    command_id: str
    is_retry: bool
    account_name: str | None = None


class Draft(msgspec.Struct, frozen=True):
    """A comment that is not stored yet, with the index of its command in the batch."""

    index: int
    comment: Comment


class NumberedComments(msgspec.Struct, frozen=True):
    """Comments with their `seq`, and the numbers of anonymous senders that had none."""

    comments: list[Comment]
    new_numbers: Mapping[SenderId, int]


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
    host_names: tuple[str, ...]


def select_comments(state: RoomState, submissions: Sequence[Submission], now: float) -> Selection:
    """Apply the room's rules to the comments of a batch, in order."""
    slow_mode_seconds = state.room.slow_mode_seconds
    rates = prune_rates(state.rates, now, slow_mode_seconds)
    host, host_names = SenderId(state.room.host_id), state.host_names
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
            _check(state, comment, (*host_names, *filter(None, [state.room.host_name])))
            rates[sender] = accept_comment(rates[sender], now, None if sender == host else slow_mode_seconds)
            drafts[comment.comment_id] = Draft(index, comment)
            if sender == host:
                host_names = add_host_names(host_names, (submission.account_name, comment.nickname))
        except RequestError as error:
            replies[index] = error
            may_be_stored = submission.message.id is not None or submission.is_retry
            if comment is not None and may_be_stored and not is_too_fast(error):
                refused.append(Draft(index, comment))
    return Selection(drafts=list(drafts.values()), refused=refused, replies=replies, rates=rates, host_names=host_names)


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


def _check(state: RoomState, comment: Comment, host_names: Sequence[str]) -> None:
    """Raise the error for which the room does not accept a comment. The host may comment in a paused room, too."""
    moderation, sender = state.moderation, comment.sender_id
    if comment.comment_id in moderation.deleted:
        raise comment_deleted()
    if not state.is_host(sender):
        if sender in moderation.blocked_senders:
            raise sender_blocked()
        if state.room.paused:
            raise room_paused()
        check_nickname(comment.nickname, host_names)
    if contains_blocked_word(moderation.blocked_words, comment.content, comment.nickname):
        raise word_blocked()


def reply_for_stored(draft: Comment, stored: Comment) -> Comment | RequestError:
    """The stored comment when its sender sends it again; the error `id_taken` when it is another's."""
    return stored if stored.sender_id == draft.sender_id else id_taken()


def find_comment(state: RoomState, comment_id: CommentId) -> Comment | None:
    """A comment that is in memory: among the latest, or pinned."""
    pinned = state.pinned.get(comment_id)
    return pinned or next((it for it in reversed(state.recent) if it.comment_id == comment_id), None)


def select_first(state: RoomState, submissions: Sequence[Submission]) -> Sequence[Submission]:
    """The first submissions whose comments fit into one write, with the items of new anonymous senders and the host."""
    items, others = 0, set[SenderId]()
    for at, submission in enumerate(submissions):
        sender = submission.sender
        is_unnumbered = _is_unnamed(submission.message.nickname) and sender not in state.anonymous.numbers
        items += 1
        if sender not in others and (is_unnumbered or state.is_host(sender)):
            others.add(sender)
            items += 1
        if items > MAX_COMMENTS_PER_WRITE:
            return submissions[:at]
    return submissions


def number_comments(state: RoomState, drafts: Sequence[Draft]) -> NumberedComments:
    """The comments of the drafts, each with the owner's next number, and its sender's if they have no nickname."""
    comments: list[Comment] = []
    given: dict[SenderId, int] = {}
    for at, draft in enumerate(drafts, state.last_number + 1):
        comment = replace(draft.comment, seq=seq_of(state.epoch, at))
        sender = comment.sender_id
        if sender is not None and _is_unnamed(comment.nickname) and not state.is_host(sender):
            known = state.anonymous.numbers.get(sender)
            number = known or given.setdefault(sender, state.anonymous.last + len(given) + 1)
            comment = replace(comment, anonymous_number=number)
        comments.append(comment)
    return NumberedComments(comments, given)


def _is_unnamed(nickname: str | None) -> bool:
    return nickname is None or nickname == ANONYMOUS


def append_comments(state: RoomState, stored: NumberedComments) -> RoomState:
    """The room after these comments were stored, in this order."""
    recent = (*state.recent, *stored.comments)
    return replace(
        state,
        anonymous=state.anonymous.with_numbers(stored.new_numbers),
        last_number=state.last_number + len(stored.comments),
        recent=recent[-RECENT_COMMENTS:],
        has_earlier=state.has_earlier or len(recent) > RECENT_COMMENTS,
    )
