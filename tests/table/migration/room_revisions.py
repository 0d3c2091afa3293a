"""One table as declared by three programs: the first revision of its entities and two later ones."""

from msgspec import field

from zataku.table import NEW_AND_OLD, Entity, Span, Store, Table, View, include, path
from zataku.table.schema.entity import binding_of
from zataku.table.schema.revised_bindings import RevisedBinding
from zataku.table.schema.revisions import Attributes

NAME = "MeetingRooms"


def rooms_table() -> Table:
    """A new declaration of the table, the same for all programs."""
    table = Table(NAME, pk="PK", sk="SK", ttl="expiresAt", stream=NEW_AND_OLD, transactions=True)
    table.index("GSI1", pk="GSI1PK", sk="GSI1SK")
    table.index("GSI2", pk="GSI2PK", projection=include("_revision", "host", "seats"))
    return table


def rename_name_to_title(room: Attributes) -> None:
    """Upgrade to the second revision: the name becomes the title, the note a list of notes."""
    room["title"] = room.pop("name")
    room["notes"] = [room.pop("note")] if "note" in room else []


def split_host_and_place(room: Attributes) -> None:
    """Upgrade to the third revision: the place moves out of the host."""
    room["host"], _, room["place"] = room["host"].partition("@")


first = rooms_table()
second = rooms_table()
third = rooms_table()


@first.entity(pk="ROOM#{room_id}", sk="META", index={"GSI1PK": "HOST#{host}", "GSI1SK": "{name}", "GSI2PK": "ROOMS"})
class Room1(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="ROOM"):
    """A room in its first revision, declared without revisions."""

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
    upgrades={1: rename_name_to_title},
)
class Room2(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="ROOM"):
    """A room in its second revision."""

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
    upgrades={1: rename_name_to_title, 2: split_host_and_place},
)
class Room(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="ROOM"):
    """A room in its current revision."""

    room_id: str
    title: str = "Blue"
    host: str = "ann"
    place: str = "north"
    seats: int = 4
    notes: list[str] = field(default_factory=list)
    # A field with a default that old items lack.
    access: str = "all"
    expires_at: int | None = None


@third.entity(pk="ROOM#{room_id}", sk="VISIT#{visitor}")
class Visit(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="VISIT"):
    """A visit, which has had one revision only."""

    room_id: str
    visitor: str
    hours: int = 1


def parse_hours(booking: Attributes) -> None:
    """Upgrade to the second revision: hours become a number."""
    booking["hours"] = int(booking["hours"])


@first.entity(pk="ROOM#{room_id}", sk="BOOKING#{number:03d}", version="version", revision=1)
class Booking1(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="BOOKING"):
    """A booking in its first revision, declared with a revision."""

    room_id: str
    number: int
    hours: str = "1"
    purpose: str | None = None
    version: int = 1


@third.entity(pk="ROOM#{room_id}", sk="BOOKING#{number:03d}", version="version", revision=2, upgrades={1: parse_hours})
class Booking(Entity, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="BOOKING"):
    """A booking in its current revision, with a version."""

    room_id: str
    number: int
    hours: int = 1
    purpose: str | None = None
    version: int = 1


@third.view(Room)
class RoomSummary(View, frozen=True, kw_only=True, rename="camel"):
    """A room in the list of rooms; the index projects these fields."""

    host: str
    seats: int


@third.view(Room)
class RoomTitle(View, frozen=True, kw_only=True, rename="camel"):
    """The title of a room, which the index of the list does not project."""

    title: str


@third.query(returns=Room)
def rooms_in(place: str) -> Span:
    """The rooms of a place."""
    return third.indexes["GSI1"].partition(f"PLACE#{place}")


@third.query(returns=Room)
def rooms_by_host(host: str) -> Span:
    """Rooms under the index keys of the revisions before the third."""
    return third.indexes["GSI1"].partition(f"HOST#{host}")


@third.query(returns=RoomSummary)
def room_summaries() -> Span:
    """The list of all rooms."""
    return third.indexes["GSI2"].partition("ROOMS")


@third.query(returns=(Room, Visit, Booking), strong=True)
def room_contents(room_id: str) -> Span:
    """A room with its visits and bookings."""
    return third.partition(f"ROOM#{room_id}")


@third.query(returns=RoomTitle, strong=True)
def title_of(room_id: str) -> Span:
    """The title of a room, read from the table."""
    return third.partition(f"ROOM#{room_id}").equals("META")


@third.query(returns=(Room, Visit, Booking), strong=True)
def contents_with_title(room_id: str, title: str) -> Span:
    """The items in a room's partition that have this title."""
    return third.partition(f"ROOM#{room_id}").where(path(Room, lambda room: room.title).equals(title))


@third.query(returns=Booking, strong=True)
def bookings_longer_than(room_id: str, hours: int) -> Span:
    """The bookings of a room for more than this number of hours."""
    bookings = third.partition(f"ROOM#{room_id}").begins_with("BOOKING#")
    return bookings.where(path(Booking, lambda booking: booking.hours).above(hours))


@third.query(returns=RoomTitle, strong=True)
def title_where(room_id: str, title: str) -> Span:
    """The title of a room, if it equals the given one."""
    return title_of(room_id).span.where(path(Room, lambda room: room.title).equals(title))


def program(store: Store, table: Table) -> Store:
    """Another program on the same items."""
    return Store(store.backend, (table,), secret=b"x" * 32, env=store.env, clock=store.clock, retry=store.retry)


def binding(entity: type[Entity]) -> RevisedBinding:
    """The binding of an entity with revisions."""
    binding = binding_of(entity)
    assert isinstance(binding, RevisedBinding)
    return binding
