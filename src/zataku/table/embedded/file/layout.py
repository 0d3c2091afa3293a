"""Format of a store's SQLite file: version numbers, the store's own tables, and the tables of each DynamoDB table.

A DynamoDB table becomes an ordinary rowid table. Index rows hold keys only and point at the item by its id, so an item
is written once however many indexes it is in; they are ordered by (index sort key, table key), so a page can continue
after an item that has been deleted since. Names have numbers instead of the table's name, which may hold any character.
"""

APPLICATION_ID = 0x5A544B55  # "ZTKU"
FORMAT = 1
PAGE_SIZE = 4096
# The checksum VFS keeps its sums in bytes reserved at the end of every page.
CHECKSUM_BYTES = 8

STORE_TABLES = """
CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    commits INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    secret BLOB NOT NULL
);
CREATE TABLE tables (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    schema BLOB NOT NULL,
    ttl_walked INTEGER
);
CREATE TABLE indexes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    table_number INTEGER NOT NULL,
    name TEXT NOT NULL,
    schema BLOB NOT NULL,
    walked INTEGER,
    done INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0,
    UNIQUE (table_number, name)
);
CREATE TABLE tokens (token TEXT PRIMARY KEY, digest BLOB NOT NULL, at REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX tokens_by_age ON tokens (at);
CREATE TABLE consumers (
    table_number INTEGER NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (table_number, name)
) WITHOUT ROWID;
"""

# Newer than the first stores, which get it when it is first needed.
USAGE_TABLE = """
CREATE TABLE IF NOT EXISTS usage (
    pattern TEXT PRIMARY KEY,
    calls INTEGER NOT NULL,
    reads REAL NOT NULL,
    writes REAL NOT NULL
) WITHOUT ROWID;
"""


def items(table: int) -> str:
    """The SQLite table that holds a table's items."""
    return f"items_{table}"


def log(table: int) -> str:
    """The SQLite table that holds a table's change records."""
    return f"log_{table}"


def entries(index: int) -> str:
    """The SQLite table that holds an index's rows."""
    return f"index_{index}"


def create_table(table: int) -> str:
    """SQL that creates the tables of a DynamoDB table."""
    return f"""
    CREATE TABLE {items(table)} (
        id INTEGER PRIMARY KEY,
        pk BLOB NOT NULL,
        sk BLOB NOT NULL,
        size INTEGER NOT NULL,
        expires INTEGER,
        item BLOB NOT NULL,
        UNIQUE (pk, sk)
    );
    CREATE INDEX expiring_{table} ON {items(table)} (expires) WHERE expires IS NOT NULL;
    CREATE TABLE {log(table)} (
        seq INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        kind INTEGER NOT NULL,
        expired INTEGER NOT NULL,
        keys BLOB,
        old BLOB,
        new BLOB
    );
    """


def create_index(index: int) -> str:
    """SQL that creates the table of an index."""
    return f"""
    CREATE TABLE {entries(index)} (
        ipk BLOB NOT NULL,
        isk BLOB NOT NULL,
        pk BLOB NOT NULL,
        sk BLOB NOT NULL,
        id INTEGER NOT NULL,
        PRIMARY KEY (ipk, isk, pk, sk)
    ) WITHOUT ROWID;
    """


def drop_index(index: int) -> str:
    """SQL that drops an index."""
    return f"DROP TABLE {entries(index)};"
