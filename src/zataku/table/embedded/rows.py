"""An item made ready for the file: checked as DynamoDB would, packed, measured, with its keys in every index."""

import math
from decimal import Decimal
from typing import NamedTuple

from zataku.table.backend.errors import ItemTooLarge, WrongType
from zataku.table.backend.limits import ITEM_BYTES
from zataku.table.backend.values import Item, normalize, pack, size_of
from zataku.table.embedded import keys
from zataku.table.embedded.catalog import TablePart

_LARGEST_SECOND = 2**62
_SHORT = 10**18


class Before(NamedTuple):
    """What is known of an item that is being updated: what lay there, and which attributes the update names."""

    item: Item
    size: int
    pk: bytes
    sk: bytes
    named: frozenset[str | int]


class NewRow:
    """An item as it will lie in the file of one table part."""

    __slots__ = ("expires", "index_keys", "item", "packed", "part", "pk", "size", "sk")

    def __init__(self, part: TablePart, given: Item, before: Before | None = None) -> None:
        table = part.schema
        try:
            item, self.size = measured(given) if before is None else remeasured(given, before)
            self.packed = pack(item)
        except UnicodeEncodeError:
            raise WrongType("The item holds half a character (a lone surrogate). Give it whole characters.") from None
        self.part = part
        self.item = item
        self.pk, self.sk = keys.of_item(table, item) if before is None else (before.pk, before.sk)
        self.index_keys = [keys.of_index(index.schema, item) for index in part.indexes]
        if self.size > ITEM_BYTES:
            raise ItemTooLarge(
                f"The item is {self.size} bytes large; a table takes at most {ITEM_BYTES}. Split it, or keep the large "
                "part elsewhere.",
                size=self.size,
            )
        self.expires = expiry(table.ttl, item)

    def fitted(self, part: TablePart) -> "NewRow":
        """The same item for the table as it is now; indexes may have come since it was made ready."""
        return self if part is self.part else NewRow(part, self.item)


def measured(given: Item) -> tuple[Item, int]:
    """The item in its one stored form, and its size by DynamoDB's rules.

    Says the same as `normalize` and `item_size`, in one pass and with a short way for text and whole numbers, of which
    most items consist: this runs for every write.
    """
    item: Item = {}
    size = 0
    for name, value in given.items():
        if type(name) is not str:
            raise WrongType(f"Names of attributes are strings, not {type(name).__name__}. Convert it.")
        size += len(name) if name.isascii() else len(name.encode())
        if type(value) is str:
            size += len(value) if value.isascii() else len(value.encode())
        elif type(value) is int and -_SHORT < value < _SHORT:
            size += _size_of_whole(value)
        else:
            value = normalize(value)
            size += size_of(value)
        item[name] = value
    return item, size


def remeasured(given: Item, before: Before) -> tuple[Item, int]:
    """As `measured`, for an item of which only the named attributes can differ from what lay there in stored form."""
    touched = [name for name in before.named if isinstance(name, str)]
    _, gone = measured({name: before.item[name] for name in touched if name in before.item})
    new, come = measured({name: given[name] for name in touched if name in given})
    return given | new, before.size - gone + come


def _size_of_whole(value: int) -> int:
    if not value:
        return 1
    digits = str(value).lstrip("-")
    significant = len(digits.rstrip("0"))
    places = significant + (len(digits) - significant) % 2
    return (places + 1) // 2 + 1 + (value < 0)


def expiry(ttl: str | None, item: Item) -> int | None:
    """The second after which the item may be swept, if it has one."""
    if ttl is None:
        return None
    value = item.get(ttl)
    if type(value) is not int and type(value) is not Decimal:
        return None
    return math.ceil(value) if abs(value) < _LARGEST_SECOND else None
