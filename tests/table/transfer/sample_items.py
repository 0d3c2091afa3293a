"""Random items with every kind of value for any table, the same for the same seed."""

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


def value(chance: Random, depth: int = 0) -> Any:
    """Any value."""
    kinds = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M", "empty"]
    match chance.choice(kinds if depth < 3 else kinds[:8]):
        case "S":
            return chance.choice(TEXTS) * chance.randrange(1, 4)
        case "N":
            return chance.choice([*NUMBERS, chance.randrange(10**6)])
        case "B":
            return chance.choice([b"", *BLOBS])
        case "BOOL":
            return chance.random() < 0.5
        case "SS":
            return frozenset(chance.sample(TEXTS[1:], 3))
        case "NS":
            return frozenset(chance.sample(NUMBERS, 3))
        case "BS":
            return frozenset(chance.sample(BLOBS, 2))
        case "L":
            return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
        case "M":
            return {f"{chance.choice(TEXTS)}{at}": value(chance, depth + 1) for at in range(chance.randrange(4))}
        case "empty":
            return chance.choice([[], {}])
        case _:
            return None


def key(attribute: KeyAttribute, number: int) -> Any:
    """A key value of the right type for a number."""
    match attribute.type:
        case "S":
            return f"{'がé𝄞'[number % 3]}#{number}"
        case "N":
            return Decimal(number) / 8 - 20 if number % 8 else number // 8 - 20
        case _:
            return number.to_bytes(4) + b"\xff\0"


def items_for(table: TableSchema, count: int, ends: Sequence[int] = (PAST, FUTURE)) -> list[Item]:
    """`count` items in partitions of twenty, each in some of the indexes, some of them with a TTL."""
    chance = Random(table.name)
    made: list[Item] = []
    for number in range(count):
        item: Item = {f"{chance.choice(TEXTS)}x{at}": value(chance) for at in range(chance.randrange(5))}
        if table.ttl is not None and chance.random() < 0.3:
            item[table.ttl] = chance.choice(ends)
        for attribute in {key.name: key for index in table.indexes for key in index.keys}.values():
            if chance.random() < 0.7:
                item[attribute.name] = key(attribute, chance.randrange(20))
        item[table.pk.name] = key(table.pk, number if table.sk is None else number // 20)
        if table.sk is not None:
            item[table.sk.name] = key(table.sk, number)
        made.append(item)
    return made


async def start_backend(path: Path, tables: Sequence[TableSchema] = (FURNITURE, CURTAINS), **options: Any):
    """An embedded store with these tables."""
    store = EmbeddedBackend(path, **options)
    await store.start(tables)
    return store


async def fill(store: port.Backend, table: TableSchema, items: Sequence[Item]) -> None:
    """Write items in concurrent batches."""
    for at in range(0, len(items), 500):
        steps = [items[start : start + 25] for start in range(at, min(at + 500, len(items)), 25)]
        puts = [[port.PutItem(table, item) for item in step] for step in steps]
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
