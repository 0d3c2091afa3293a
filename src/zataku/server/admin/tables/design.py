"""The design of a table on the admin page: keys, indexes, entities and fields."""

from typing import Any

from zataku.server.admin.messages import (
    EntityShape,
    FieldShape,
    IndexShape,
    KeyName,
    Prices,
    TableDetail,
    TableFigures,
)
from zataku.server.admin.tables.browser import SECRET_ATTRIBUTES
from zataku.table import Binding, IndexSchema, KeyAttribute, Millis, Table
from zataku.table.export.document.entities import docstring
from zataku.table.export.document.notation import key_notation
from zataku.table.export.document.type_descriptions import description_of, type_name
from zataku.table.schema.codec import StoredField, accepts_none


def table_detail(table: Table, figures: TableFigures, prices: Prices, seconds: float, sized_at: Millis) -> TableDetail:
    """The table's design with its figures."""
    return TableDetail(
        figures=figures,
        pk=_key(table.pk),
        sk=None if table.sk is None else _key(table.sk),
        ttl=table.ttl,
        stream=table.stream,
        indexes=[_index(index.schema) for index in table.indexes.values()],
        entities=[_entity(binding) for binding in table.bindings],
        prices=prices,
        measured_seconds=seconds,
        sized_at=sized_at,
    )


def _key(key: KeyAttribute) -> KeyName:
    return KeyName(name=key.name, type=key.type)


def _index(index: IndexSchema) -> IndexShape:
    return IndexShape(
        name=index.name,
        pk=_key(index.pk),
        sk=None if index.sk is None else _key(index.sk),
        local=index.local,
        projection=index.projection.kind,
        attributes=list(index.projection.attributes),
    )


def _entity(binding: Binding[Any]) -> EntityShape:
    return EntityShape(
        name=binding.entity.__name__,
        says=docstring(binding.entity),
        keys={name: key_notation(binding, template) for name, template in binding.templates.items()},
        fields=[_field(field) for field in binding.stored],
    )


def _field(field: StoredField) -> FieldShape:
    return FieldShape(
        name=field.attribute,
        type=type_name(field.annotation),
        says=description_of(field.annotation),
        optional=accepts_none(field.annotation),
        secret=field.attribute in SECRET_ATTRIBUTES,
    )
