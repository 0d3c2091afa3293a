"""A process that reads streams, as its leases know it."""

from random import Random

from msgspec import Struct

from zataku.clock import Clock
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.metadata_table import Book


class Owner(Struct, frozen=True):
    """Who reads, and with what. Others wait `lease_seconds` for a sign of life before they take its leases."""

    name: str
    client: Client
    book: Book
    clock: Clock
    random: Random
    lease_seconds: float
