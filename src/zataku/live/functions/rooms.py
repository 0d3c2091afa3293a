"""Functions that open, find and close rooms."""

from random import Random
from uuid import uuid4

import structlog

from zataku.clock import instant_ms
from zataku.errors import InvalidRequest, Unavailable
from zataku.live.design import Room, RoomByCode, newest_rooms_of, room, room_now, rooms_by_code
from zataku.live.errors import room_not_found
from zataku.live.functions import Function
from zataku.live.limits import Epoch, HostId, RoomCode, RoomId, RoomName
from zataku.live.writes import close_room, create_room, release_code
from zataku.table import BadCursor, BadInput, ConditionFailed, Page, ResultUnknown, UnreadableItem

ROOM_PAGE_SIZE = 50
MAX_CODE_ATTEMPTS = 8
MAX_ROOMS_PER_CODE = 10

log = structlog.get_logger(__name__)


class CreateRoomFunction(Function):
    """A presenter opens a room."""

    async def __call__(
        self, host_id: HostId, name: RoomName, now: float, random: Random, *, host_name: str | None = None
    ) -> Room:
        """Open a room with a code that no other open room has. Only the host may use `host_name` in it."""
        try:
            created = Room(
                room_id=RoomId(str(uuid4())),
                name=name,
                host_id=host_id,
                status="OPEN",
                created_at=instant_ms(now),
                updated_at=instant_ms(now),
                code=await self._free_code(random),
                host_name=host_name,
            )
        except ValueError as error:
            raise InvalidRequest(f"{error}.") from None
        try:
            await self._store.write(create_room(created))
        except ResultUnknown:
            if await self._store.get(room(created.room_id), strong=True) is None:
                raise Unavailable("The room could not be opened. Try again in a moment.") from None
        return created

    async def _free_code(self, random: Random) -> RoomCode | None:
        """A code without a room, or else one of rooms that have ended, which it leads to no longer.

        A room without a code can still be entered by its link.
        """
        for _ in range(MAX_CODE_ATTEMPTS):
            code = _random_code(random)
            if not await self._rooms_with(code):
                return code
        code = _random_code(random)
        for entry in await self._rooms_with(code):
            try:
                await self._store.write(release_code(entry.room_id, code))
            except ConditionFailed as refused:
                if isinstance(refused.current, Room) and refused.current.status == "OPEN":
                    return None
        return code

    async def _rooms_with(self, code: RoomCode) -> list[RoomByCode]:
        return (await self._store.page(rooms_by_code(code), limit=MAX_ROOMS_PER_CODE)).items


def _random_code(random: Random) -> RoomCode:
    return str(random.randrange(100_000, 1_000_000))


def _report(unreadable: UnreadableItem) -> None:
    """Log a room that cannot be read. It must not hide the others of its host or with its number."""
    log.error("room_unreadable", room=unreadable.key["roomId"], problem=unreadable.reason)


class GetUserRoomsFunction(Function):
    """Finds rooms by their host, their id, or their code."""

    async def __call__(self, host_id: HostId, after: str | None) -> Page[Room]:
        """A page of the host's rooms, newest first."""
        query = newest_rooms_of(host_id)
        try:
            return await self._store.page(query, limit=ROOM_PAGE_SIZE, after=after, unreadable=_report)
        except BadCursor:
            raise InvalidRequest(
                "`after` is not a cursor of this list. Take it from `next` of the page before."
            ) from None

    async def get(self, room_id: str) -> Room:
        """One room, open or closed."""
        try:
            stored = await self._store.get(room(RoomId(room_id)))
        except BadInput:
            stored = None
        if stored is None:
            raise room_not_found()
        return stored

    async def find_open(self, room_id: RoomId) -> Room | None:
        """One room, if it exists and is open."""
        stored = await self._store.get(room(room_id))
        return stored if stored is not None and stored.status == "OPEN" else None

    async def by_code(self, code: RoomCode) -> list[Room]:
        """The open rooms with a code, or without one the room that had it last and has ended."""
        entries = await self._store.page(rooms_by_code(code), limit=MAX_ROOMS_PER_CODE)
        keys = [Room.key(room_id=entry.room_id) for entry in entries.items]
        found = await self._store.get_many(keys, unreadable=_report)
        rooms = [it for it in found if it is not None and it.code == code]
        ended = sorted((it for it in rooms if it.status == "CLOSED"), key=lambda it: it.created_at)
        return [it for it in rooms if it.status == "OPEN"] or ended[-1:]


class CloseRoomFunction(Function):
    """A host closes a room."""

    async def __call__(self, room_id: RoomId, host_id: HostId, now: float, epoch: Epoch) -> Room | None:
        """Close the room for good. Returns the room as stored then, still open when the write was lost."""
        try:
            return await self._store.write(close_room(room_id, host_id, now, epoch))
        except (ConditionFailed, ResultUnknown):
            return await self.now(room_id)

    async def now(self, room_id: RoomId) -> Room | None:
        """The room as stored now."""
        return await self._store.get(room_now(room_id))
