"""What is done with rooms: opening one, finding it, owning it, closing it."""

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import TypeVar
from uuid import uuid4

from zataku.errors import InvalidRequest, Unavailable
from zataku.live.design import Room, newest_rooms_of, room, room_now, rooms_by_code
from zataku.live.errors import closed, no_such_room
from zataku.live.functions.function import Function
from zataku.live.limits import Epoch, HostId, RoomCode, RoomId, RoomName, instant_ms
from zataku.live.moderation.design import Reactions, blocks_of, marks_of, reactions_in, upvotes_in
from zataku.live.rules.moderation_state import ModerationState, loaded
from zataku.live.writes import close_room, create_room, take_room
from zataku.table import BadCursor, BadInput, ConditionFailed, Page, ResultUnknown

ROOM_PAGE_SIZE = 50
_TRIES = 8

R = TypeVar("R")


class CreateRoomFunction(Function):
    """A presenter opens a room."""

    async def __call__(self, host_id: HostId, name: RoomName, now: float, random: Random) -> Room:
        """Open a room under a code that leads to no other. Who its host is, is never asked of whoever sends it."""
        try:
            made = Room(
                room_id=RoomId(str(uuid4())),
                name=name,
                host_id=host_id,
                status="OPEN",
                created_at=instant_ms(now),
                updated_at=instant_ms(now),
                code=await self._free_code(random),
            )
        except ValueError as wrong:
            raise InvalidRequest(f"{wrong}.") from None
        try:
            await self._store.write(create_room(made))
        except ResultUnknown:
            if await self._store.get(room(made.room_id), strong=True) is None:
                raise Unavailable("The room could not be opened. Try again in a moment.") from None
        return made

    async def _free_code(self, random: Random) -> RoomCode | None:
        """A number that leads nowhere yet. A room without one can still be entered by its link."""
        for _ in range(_TRIES):
            code = str(random.randrange(100_000, 1_000_000))
            if not (await self._store.page(rooms_by_code(code), limit=1)).items:
                return code
        return None


class GetUserRoomsFunction(Function):
    """Finds rooms: those of a host, the one of an id, the one of a code."""

    async def __call__(self, host_id: HostId, after: str | None) -> Page[Room]:
        """The rooms of a host, newest first."""
        try:
            return await self._store.page(newest_rooms_of(host_id), limit=ROOM_PAGE_SIZE, after=after)
        except BadCursor:
            raise InvalidRequest("`after` leads nowhere. Take it from `next` of the page before.") from None

    async def one(self, room_id: str) -> Room:
        """One room, open or closed."""
        try:
            found = await self._store.get(room(RoomId(room_id)))
        except BadInput:
            found = None
        if found is None:
            raise no_such_room()
        return found

    async def by_code(self, code: RoomCode) -> list[Room]:
        """The open rooms that a code leads to."""
        doors = await self._store.page(rooms_by_code(code), limit=10)
        found = await self._store.get_many([Room.key(room_id=door.room_id) for door in doors.items])
        return [it for it in found if it is not None and it.status == "OPEN" and it.code == code]


class CloseRoomFunction(Function):
    """The host closes a room."""

    async def __call__(self, room_id: RoomId, host_id: HostId, now: float, epoch: Epoch) -> Room | None:
        """Close it for good. Gives the room as it is then, which may be open still when the answer was lost."""
        try:
            return await self._store.write(close_room(room_id, host_id, now, epoch))
        except (ConditionFailed, ResultUnknown):
            # Somebody was faster, or nobody knows.
            return await self.now(room_id)

    async def now(self, room_id: RoomId) -> Room | None:
        """The room as it is right now."""
        return await self._store.get(room_now(room_id))


class OwnRoomFunction(Function):
    """A process becomes the owner of a room, and learns what it has to heed."""

    async def __call__(self, room_id: str) -> Room:
        """Take an open room."""
        for _ in range(3):
            try:
                taken = await self._store.write(take_room(RoomId(room_id)))
            except BadInput:
                raise no_such_room() from None
            except ConditionFailed as refused:
                raise (no_such_room() if refused.current is None else closed()) from None
            except ResultUnknown:
                # Taking it once more is one epoch more, and no harm.
                continue
            assert taken is not None
            return taken
        raise Unavailable("The room cannot be reached right now. Try again in a moment.")

    async def standing(self, room_id: RoomId) -> tuple[ModerationState, list[Reactions]]:
        """What earlier owners stored beside the comments: blocks, marks, counts; and reactions."""
        store = self._store
        blocks, marks, votes, reactions = await asyncio.gather(
            _all(store.each(blocks_of(room_id))),
            _all(store.each(marks_of(room_id))),
            _all(store.each(upvotes_in(room_id))),
            _all(store.each(reactions_in(room_id))),
        )
        return loaded(blocks, marks, votes), reactions


async def _all(found: AsyncIterator[R]) -> list[R]:
    return [it async for it in found]
