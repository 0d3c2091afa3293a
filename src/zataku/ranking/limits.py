"""What names, levels, powers and ranks may be.

A decimal number cannot carry its limits in its type, and a pattern cannot speak of kinds of characters. Items call
`check_name`, `check_level` and `check_power` when they are made, which holds for writing and for reading.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal, NewType, TypeAlias

from msgspec import Meta

from zataku.table import Instant, anchored
from zataku.text import BLANKS, JOINERS, VARIATIONS, fold, is_blank, is_disallowed

UserId = NewType("UserId", str)
"""The game's own identifier of a player."""

Uuid: TypeAlias = Annotated[
    UserId,
    Meta(pattern=anchored("[0-9A-Za-z_-]{1,64}"), max_length=64, description="the game's identifier, such as A101"),
]
"""1 to 64 letters, digits, `_` and `-`: a UUID, or shorter as in the document (`A101`)."""

Date: TypeAlias = Annotated[date, Meta(description="a day in the configured zone, such as 2026-02-21")]
"""A day. It is the day of the game's zone, not that of UTC."""

NAME_LENGTH = 30
Name: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=NAME_LENGTH, description="the player's name, 1 to 30 characters")
]
"""A name as the player writes it: no control or invisible characters, no space at its ends."""

# One character becomes at most 18 (U+FDFA), so that a folded name always fits a key: 5 + 30 × 33 bytes of 2,048.
LOWERED_LENGTH = NAME_LENGTH * 18
FoldedName: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=LOWERED_LENGTH,
        description="the name as people search it: NFKC casefold of what can be seen",
    ),
]
"""A name in which capitals, widths and ways of typing make no difference. Longer than the name at times: ß is ss."""

DECIMALS = 4
STEP = Decimal(1).scaleb(-DECIMALS)
HIGHEST_LEVEL = Decimal(1_000_000)
HIGHEST_POWER = Decimal(10) ** 15

Level: TypeAlias = Annotated[Decimal, Meta(description="0 to 1,000,000 with at most 4 decimals; 57.25 is 57 and 25 %")]
"""A level with the way to the next one behind the point."""

Power: TypeAlias = Annotated[Decimal, Meta(description="0 to 10^15 with at most 4 decimals")]
"""Combat power. 20 digits at most, far from the 38 that a table holds."""

MAX_OFFICIAL_RANK = 100
OfficialRank: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_OFFICIAL_RANK, description="1 to 100; nothing below")]
"""A place among the first hundred: 1, 2, 2, 4."""

Measure: TypeAlias = Literal["LEVEL", "POWER"]
"""What a ranking is by."""

Count: TypeAlias = Annotated[int, Meta(ge=0, le=10**9)]
"""A number of players."""

MAX_BUCKETS = 1_000
MIN_BUCKET_SIZE = 50

MAX_PART_ROWS = 1_000
PartNumber: TypeAlias = Annotated[int, Meta(ge=0, le=999_999)]
"""The place of a part in the roster of a day."""

TableName: TypeAlias = Annotated[str, Meta(pattern=anchored("[A-Za-z0-9_.-]{3,200}"))]
"""What DynamoDB takes as the name of a table, with room for the name of an environment behind it."""


_UNSEEN = str.maketrans(dict.fromkeys(JOINERS | VARIATIONS | BLANKS))


def fold_name(name: str) -> str:
    """The name as people search it: without differences of case, width, typing and of what cannot be seen."""
    # Folding can bring such characters forth, and letters that they kept apart can join: hence before and after.
    once = fold(name)
    visible = once.translate(_UNSEEN)
    return once if visible == once else fold(visible)


def moment(instant: Instant) -> datetime:
    """The moment that is meant; a text that is none is refused."""
    found = datetime.fromisoformat(instant)
    if found.tzinfo is None:
        raise ValueError(f"a moment is as 2026-02-21T10:30:00Z, not {instant}")
    return found


def check_name(name: str) -> None:
    """Refuse a name that looks like another or like none."""
    if name.isascii() and name.isprintable() and name == name.strip():
        return
    if name != name.strip():
        raise ValueError("a name has no space at its beginning or end")
    for letter in name:
        if is_disallowed(letter) or letter in BLANKS:
            raise ValueError(f"a name has no character that cannot be seen, such as U+{ord(letter):04X}")
    if is_blank(name):
        raise ValueError("a name has at least one character that can be seen")


def check_level(level: Decimal) -> None:
    """Refuse a level that no player can have."""
    _check(level, HIGHEST_LEVEL, "a level")


def check_power(power: Decimal) -> None:
    """Refuse a power that no player can have."""
    _check(power, HIGHEST_POWER, "a power")


def _check(number: Decimal, highest: Decimal, what: str) -> None:
    if not number.is_finite() or not 0 <= number <= highest:
        raise ValueError(f"{what} is 0 to {highest:,}, not {number}")
    if number != number.quantize(STEP):
        raise ValueError(f"{what} has at most {DECIMALS} decimals, not {number}")


__all__ = [
    "DECIMALS",
    "HIGHEST_LEVEL",
    "HIGHEST_POWER",
    "LOWERED_LENGTH",
    "MAX_BUCKETS",
    "MAX_OFFICIAL_RANK",
    "MAX_PART_ROWS",
    "MIN_BUCKET_SIZE",
    "NAME_LENGTH",
    "STEP",
    "Count",
    "Date",
    "FoldedName",
    "Instant",
    "Level",
    "Measure",
    "Name",
    "OfficialRank",
    "PartNumber",
    "Power",
    "TableName",
    "UserId",
    "Uuid",
    "check_level",
    "check_name",
    "check_power",
    "fold_name",
    "moment",
]
