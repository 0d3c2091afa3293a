"""Whether anything lies in an index."""

from collections.abc import Iterator

from zataku.table.backend.table_schema import IndexSchema
from zataku.table.lint.report import Violation
from zataku.table.schema.analysis.key_sources import indexed_bindings, key_source
from zataku.table.schema.table import Table


def unfed_index(table: Table) -> Iterator[Violation]:
    """Every index is fed by an entity.

    An item lies in an index only when it has all key attributes of the index, each of its type: from a template, as a
    stored field, or because it is a key of the table. An index that no entity feeds stays empty, and every query on
    it finds nothing.
    """
    for name, index in table.indexes.items():
        if not indexed_bindings(table, index.schema):
            keys = ", ".join(f"{key.name} of type {key.type}" for key in index.schema.keys)
            yield Violation(
                name,
                f"No entity of {table.name} has all keys of {name} ({keys}){_partly(table, index.schema)}.",
                "Give an entity templates for them (index={...}) or fields of these names, or remove the index.",
            )


def _partly(table: Table, index: IndexSchema) -> str:
    """Entities that have some of the keys beside those of the table: that is where one was forgotten."""
    own = [key for key in index.keys if key not in table.keys]
    found: list[str] = []
    for binding in table.bindings:
        has = [key.name for key in own if key_source(binding, key) is not None]
        if has:
            found.append(f"{binding.entity.__name__} has only {', '.join(has)}")
    return f"; {'; '.join(found)}" if found else ""
