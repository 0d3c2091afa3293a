"""What is done beside the comments: the host's acts, upvotes, reactions, and reading all of it."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from zataku.live.functions.function import Function
from zataku.live.limits import CommentId, Epoch, RoomId, SenderId
from zataku.live.moderation.design import (
    Block,
    LogEntry,
    Mark,
    Reactions,
    blocks_of,
    log_of,
    marks_of,
    reactions_in,
    upvotes_in,
)
from zataku.live.rules.moderation_state import ModerationState, loaded
from zataku.live.writes import count_reactions, upvote, upvote_first
from zataku.table import Page, Plan

LOG_PAGE_SIZE = 200


class ModerateRoomFunction(Function):
    """The host does something in a room."""

    async def __call__(self, act: Plan[Any], now: float) -> None:
        """Carry out one of the writes in `hosting`, with its entry in the log."""
        await self._store.write(act, token=str(uuid4()), at=now)


class UpvoteFunction(Function):
    """People want a question answered."""

    async def __call__(
        self,
        room_id: RoomId,
        comment_id: CommentId,
        sender_ids: Sequence[SenderId],
        now: float,
        epoch: Epoch,
        *,
        first: bool,
    ) -> None:
        """Count some people, all of them or none; `first` says that nobody was counted before."""
        plan = (upvote_first if first else upvote)(room_id, comment_id, sender_ids, now, epoch)
        await self._store.write(plan, token=str(uuid4()), at=now)


class ReactFunction(Function):
    """People clap, understand and laugh."""

    async def __call__(self, counted: Reactions, epoch: Epoch) -> None:
        """Store how often they did in a minute so far."""
        await self._store.write(count_reactions(counted, epoch), token=str(uuid4()))


class GetRoomModerationFunction(Function):
    """Reads what the host made of a room."""

    async def __call__(self, room_id: RoomId) -> tuple[list[Block], Page[LogEntry]]:
        """Who and what is kept out, and the latest of the log."""
        return await self.blocks(room_id), await self._store.page(log_of(room_id), limit=LOG_PAGE_SIZE)

    async def blocks(self, room_id: RoomId) -> list[Block]:
        """Who and what is kept out."""
        return [it async for it in self._store.each(blocks_of(room_id))]

    async def standing(self, room_id: RoomId) -> ModerationState:
        """How things stand with the comments; who is kept out is left out."""
        marks = [it async for it in self._store.each(marks_of(room_id))]
        votes = [it async for it in self._store.each(upvotes_in(room_id))]
        return loaded([], marks, votes)

    async def reactions(self, room_id: RoomId) -> list[Reactions]:
        """How people reacted, minute by minute."""
        return [it async for it in self._store.each(reactions_in(room_id))]

    async def deleted(self, room_id: RoomId, comment_id: CommentId) -> bool:
        """Whether a comment was deleted."""
        key = Mark.key(room_id=room_id, mark="DELETED", comment_id=comment_id)
        return await self._store.get(key, strong=True) is not None
