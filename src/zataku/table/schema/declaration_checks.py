"""Checks of an entity's declaration, made when the design is imported."""

from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin
from uuid import UUID

from msgspec.structs import FieldInfo, fields

from zataku.table.backend.errors import DesignError
from zataku.table.backend.values import KeyType
from zataku.table.schema.codec import NUMBERS, StoredField, accepts_none, unwrap_annotation
from zataku.table.schema.entity import Derived
from zataku.table.schema.key_template import KeyTemplate

if TYPE_CHECKING:
    from zataku.table.schema.entity_bindings import Binding
    from zataku.table.schema.table import Table

_TYPE_NAMES: dict[KeyType, str] = {"S": "text", "N": "a number", "B": "bytes"}


def check_declaration(binding: "Binding[Any]") -> None:
    """Refuse an entity that could not be stored, found or read back."""
    name = binding.entity.__name__
    if (binding.sk is None) != (binding.table.sk is None):
        raise DesignError(f"{name} must give a sort key exactly when its table {binding.table.name} has one.")
    for attribute in binding.index:
        if attribute not in binding.table.index_attributes:
            raise DesignError(f"{name} gives {attribute}, but no index of {binding.table.name} has such a key.")
    if binding.version is not None and unwrap_annotation(binding.field(binding.version).annotation) is not int:
        raise DesignError(f"{name}.{binding.version} counts versions, so it must be an int.")
    for attribute, template in binding.templates.items():
        _check_template(binding, attribute, template)
    for field in binding.stored:
        _check_field(binding, field)
    for declared in fields(binding.entity):
        _check_default(binding, declared)


def check_ttl(table: "Table") -> None:
    """Refuse a time to live that no entity stores: nothing would ever expire. A table without entities may have one."""
    stored = (field.attribute for binding in table.bindings for field in binding.stored)
    if table.ttl is not None and table.bindings and table.ttl not in stored:
        raise DesignError(
            f"The time to live of {table.name} is {table.ttl}, which no entity stores. Name the attribute as it is "
            "stored, give an entity such a field, or leave ttl out."
        )


def check_revision_attribute(binding: "Binding[Any]", attribute: str) -> None:
    """Refuse a revision attribute that the entity uses for something else."""
    table = binding.table
    used = {field.attribute for field in binding.fields.values()} | {*table.key_types, table.ttl, binding.tag_field}
    if attribute in used:
        raise DesignError(
            f"{binding.entity.__name__} keeps its revision in {attribute!r}, which it has for something else. "
            f"Give {table.name} another name for it: Table(..., revision=...)."
        )


def _check_template(binding: "Binding[Any]", attribute: str, template: KeyTemplate) -> None:
    name = binding.entity.__name__
    for field in template.fields:
        derived = isinstance(getattr(binding.entity, field, None), Derived)
        if field not in binding.fields and not derived:
            raise DesignError(f"{name} has no field {field!r}, which its key {template.text!r} names.")
        if derived and attribute in binding.key_templates:
            raise DesignError(f"{name}: the key {attribute} cannot use the derived {field!r}; it would move.")
        sorts = attribute in binding.table.sort_attributes
        if sorts and not derived and unwrap_annotation(binding.fields[field].annotation) is datetime:
            raise DesignError(
                f"{name}.{field} is a datetime, whose text varies in length and sorts wrongly in {template.text!r}. "
                "Use a text of fixed width."
            )
    if attribute == binding.table.ttl and not binding.is_plain_field(attribute, template):
        raise DesignError(
            f"{name}: {attribute} is the expiry of an item, so it must be a field, not {template.text!r}."
        )
    stored = next((field for field in binding.stored if field.attribute == attribute), None)
    if stored is not None and not binding.is_plain_field(attribute, template):
        raise DesignError(f"{name}.{stored.name} is stored as {attribute}, which is also its key {template.text!r}.")
    key_type = binding.table.key_types[attribute]
    if key_type != "S":
        field = binding.fields.get(template.slots[0].field) if template.is_single_field else None
        if field is None or not _fits_key_type(key_type, field.annotation):
            raise DesignError(
                f"{name}: the key {attribute} is {_TYPE_NAMES[key_type]}, so its template is one such field."
            )


def _check_field(binding: "Binding[Any]", field: StoredField) -> None:
    name = f"{binding.entity.__name__}.{field.name}"
    key_type = binding.table.key_types.get(field.attribute)
    if key_type is not None and not _fits_key_type(key_type, field.annotation):
        raise DesignError(f"{name} is the key {field.attribute}, so it must be {_TYPE_NAMES[key_type]}.")
    if field.attribute == binding.table.ttl and not _fits_key_type("N", field.annotation):
        raise DesignError(
            f"{name} is stored as {field.attribute}, the time to live of {binding.table.name}, so it must be a number: "
            "the second since 1970 at which the item expires."
        )
    if not field.required:
        return
    if accepts_none(field.annotation) and not field.keeps_null:
        raise DesignError(f"{name} is left out when it is None. Give it a default, or make it Nullable.")
    if get_origin(unwrap_annotation(field.annotation)) in (set, frozenset):
        raise DesignError(f"{name} is a set, which is left out when it is empty. Give it a default.")


def _check_default(binding: "Binding[Any]", declared: FieldInfo) -> None:
    """Refuse a default that would be read where None was written."""
    field = binding.fields[declared.name]
    if field.required or field.keeps_null or not accepts_none(field.annotation) or declared.default is None:
        return
    if field.name in binding.key_fields:
        # No item is stored without it.
        return
    raise DesignError(
        f"{binding.entity.__name__}.{field.name} is left out when it is None, and would be read as its default. Give "
        "it the default None, or make it Nullable."
    )


def _fits_key_type(key_type: KeyType, annotation: Any) -> bool:
    """True when values of the annotation can serve as a key of the type."""
    kind = unwrap_annotation(annotation)
    if get_origin(kind) is Literal:
        kinds: set[type[object]] = {type(option) for option in get_args(kind)}
        return kinds == {str} if key_type == "S" else kinds == {int} and key_type == "N"
    if not isinstance(kind, type):
        return False
    if key_type == "N":
        return issubclass(kind, NUMBERS) and kind is not bool
    if key_type == "B":
        return issubclass(kind, bytes)
    return issubclass(kind, str | date | UUID | Enum) and kind is not datetime
