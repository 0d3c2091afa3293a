"""A file from elsewhere is used only when its SQLite schema is exactly that of a store."""

from pathlib import Path

import apsw
import pytest

from tests.table.embedded.tables import GAMES, PLAIN, TableClient, game, open_store
from zataku.table.backend import errors
from zataku.table.embedded import EmbeddedBackend
from zataku.table.embedded.file.backup import verify
from zataku.table.embedded.file.connection import connect

ADDITIONS = {
    "trigger": "CREATE TRIGGER t AFTER INSERT ON items_1 BEGIN DELETE FROM items_1; END",
    "trigger of a restore": "CREATE TRIGGER t AFTER UPDATE ON state BEGIN UPDATE state SET secret = x'00'; END",
    "view": "CREATE VIEW v AS SELECT * FROM items_1",
    "unknown table": "CREATE TABLE other (x)",
    "table of a table that does not exist": "CREATE TABLE items_99 (x)",
    "index of an expression": "CREATE INDEX i ON items_1 (abs(size))",
    "further index": "CREATE INDEX i ON tokens (digest)",
    "virtual table": "CREATE VIRTUAL TABLE words USING fts5(x)",
    "generated column": "ALTER TABLE items_1 ADD COLUMN g GENERATED ALWAYS AS (abs(size))",
    "check": "ALTER TABLE items_1 ADD COLUMN c INTEGER CHECK (abs(c) < 3)",
    "further column": "ALTER TABLE state ADD COLUMN d DEFAULT 1",
    "missing table": "DROP TABLE tokens",
    "missing index": "DROP INDEX expiring_1",
    "view in the place of a table": "DROP TABLE consumers; CREATE VIEW consumers AS SELECT 1 AS table_number",
    "statistics": "ANALYZE",
}


async def backup_of(store: EmbeddedBackend, tmp_path: Path) -> Path:
    await TableClient(store, PLAIN).put(game("one"))
    file = tmp_path / "backup.db"
    await store.backup(file)
    return file


def change(file: Path, statements: str) -> None:
    """Run statements on a backup, with valid checksums as an attacker would."""
    connection = connect(file, writable=True)
    connection.execute(statements)
    connection.close()


@pytest.mark.parametrize("addition", ADDITIONS)
async def test_a_backup_with_anything_that_a_store_does_not_have_is_refused(
    store: EmbeddedBackend, tmp_path: Path, addition: str
) -> None:
    file = await backup_of(store, tmp_path)
    change(file, ADDITIONS[addition])
    with pytest.raises(errors.BadInput, match="take a backup that Zataku has made"):
        verify(file)
    with pytest.raises(errors.BadInput, match="It is not used"):
        await store.restore(file)
    assert [item["PK"] for item in await TableClient(store, PLAIN).scan_all()] == ["one"]


async def test_a_backup_of_any_store_is_accepted(path: Path, tmp_path: Path) -> None:
    for tables in ([PLAIN], [PLAIN, GAMES]):
        store = await open_store(path, tables)
        await TableClient(store, PLAIN).put(game("one"))
        await store.add_usage([])
        file = tmp_path / f"backup-{len(tables)}.db"
        await store.backup(file)
        verify(file)
        await store.restore(file)
        await store.close()


def test_no_connection_trusts_the_schema_of_its_file(tmp_path: Path) -> None:
    for writable in (True, False):
        connection = connect(tmp_path / "any.db", writable=writable)
        assert connection.pragma("trusted_schema") == 0
        assert connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1) == 1
        assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, -1) == 0
        assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, -1) == 0
        connection.close()
