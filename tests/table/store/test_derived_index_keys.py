"""An update computes an index key from derived values where the key and the edits have all their sources."""

from datetime import date

import pytest

from zataku.table import Entity, StaleIndexKey, Table, derived, path
from zataku.table.backend import expression as ex
from zataku.table.backend.port import UpdateItem
from zataku.table.store import write_requests

SHELVES = Table("ShelvesOfDerivedKeys", sk="SK")
SHELVES.index("ByBucket", pk="bucketPK", sk="bucketSK")


@SHELVES.entity(
    pk="USER#{user_id}", sk="BOOK#{book_id}", index={"bucketPK": "BUCKET#{bucket}", "bucketSK": "{state}#{month}"}
)
class Book(Entity, frozen=True, kw_only=True):
    """A book on a user's shelf."""

    user_id: str
    book_id: str
    state: str
    bought: date
    note: str = ""

    @derived("user_id")
    def bucket(self) -> str:
        """The bucket of the user, from the key alone."""
        return str(len(self.user_id) % 10)

    @derived("bought")
    def month(self) -> str:
        """The month in which the book was bought."""
        return self.bought.strftime("%Y-%m")


state = path(Book, lambda book: book.state)
bought = path(Book, lambda book: book.bought)
note = path(Book, lambda book: book.note)
KEY = Book.key(user_id="ann", book_id="b1")


def update(*edits) -> UpdateItem:
    return write_requests.update(SHELVES.schema(), KEY, edits, None, 0)


def assigned(write: UpdateItem) -> dict[object, object]:
    return {
        action.route[0]: action.value.value
        for action in write.actions
        if isinstance(action, ex.Assign) and isinstance(action.value, ex.Literally)
    }


def test_a_value_derived_from_the_key_alone_is_known():
    keys = Table("KeyedShelves", sk="SK")
    keys.index("ByBucket", pk="bucketPK")

    @keys.entity(pk="USER#{user_id}", sk="META", index={"bucketPK": "{state}#{bucket}"})
    class Shelf(Entity, frozen=True, kw_only=True):
        """A shelf."""

        user_id: str
        state: str

        @derived("user_id")
        def bucket(self) -> str:
            return str(len(self.user_id))

    edit = path(Shelf, lambda shelf: shelf.state).set("full")
    write = write_requests.update(keys.schema(), Shelf.key(user_id="ann"), [edit], None, 0)
    assert assigned(write) == {"state": "full", "bucketPK": "full#3"}


def test_a_value_derived_from_an_edit_is_known_with_its_python_type():
    assert assigned(update(state.set("read"), bought.set(date(2026, 5, 1))))["bucketSK"] == "read#2026-05"


def test_a_value_derived_from_a_field_that_is_not_set_is_not_known():
    with pytest.raises(StaleIndexKey, match="month is not known"):
        update(state.set("read"))


def test_an_edit_that_no_index_key_depends_on_leaves_them_alone():
    assert assigned(update(note.set("good"))) == {"note": "good"}


def test_a_getter_that_reads_more_than_its_sources_is_not_tried():
    rooms = Table("RoomsOfDerivedKeys", sk="SK")
    rooms.index("ByLabel", pk="labelPK")

    @rooms.entity(pk="ROOM#{room_id}", sk="META", index={"labelPK": "{label}"})
    class Room(Entity, frozen=True, kw_only=True):
        """A room."""

        room_id: str
        name: str
        floor: str

        @derived("name")
        def label(self) -> str:
            return f"{self.name} {self.floor}"

    edit = path(Room, lambda room: room.name).set("Hall")
    with pytest.raises(StaleIndexKey):
        write_requests.update(rooms.schema(), Room.key(room_id="r"), [edit], None, 0)
