"""What people do with live rooms from outside: open one, look for it, read it, say something in it, close it."""

from collections.abc import Awaitable, Callable
from uuid import uuid4

import msgspec

from zataku.clock import Clock
from zataku.live import messages as said
from zataku.live.design import MATRIX, Room, comments_after, newest_rooms_of, room
from zataku.live.limits import BEFORE_ALL, HostId, RoomId, RoomName, Seq, moment
from zataku.live.showing import comment_view, room_view
from zataku.live.writes import create_room
from zataku.platform.identity import Identity
from zataku.realtime.rooms import Rooms
from zataku.refusals import Invalid, NotFound, Unavailable
from zataku.table import Store
from zataku.table.errors import BadCursor, BadInput, ResultUnknown

ROOMS_ON_A_PAGE = 50
COMMENTS_ON_A_PAGE = 200

_encode = msgspec.json.Encoder().encode


class LiveRooms:
    """The use cases of live rooms, each with the rights that the design grants it and no more."""

    def __init__(self, store: Store, clock: Clock, rooms: Rooms, keep: Callable[[Identity], Awaitable[None]]) -> None:
        self._creating = store.limited(MATRIX["CreateRoomFunction"])
        self._listing = store.limited(MATRIX["GetUserRoomsFunction"])
        self._reading = store.limited(MATRIX["GetRoomCommentsFunction"])
        self._clock = clock
        self._rooms = rooms
        self._keep = keep

    async def open(self, host: Identity, name: RoomName) -> said.RoomView:
        """A presenter opens a room; who that is comes from the cookie, never from what was sent."""
        await self._keep(host)
        now = moment(self._clock.now())
        try:
            made = Room(
                room_id=RoomId(str(uuid4())),
                name=name,
                host_id=HostId(host.account_id),
                status="OPEN",
                created_at=now,
                updated_at=now,
            )
        except ValueError as wrong:
            raise Invalid(f"{wrong}.") from None
        try:
            await self._creating.write(create_room(made))
        except ResultUnknown:
            if await self._creating.get(room(made.room_id), strong=True) is None:
                raise Unavailable("The room could not be opened. Try again in a moment.") from None
        return room_view(made, made.host_id)

    async def mine(self, host: Identity, after: str | None) -> said.RoomList:
        """The rooms of a host, newest first."""
        query = newest_rooms_of(HostId(host.account_id))
        try:
            page = await self._listing.page(query, limit=ROOMS_ON_A_PAGE, after=after)
        except BadCursor:
            raise Invalid("`after` leads nowhere. Take it from `next` of the page before.") from None
        return said.RoomList(rooms=[room_view(it, HostId(host.account_id)) for it in page.items], next=page.cursor)

    async def look(self, viewer: Identity, room_id: str) -> said.RoomView:
        """One room, open or closed."""
        return room_view(await self._found(room_id), HostId(viewer.account_id))

    async def title(self, room_id: str) -> str | None:
        """The name of a room, for links to it; None when there is no such room."""
        try:
            return (await self._found(room_id)).name
        except NotFound:
            return None

    async def comments(self, room_id: str, after: Seq = BEFORE_ALL) -> said.CommentList:
        """What was said after a place, in the order of the room; in closed rooms, too."""
        found = await self._found(room_id)
        page = await self._reading.page(comments_after(found.room_id, after), limit=COMMENTS_ON_A_PAGE)
        return said.CommentList(comments=[comment_view(it) for it in page.items], more=page.cursor is not None)

    async def say(self, who: Identity, room_id: str, say: said.Say) -> said.CommentView:
        """Somebody comments; answered when it is stored."""
        stored = await self._rooms.ask(f"live/{room_id}", who, _encode(say))
        return msgspec.json.decode(stored or b"", type=said.CommentView)

    async def close(self, who: Identity, room_id: str) -> said.RoomView:
        """The host closes a room, for good."""
        stored = await self._rooms.ask(f"live/{room_id}", who, _encode(said.Close()))
        return msgspec.json.decode(stored or b"", type=said.RoomView)

    async def _found(self, room_id: str) -> Room:
        try:
            found = await self._listing.get(room(RoomId(room_id)))
        except BadInput:
            found = None
        if found is None:
            raise NotFound("There is no such room. Check the link.", code="no_such_room")
        return found
