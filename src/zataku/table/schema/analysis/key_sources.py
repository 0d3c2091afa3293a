"""The templates and fields that fill the key attributes of an entity, and which entities an index holds."""

from typing import Any

from zataku.table.backend.table_schema import IndexSchema, KeyAttribute
from zataku.table.schema.analysis.annotations import key_type, types_of_field
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.key_template import KeyTemplate
from zataku.table.schema.table import Table


def key_source(binding: Binding[Any], key: KeyAttribute) -> KeyTemplate | None:
    """The template that fills a key attribute, or None when the entity has nothing of that name and type.

    A stored field of the attribute's name counts as a template of just that field, a tag as a constant one.
    """
    template = _template(binding, key.name)
    if template is None or not template.is_single_field:
        return template if key.type == "S" else None
    types = types_of_field(binding, template.slots[0].field)
    return template if not types or any(key_type(plain) == key.type for plain in types) else None


def _template(binding: Binding[Any], attribute: str) -> KeyTemplate | None:
    if attribute in binding.templates:
        return binding.templates[attribute]
    if attribute == binding.tag_field:
        return KeyTemplate(str(binding.tag).replace("{", "{{").replace("}", "}}"))
    field = next((field for field in binding.stored if field.attribute == attribute), None)
    return None if field is None else KeyTemplate(f"{{{field.name}}}")


def is_indexed(binding: Binding[Any], index: IndexSchema) -> bool:
    """True when items of the entity can have all keys of the index."""
    return all(key_source(binding, key) is not None for key in index.keys)


def indexed_bindings(table: Table, index: IndexSchema | None) -> list[Binding[Any]]:
    """The entities whose items can be in the index, or in the table when there is none."""
    return [binding for binding in table.bindings if index is None or is_indexed(binding, index)]


def binding_of_result(table: Table, result: type[Any]) -> Binding[Any] | None:
    """The entity that a result type is, or is a view of; None when the table has neither."""
    entity = table.views.get(result, result)
    return next((binding for binding in table.bindings if binding.entity is entity), None)
