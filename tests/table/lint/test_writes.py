"""Declared writes are tried with sample arguments; those that no caller could carry out are reported."""

from typing import Annotated, Any

import pytest
from msgspec import Meta

from tests.table.lint.findings import findings_of, message_of
from zataku.table import Entity, Plan, Table, path
from zataku.table.schema.plan import put, update

Name = Annotated[str, Meta(max_length=40)]
REFUSED = [("failing-write", "write")]


@pytest.fixture
def rooms() -> Table:
    return Table("Rooms", sk="SK")


def room_of(table: Table) -> type[Any]:
    table.index("Open", pk="openPK", sk="openSK")

    @table.entity(pk="ROOM#{room}", sk="META", index={"openPK": "STATE#{state}", "openSK": "{floor}#{room}"})
    class Room(Entity, frozen=True, kw_only=True):
        """A room."""

        room: Name
        state: Name
        floor: Name

    return Room


def test_a_write_that_works_has_no_finding(rooms: Table):
    room = room_of(rooms)
    state = path(room, lambda it: it.state)

    @rooms.write()
    def write(name: Name, to: Name) -> Plan[Any]:
        """Change the state of a room."""
        return Plan(update(room.key(room=name), state.set(to)))

    assert findings_of(rooms) == []


def test_a_write_of_any_number_of_members_is_tried_with_one(rooms: Table):
    room = room_of(rooms)

    @rooms.write()
    def write(state: Name = "open", *names: Name, **fields: Name) -> Plan[Any]:
        """Put rooms in one state."""
        return Plan(*(put(room(**{"room": name, "state": state, "floor": "1", **fields})) for name in names))

    assert findings_of(rooms) == []


def test_an_example_gives_the_members_of_a_write_of_any_number(rooms: Table):
    room = room_of(rooms)

    @rooms.write(example={"names": ("hall", "attic", "hall")})
    def write(*names: Name) -> Plan[Any]:
        """Put some rooms."""
        return Plan(*(put(room(room=name, state="open", floor="1")) for name in names))

    assert findings_of(rooms) == REFUSED
    assert "one operation per item" in message_of(rooms)


def test_an_edit_that_leaves_an_index_key_stale_is_reported(rooms: Table):
    room = room_of(rooms)
    floor = path(room, lambda it: it.floor)
    state = path(room, lambda it: it.state)

    @rooms.write()
    def write(name: Name, to: Name) -> Plan[Any]:
        """Change a part of an index key whose other part is not known."""
        return Plan(update(room.key(room=name), state.add(1) if to == "?" else floor.set_if_missing(to)))

    assert findings_of(rooms) == REFUSED
    assert "is refused with sample arguments" in message_of(rooms)


def test_one_item_twice_is_reported(rooms: Table):
    room = room_of(rooms)

    @rooms.write()
    def write(name: Name) -> Plan[Any]:
        """Put one room twice."""
        new = room(room=name, state="open", floor="1")
        return Plan(put(new), put(new))

    assert findings_of(rooms) == REFUSED
    assert "one operation per item" in message_of(rooms)


def test_two_items_of_one_kind_are_told_apart(rooms: Table):
    room = room_of(rooms)
    state = path(room, lambda it: it.state)

    @rooms.write()
    def write(from_id: Name, to_id: Name) -> Plan[Any]:
        """Move from one room to another, both named by ids."""
        return Plan(*(update(room.key(room=name), state.set("open")) for name in (from_id, to_id)))

    @rooms.write()
    def swap(first: room, second: room) -> Plan[Any]:  # pyright: ignore[reportInvalidTypeForm]
        """Put two rooms."""
        return Plan(put(first), put(second))

    assert findings_of(rooms) == []


def test_more_than_a_hundred_items_are_reported(rooms: Table):
    room = room_of(rooms)

    @rooms.write()
    def write(name: Name) -> Plan[Any]:
        """Put too many rooms."""
        return Plan(*(put(room(room=f"{name}{number}", state="open", floor="1")) for number in range(101)))

    assert findings_of(rooms) == REFUSED


def test_a_value_that_its_field_refuses_is_reported(rooms: Table):
    room = room_of(rooms)

    @rooms.write()
    def write(name: Name) -> Plan[Any]:
        """Put a room with a name that is too long."""
        return Plan(put(room(room=name, state="open" * 20, floor="1")))

    assert findings_of(rooms) == REFUSED


def test_a_write_that_raises_is_reported_with_what_it_raised(rooms: Table):
    room_of(rooms)

    @rooms.write()
    def write(name: Name) -> Plan[Any]:
        """Refuse every name."""
        raise ValueError(f"not {name}")

    assert findings_of(rooms) == REFUSED
    assert "cannot be tried out: ValueError: not name" in message_of(rooms)


def test_an_example_is_used_instead_of_samples(rooms: Table):
    room = room_of(rooms)

    @rooms.write(example={"name": "hall"})
    def write(name: Name) -> Plan[Any]:
        """Take one name only."""
        if name != "hall":
            raise ValueError(name)
        return Plan(put(room(room=name, state="open", floor="1")))

    assert findings_of(rooms) == []
