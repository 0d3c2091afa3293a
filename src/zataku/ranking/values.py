"""Stored names (table and attributes), and the values inside rosters and histograms."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from zataku.ranking import limits
from zataku.ranking.limits import Level, Name, Power, TableName, Uuid
from zataku.table import DesignError

TABLE_NAME = "Hanwol_Bot_DEV_Single_Table"
TABLE_NAME_VARIABLE = "ZATAKU_RANKING_TABLE"

# Attributes whose names in the document are not the field name in CamelCase.
_ATTRIBUTE_NAMES = {
    "user_id": "UUID",
    "date": "date",
    "measure": "measure",
    "number": "number",
    "name_lower": "Name_Lower",
    "level_rank": "Level_Rank",
    "power_rank": "Power_Rank",
}


def attribute(field: str) -> str:
    """The attribute in which a field is stored: `CurrentLevel` for `current_level`, `Level_Rank` for `level_rank`."""
    return _ATTRIBUTE_NAMES.get(field) or "".join(word.capitalize() for word in field.split("_"))


def table_name(environment: Mapping[str, str]) -> str:
    """The name of the table: that of the document, or the one that the host has configured."""
    name = environment.get(TABLE_NAME_VARIABLE) or TABLE_NAME
    try:
        return msgspec.convert(name, TableName)
    except msgspec.ValidationError:
        raise DesignError(
            f"{TABLE_NAME_VARIABLE} is {name!r}. A table's name has 3 to 200 letters, digits, '_', '.' and '-'."
        ) from None


class Standing(Struct, frozen=True, rename=attribute):
    """A player's name and values at the end of a day."""

    user_id: Uuid
    name: Name
    level: Annotated[Level, Meta(description="limits as in a snapshot")]
    power: Annotated[Power, Meta(description="limits as in a snapshot")]


class BucketStart(Struct, frozen=True, kw_only=True, rename=attribute):
    """The start of a bucket: the value at its first position, and the number of players with a higher one.

    Players with equal values are in the order of their UUIDs here, but in no defined order in an index, so a position
    inside a tie does not identify the row of a player in a page.
    """

    value: Annotated[Power, Meta(description="the level or power at the first position")]
    user_id: Uuid
    above: Annotated[limits.Count, Meta(description="number of players with a higher value")]
    through: Annotated[limits.Count, Meta(description="number of players with this value or a higher one")]

    def __post_init__(self) -> None:
        limits.check_power(self.value)
