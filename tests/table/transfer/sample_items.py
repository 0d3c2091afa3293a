"""Random items with every type of value for any table, the same in every run."""

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from zataku.table.backend import port as port
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.backend.values import Item, unpack_row
from zataku.table.embedded import EmbeddedBackend
from zataku.table.transfer.dynamodb_json import encode_line

FURNITURE = TableSchema(
    "FurnitureOfARoom",
    KeyAttribute("PK"),
    KeyAttribute("SK"),
    (IndexSchema("ColourIndex", KeyAttribute("colour"), KeyAttribute("weight", "N")),),
    ttl="until",
)
CURTAINS = TableSchema("CurtainsByNumber", KeyAttribute("number", "N"))

TEXTS = ["", "\0", "a\0b", "é", "e\u0301", "が", "𝄞", "\uffff", "👩‍🎨", '"\\\n\t', "\u2028", "1", "true", "null"]
NUMBERS = [
    0,
    -1,
    2**63,
    -(2**64),
    10**37 + 1,
    Decimal("0.1"),
    Decimal("-1.5"),
    Decimal(12345678901234567890123456789012345678),
    Decimal("1.2345678901234567890123456789012345678"),
    Decimal("-9.9999999999999999999999999999999999999E-100"),
    Decimal("1E-130"),
    int(Decimal("9.9999999999999999999999999999999999999E+125")),
]
BLOBS = [b"\0", b"\xff\xfe", b"plain", bytes(range(256))]
PAST, FUTURE = 1_000_000_000, 4_000_000_000


def value(random: Random, depth: int = 0) -> Any:
    """A random value of any type."""
    kinds = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M", "empty"]
    match random.choice(kinds if depth < 3 else kinds[:8]):
        case "S":
            return random.choice(TEXTS) * random.randrange(1, 4)
        case "N":
            return random.choice([*NUMBERS, random.randrange(10**6)])
        case "B":
            return random.choice([b"", *BLOBS])
        case "BOOL":
            return random.random() < 0.5
        case "SS":
            return frozenset(random.sample(TEXTS[1:], 3))
        case "NS":
            return frozenset(random.sample(NUMBERS, 3))
        case "BS":
            return frozenset(random.sample(BLOBS, 2))
        case "L":
            return [value(random, depth + 1) for _ in range(random.randrange(4))]
        case "M":
            return {f"{random.choice(TEXTS)}{at}": value(random, depth + 1) for at in range(random.randrange(4))}
        case "empty":
            return random.choice([[], {}])
        case _:
            return None


def key(attribute: KeyAttribute, number: int) -> Any:
    """The key value for a number, in the type of the attribute."""
    match attribute.type:
        case "S":
            return f"{'がé𝄞'[number % 3]}#{number}"
        case "N":
            return Decimal(number) / 8 - 20 if number % 8 else number // 8 - 20
        case _:
            return number.to_bytes(4) + b"\xff\0"


def items_for(table: TableSchema, count: int, expiries: Sequence[int] = (PAST, FUTURE)) -> list[Item]:
    """The first `count` items of a table, in partitions of twenty, some of them in indexes and some with a TTL."""
    random = Random(table.name)
    items: list[Item] = []
    for number in range(count):
        item: Item = {f"{random.choice(TEXTS)}x{at}": value(random) for at in range(random.randrange(5))}
        if table.ttl is not None and random.random() < 0.3:
            item[table.ttl] = random.choice(expiries)
        for attribute in {key.name: key for index in table.indexes for key in index.keys}.values():
            if random.random() < 0.7:
                item[attribute.name] = key(attribute, random.randrange(20))
        item[table.pk.name] = key(table.pk, number if table.sk is None else number // 20)
        if table.sk is not None:
            item[table.sk.name] = key(table.sk, number)
        items.append(item)
    return items


async def start_backend(path: Path, tables: Sequence[TableSchema] = (FURNITURE, CURTAINS), **options: Any):
    """An embedded backend, started with the tables."""
    store = EmbeddedBackend(path, **options)
    await store.start(tables)
    return store


async def fill(store: port.Backend, table: TableSchema, items: Sequence[Item]) -> None:
    """Write items in concurrent batches."""
    for at in range(0, len(items), 500):
        batches = [items[start : start + 25] for start in range(at, min(at + 500, len(items)), 25)]
        puts = [[port.PutItem(table, item) for item in batch] for batch in batches]
        assert not any(await asyncio.gather(*map(store.batch_write, puts)))


async def lines_in(store: port.Backend, table: TableSchema) -> list[bytes]:
    """All items of a table as sorted canonical lines."""
    lines: list[bytes] = []
    start = None
    while True:
        page = await store.scan(port.ScanItems(table, start=start, strong=True))
        lines += [encode_line(unpack_row(row)) for row in page.rows]
        start = page.resume
        if start is None:
            return sorted(lines)


def lines_of(items: Sequence[Item]) -> list[bytes]:
    """The given items as sorted canonical lines."""
    return sorted(map(encode_line, items))
