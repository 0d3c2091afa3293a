"""Types and limits of names, levels, powers and ranks.

The type of a decimal number cannot express its limits, and a pattern cannot express categories of characters. Entities
call `check_name`, `check_level` and `check_power` on construction, which covers writing and reading.
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
"""A day in the game's time zone, not in UTC."""

NAME_LENGTH = 30
Name: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=NAME_LENGTH, description="the player's name, 1 to 30 characters")
]
"""A name as the player writes it: no control or invisible characters, no space at its ends."""

# One character folds to at most 18 (U+FDFA), so a folded name always fits a key: 5 + 30 × 33 bytes of 2,048.
FOLDED_NAME_LENGTH = NAME_LENGTH * 18
FoldedName: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=FOLDED_NAME_LENGTH,
        description="the name for searching: NFKC casefold of its visible characters",
    ),
]
"""A name without differences of case, width and composition. It may be longer than the name: ß becomes ss."""

DECIMALS = 4
STEP = Decimal(1).scaleb(-DECIMALS)
HIGHEST_LEVEL = Decimal(1_000_000)
HIGHEST_POWER = Decimal(10) ** 15

Level: TypeAlias = Annotated[Decimal, Meta(description="0 to 1,000,000 with at most 4 decimals; 57.25 is 57 and 25 %")]
"""A level; its decimals are the progress to the next one."""

Power: TypeAlias = Annotated[Decimal, Meta(description="0 to 10^15 with at most 4 decimals")]
"""Combat power. 20 digits at most, far from the 38 that a table holds."""

MAX_OFFICIAL_RANK = 100
OfficialRank: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_OFFICIAL_RANK, description="1 to 100; absent below")]
"""A competition rank among the first hundred: 1, 2, 2, 4."""

Measure: TypeAlias = Literal["LEVEL", "POWER"]
"""The value by which players are ranked."""

Count: TypeAlias = Annotated[int, Meta(ge=0, le=10**9)]
"""A number of players."""

MAX_BUCKETS = 1_000
MIN_BUCKET_SIZE = 50

MAX_PART_ROWS = 1_000
PartNumber: TypeAlias = Annotated[int, Meta(ge=0, le=999_999)]
"""The number of a part in the roster of a day, from 0."""

TableName: TypeAlias = Annotated[str, Meta(pattern=anchored("[A-Za-z0-9_.-]{3,200}"))]
"""A table name that DynamoDB accepts, with room for the suffix of an environment."""


_INVISIBLE = str.maketrans(dict.fromkeys(JOINERS | VARIATIONS | BLANKS))


def fold_name(name: str) -> str:
    """The name for searching: without invisible characters and differences of case, width and composition."""
    # Folding can produce invisible characters, and removing them can join letters, so the name is folded twice.
    folded = fold(name)
    visible = folded.translate(_INVISIBLE)
    return folded if visible == folded else fold(visible)


def moment(instant: Instant) -> datetime:
    """The instant as a datetime. Raises ValueError when the text is not an instant with a time zone."""
    parsed = datetime.fromisoformat(instant)
    if parsed.tzinfo is None:
        raise ValueError(f"A moment has the form 2026-02-21T10:30:00Z, not {instant}.")
    return parsed


def check_name(name: str) -> None:
    """Raise ValueError for a name with outer spaces or invisible characters, which could imitate another name."""
    if name.isascii() and name.isprintable() and name == name.strip():
        return
    if name != name.strip():
        raise ValueError("A name begins or ends with space. Remove it.")
    for letter in name:
        if is_disallowed(letter) or letter in BLANKS:
            raise ValueError(f"A name has the invisible character U+{ord(letter):04X}. Remove it.")
    if is_blank(name):
        raise ValueError("A name has no visible character. Add one.")


def check_level(level: Decimal) -> None:
    """Raise ValueError for a level outside the limits."""
    _check(level, HIGHEST_LEVEL, "A level")


def check_power(power: Decimal) -> None:
    """Raise ValueError for a power outside the limits."""
    _check(power, HIGHEST_POWER, "A power")


def _check(number: Decimal, highest: Decimal, label: str) -> None:
    if not number.is_finite() or not 0 <= number <= highest:
        raise ValueError(f"{label} is 0 to {highest:,}, not {number}.")
    if number != number.quantize(STEP):
        raise ValueError(f"{label} has at most {DECIMALS} decimals, not {number}.")


__all__ = [
    "DECIMALS",
    "FOLDED_NAME_LENGTH",
    "HIGHEST_LEVEL",
    "HIGHEST_POWER",
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
