"""A table of seats in the embedded backend, and strict backends around it."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random

import pytest

from zataku.table.backend import expression as ex
from zataku.table.backend.port import Backend, GetItem, PutItem, Row
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.backend.values import Item, unpack_row
from zataku.table.embedded import EmbeddedBackend
from zataku.table.strict.strict_backend import Faults, StrictBackend

BY_OWNER = IndexSchema("ByOwner", KeyAttribute("owner"), KeyAttribute("SK"))
ROOM = TableSchema("Room", KeyAttribute("PK"), KeyAttribute("SK"), indexes=(BY_OWNER,), stream="NEW_AND_OLD_IMAGES")

StrictFactory = Callable[..., StrictBackend]


@pytest.fixture(name="inner")
async def room_backend(tmp_path: Path) -> AsyncIterator[Backend]:
    backend = EmbeddedBackend(tmp_path / "room.db")
    await backend.start([ROOM])
    yield backend
    await backend.close()


@pytest.fixture(name="strict")
def strict_backend_factory(inner: Backend) -> StrictFactory:
    """Creates a strict backend from a seed and the probabilities of its faults."""
    return lambda seed=1, **faults: StrictBackend(inner, random=Random(seed), faults=Faults(**faults))


def seat(number: int, **attributes: object) -> Item:
    return {"PK": "ROOM#1", "SK": f"SEAT#{number:03d}", "owner": "aki", "number": number, **attributes}


def put(number: int, condition: ex.Expression | None = None, **attributes: object) -> PutItem:
    return PutItem(ROOM, seat(number, **attributes), condition)


def key(number: int) -> tuple[str, str]:
    return "ROOM#1", f"SEAT#{number:03d}"


def get(number: int, strong: bool = True) -> GetItem:
    return GetItem(ROOM, key(number), strong=strong)


def item(row: Row | None) -> Item | None:
    return unpack_row(row)


async def fill(backend: Backend, count: int) -> None:
    for number in range(count):
        await backend.write(put(number))


async def stored_seats(backend: Backend, count: int = 30) -> set[int]:
    """The numbers of all stored seats."""
    return {number for number in range(count) if await backend.get(get(number)) is not None}
