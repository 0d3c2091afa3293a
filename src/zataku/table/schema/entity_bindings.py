"""The binding of an entity to its table: keys, attribute names and index keys, and the conversion to items and back."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import msgspec

from zataku.table.backend import expression as ex
from zataku.table.backend.errors import (
    BadKey,
    DesignError,
    ItemUnreadable,
    MissingKeyField,
    UnknownAttribute,
    WrongType,
)
from zataku.table.backend.values import SCALARS, Item, KeyValue, Value, extension, key_type_of, unpack
from zataku.table.schema.codec import (
    StoredField,
    convert,
    field_markers,
    is_empty_set,
    stored_fields,
    to_msgspec_input,
    to_value,
    unconstrained_type,
    unwrap_annotation,
    validated,
)
from zataku.table.schema.declaration_checks import check_declaration
from zataku.table.schema.entity import IN_KEY, Derived, Entity, Key
from zataku.table.schema.field_bounds import number_limits
from zataku.table.schema.key_template import KeyTemplate

if TYPE_CHECKING:
    from zataku.table.backend.port import Row
    from zataku.table.schema.table import Table

E = TypeVar("E", bound=Entity)


class Binding(Generic[E]):
    """Converts one kind of entity to items and back."""

    # The revision of the entity, where its design numbers them: see `revised_bindings`.
    revision: int | None = None

    def __init__(
        self, table: "Table", entity: type[E], pk: str, sk: str | None, index: Mapping[str, str], version: str | None
    ) -> None:
        self.table = table
        self.entity = entity
        self.fields = {field.name: field for field in stored_fields(entity)}
        self.pk = KeyTemplate(pk)
        self.sk = KeyTemplate(sk) if sk is not None else None
        self.index = {attribute: KeyTemplate(text) for attribute, text in index.items()}
        self.version = version
        self.tag = entity.__struct_config__.tag
        self.tag_field = entity.__struct_config__.tag_field
        self.key_templates = {table.pk.name: self.pk}
        if self.sk is not None and table.sk is not None:
            self.key_templates[table.sk.name] = self.sk
        self.templates = {**self.key_templates, **self.index}
        self.key_fields = tuple(
            dict.fromkeys(name for template in self.key_templates.values() for name in template.fields)
        )
        self.in_key = {name: field for name, field in self.fields.items() if IN_KEY in field_markers(field.annotation)}
        self.stored = tuple(field for name, field in self.fields.items() if name not in self.in_key)
        check_declaration(self)
        self.version_limits = number_limits(int if version is None else self.fields[version].annotation)
        self._sources = {name: self.source_of(name) for name in self.in_key}
        # The attributes that a whole entity is read from. Index keys without a field of their own are not among them.
        sources = (attribute for attribute, _ in self._sources.values())
        tag = () if self.tag_field is None else (self.tag_field,)
        stored = (field.attribute for field in self.stored)
        self.attributes = tuple(dict.fromkeys((*self.key_templates, *sources, *stored, *tag)))
        self.ttl_field = next((f.name for f in self.stored if f.attribute == table.ttl), None)
        # An index key that is one field, stored under the name of the key, is there already. A key of the table is
        # rendered in any case, which refuses one that could pass for another kind's.
        self._rendered_keys = tuple(self.key_templates.items())
        self._rendered_index = tuple((a, t) for a, t in self.index.items() if not self.is_plain_field(a, t))
        # The index keys that an update may have to render again, each with its fields. A field that is a key
        # by itself is not among them: it changes with its own edit.
        self.dependent_index_keys = tuple(
            (attribute, template, frozenset(source for field in template.fields for source in self.sources(field)))
            for attribute, template in self._rendered_index
        )
        optional = (it for it in msgspec.structs.fields(entity) if not it.required and it.name not in self.in_key)
        self._default_makers = tuple((self.fields[it.name], _default_maker(it)) for it in optional)
        self._attributes = tuple((field.name, field.attribute, field.keeps_null) for field in self.stored)
        self._plain_types = {name: unconstrained_type(self.fields[name].annotation) for name in self.key_fields}
        # A key with these names and types of values needs no validation.
        self._text_keys = all(key.type == "S" for key in table.keys)
        self._plain_key = (*self.key_fields, *self._plain_types.values())
        self._decode: Callable[[bytes], E] | None = None if self.in_key else _decoder(entity)

    def is_plain_field(self, attribute: str, template: KeyTemplate) -> bool:
        """True when the key is a field as it is, stored under the key's own name."""
        if not template.is_single_field:
            return False
        field = self.fields.get(template.slots[0].field)
        return field is not None and field.attribute == attribute and field.name not in self.in_key

    def sources(self, field: str) -> tuple[str, ...]:
        """The fields that a slot of an index key is made from: itself, or those of a derived property."""
        value = getattr(self.entity, field, None)
        return value.sources if isinstance(value, Derived) else (field,)

    def is_in_key(self, name: str) -> bool:
        """True when some key of the entity has the field in it."""
        return any(name in template.fields for template in self.templates.values())

    def is_read_from_key(self, field: StoredField) -> bool:
        """True when a result's field is parsed from a key: it is stored only there, or the view marks it `InKey`."""
        return field.name in self.in_key or IN_KEY in field_markers(field.annotation)

    def attribute_of(self, field: StoredField) -> str:
        """The attribute that a result's field is read from."""
        return self.source_of(field.name)[0] if self.is_read_from_key(field) else field.attribute

    def source_of(self, name: str) -> tuple[str, KeyTemplate]:
        """The key attribute and template that an `InKey` field is read back from."""
        for attribute, template in self.templates.items():
            if name in template.fields:
                return attribute, template
        raise DesignError(f"{self.entity.__name__}.{name} is InKey, but no key of it has a slot {{{name}}}.")

    def field(self, name: str) -> StoredField:
        """The field of that name."""
        try:
            return self.fields[name]
        except KeyError:
            names = ", ".join(self.fields)
            raise UnknownAttribute(
                f"{self.entity.__name__} has no field {name!r}. It has: {names}.", field=name
            ) from None

    def field_value(self, name: str, value: Value) -> object:
        """The value of a field as an entity has it, from its stored form."""
        return convert(to_msgspec_input(value), self.fields[name].annotation)

    def defaults(self) -> dict[str, Value]:
        """The attributes that `put` stores for fields left to their defaults, and reads show where they are missing."""
        attributes: dict[str, Value] = {}
        for field, make in self._default_makers:
            default = make()
            if (default is not None or field.keeps_null) and not is_empty_set(default):
                attributes[field.attribute] = to_value(default)
        return attributes

    def write_condition(self, condition: ex.Expression | None) -> ex.Expression | None:
        """The condition under which a write may go through."""
        return condition

    def edit_condition(self, condition: ex.Expression | None) -> ex.Expression | None:
        """The condition under which an item may be edited, or created by the edits."""
        return condition

    # Keys

    def key(self, fields: Mapping[str, object]) -> Key[E]:
        """The key made of these fields, which must be exactly those the templates name."""
        if (*fields, *map(type, fields.values())) != self._plain_key:
            self._check_names(fields, self.key_fields)
            self._check_types(fields)
        value_of = fields.get
        if self._text_keys:
            name = self.entity.__name__
            pk, sk = self.pk.require(value_of, name), None if self.sk is None else self.sk.require(value_of, name)
        else:
            pk, *rest = (self.key_value(name, template, value_of) for name, template in self.key_templates.items())
            sk = rest[0] if rest else None
        return Key(self.entity, pk, sk, dict(fields))

    def key_of(self, entity: E) -> Key[E]:
        """The key of an entity."""
        return self.key({name: getattr(entity, name) for name in self.key_fields})

    def partition(self, fields: Mapping[str, object]) -> KeyValue:
        """The partition key made of these fields."""
        self._check_names(fields, self.pk.fields)
        self._check_types(fields)
        return self.key_value(self.table.pk.name, self.pk, fields.get)

    def _check_names(self, fields: Mapping[str, object], expected: tuple[str, ...]) -> None:
        for name in fields:
            self.field(name)
            if name not in expected:
                raise UnknownAttribute(
                    f"{self.entity.__name__}.{name} is not part of this key. It takes {', '.join(expected)}."
                )
        for name in expected:
            if fields.get(name) is None:
                raise MissingKeyField(f"The key of {self.entity.__name__} needs {name}. Give it a value.", field=name)

    def _check_types(self, fields: Mapping[str, object]) -> None:
        for name, value in fields.items():
            # Most key fields are plain text, which needs no validation.
            if type(value) is not self._plain_types.get(name):
                validated(to_value(value), self.fields[name].annotation, f"{self.entity.__name__}.{name}")

    def key_value(self, attribute: str, template: KeyTemplate, value_of: Callable[[str], object]) -> KeyValue:
        """The value of a table key."""
        key_type = self.table.key_types[attribute]
        if key_type == "S":
            return template.require(value_of, self.entity.__name__)
        value = to_value(value_of(template.slots[0].field))
        if key_type_of(value) != key_type:
            name = template.slots[0].field
            if value is None:
                raise MissingKeyField(f"{self.entity.__name__} needs {name} for its key {attribute}. Give it a value.")
            raise WrongType(f"{self.entity.__name__}.{name} is the key {attribute}, so it must be of type {key_type}.")
        if value == b"":
            raise BadKey(f"{self.entity.__name__}.{template.slots[0].field} is a key and must not be empty.")
        return cast("KeyValue", value)

    # Entity to item

    def encode(self, entity: E) -> Item:
        """The whole item, keys and index keys included; refuses values that the fields do not allow."""
        item: Item = {}
        for name, attribute, keeps_null in self._attributes:
            value = getattr(entity, name)
            if type(value) is str:
                item[attribute] = value
            elif value is not None and not is_empty_set(value):
                item[attribute] = to_value(value)
            elif keeps_null:
                item[attribute] = None
        if self.tag_field is not None:
            item[self.tag_field] = self.tag
        self._validate(entity, item)

        value_of: Callable[[str], object] = partial(getattr, entity)
        for attribute, template in self._rendered_keys:
            item[attribute] = self.key_value(attribute, template, value_of)
        for attribute, template in self._rendered_index:
            key = self.index_value(attribute, template, value_of)
            if key is not None:
                item[attribute] = key
        return item

    def index_value(self, attribute: str, template: KeyTemplate, value_of: Callable[[str], object]) -> Value:
        """The value of an index key, or None when the item stays out of the index."""
        if self.table.key_types[attribute] == "S":
            return template.render(value_of)
        return to_value(value_of(template.slots[0].field))

    def _validate(self, entity: E, item: Item) -> None:
        # An item of nothing but text and whole numbers needs no conversion, which saves a copy on most writes.
        is_plain = not self.in_key and SCALARS.issuperset(map(type, item.values()))
        form = item if is_plain else to_msgspec_input(item)
        for name, field in self.in_key.items():
            value = getattr(entity, name)
            if value is not None:
                form[field.attribute] = to_msgspec_input(to_value(value))
        try:
            convert(form, self.entity)
        except msgspec.ValidationError as problem:
            raise WrongType(f"{self.entity.__name__} cannot be stored: {problem}.") from None

    # Item to entity

    def decode(self, row: "Row") -> E:
        """The entity of a stored item."""
        if type(row) is bytes:
            if self._decode is not None:
                try:
                    return self._decode(row)
                except ValueError:
                    pass  # A set, a decimal that no float equals, or no item: decode the unpacked item instead.
            row = unpack(row)
        return self.to_struct(cast("Item", row), self.entity, self.in_key)

    def decode_all(self, rows: "list[Row]") -> list[E]:
        """The entities of many stored items of this kind."""
        if self._decode is not None:
            try:
                return list(map(self._decode, cast("list[bytes]", rows)))
            except (ValueError, TypeError):
                pass  # One of them is unpacked, or needs to be.
        return [self.decode(row) for row in rows]

    def to_struct(self, item: Item, struct: type[Any], in_key: Mapping[str, StoredField]) -> Any:
        """The item as a struct, with `InKey` fields read from the keys."""
        form = to_msgspec_input(item)
        for name, field in in_key.items():
            # A view may read from a key what the entity stores as an attribute.
            attribute, template = self._sources.get(name) or self.source_of(name)
            texts = template.parse(item.get(attribute))
            if texts is not None:
                form[field.attribute] = _from_key(texts[name], field.annotation)
        try:
            return convert(form, struct)
        except msgspec.ValidationError as problem:
            key_text = ", ".join(repr(item.get(key.name)) for key in self.table.keys)
            raise ItemUnreadable(
                f"The item ({key_text}) does not fit {struct.__name__}: {problem}.",
                f"It does not fit {struct.__name__}: {problem}.",
                key=key_text,
            ) from None

    def owns(self, item: Item) -> bool:
        """True when a stored item is of this kind."""
        if self.tag_field is not None and item.get(self.tag_field, self.tag) != self.tag:
            return False
        return all(template.owns(item.get(name)) for name, template in self.key_templates.items())


def _default_maker(declared: msgspec.structs.FieldInfo) -> Callable[[], object]:
    if declared.default_factory is msgspec.NODEFAULT:
        return lambda: declared.default
    return cast("Callable[[], object]", declared.default_factory)


def _from_key(text: str, annotation: Any) -> str | int:
    """The value of a slot of a key. A text that is no number is left to the validation of the field."""
    if unwrap_annotation(annotation) is not int:
        return text
    try:
        return int(text)
    except ValueError:
        return text


def _decoder(entity: type[E]) -> Callable[[bytes], E]:
    try:
        return msgspec.msgpack.Decoder(entity, ext_hook=extension).decode
    except (TypeError, ValueError) as problem:
        # A ValueError: a limit that does not fit 64 bits.
        raise DesignError(f"{entity.__name__} has a field that cannot be read back: {problem}") from None
