"""The rows of a table as they are stored, for a check of a file whose rows may be no items."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw

from zataku.table.embedded.file.connection import connect, register_checksums
from zataku.table.embedded.file.sqlite_errors import table_error
from zataku.table.embedded.tables.definitions import load_catalog


class StoredKeyAndRow(NamedTuple):
    """The bytes of a row's key, and its packed item."""

    pk: bytes
    sk: bytes
    packed: bytes


def stored_rows(path: Path, table: str) -> Iterator[StoredKeyAndRow]:
    """Every row of a table in a file, which another process may have open. Nothing is changed."""
    register_checksums()
    try:
        with closing(connect(path, writable=False, read_only_file=True)) as connection:
            items = load_catalog(connection)[table].items
            for row in connection.execute(f"SELECT pk, sk, item FROM {items}"):
                yield StoredKeyAndRow(*row)
    except apsw.Error as error:
        raise table_error(error, path) or error from error
