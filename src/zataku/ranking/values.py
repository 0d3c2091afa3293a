"""Names on disk (the table, the attributes), and the values inside rosters and histograms."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from zataku.ranking import limits
from zataku.ranking.limits import Level, Name, Power, TableName, Uuid
from zataku.table import DesignError

TABLE_NAME = "Hanwol_Bot_DEV_Single_Table"
TABLE_NAME_VARIABLE = "ZATAKU_RANKING_TABLE"

# The document writes most names as one word and these in their own way.
_OWN_WAY = {
    "user_id": "UUID",
    "date": "date",
    "measure": "measure",
    "number": "number",
    "name_lower": "Name_Lower",
    "level_rank": "Level_Rank",
    "power_rank": "Power_Rank",
}


def attribute(field: str) -> str:
    """The attribute in which a field is kept: `current_level` in `CurrentLevel`, `level_rank` in `Level_Rank`."""
    return _OWN_WAY.get(field) or "".join(word.capitalize() for word in field.split("_"))


def table_name(environment: Mapping[str, str]) -> str:
    """The name of the table: the document's, or the one that the host has chosen."""
    given = environment.get(TABLE_NAME_VARIABLE) or TABLE_NAME
    try:
        return msgspec.convert(given, TableName)
    except msgspec.ValidationError:
        raise DesignError(
            f"{TABLE_NAME_VARIABLE} is {given!r}. A table's name has 3 to 200 letters, digits, '_', '.' and '-'."
        ) from None


class Standing(Struct, frozen=True, rename=attribute):
    """What a player had at the end of a day."""

    user_id: Uuid
    name: Name
    level: Annotated[Level, Meta(description="limits as in a snapshot")]
    power: Annotated[Power, Meta(description="limits as in a snapshot")]


class BucketStart(Struct, frozen=True, kw_only=True, rename=attribute):
    """Where a bucket begins: the value at its first place, and how many players have more.

    Among equal values the player named is the one whose turn it is by UUID. An index keeps its own order among them, so
    a place inside a tie is a place among equals, not that player's row in a page.
    """

    value: Annotated[Power, Meta(description="that player's level or power")]
    user_id: Uuid
    above: Annotated[limits.Count, Meta(description="how many players have more")]
    through: Annotated[limits.Count, Meta(description="how many players have as much or more")]

    def __post_init__(self) -> None:
        limits.check_power(self.value)
