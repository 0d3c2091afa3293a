"""The rule about projections: an index must project every field that is read from it."""

from typing import Annotated, NewType

from msgspec import Meta

from tests.table.lint.findings import findings_of, message_of
from zataku.table import ALL, KEYS_ONLY, Entity, InKey, Projection, Span, Table, View, include, path

UserId = NewType("UserId", str)
RoomId = NewType("RoomId", str)
Name = Annotated[str, Meta(max_length=30)]
FINDING = [("projection-lacks-field", "rooms_of")]


def rooms(projection: Projection, *, local: bool = False, filtered: bool = False, whole: bool = False) -> Table:
    table = Table("Rooms", pk="roomId", sk="kind")
    if local:
        index = table.local_index("byHost", sk="hostId", projection=projection)
    else:
        index = table.index("byHost", pk="hostId", projection=projection)

    @table.entity(pk="{room_id}", sk="ROOM")
    class Room(Entity, frozen=True, kw_only=True, rename="camel"):
        """A room with its host."""

        room_id: RoomId
        host_id: UserId
        name: Name
        status: Name | None = None

    @table.view(Room)
    class Listed(View, frozen=True, kw_only=True, rename="camel"):
        """A room in a list."""

        room_id: RoomId
        host_id: UserId
        name: Name

    @table.query(returns=Room if whole else Listed)
    def rooms_of(key: UserId) -> Span:
        """The rooms of a host."""
        span = index.partition(key)
        return span.where(path(Room, lambda room: room.status).equals("OPEN")) if filtered else span

    return table


def test_a_view_with_an_unprojected_field_is_reported() -> None:
    assert findings_of(rooms(KEYS_ONLY)) == FINDING
    assert message_of(rooms(KEYS_ONLY)).startswith("rooms_of reads Listed.name from byHost,")
    assert findings_of(rooms(include("name"))) == []


def test_a_local_index_is_checked_like_a_global_one() -> None:
    assert findings_of(rooms(KEYS_ONLY, local=True)) == FINDING
    assert findings_of(rooms(include("name"), local=True)) == []


def test_a_whole_entity_needs_its_optional_fields_projected() -> None:
    assert findings_of(rooms(include("name"), whole=True)) == FINDING
    assert "Room.status" in message_of(rooms(include("name"), whole=True))
    assert findings_of(rooms(include("name", "status"), whole=True)) == []
    assert findings_of(rooms(ALL, whole=True)) == []


def test_a_filter_on_an_unprojected_attribute_is_reported() -> None:
    assert findings_of(rooms(include("name"), filtered=True)) == FINDING
    assert "status (in its filter)" in message_of(rooms(include("name"), filtered=True))
    assert findings_of(rooms(include("name", "status"), filtered=True)) == []


def test_all_parts_of_a_nested_filter_are_checked() -> None:
    table = Table("Rooms", pk="roomId")
    index = table.index("byHost", pk="hostId", projection=include("name"))

    @table.entity(pk="{room_id}")
    class Room(Entity, frozen=True, kw_only=True, rename="camel"):
        """A room with its host."""

        room_id: RoomId
        host_id: UserId
        name: Name
        seats: int
        tags: Annotated[list[Name], Meta(max_length=3)]

    @table.view(Room)
    class Listed(View, frozen=True, kw_only=True, rename="camel"):
        """A room in a list."""

        room_id: RoomId

    @table.query(returns=Listed)
    def rooms_of(host: UserId) -> Span:
        """The rooms of a host that pass a nested filter."""
        named = path(Room, lambda room: room.name).begins_with("a")
        roomy = path(Room, lambda room: room.seats).between(2, 9)
        tagged = path(Room, lambda room: room.tags).size().above(1)
        return index.partition(host).where(named & (roomy | ~tagged))

    assert findings_of(table) == FINDING
    assert "seats (in its filter), tags (in its filter)" in message_of(table)


def rooms_with_in_key_fields(projected: tuple[str, ...]) -> Table:
    table = Table("Rooms")
    table.index("byName", pk="nameKey")
    index = table.index("byHost", pk="hostId", projection=include(*projected))

    @table.entity(pk="ROOM#{room_id}", index={"nameKey": "NAME#{name}"})
    class Room(Entity, frozen=True, kw_only=True, rename="camel"):
        """A room whose id and name are stored in its keys only."""

        room_id: InKey[RoomId]
        name: InKey[Name]
        host_id: UserId

    @table.query(returns=Room)
    def rooms_of(host: UserId) -> Span:
        """The rooms of a host."""
        return index.partition(host)

    return table


def test_a_field_decoded_from_a_key_needs_that_key_projected() -> None:
    assert findings_of(rooms_with_in_key_fields(())) == FINDING
    assert message_of(rooms_with_in_key_fields(())).startswith("rooms_of reads Room.name from byHost,")
    assert findings_of(rooms_with_in_key_fields(("nameKey",))) == []
