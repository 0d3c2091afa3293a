"""Moderation, upvotes and reactions: their writes, and reading them."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import msgspec

from zataku.errors import RequestError
from zataku.live.errors import comment_not_found, room_busy
from zataku.live.functions import Function
from zataku.live.limits import CommentId, Epoch, RoomId, SenderId
from zataku.live.moderation.design import (
    Block,
    LogEntry,
    Mark,
    Reactions,
    Upvotes,
    blocks_of,
    log_of,
    marks_of,
    reactions_in,
    upvotes_in,
)
from zataku.live.rules.moderation_state import ModerationState, moderation_state
from zataku.live.writes import count_reactions, upvote, upvote_first, withdraw_upvotes
from zataku.realtime.rooms.behaviour import StaleRoom
from zataku.table import Page, Plan, ResultUnknown, Store, TransactionCancelled

LOG_PAGE_SIZE = 200
MARK_PAGE_SIZE = 200
MAX_CONCURRENT_MARK_PAGES = 4
"""Pages of marks that are read at the same time: decoding one holds the event loop for a millisecond."""


class ModerateRoomFunction(Function):
    """A host moderates a room."""

    async def __call__(self, plan: Plan[Any], now: float) -> None:
        """Carry out one of the writes in `moderation.writes`, with its log entry."""
        await self._store.write(plan, token=str(uuid4()), at=now)


class UpvoteResult(msgspec.Struct, frozen=True):
    """The senders whose upvotes were counted now, those counted before, and the error for all others."""

    counted: frozenset[SenderId]
    repeated: frozenset[SenderId]
    error: RequestError | None = None


class UpvoteFunction(Function):
    """Senders upvote a comment."""

    async def __call__(
        self,
        room_id: RoomId,
        comment_id: CommentId,
        senders: Sequence[SenderId],
        now: float,
        epoch: Epoch,
        *,
        is_first: bool,
    ) -> UpvoteResult:
        """Count the upvotes together, each sender once; `is_first` says that the comment has none yet.

        Every attempt leaves out those whom the table has counted before. Raises `StaleRoom` when the room has changed.
        """
        pending, repeated, has_switched = list(senders), set[SenderId](), False
        while pending:
            plan = (upvote_first if is_first else upvote)(room_id, comment_id, pending, now, epoch)
            try:
                await self._store.write(plan, token=str(uuid4()), at=now)
            except TransactionCancelled as cancelled:
                failed = [reason.code == "condition_failed" for reason in cancelled.reasons]
                counted_before = {sender for sender, has_failed in zip(pending, failed, strict=False) if has_failed}
                if counted_before:
                    repeated |= counted_before
                    pending = [sender for sender in pending if sender not in counted_before]
                elif failed[len(pending)] and not has_switched:
                    # The step after the voters is the count: it exists although it should not, or the reverse.
                    is_first, has_switched = not is_first, True
                elif not cancelled.conflict and not any(failed[:-1]):
                    # The last step is the room.
                    raise StaleRoom(room_id) from cancelled
                else:
                    error = room_busy() if cancelled.conflict else comment_not_found()
                    return UpvoteResult(frozenset(), frozenset(repeated), error)
            else:
                return UpvoteResult(frozenset(pending), frozenset(repeated))
        return UpvoteResult(frozenset(), frozenset(repeated))

    async def withdraw(
        self,
        room_id: RoomId,
        comment_id: CommentId,
        senders: Sequence[SenderId],
        now: float,
        epoch: Epoch,
        *,
        counted: int,
    ) -> UpvoteResult:
        """Take upvotes back together; `counted` is their number before. `repeated` are those who have none.

        Raises `StaleRoom` when the room or the count has changed.
        """
        pending, repeated = list(senders), set[SenderId]()
        while pending and counted:
            plan = withdraw_upvotes(room_id, comment_id, pending, counted, epoch)
            try:
                await self._store.write(plan, token=str(uuid4()), at=now)
            except TransactionCancelled as cancelled:
                failed = [reason.code == "condition_failed" for reason in cancelled.reasons]
                without = {sender for sender, has_failed in zip(pending, failed, strict=False) if has_failed}
                if cancelled.conflict:
                    return UpvoteResult(frozenset(), frozenset(repeated), room_busy())
                if not without:
                    raise StaleRoom(room_id) from cancelled
                repeated |= without
                pending = [sender for sender in pending if sender not in without]
            else:
                return UpvoteResult(frozenset(pending), frozenset(repeated))
        return UpvoteResult(frozenset(), frozenset({*repeated, *pending}))


class ReactFunction(Function):
    """The owner of a room stores reactions."""

    async def __call__(self, counted: Reactions, epoch: Epoch) -> None:
        """Store the count of a minute in place of the one before. Raises `StaleRoom` when the room has changed."""
        try:
            await self._write(counted, epoch)
        except ResultUnknown:
            # A whole count may be stored twice.
            await self._write(counted, epoch)

    async def _write(self, counted: Reactions, epoch: Epoch) -> None:
        try:
            await self._store.write(count_reactions(counted, epoch), token=str(uuid4()))
        except TransactionCancelled as cancelled:
            if cancelled.conflict:
                raise
            raise StaleRoom(counted.room_id) from cancelled


class GetRoomModerationFunction(Function):
    """Reads the moderation of a room."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._mark_slots = asyncio.Semaphore(MAX_CONCURRENT_MARK_PAGES)

    async def log(self, room_id: RoomId) -> Page[LogEntry]:
        """The latest entries of the host's log, newest first."""
        return await self._store.page(log_of(room_id), limit=LOG_PAGE_SIZE)

    async def blocks(self, room_id: RoomId) -> list[Block]:
        """The blocked words and senders."""
        return [it async for it in self._store.each(blocks_of(room_id))]

    async def state(self, room_id: RoomId) -> ModerationState:
        """The marks and upvotes of a room, without its blocks."""
        return moderation_state([], await self._all_marks(room_id), await self.all_votes(room_id))

    async def marks(self, room_id: RoomId) -> ModerationState:
        """The marks of a room alone: those of its host. Upvotes are of everybody, and may be as many as comments."""
        return moderation_state([], await self._all_marks(room_id), [])

    async def _all_marks(self, room_id: RoomId) -> list[Mark]:
        """Every mark of a room: ten thousand where as many comments were deleted, and each reader needs them."""
        marks: list[Mark] = []
        cursor = None
        while True:
            async with self._mark_slots:
                page = await self._store.page(marks_of(room_id), limit=MARK_PAGE_SIZE, after=cursor)
            marks += page.items
            cursor = page.cursor
            if cursor is None:
                return marks

    async def all_votes(self, room_id: RoomId) -> list[Upvotes]:
        """The upvotes of all comments that have any. They may be as many as comments."""
        return [it async for it in self._store.each(upvotes_in(room_id))]

    async def votes(self, room_id: RoomId, comment_ids: Sequence[CommentId]) -> dict[CommentId, int]:
        """The upvotes of some comments that have any."""
        keys = [Upvotes.key(room_id=room_id, comment_id=it) for it in comment_ids]
        counts = await self._store.get_many(keys) if keys else []
        return {it.comment_id: it.votes for it in counts if it is not None}

    async def reactions(self, room_id: RoomId) -> list[Reactions]:
        """The reactions of each minute."""
        return [it async for it in self._store.each(reactions_in(room_id))]

    async def is_deleted(self, room_id: RoomId, comment_id: CommentId) -> bool:
        """True when the comment was deleted."""
        key = Mark.key(room_id=room_id, mark="DELETED", comment_id=comment_id)
        return await self._store.get(key, strong=True) is not None
