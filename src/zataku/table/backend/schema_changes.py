"""What no store can make of a table: shapes that DynamoDB refuses, and changes that stored items cannot follow."""

from zataku.table.backend.errors import SchemaRefused
from zataku.table.backend.limits import GLOBAL_INDEXES, LOCAL_INDEXES
from zataku.table.backend.table_schema import TableSchema

_EXPORT = "Export the items, create the table anew and import them."


def refuse_nonsense(table: TableSchema) -> None:
    """Refuse a table that DynamoDB would not create."""
    local = [index for index in table.indexes if index.local]
    if len({index.name for index in table.indexes}) < len(table.indexes):
        raise SchemaRefused(f"Two indexes of {table.name} have the same name. Rename one.")
    if len(local) > LOCAL_INDEXES or len(table.indexes) - len(local) > GLOBAL_INDEXES:
        raise SchemaRefused(
            f"{table.name} has more than {GLOBAL_INDEXES} global or {LOCAL_INDEXES} local indexes. Drop some."
        )
    for index in local:
        if table.sk is None or index.pk != table.pk or index.sk is None:
            raise SchemaRefused(
                f"{index.name} is local: give it the partition key of {table.name} and a sort key, or make it global."
            )
    types: dict[str, str] = {}
    for key in (*table.keys, *(key for index in table.indexes for key in index.keys)):
        if types.setdefault(key.name, key.type) != key.type:
            raise SchemaRefused(f"{key.name} is a key of two types in {table.name}. Choose one.")


def refuse_changes(stored: TableSchema, wanted: TableSchema) -> None:
    """Refuse what cannot be changed in a table that is there."""
    if stored.keys != wanted.keys:
        raise SchemaRefused(f"The keys of {wanted.name} have changed, which a stored table cannot follow. {_EXPORT}")
    before = {index.name: index for index in stored.indexes if index.local}
    after = {index.name: index for index in wanted.indexes if index.local}
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            what = "is new" if name not in before else "is gone" if name not in after else "has changed"
            raise SchemaRefused(
                f"The local index {name} of {wanted.name} {what}. Local indexes exist only from the day their table is "
                f"created. {_EXPORT} Or make it a global index.",
                index=name,
            )
