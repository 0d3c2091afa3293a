"""Ownership of a room: a process acquires it, and loads what earlier owners stored."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

from msgspec.structs import replace

from zataku.errors import Unavailable
from zataku.live.design import Room
from zataku.live.errors import room_closed, room_not_found
from zataku.live.functions import Function
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.rooms import CloseRoomFunction
from zataku.live.limits import RoomId
from zataku.live.moderation.design import (
    Reactions,
    anonymous_senders_in,
    blocks_of,
    host_names_in,
    marks_of,
    reactions_in,
    upvotes_in,
)
from zataku.live.rules.moderation_state import ModerationState, moderation_state
from zataku.live.rules.nicknames import AnonymousSenders
from zataku.live.rules.rate_limits import load_rates
from zataku.live.rules.reactions import load_counts
from zataku.live.rules.room_state import RECENT_COMMENTS, RoomState
from zataku.live.writes import take_room
from zataku.realtime.rooms.behaviour import LostRoom
from zataku.table import BadInput, ConditionFailed, ResultUnknown, Store

MAX_ATTEMPTS = 3

T = TypeVar("T")


class OwnRoomFunction(Function):
    """A process becomes the owner of a room."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._comments = GetRoomCommentsFunction(store)
        self._room = CloseRoomFunction(store)

    async def require_open(self, room_id: str) -> None:
        """Raise `room_not_found` or `room_closed` unless there is an open room of that id."""
        try:
            room = await self._room.now(RoomId(room_id))
        except BadInput:
            room = None
        if room is None or room.status != "OPEN":
            raise room_not_found() if room is None else room_closed()

    async def acquire(self, room_id: str) -> RoomState:
        """Become the owner of an open room; its state has all that earlier owners stored."""
        room = await self._take(room_id)
        assert room.epoch is not None
        moderation, reactions = await self._load_moderation(room.room_id)
        anonymous, host_names = await self._load_names(room.room_id)
        page = await self._comments.latest(room.room_id, RECENT_COMMENTS)
        recent = tuple(reversed(page.items))
        return RoomState(
            room=room,
            epoch=room.epoch,
            recent=recent,
            has_earlier=page.cursor is not None,
            moderation=moderation,
            pinned=await self._comments.get_many(room.room_id, moderation.pinned),
            rates=load_rates(recent),
            reactions=load_counts(reactions),
            anonymous=anonymous,
            host_names=host_names,
        )

    async def reload(self, state: RoomState) -> RoomState:
        """The room and its moderation as stored now. No other process adds comments while the epoch is the owner's.

        Raises `LostRoom` when another process has acquired the room.
        """
        room = await self._room.now(state.room.room_id)
        if room is None or room.epoch != state.epoch:
            raise LostRoom(state.room.room_id)
        moderation, _ = await self._load_moderation(room.room_id)
        pinned = await self._comments.get_many(room.room_id, moderation.pinned)
        anonymous, host_names = await self._load_names(room.room_id)
        return replace(
            state, room=room, moderation=moderation, pinned=pinned, anonymous=anonymous, host_names=host_names
        )

    async def _take(self, room_id: str) -> Room:
        for _ in range(MAX_ATTEMPTS):
            try:
                room = await self._store.write(take_room(RoomId(room_id)))
            except BadInput:
                raise room_not_found() from None
            except ConditionFailed as refused:
                raise (room_not_found() if refused.current is None else room_closed()) from None
            except ResultUnknown:
                # Taking it twice costs an epoch and does no harm.
                continue
            assert room is not None
            return room
        raise Unavailable("The room cannot be reached right now. Try again in a moment.")

    async def _load_moderation(self, room_id: RoomId) -> tuple[ModerationState, list[Reactions]]:
        store = self._store
        blocks, marks, votes, reactions = await asyncio.gather(
            _collect(store.each(blocks_of(room_id))),
            _collect(store.each(marks_of(room_id))),
            _collect(store.each(upvotes_in(room_id))),
            _collect(store.each(reactions_in(room_id))),
        )
        return moderation_state(blocks, marks, votes), reactions

    async def _load_names(self, room_id: RoomId) -> tuple[AnonymousSenders, tuple[str, ...]]:
        """The numbers of anonymous senders, and the names of the host."""
        senders = await _collect(self._store.each(anonymous_senders_in(room_id)))
        host_names = await self._store.get(host_names_in(room_id))
        numbers = AnonymousSenders().with_numbers({it.sender_id: it.number for it in senders})
        return numbers, () if host_names is None else host_names.names


async def _collect(items: AsyncIterator[T]) -> list[T]:
    return [it async for it in items]
