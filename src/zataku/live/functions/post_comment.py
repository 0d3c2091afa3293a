"""Posting of comments: the comments of a batch are numbered and stored in one transaction."""

from collections.abc import Mapping, Sequence
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from zataku.errors import RequestError, Unavailable
from zataku.live.design import Comment
from zataku.live.errors import comment_deleted, room_busy, room_closed, room_paused
from zataku.live.functions import Function
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.ownership import OwnRoomFunction
from zataku.live.limits import HostId
from zataku.live.messages import CommentPosted, CommentView, RoomClosed
from zataku.live.moderation.design import AnonymousSender, HostNames
from zataku.live.rules.comments import (
    Draft,
    NumberedComments,
    Selection,
    Submission,
    append_comments,
    number_comments,
    reply_for_stored,
    select_comments,
    select_first,
)
from zataku.live.rules.room_state import RoomState
from zataku.live.rules.views import comment_view
from zataku.live.writes import post_comments
from zataku.realtime.rooms.behaviour import StaleRoom
from zataku.table import ResultUnknown, Store, TableError, TransactionCancelled

MAX_ATTEMPTS = 3


class PostResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a batch of comments: the room after it, replies by the index of their command, and events.

    Submissions without a reply have to come again. `closed` is set when the room turned out to be closed.
    """

    state: RoomState
    replies: Mapping[int, CommentView | RequestError]
    events: Sequence[CommentPosted | RoomClosed] = ()
    closed: RequestError | None = None


class PostCommentFunction(Function):
    """The owner of a room stores comments."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._comments = GetRoomCommentsFunction(store)
        self._moderation = GetRoomModerationFunction(store)
        self._own = OwnRoomFunction(store)

    async def __call__(self, state: RoomState, submissions: Sequence[Submission], now: float) -> PostResult:
        """Store the comments that the room accepts, all of them or none. Those that do not fit one write come again.

        Raises `ResultUnknown` when it cannot be found out whether they are stored, `LostRoom` and `StaleRoom` when the
        room has changed.
        """
        host_id, submissions = state.room.host_id, select_first(state, submissions)
        selection = select_comments(state, submissions, now)
        state = replace(state, rates=selection.rates)
        replies = {index: _reply(reply, host_id) for index, reply in selection.replies.items()}
        retried = {submission.index for submission in submissions if submission.is_retry}
        drafts = selection.drafts
        if retried or selection.refused:
            drafts = await self._drop_stored(state, selection, retried, replies)
        if not drafts:
            return PostResult(state=state, replies=replies)
        return await self._store_drafts(state, drafts, selection.host_names, replies, now)

    async def _drop_stored(
        self, state: RoomState, selection: Selection, retried: set[int], replies: dict[int, CommentView | RequestError]
    ) -> list[Draft]:
        """Reply to the senders of comments that are stored already. Returns the drafts that are left."""
        repeated = [draft for draft in selection.drafts if draft.index in retried]
        room_id = state.room.room_id
        maybe_stored = [*repeated, *selection.refused]
        stored = await self._comments.get_many(room_id, [draft.comment.comment_id for draft in maybe_stored])
        for draft in maybe_stored:
            comment = stored.get(draft.comment.comment_id)
            if comment is not None:
                replies[draft.index] = _reply(reply_for_stored(draft.comment, comment), state.room.host_id)
        for draft in repeated:
            if draft.index not in replies and await self._moderation.is_deleted(room_id, draft.comment.comment_id):
                replies[draft.index] = comment_deleted()
        return [draft for draft in selection.drafts if draft.index not in replies]

    async def _store_drafts(
        self,
        state: RoomState,
        drafts: list[Draft],
        host_names: tuple[str, ...],
        replies: dict[int, CommentView | RequestError],
        now: float,
    ) -> PostResult:
        epoch, attempts = state.epoch, 0
        while drafts and attempts < MAX_ATTEMPTS:
            numbered = number_comments(state, drafts)
            comments, names = numbered.comments, _names(state, numbered, host_names)
            try:
                await self._store.write(post_comments(comments, state.epoch, names), token=str(uuid4()), at=now)
            except ResultUnknown as unknown:
                attempts += 1
                try:
                    # After this the write is stored, or never will be: its epoch has passed.
                    state = await self._own.acquire(state.room.room_id)
                    if not await self._was_stored(state, comments):
                        continue
                except (RequestError, TableError):
                    raise unknown from None
            except TransactionCancelled as cancelled:
                remaining = await self._drop_taken_ids(state, drafts, cancelled, replies)
                if len(remaining) == len(drafts):
                    return await self._refuse(state, drafts, cancelled, replies)
                drafts = remaining
                continue
            else:
                state = replace(append_comments(state, numbered), host_names=host_names)
            views = [comment_view(it, state.room.host_id) for it in comments]
            replies |= {draft.index: view for draft, view in zip(drafts, views, strict=True)}
            # After a change of the epoch every client gets a snapshot, which has the comments.
            events = [CommentPosted(comment=view) for view in views] if state.epoch == epoch else []
            return PostResult(state=state, replies=replies, events=events)
        error = Unavailable("This could not be stored just now. Try again in a moment.")
        return PostResult(state=state, replies={**replies, **{draft.index: error for draft in drafts}})

    async def _was_stored(self, state: RoomState, comments: Sequence[Comment]) -> bool:
        """True when a batch is stored, also when an owner in between has deleted comments of it."""
        comment_ids = [it.comment_id for it in comments]
        is_deleted = any(it in state.moderation.deleted for it in comment_ids)
        return is_deleted or bool(await self._comments.get_many(state.room.room_id, comment_ids))

    async def _drop_taken_ids(
        self,
        state: RoomState,
        drafts: list[Draft],
        cancelled: TransactionCancelled,
        replies: dict[int, CommentView | RequestError],
    ) -> list[Draft]:
        """Reply to the senders whose id is taken, by them or by another. Returns the drafts that are left."""
        conflicting = [
            draft for draft, reason in zip(drafts, cancelled.reasons, strict=False) if reason.code == "condition_failed"
        ]
        stored = await self._comments.get_many(state.room.room_id, [draft.comment.comment_id for draft in conflicting])
        for draft in conflicting:
            comment = stored.get(draft.comment.comment_id)
            reply = comment_deleted() if comment is None else reply_for_stored(draft.comment, comment)
            replies[draft.index] = _reply(reply, state.room.host_id)
        return [draft for draft in drafts if draft not in conflicting]

    async def _refuse(
        self,
        state: RoomState,
        drafts: list[Draft],
        cancelled: TransactionCancelled,
        replies: dict[int, CommentView | RequestError],
    ) -> PostResult:
        """Refuse comments of which none was stored, by the state of the room or for a conflict with other writers."""
        if cancelled.conflict:
            error = room_busy()
        else:
            state = await self._own.reload(state)
            if state.room.status == "CLOSED":
                error = room_closed()
            elif state.room.paused:
                error = room_paused()
            else:
                raise StaleRoom(state.room.room_id) from cancelled
        replies |= {draft.index: error for draft in drafts}
        if state.room.status == "CLOSED":
            return PostResult(state=state, replies=replies, events=[RoomClosed()], closed=error)
        return PostResult(state=state, replies=replies)


def _names(
    state: RoomState, numbered: NumberedComments, host_names: tuple[str, ...]
) -> list[AnonymousSender | HostNames]:
    """What is stored with the comments: the new numbers of anonymous senders, and new names of the host."""
    room_id = state.room.room_id
    names: list[AnonymousSender | HostNames] = [
        AnonymousSender(room_id=room_id, sender_id=sender, number=number)
        for sender, number in numbered.new_numbers.items()
    ]
    if host_names != state.host_names:
        names.append(HostNames(room_id=room_id, names=host_names))
    return names


def _reply(reply: Comment | RequestError, host_id: HostId) -> CommentView | RequestError:
    return comment_view(reply, host_id) if isinstance(reply, Comment) else reply
