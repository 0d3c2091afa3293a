"""A file from elsewhere is used only when its SQLite schema is exactly that of a store."""

import struct
from pathlib import Path

import apsw
import pytest

from tests.table.embedded.tables import GAMES, PLAIN, TableClient, game, open_store
from zataku.table.backend import errors
from zataku.table.embedded import EmbeddedBackend
from zataku.table.embedded.file import layout
from zataku.table.embedded.file.backup import verify
from zataku.table.embedded.file.connection import connect, create_store, register_checksums

CONSUMERS_TABLE = layout.STORE_TABLES[layout.STORE_TABLES.index("CREATE TABLE consumers") :]

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
    "trigger with the name of a table, stored before it": "DROP TABLE IF EXISTS usage;"
    "CREATE TRIGGER usage AFTER UPDATE ON state BEGIN DELETE FROM tokens; END;" + layout.USAGE_TABLE,
    "column whose name has a space of Unicode": "DROP TABLE consumers;"
    + CONSUMERS_TABLE.replace("position INTEGER", "position\u00a0INTEGER"),
    "table whose name is no text": 'CREATE TABLE "{}" (x); PRAGMA writable_schema = 1;'
    "UPDATE sqlite_schema SET sql = CAST(x'435245415445205441424c4520ff20287829' AS TEXT), name = CAST(x'ff' AS TEXT),"
    "tbl_name = CAST(x'ff' AS TEXT) WHERE name = '{}'",
    "comment that is no text": "PRAGMA writable_schema = 1;"
    "UPDATE sqlite_schema SET sql = CAST(CAST(sql AS BLOB) || x'202d2dff' AS TEXT) WHERE name = 'state'",
    "more tables than the file has": "WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
    "INSERT INTO tables (number, name, schema) SELECT i, i, x'' FROM n",
}
RECORDS = {
    "no state": "DELETE FROM state",
    "commits that are no number": "UPDATE state SET commits = 'many'",
    "commits at the end of the numbers": "UPDATE state SET commits = 9223372036854775807",
    "short secret": "UPDATE state SET secret = x''",
    "schema that is no JSON": "UPDATE tables SET schema = x'ff'",
    "schema of something else": "UPDATE tables SET schema = CAST('{}' AS BLOB)",
    "index that was walked to a word": "UPDATE indexes SET walked = 'far', done = 'much'",
    "checkpoint that is no number": "INSERT INTO consumers VALUES (1, 'mail', 'here')",
    "schema of another table": "UPDATE tables SET schema = (SELECT schema FROM tables ORDER BY number DESC LIMIT 1)",
    "schema of another index": "UPDATE indexes SET schema = (SELECT schema FROM indexes ORDER BY number LIMIT 1)",
    "index of another table": "UPDATE indexes SET table_number = 2 WHERE number = 1",
    "table below number one": "UPDATE tables SET number = -number",
    "index at the end of the numbers": "UPDATE indexes SET number = 9223372036854775807 WHERE number = 1",
    "no number left for a table": "UPDATE sqlite_sequence SET seq = 9223372036854775807",
    "schema that is nested without end": "UPDATE tables SET schema = CAST('{\"x\":' ||"
    " replace(hex(zeroblob(5000)), '00', '[') AS BLOB)",
    "name of a table that is no text": "UPDATE tables SET name = CAST(x'ff' AS TEXT) WHERE number = 1",
    "name of an index that is no text": "UPDATE indexes SET name = CAST(x'ff' AS TEXT) WHERE number = 1",
    "name of a consumer that is no text": "INSERT INTO consumers VALUES (1, CAST(x'ff' AS TEXT), 0)",
    "access pattern that is no text": layout.USAGE_TABLE + "INSERT INTO usage VALUES (CAST(x'ff' AS TEXT), 1, 1, 1)",
    "request that is no text": "INSERT INTO tokens VALUES (CAST(x'ff' AS TEXT), x'00', 1.0)",
    "request that is no digest": "INSERT INTO tokens VALUES ('a', 'b', 1)",
    "units that are no number": layout.USAGE_TABLE + "INSERT INTO usage VALUES ('games.by_id', 'many', 1, 1)",
    "item in letters": "UPDATE items_2 SET item = CAST(x'81ff' AS TEXT)",
    "item that is a number": "UPDATE items_2 SET item = 5",
    "key in letters": "UPDATE items_2 SET pk = CAST(pk AS TEXT)",
    "size that is no number": "UPDATE items_2 SET size = 'large'",
    "size below zero": "UPDATE items_2 SET size = -1",
    "expiry that is no number": "UPDATE items_2 SET expires = 'never'",
    "change at a time that is no number": "INSERT INTO log_1 VALUES (1, 'now', 0, 0, NULL, NULL, NULL)",
    "change in letters": "INSERT INTO log_1 VALUES (1, 1, 0, 0, NULL, NULL, 'new')",
    "change after the last one": "INSERT INTO log_1 SELECT sequence + 1, 1.0, 0, 0, NULL, NULL, NULL FROM state",
    "index entry in letters": "INSERT INTO index_1 VALUES ('a', x'00', x'00', x'00', 1)",
}


async def backup_of(store: EmbeddedBackend, tmp_path: Path) -> Path:
    await TableClient(store, PLAIN).put(game("one"))
    file = tmp_path / "backup.db"
    await store.backup(file)
    return file


def change(file: Path, statements: str) -> None:
    """Run statements on a backup, with valid checksums as an attacker would."""
    connection = connect(file, writable=True)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
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


@pytest.mark.parametrize("records", RECORDS)
async def test_a_backup_whose_own_records_no_store_writes_is_refused(
    store: EmbeddedBackend, tmp_path: Path, records: str
) -> None:
    file = await backup_of(store, tmp_path)
    change(file, RECORDS[records])
    with pytest.raises(errors.BadInput, match="has records in .* that a store does not write"):
        await store.restore(file)
    assert [item["PK"] for item in await TableClient(store, PLAIN).scan_all()] == ["one"]


@pytest.mark.parametrize(
    ("position", "version", "error"),
    [
        pytest.param(18, b"\3", errors.BadInput, id="of writing"),
        pytest.param(44, b"\0\0\0\x09", errors.StoreDamaged, id="of the schema"),
    ],
)
async def test_a_backup_in_a_later_version_of_sqlite_is_refused(
    store: EmbeddedBackend, tmp_path: Path, position: int, version: bytes, error: type[errors.TableError]
) -> None:
    file = await backup_of(store, tmp_path)
    content = bytearray(file.read_bytes())
    content[position : position + len(version)] = version
    content[layout.PAGE_SIZE - layout.CHECKSUM_BYTES : layout.PAGE_SIZE] = checksum(
        bytes(content[: layout.PAGE_SIZE - layout.CHECKSUM_BYTES])
    )
    file.write_bytes(content)
    with pytest.raises(error):
        await store.restore(file)
    await TableClient(store, PLAIN).put(game("two"))


@pytest.mark.parametrize("row", ["x''", "x'c1'", "x'9100'"])
async def test_rows_of_a_backup_that_are_no_items_are_named_when_they_are_read(
    store: EmbeddedBackend, tmp_path: Path, row: str
) -> None:
    file = await backup_of(store, tmp_path)
    change(file, f"UPDATE items_1 SET item = {row}; UPDATE items_2 SET item = {row}")
    await store.restore(file)
    with pytest.raises(errors.StoreDamaged, match="a row that is no item"):
        await TableClient(store, PLAIN).scan_all()


async def test_a_restore_of_a_damaged_backup_says_in_one_line_that_the_store_was_not_touched(
    store: EmbeddedBackend, tmp_path: Path
) -> None:
    file = await backup_of(store, tmp_path)
    connection = connect(file, writable=True)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    connection.pragma("writable_schema", True)
    connection.execute("UPDATE sqlite_schema SET rootpage = 2 WHERE name IN ('items_1', 'items_2')")
    connection.close()
    with pytest.raises(errors.StoreDamaged) as refused:
        await store.restore(file)
    assert str(refused.value).startswith(f"The backup {file} is damaged (")
    assert str(refused.value).endswith("The store was not touched. Take another one.")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("size", [512, 8192])
def test_a_backup_with_pages_of_another_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int):
    register_checksums()
    with monkeypatch.context() as patched:
        patched.setattr(layout, "PAGE_SIZE", size)
        connection = connect(tmp_path / "pages.db", writable=True)
        create_store(connection)
        connection.close()
    with pytest.raises(errors.BadInput, match="pages of another size"):
        verify(tmp_path / "pages.db")


def checksum(page: bytes) -> bytes:
    """What the checksum VFS stores at the end of a page."""
    first = second = 0
    for low, high in struct.iter_unpack("<II", page):
        first = (first + low + second) & 0xFFFFFFFF
        second = (second + high + first) & 0xFFFFFFFF
    return struct.pack("<II", first, second)


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
