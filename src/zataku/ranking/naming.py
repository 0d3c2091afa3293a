"""What things are called on disk: the table, and the attributes of its items."""

from collections.abc import Mapping

import msgspec

from zataku.ranking.limits import TableName
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
