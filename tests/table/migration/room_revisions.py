"""One table as three programs know it: the first of their entities, and two later shapes of the same items."""

from msgspec import field

from zataku.table import NEW_AND_OLD, Entity, Span, Store, Table, View, include, path
from zataku.table.schema.entity import binding_of
from zataku.table.schema.revised_bindings import RevisedBinding
from zataku.table.schema.revisions import Attributes

NAME = "MeetingRooms"


def a_table() -> Table:
    """The table, which is the same for all programs."""
    table = Table(NAME, pk="PK", sk="SK", ttl="expiresAt", stream=NEW_AND_OLD, transactions=True)
    table.index("GSI1", pk="GSI1PK", sk="GSI1SK")
    table.index("GSI2", pk="GSI2PK", projection=include("_revision", "host", "seats"))
    return table


def named_title(room: Attributes) -> None:
    """The second revision calls the name a title and keeps any number of notes."""
    room["title"] = room.pop("name")
    room["notes"] = [room.pop("note")] if "note" in room else []


def host_and_place(room: Attributes) -> None:
    """The third revision keeps the place apart from the host."""
    room["host"], _, room["place"] = room["host"].partition("@")


first = a_table()
second = a_table()
third = a_table()


@first.entity(pk="ROOM#{room_id}", sk="META", index={"GSI1PK": "HOST#{host}", "GSI1SK": "{name}", "GSI2PK": "ROOMS"})
class Room1(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="ROOM"):
    """A room in its first shape, by a program that knows nothing of revisions."""

    room_id: str
    name: str = "Blue"
    host: str = "ann@north"
    seats: int = 4
    note: str | None = None
    expires_at: int | None = None


@second.entity(
    pk="ROOM#{room_id}",
    sk="META",
    index={"GSI1PK": "HOST#{host}", "GSI1SK": "{title}", "GSI2PK": "ROOMS"},
    revision=2,
    upgrades={1: named_title},
)
class Room2(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="ROOM"):
    """A room in its second shape."""

    room_id: str
    title: str = "Blue"
    host: str = "ann@north"
    seats: int = 4
    notes: list[str] = field(default_factory=list)
    expires_at: int | None = None


@third.entity(
    pk="ROOM#{room_id}",
    sk="META",
    index={"GSI1PK": "PLACE#{place}", "GSI1SK": "{title}", "GSI2PK": "ROOMS"},
    revision=3,
    upgrades={1: named_title, 2: host_and_place},
)
class Room(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="ROOM"):
    """A room as it is today."""

    room_id: str
    title: str = "Blue"
    host: str = "ann"
    place: str = "north"
    seats: int = 4
    notes: list[str] = field(default_factory=list)
    # Open to all unless something else is said: a field that old items lack.
    access: str = "all"
    expires_at: int | None = None


@third.entity(pk="ROOM#{room_id}", sk="VISIT#{visitor}")
class Visit(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="VISIT"):
    """A visit, whose shape has never changed."""

    room_id: str
    visitor: str
    hours: int = 1


def text_hours(booking: Attributes) -> None:
    """Hours were a text once."""
    booking["hours"] = int(booking["hours"])


@first.entity(pk="ROOM#{room_id}", sk="BOOKING#{number:03d}", version="version", revision=1)
class Booking1(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="BOOKING"):
    """A booking in its first shape, by a program that expects later ones."""

    room_id: str
    number: int
    hours: str = "1"
    purpose: str | None = None
    version: int = 1


@third.entity(pk="ROOM#{room_id}", sk="BOOKING#{number:03d}", version="version", revision=2, upgrades={1: text_hours})
class Booking(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="BOOKING"):
    """A booking as it is today, with a version."""

    room_id: str
    number: int
    hours: int = 1
    purpose: str | None = None
    version: int = 1


@third.view(Room)
class RoomLine(View, frozen=True, kw_only=True, rename="camel"):
    """What a list of rooms shows."""

    host: str
    seats: int


@third.view(Room)
class RoomTitle(View, frozen=True, kw_only=True, rename="camel"):
    """What the list of rooms does not hold."""

    title: str


@third.query(returns=Room)
def rooms_in(place: str) -> Span:
    """The rooms of a place."""
    return third.indexes["GSI1"].partition(f"PLACE#{place}")


@third.query(returns=Room)
def rooms_once_of(host: str) -> Span:
    """Rooms under the index keys that they had before the third revision."""
    return third.indexes["GSI1"].partition(f"HOST#{host}")


@third.query(returns=RoomLine)
def room_lines() -> Span:
    """All rooms, a line each."""
    return third.indexes["GSI2"].partition("ROOMS")


@third.query(returns=(Room, Visit, Booking), strong=True)
def all_of(room_id: str) -> Span:
    """A room with its visits and bookings."""
    return third.partition(f"ROOM#{room_id}")


@third.query(returns=RoomTitle, strong=True)
def title_of(room_id: str) -> Span:
    """The title of one room, read from its item."""
    return third.partition(f"ROOM#{room_id}").equals("META")


@third.query(returns=(Room, Visit, Booking), strong=True)
def titled(room_id: str, title: str) -> Span:
    """What in a room's partition has a title."""
    return third.partition(f"ROOM#{room_id}").where(path(Room, lambda room: room.title).equals(title))


@third.query(returns=Booking, strong=True)
def longer_than(room_id: str, hours: int) -> Span:
    """The bookings of more than so many hours."""
    bookings = third.partition(f"ROOM#{room_id}").begins_with("BOOKING#")
    return bookings.where(path(Booking, lambda booking: booking.hours).above(hours))


@third.query(returns=RoomTitle, strong=True)
def title_where(room_id: str, title: str) -> Span:
    """The title of a room, if it is this one."""
    return title_of(room_id).span.where(path(Room, lambda room: room.title).equals(title))


def program(store: Store, table: Table) -> Store:
    """Another program on the same items."""
    return Store(store.backend, (table,), secret=b"x" * 32, env=store.env, clock=store.clock, retry=store.retry)


def binding(entity: type[Entity]) -> RevisedBinding:
    """How a revised entity lies in its table."""
    found = binding_of(entity)
    assert isinstance(found, RevisedBinding)
    return found
