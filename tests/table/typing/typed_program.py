"""Read by the type checker only: lines that end in `# refused` must be type errors, all others must not."""

from typing import Literal, NewType, assert_type

from zataku.table import Attributes, Entity, Key, Page, Span, Store, Table, View, path, some

RoomId = NewType("RoomId", str)
rooms = Table("Rooms", pk="PK", sk="SK")
by_host = rooms.index("ByHost", pk="host")


@rooms.entity(pk="ROOM#{room_id}", sk="META")
class Room(Entity, frozen=True, kw_only=True):
    room_id: RoomId
    host: str
    status: Literal["OPEN", "CLOSED"]
    seats: int
    tags: frozenset[str] | None = None
    names: list[str]


@rooms.entity(pk="ROOM#{room_id}", sk="COMMENT#{number:06d}")
class Comment(Entity, frozen=True, kw_only=True):
    room_id: RoomId
    number: int
    content: str


def hours_counted(booking: Attributes) -> None:
    booking["hours"] = int(booking.pop("duration"))


def hours_returned(booking: Attributes) -> Attributes:
    return booking


def hours_of(booking: Comment) -> None:
    pass


rooms.entity(pk="ROOM#{room_id}", revision=2, upgrades={1: hours_counted})
rooms.entity(pk="ROOM#{room_id}", revision=2, upgrades={1: hours_returned})  # refused
rooms.entity(pk="ROOM#{room_id}", revision=2, upgrades={1: hours_of})  # refused
rooms.entity(pk="ROOM#{room_id}", revision="2", upgrades={1: hours_counted})  # refused
rooms.entity(pk="ROOM#{room_id}", revision=2, upgrades=[hours_counted])  # refused


@rooms.view(Room)
class RoomHost(View, frozen=True, kw_only=True):
    host: str


@rooms.item(strong=True)
def room(room_id: RoomId) -> Key[Room]:
    """One room."""
    return Room.key(room_id=room_id)


@rooms.query(returns=Comment)
def comments_of(room_id: RoomId) -> Span:
    """The comments of a room."""
    return rooms.partition(Comment.partition(room_id=room_id)).begins_with("COMMENT#")


@rooms.query(returns=(Room, Comment))
def everything_of(room_id: RoomId) -> Span:
    """A room with its comments."""
    return rooms.partition(f"ROOM#{room_id}")


@rooms.query(returns=RoomHost)
def hosts(host: str) -> Span:
    """Rooms of a host."""
    return by_host.partition(host)


status = path(Room, lambda room: room.status)
seats = path(Room, lambda room: room.seats)
names = path(Room, lambda room: room.names)
tags = path(Room, lambda room: some(room.tags))
content = path(Comment, lambda comment: comment.content)


async def program(store: Store, room_id: RoomId) -> None:
    found = await store.get(room(room_id))
    assert_type(found, Room | None)
    assert_type(await store.page(comments_of(room_id)), Page[Comment])
    assert_type(await store.page(everything_of(room_id)), Page[Room | Comment])
    assert_type(await store.first(hosts("me")), RoomHost | None)
    assert found is not None

    await store.put(found, when=status.equals("OPEN") & seats.above(2))
    await store.update(room(room_id), status.set("CLOSED"), seats.add(1), names.append("a"), tags.include("x"))
    assert_type(await store.update(room(room_id), seats.add(1), when=status.equals("OPEN")), Room)
    async with store.transact() as tx:
        tx.put(found, if_absent=True)
        tx.check(room(room_id), status.equals("OPEN"))

    room("just text")  # refused
    comments_of(7)  # refused
    comments_of()  # refused
    path(Room, lambda room: room.stats)  # refused
    status.equals(7)  # refused
    seats.set("many")  # refused
    names.append(7)  # refused
    status.append("x")  # refused
    seats.include(1)  # refused
    await store.put(found, when=content.exists())  # refused
    await store.update(room(room_id), content.set("x"))  # refused
    await store.get(comments_of(room_id))  # refused
    await store.page(room(room_id))  # refused
    status.equals("OPEN") & content.exists()  # refused
    found.seats = 3  # refused
