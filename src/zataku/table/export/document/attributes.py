"""The attributes of an entity, as the rows of its table in the document."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from zataku.table.export.document.notation import attribute_name, code_span, key_notation
from zataku.table.export.document.type_descriptions import (
    KEY_TYPE_NAMES,
    constraints_of,
    description_of,
    structs_in,
    type_name,
)
from zataku.table.schema.analysis.annotations import annotation_of_field
from zataku.table.schema.analysis.sample_values import defaults_of
from zataku.table.schema.codec import StoredField, accepts_none, stored_fields
from zataku.table.schema.entity import Derived
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.key_template import KeyTemplate
from zataku.table.schema.table import Table

HEADINGS = ("Attribute", "Type", "Required", "Values", "Description")


def attribute_rows(binding: Binding[Any]) -> Iterator[tuple[str, ...]]:
    """Keys first, then index keys, then the fields, then tag and revision."""
    stored = {field.attribute: field for field in binding.stored}
    for attribute, template in binding.templates.items():
        if attribute not in stored:
            yield _key_row(binding, attribute, template)
    for field in binding.stored:
        yield _field_row(binding, field)
    if binding.tag_field is not None:
        yield code_span(binding.tag_field), "String", "yes", code_span(str(binding.tag)), "Kind of the item"
    if binding.revision is not None:
        shape = f"Shape of the item, {binding.revision} as of now; absent in the first"
        yield code_span(binding.table.revision), "Number", "no", "", shape


def part_rows(part: type[Struct]) -> Iterator[tuple[str, ...]]:
    """The fields of a struct inside an item."""
    defaults = defaults_of(part)
    for field in stored_fields(part):
        notes = [description_of(field.annotation), *_absence(field, defaults.get(field.name))]
        yield _row(field, notes)


def parts_of(binding: Binding[Any]) -> list[type[Struct]]:
    """Every struct inside the entity's items, once, in the order in which it appears."""
    parts: dict[type[Struct], None] = {}

    def collect(annotation: Any) -> None:
        for part in structs_in(annotation):
            if part not in parts:
                parts[part] = None
                for field in stored_fields(part):
                    collect(field.annotation)

    for field in binding.fields.values():
        collect(field.annotation)
    return list(parts)


def remarks(binding: Binding[Any]) -> Iterator[str]:
    """Notes below the table of attributes: fields stored in keys, derived values."""
    for name, field in binding.in_key.items():
        attribute, _ = binding.source_of(name)
        limits = constraints_of(field.annotation)
        yield f"{code_span(field.attribute)} is stored in {code_span(attribute)} alone" + (
            f" ({limits})." if limits else "."
        )
    used = dict.fromkeys(name for template in binding.index.values() for name in template.fields)
    for name in used:
        derived = getattr(binding.entity, name, None)
        if isinstance(derived, Derived):
            sources = " and ".join(code_span(attribute_name(binding, source)) for source in derived.sources)
            description = " ".join((derived.__doc__ or "").split())
            yield f"{code_span(name)} is derived from {sources}" + (f": {description}" if description else ".")


def _key_row(binding: Binding[Any], attribute: str, template: KeyTemplate) -> tuple[str, ...]:
    is_required = attribute in binding.key_templates or not any(_is_optional(binding, name) for name in template.fields)
    roles = ", ".join(_roles(binding.table, attribute))
    return (
        code_span(attribute),
        KEY_TYPE_NAMES[binding.table.key_types[attribute]],
        _yes_or_no(is_required),
        code_span(key_notation(binding, template)),
        _sentence(roles),
    )


def _field_row(binding: Binding[Any], field: StoredField) -> tuple[str, ...]:
    notes = [description_of(field.annotation)]
    if field.attribute in binding.templates or field.attribute in binding.table.key_types:
        notes.append(", ".join(_roles(binding.table, field.attribute)))
    if field.name == binding.version:
        notes.append("counts the changes of the item")
    if field.name == binding.ttl_field:
        notes.append("when the item expires, in seconds since 1970")
    notes += _absence(field, defaults_of(binding.entity).get(field.name))
    return _row(field, notes)


def _row(field: StoredField, notes: list[str]) -> tuple[str, ...]:
    description = "; ".join(note for note in notes if note)
    # A field with a default is in every item that is written; only one that may be None can be absent.
    is_required = field.keeps_null or not (accepts_none(field.annotation) or _is_set(field))
    return (
        code_span(field.attribute),
        type_name(field.annotation),
        _yes_or_no(is_required),
        constraints_of(field.annotation),
        _sentence(description),
    )


def _absence(field: StoredField, default: Any) -> Iterator[str]:
    if field.keeps_null:
        yield "null when there is none"
    if default is not None:
        value = msgspec.to_builtins(default)
        if isinstance(value, str | int | float) and value != "":
            yield f"{code_span(str(value).lower() if isinstance(value, bool) else str(value))} unless given"


def _is_set(field: StoredField) -> bool:
    return type_name(field.annotation).startswith("Set")


def _is_optional(binding: Binding[Any], name: str) -> bool:
    annotation = annotation_of_field(binding, name)
    # A derived value without an annotation may be None.
    return annotation is Any or accepts_none(annotation)


def _roles(table: Table, attribute: str) -> Iterator[str]:
    for key, role in zip(table.keys, ("partition key", "sort key"), strict=False):
        if key.name == attribute:
            yield f"{role} of the table"
    for index in table.indexes.values():
        for key, role in zip(index.schema.keys, ("partition key", "sort key"), strict=False):
            if key.name == attribute and not (index.schema.local and role == "partition key"):
                yield f"{role} of {code_span(index.schema.name)}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"
