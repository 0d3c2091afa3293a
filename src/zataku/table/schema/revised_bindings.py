"""Bindings of entities with several revisions: items are read in the current shape and written only in it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec
from msgspec import Struct

from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import equal
from zataku.table.backend.errors import ItemUnreadable
from zataku.table.backend.values import Item, extension, unpack
from zataku.table.schema.codec import StoredField
from zataku.table.schema.declaration_checks import check_revision_attribute
from zataku.table.schema.entity import Entity
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.revisions import Revisions, Upgrade

if TYPE_CHECKING:
    from zataku.table.backend.port import Row
    from zataku.table.schema.table import Table

E = TypeVar("E", bound=Entity)


class ItemUpgrade(Struct, frozen=True):
    """An old item, the upgraded one, and the names that must be absent for the upgrade to hold."""

    old: Item
    new: Item
    absent: frozenset[str]


class RevisedBinding(Binding[E]):
    """Converts one kind of entity to items and back, in whichever revision they were written."""

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
        self._read_revision = _revision_reader(table.revision)
        written = ex.Attribute((table.revision,))
        self._not_newer = ex.Not(ex.Compare(written, ">", ex.Literally(revision)))
        self._is_current: ex.Expression = self._not_newer
        if revision > 1:
            equals_current = ex.Compare(written, "=", ex.Literally(revision))
            self._is_current = ex.Either((ex.Missing((table.pk.name,)), equals_current))

    def write_condition(self, condition: ex.Expression | None) -> ex.Expression:
        """The condition of a write.

        An unconditional write may replace or delete an older item; a condition is evaluated on the current shape only.
        """
        return self._not_newer if condition is None else ex.All((condition, self._is_current))

    def edit_condition(self, condition: ex.Expression | None) -> ex.Expression:
        """The condition of an upsert: an item that exists is of the current revision."""
        return self._is_current if condition is None else ex.All((condition, self._is_current))

    def encode(self, entity: E) -> Item:
        """The whole item with its revision; an item of the first revision has no such attribute."""
        item = super().encode(entity)
        if self.revisions.number > 1:
            item[self.revisions.attribute] = self.revisions.number
        return item

    def decode(self, row: "Row") -> E:
        """The entity of a stored item, in the current shape."""
        if type(row) is bytes:
            if self._stored_revision(row) == self.revisions.number:
                return super().decode(row)
            row = unpack(row)
        return self.entity_of(cast("Item", row))

    def decode_all(self, rows: "list[Row]") -> list[E]:
        """The entities of many stored items of this kind."""
        number = self.revisions.number
        if all(type(row) is bytes and self._stored_revision(row) == number for row in rows):
            return super().decode_all(rows)
        return [self.decode(row) for row in rows]

    def entity_of(self, item: Item, held: frozenset[str] | None = None) -> E:
        """The entity of an item that may be old; `held` are the names that an index gave of it."""
        if self.revisions.revision_of(item) == self.revisions.number:
            return self.to_struct(item, self.entity, self.in_key)
        upgraded, _ = self.revisions.upgraded(item, held)
        self._check_key(item, upgraded)
        entity: E = self.to_struct(upgraded, self.entity, self.in_key)
        self._check_rendered_key(item, entity)
        return entity

    def view_of(
        self, item: Item, view: type[Any], in_key: Mapping[str, StoredField], held: frozenset[str] | None
    ) -> Any:
        """A view of an item that may be old; `held` are the names that an index gave of it, None for all."""
        # Without the revision in the index an old item is not recognised and is read as a current one.
        is_revision_held = held is None or self.revisions.attribute in held
        if is_revision_held and self.revisions.revision_of(item) < self.revisions.number:
            upgraded, _ = self.revisions.upgraded(item, held)
            self._check_key(item, upgraded)
            item = upgraded
        return self.to_struct(item, view, in_key)

    def upgrade_of(self, item: Item) -> ItemUpgrade | None:
        """The upgrade of an old item in place; None when it is of the current revision."""
        if self.revisions.revision_of(item) == self.revisions.number:
            return None
        upgraded, absent = self.revisions.upgraded(item)
        self._check_key(item, upgraded)
        entity: E = self.to_struct(upgraded, self.entity, self.in_key)
        self._check_rendered_key(item, entity)
        # Attributes without a field belong to other programs and stay; index keys are rendered again or removed.
        own = frozenset((*self.attributes, *self.table.index_attributes))
        foreign = {name: value for name, value in upgraded.items() if name not in own}
        new = {**foreign, **self.encode(entity)}
        return ItemUpgrade(item, new, absent.union(own).difference(item))

    def _stored_revision(self, row: bytes) -> int:
        try:
            revision: int = self._read_revision(row).revision
            return revision if revision == self.revision else self.revisions.checked(revision)
        except msgspec.ValidationError:
            return self.revisions.revision_of(unpack(row))

    def _check_key(self, item: Item, upgraded: Item) -> None:
        for key in self.table.keys:
            if key.name in item and not (key.name in upgraded and equal(item[key.name], upgraded[key.name])):
                self._refuse_move(item)

    def _check_rendered_key(self, item: Item, entity: E) -> None:
        rendered = self.key_of(entity)
        for key, value in zip(self.table.keys, (rendered.pk, rendered.sk), strict=False):
            if not equal(item[key.name], value):
                self._refuse_move(item)

    def _refuse_move(self, item: Item) -> None:
        key_text = ", ".join(repr(item.get(key.name)) for key in self.table.keys)
        raise ItemUnreadable(
            f"The upgrades of {self.entity.__name__} would move the item ({key_text}) to another key. "
            "Leave the fields of the key unchanged.",
            f"The upgrades of {self.entity.__name__} would move it to another key.",
            key=key_text,
        )


def _revision_reader(attribute: str) -> Callable[[bytes], Any]:
    """A decoder that reads only the revision from an item's bytes."""
    struct = msgspec.defstruct("StoredRevision", [("revision", int, msgspec.field(default=1, name=attribute))])
    return msgspec.msgpack.Decoder(struct, ext_hook=extension).decode
