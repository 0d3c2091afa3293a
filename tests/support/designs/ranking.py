"""Rankings by day: sparse indexes with numbers as sort keys, keyed by the table's own sort key."""

from zataku.table import KEYS_ONLY, Entity, InKey, Span, Table, View, derived, include, number

ranking = Table("Hanwol_Bot_Single_Table", pk="PK", sk="SK")
by_rank = ranking.index(
    "GSI_Official_Level_Rank", pk="SK", sk=number("Level_Rank"), projection=include("Name", "Level")
)
by_level = ranking.index("GSI_Internal_Level", pk="SK", sk=number("Level"), projection=include("Name"))
by_name = ranking.index("GSI_Find_User_By_Name", pk="Name_Lower", sk="SK", projection=KEYS_ONLY)

NAMES = {"user_id": "UserId", "date": "Date", "name": "Name", "level": "Level", "level_rank": "Level_Rank"}


@ranking.entity(pk="USER#{user_id}", sk="SNAP#{date}")
class Snapshot(Entity, frozen=True, kw_only=True, rename=NAMES):
    """A player's standing on a day; only the first hundred have a rank."""

    user_id: str
    date: str
    name: str = "Hello"
    level: int | None = None
    level_rank: int | None = None


@ranking.entity(pk="USER#{user_id}", sk="METADATA", index={"Name_Lower": "{name_lower}"})
class Profile(Entity, frozen=True, kw_only=True, rename=NAMES):
    """The current profile of a player, found by the name in lower case."""

    user_id: InKey[str]
    name: str
    level: int | None = None

    @derived("name")
    def name_lower(self) -> str:
        """The name in lower case, for searches."""
        return self.name.lower()


@ranking.view(Snapshot)
class RankLine(View, frozen=True, kw_only=True, rename=NAMES):
    """A row of the ranking."""

    name: str
    level: int | None = None
    level_rank: int


@ranking.view(Snapshot)
class LevelLine(View, frozen=True, kw_only=True, rename=NAMES):
    """A row of a list of levels."""

    name: str
    level: int


@ranking.query(returns=RankLine)
def ranked(date: str) -> Span:
    """The ranked players of a day, best first."""
    return by_rank.partition(f"SNAP#{date}")


@ranking.query(returns=LevelLine)
def levels(date: str, low: int, high: int) -> Span:
    """Players of a day within a range of levels, highest first."""
    return by_level.partition(f"SNAP#{date}").between(low, high).newest_first()


@ranking.view(Profile)
class FoundName(View, frozen=True, kw_only=True, rename=NAMES):
    """The owner of a name, read from the keys."""

    user_id: str


@ranking.query(returns=FoundName)
def named(name: str) -> Span:
    """The owner of a name, ignoring case."""
    return by_name.partition(name.lower()).equals("METADATA")


@ranking.query(returns=Snapshot, strong=True)
def history_of(user_id: str) -> Span:
    """All days of a player, newest first."""
    return ranking.partition(f"USER#{user_id}").begins_with("SNAP#").newest_first()
