"""Where the key attributes of an entity come from."""

from typing import Any

from zataku.table.backend.table_schema import IndexSchema, KeyAttribute
from zataku.table.lint.annotations import field_arms, key_type
from zataku.table.schema.binding import Binding
from zataku.table.schema.key_template import Template
from zataku.table.schema.table import Table


def source(binding: Binding[Any], key: KeyAttribute) -> Template | None:
    """The template that fills a key attribute, or None when the entity has nothing of that name and type.

    A stored field of the attribute's name counts as a template of just that field, a tag as a constant one.
    """
    made = _template(binding, key.name)
    if made is None or not made.bare:
        return made if key.type == "S" else None
    kinds = field_arms(binding, made.slots[0].field)
    return made if not kinds or any(key_type(arm) == key.type for arm in kinds) else None


def _template(binding: Binding[Any], attribute: str) -> Template | None:
    if attribute in binding.templates:
        return binding.templates[attribute]
    if attribute == binding.tag_field:
        return Template(str(binding.tag).replace("{", "{{").replace("}", "}}"))
    field = next((field for field in binding.stored if field.attribute == attribute), None)
    return None if field is None else Template(f"{{{field.name}}}")


def feeds(binding: Binding[Any], index: IndexSchema) -> bool:
    """True when items of the entity can lie in the index."""
    return all(source(binding, key) is not None for key in index.keys)


def feeders(table: Table, index: IndexSchema | None) -> list[Binding[Any]]:
    """The entities that can lie in the index, or in the table itself."""
    return [binding for binding in table.bindings if index is None or feeds(binding, index)]


def entity_behind(table: Table, kind: type[Any]) -> Binding[Any] | None:
    """The entity that a query's result is, or is a view of; None when this table has no such thing."""
    entity = table.views.get(kind, kind)
    return next((binding for binding in table.bindings if binding.entity is entity), None)
