"""Entities whose shape has changed over time: read in today's shape, written so that shapes do not mix."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec
from msgspec import Struct

from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import equal
from zataku.table.backend.errors import ItemUnreadable
from zataku.table.backend.values import Item, extension, unpack
from zataku.table.schema.binding import Binding
from zataku.table.schema.codec import StoredField
from zataku.table.schema.declaration_checks import check_revision_attribute
from zataku.table.schema.entity import Entity
from zataku.table.schema.revisions import Revisions, Upgrade

if TYPE_CHECKING:
    from zataku.table.backend.port import Row
    from zataku.table.schema.table import Table

E = TypeVar("E", bound=Entity)


class ItemUpgrade(Struct, frozen=True):
    """An old item, what it becomes, and the names that have to be absent for that."""

    old: Item
    new: Item
    absent: frozenset[str]


class RevisedBinding(Binding[E]):
    """Turns one kind of entity into items and back, whatever revision they were written in."""

    def __init__(
        self,
        table: "Table",
        entity: type[E],
        pk: str,
        sk: str | None,
        index: Mapping[str, str],
        version: str | None,
        revision: int,
        upgrades: Mapping[int, Upgrade] | None,
    ) -> None:
        super().__init__(table, entity, pk, sk, index, version)
        self.revision = revision
        keys = [key.name for key in table.keys]
        self.revisions = Revisions(entity.__name__, revision, table.revision, upgrades, keys)
        check_revision_attribute(self, table.revision)
        self.attributes = (*self.attributes, table.revision)
        self._stamp = _stamp_reader(table.revision)
        written = ex.Attribute((table.revision,))
        self._not_newer = ex.Not(ex.Compare(written, ">", ex.Literally(revision)))
        self._abreast: ex.Expression = self._not_newer
        if revision > 1:
            is_current = ex.Compare(written, "=", ex.Literally(revision))
            self._abreast = ex.Either((ex.Missing((table.pk.name,)), is_current))

    def guarded(self, condition: ex.Expression | None) -> ex.Expression:
        """The condition of a write, which may replace or delete an older item unseen but judges only today's shape."""
        return self._not_newer if condition is None else ex.All((condition, self._abreast))

    def encode(self, entity: E) -> Item:
        """The whole item with the revision it is written in; the first goes without saying."""
        item = super().encode(entity)
        if self.revisions.number > 1:
            item[self.revisions.attribute] = self.revisions.number
        return item

    # Reading

    def decode(self, row: "Row") -> E:
        """The entity of a stored item, in today's shape."""
        if type(row) is bytes:
            if self._stamped(row) == self.revisions.number:
                return super().decode(row)
            row = unpack(row)
        return self.entity_of(cast("Item", row))

    def decode_all(self, rows: "list[Row]") -> list[E]:
        """The entities of many stored items of this kind."""
        number = self.revisions.number
        if all(type(row) is bytes and self._stamped(row) == number for row in rows):
            return super().decode_all(rows)
        return [self.decode(row) for row in rows]

    def entity_of(self, item: Item, held: frozenset[str] | None = None) -> E:
        """The entity of an item that may be old; `held` are the names that an index gave of it."""
        if self.revisions.of(item) == self.revisions.number:
            return self.read_form(item, self.entity, self.in_key)
        upgraded, _ = self.revisions.upgraded(item, held)
        self._check_key(item, upgraded)
        entity: E = self.read_form(upgraded, self.entity, self.in_key)
        self._check_place(item, entity)
        return entity

    def view_of(
        self, item: Item, view: type[Any], in_key: Mapping[str, StoredField], held: frozenset[str] | None
    ) -> Any:
        """A view of an item that may be old; `held` are the names that an index gave of it, None for all."""
        # An index that does not hold the revision cannot tell an old item: it is taken for one of today's.
        known = held is None or self.revisions.attribute in held
        if known and self.revisions.of(item) < self.revisions.number:
            upgraded, _ = self.revisions.upgraded(item, held)
            self._check_key(item, upgraded)
            item = upgraded
        return self.read_form(item, view, in_key)

    def upgraded(self, item: Item) -> ItemUpgrade | None:
        """What an old item has to become where it lies; None when it is of today's shape."""
        if self.revisions.of(item) == self.revisions.number:
            return None
        stepped, absent = self.revisions.upgraded(item)
        self._check_key(item, stepped)
        entity: E = self.read_form(stepped, self.entity, self.in_key)
        self._check_place(item, entity)
        # Attributes that no field knows are others' and stay; index keys are made anew or go.
        known = frozenset((*self.attributes, *self.table.index_attributes))
        foreign = {name: value for name, value in stepped.items() if name not in known}
        new = {**foreign, **self.encode(entity)}
        return ItemUpgrade(item, new, absent.union(known).difference(item))

    def _stamped(self, row: bytes) -> int:
        try:
            found: int = self._stamp(row).revision
            return found if found == self.revision else self.revisions.checked(found)
        except msgspec.ValidationError:
            return self.revisions.of(unpack(row))

    def _check_key(self, item: Item, upgraded: Item) -> None:
        for key in self.table.keys:
            if key.name in item and not (key.name in upgraded and equal(item[key.name], upgraded[key.name])):
                self._refuse_move(item)

    def _check_place(self, item: Item, entity: E) -> None:
        made = self.key_of(entity)
        for key, value in zip(self.table.keys, (made.pk, made.sk), strict=False):
            if not equal(item[key.name], value):
                self._refuse_move(item)

    def _refuse_move(self, item: Item) -> None:
        where = ", ".join(repr(item.get(key.name)) for key in self.table.keys)
        raise ItemUnreadable(
            f"The upgrades of {self.entity.__name__} would move the item ({where}) to another key. "
            "Leave what the key is made of as it is.",
            key=where,
        )


def _stamp_reader(attribute: str) -> Callable[[bytes], Any]:
    """Reads nothing but the revision out of an item's bytes."""
    stamp = msgspec.defstruct("Stamp", [("revision", int, msgspec.field(default=1, name=attribute))])
    return msgspec.msgpack.Decoder(stamp, ext_hook=extension).decode
