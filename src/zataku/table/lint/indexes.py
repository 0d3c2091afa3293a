"""The rules about indexes: that each holds items, and every field that is read from it."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from zataku.table.backend.expression import routes_in
from zataku.table.backend.table_schema import IndexSchema
from zataku.table.lint.report import Violation
from zataku.table.schema.access_pattern import Query
from zataku.table.schema.analysis.key_sources import binding_of_result, indexed_bindings, key_source
from zataku.table.schema.analysis.sample_calls import sample_queries
from zataku.table.schema.codec import stored_fields
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.table import Table


def unfed_index(table: Table) -> Iterator[Violation]:
    """Every index is fed by an entity.

    An item is in an index only when it has all key attributes of the index, each of its type: from a template, as a
    stored field, or because it is a key of the table. An index that no entity feeds stays empty, and every query on
    it finds nothing.
    """
    for name, index in table.indexes.items():
        if not indexed_bindings(table, index.schema):
            keys = ", ".join(f"{key.name} of type {key.type}" for key in index.schema.keys)
            yield Violation(
                name,
                f"No entity of {table.name} has all keys of {name} ({keys}){_partial_keys(table, index.schema)}.",
                "Give an entity templates for them (index={...}) or fields of these names, or remove the index.",
            )


def _partial_keys(table: Table, index: IndexSchema) -> str:
    """Entities with some but not all keys of the index beyond those of the table: one was probably forgotten."""
    own = [key for key in index.keys if key not in table.keys]
    partial: list[str] = []
    for binding in table.bindings:
        has = [key.name for key in own if key_source(binding, key) is not None]
        if has:
            partial.append(f"{binding.entity.__name__} has only {', '.join(has)}")
    return f"; {'; '.join(partial)}" if partial else ""


def projection_lacks_field(table: Table) -> Iterator[Violation]:
    """An index holds every field that is read from it.

    An index with the projection KEYS_ONLY or INCLUDE holds the keys of the table, its own keys and the attributes it
    names. An access pattern that returns an entity or view with any other field would find it empty, and a filter on
    such a field would never hold.
    """
    for pattern, queries in sample_queries(table):
        for index in {query.span.index: None for query in queries}:
            if index is None or not indexed_bindings(table, index):
                continue
            missing = _missing_fields(table, index, [query for query in queries if query.span.index == index])
            if missing:
                name, them = pattern.metadata.name, "it" if len(missing) == 1 else "them"
                yield Violation(
                    name,
                    f"{name} reads {', '.join(missing)} from {index.name}, whose projection does not hold {them}.",
                    f"Add {them} to the projection of {index.name}, or return a view of what is there and get the "
                    "rest from the base items.",
                )


def _missing_fields(table: Table, index: IndexSchema, queries: list[Query[Any]]) -> list[str]:
    held = table.schema().projected(index)
    if held is None:
        return []
    missing: dict[str, None] = {}
    for query in queries:
        for kind in query.returns:
            binding = binding_of_result(table, kind)
            if binding is not None:
                for field, attribute in _fields_read(binding, kind):
                    if attribute not in held:
                        missing[f"{kind.__name__}.{field}"] = None
        for attribute in dict.fromkeys(str(route[0]) for route in routes_in(query.span.filter)):
            if attribute not in held:
                missing[f"{attribute} (in its filter)"] = None
    return list(missing)


def _fields_read(binding: Binding[Any], kind: type[Struct]) -> Iterator[tuple[str, str]]:
    """The fields of a result, each with the attribute it is read from."""
    for field in stored_fields(kind):
        yield field.name, binding.attribute_of(field)
    if (binding.revision or 1) > 1:
        # Without it an old item is read as a current one.
        yield binding.table.revision, binding.table.revision
