"""The current and the daily state of all players in one table, designed for cheap reads.

A player's partition holds the current profile and one snapshot for every day. The rankings of a day are indexes whose
partition key is the table's own sort key, `SNAP#<date>`: sparse ones for the first hundred, complete ones for all
players and for ranges. Names are found by an index on the folded name. The players of a day and their values are fixed
in its roster before anything else of the day is written; the day is published when its `DAY#<date>` item is put.
Readers show the newest published day, never the profiles.
"""

import os
from datetime import date
from decimal import Decimal
from typing import Annotated

from msgspec import Meta

from zataku.ranking import limits
from zataku.ranking.departures import DEPARTURES, WAIVERS
from zataku.ranking.limits import Date, FoldedName, Instant, Level, Measure, Name, OfficialRank, Power, UserId, Uuid
from zataku.ranking.values import BucketStart, Standing, attribute, table_name
from zataku.table import NEW_AND_OLD, Budget, Entity, InKey, Key, Span, Table, View, WrongType, include, number
from zataku.table.lint import check

TITLE = "Player rankings"

# 1. Base table

ranking = Table(
    table_name(os.environ),
    pk="PK",
    sk="SK",
    stream=NEW_AND_OLD,
    transactions=True,
    waivers=WAIVERS,
)

# 3. Secondary indexes

by_level_rank = ranking.index(
    "GSI_Official_Level_Rank", pk="SK", sk=number("Level_Rank"), projection=include("Name", "Level")
)
by_power_rank = ranking.index(
    "GSI_Official_Power_Rank", pk="SK", sk=number("Power_Rank"), projection=include("Name", "Power")
)
by_level = ranking.index("GSI_Internal_Level", pk="SK", sk=number("Level"), projection=include("Name"))
by_power = ranking.index("GSI_Internal_Power", pk="SK", sk=number("Power"), projection=include("Name"))
by_name = ranking.index("GSI_Find_User_By_Name", pk="Name_Lower", sk="SK", projection=include("Name"))

# 2. Items


@ranking.entity(pk="USER#{user_id}", sk="METADATA")
class Profile(Entity, frozen=True, kw_only=True, rename=attribute):
    """The current state of a player.

    A rename changes this item and the claims of both names, and the profile of a player from whom the new name is taken
    over; snapshots keep the old name.

    The closing state is that at the end of the last day before `CurrentDay`, so that the previous day can be ranked
    while values of the current one are already imported. A player who left, or whose name was taken over, has no
    `Name_Lower`, is not found by name and is not ranked until a new name is known; after a day that ended without a
    name there is no `ClosingName`.
    """

    user_id: InKey[Uuid]
    name: Name
    name_lower: FoldedName | None = None
    current_level: Level
    current_power: Power
    first_day: Annotated[date, Meta(description="the day on which the player entered")] | None = None
    current_day: Annotated[date, Meta(description="the day, in the game's zone, of the current state")] | None = None
    values_at: Annotated[Instant, Meta(description="the moment at which the game had these values")] | None = None
    closing_day: Annotated[date, Meta(description="the last day before with a state of its own")] | None = None
    closing_name: Annotated[Name, Meta(description="the name at its end, if the player held one")] | None = None
    closing_level: Annotated[Level, Meta(description="the level at its end; limits as CurrentLevel")] | None = None
    closing_power: Annotated[Power, Meta(description="the power at its end; limits as CurrentPower")] | None = None

    def __post_init__(self) -> None:
        limits.check_name(self.name)
        limits.check_level(self.current_level)
        limits.check_power(self.current_power)
        closing = (self.closing_day, self.closing_name, self.closing_level, self.closing_power)
        if any(part is not None for part in closing):
            _check_closing(self)


def _check_closing(profile: Profile) -> None:
    name, level, power = profile.closing_name, profile.closing_level, profile.closing_power
    if profile.closing_day is None or level is None or power is None:
        raise ValueError("A closing state has a day, a level and a power.")
    if profile.current_day is None or profile.closing_day > profile.current_day:
        raise ValueError("A closing state is not of a later day than the current one.")
    if name is not None:
        limits.check_name(name)
    limits.check_level(level)
    limits.check_power(power)


@ranking.entity(pk="USER#{user_id}", sk="SNAP#{date}")
class Snapshot(Entity, frozen=True, kw_only=True, rename=attribute):
    """A player's standing on a day, with the name on that day, so that rankings do not read profiles."""

    user_id: InKey[Uuid]
    date: InKey[Date]
    name: Annotated[Name, Meta(description="the name on that day")]
    level: Annotated[Level, Meta(description="the level on that day; 0 to 1,000,000 with at most 4 decimals")]
    power: Annotated[Power, Meta(description="the power on that day; 0 to 10^15 with at most 4 decimals")]
    level_rank: Annotated[OfficialRank, Meta(description="official rank by level, only 1 to 100")] | None = None
    power_rank: Annotated[OfficialRank, Meta(description="official rank by power, only 1 to 100")] | None = None

    def __post_init__(self) -> None:
        limits.check_name(self.name)
        limits.check_level(self.level)
        limits.check_power(self.power)


@ranking.entity(pk="NAME#{name_lower}", sk="CLAIM")
class NameClaim(Entity, frozen=True, kw_only=True, rename=attribute):
    """The claim of a name by its holder. It exists exactly as long as the holder's profile has this `Name_Lower`."""

    name_lower: InKey[FoldedName]
    holder: Annotated[Uuid, Meta(description="the player who holds the name")]
    claimed_at: Annotated[Instant, Meta(description="when the holder took the name")]


@ranking.entity(pk="ROSTER#{date}#{number:06d}", sk="ROSTER")
class RosterPart(Entity, frozen=True, kw_only=True, rename=attribute):
    """Up to 1,000 players of a day with their standings, in the order of their UUIDs. It is never changed.

    Parts form a chain: each continues after the `Through` of the previous one, and the part without it is the last.
    """

    date: InKey[Date]
    number: InKey[limits.PartNumber]
    rows: Annotated[tuple[Standing, ...], Meta(max_length=limits.MAX_PART_ROWS)]
    missing: Annotated[limits.Count, Meta(description="players of the day whose standing is unknown")] = 0
    through: Annotated[Uuid, Meta(description="the last UUID that this part covers")] | None = None


@ranking.entity(pk="DAYS", sk="DAY#{date}")
class Day(Entity, frozen=True, kw_only=True, rename=attribute):
    """A published day: all its snapshots and histograms are stored. It is never changed."""

    date: InKey[Date]
    players: Annotated[limits.Count, Meta(description="number of players with a snapshot of the day")]
    missing: Annotated[limits.Count, Meta(description="number of players whose standing is unknown")] = 0
    as_of: Annotated[Instant, Meta(description="the end of the day")]
    published_at: Annotated[Instant, Meta(description="when the day was published")]


@ranking.entity(pk="DAY#{date}", sk="HISTOGRAM#{measure}")
class Histogram(Entity, frozen=True, kw_only=True, rename=attribute):
    """The distribution of a day's values: at most 1,000 buckets of equal count.

    Bucket n begins after `Size` × n players. A rank is that of a bucket's start, or is counted inside one bucket.
    """

    date: InKey[Date]
    measure: InKey[Measure]
    players: limits.Count
    size: Annotated[int, Meta(ge=1, le=10**6, description="players in a bucket; the last may have fewer")]
    starts: Annotated[tuple[BucketStart, ...], Meta(max_length=limits.MAX_BUCKETS)]


# Projections of the indexes


@ranking.view(Snapshot)
class LevelRank(View, frozen=True, kw_only=True, rename=attribute):
    """One row of the official ranking by level."""

    user_id: UserId
    name: str
    level: Level
    level_rank: int


@ranking.view(Snapshot)
class PowerRank(View, frozen=True, kw_only=True, rename=attribute):
    """One row of the official ranking by power."""

    user_id: UserId
    name: str
    power: Power
    power_rank: int


@ranking.view(Snapshot)
class LevelRow(View, frozen=True, kw_only=True, rename=attribute):
    """One player of a day by level, without a rank."""

    user_id: UserId
    name: str
    level: Level


@ranking.view(Snapshot)
class PowerRow(View, frozen=True, kw_only=True, rename=attribute):
    """One player of a day by power, without a rank."""

    user_id: UserId
    name: str
    power: Power


@ranking.view(Profile)
class NamedPlayer(View, frozen=True, kw_only=True, rename=attribute):
    """The holder of a name, and its spelling."""

    user_id: UserId
    name: str


# 4. Access patterns: ① the official top 100

_TOP_100 = Budget(reads=1.5, of="100 ranks, names of 5 Hangul, UUIDs of 36 characters")


@ranking.query(returns=LevelRank, budget=_TOP_100)
def official_levels(date: Date) -> Span:
    """① Official top 100 by level, rank 1 first. One query, since the index has no other entries."""
    return by_level_rank.partition(f"SNAP#{date}")


@ranking.query(returns=PowerRank, budget=_TOP_100)
def official_powers(date: Date) -> Span:
    """① Official top 100 by power, rank 1 first."""
    return by_power_rank.partition(f"SNAP#{date}")


# ② Below rank 100

_PAGE_OF_50 = Budget(reads=1, of="a page of 50 players, names of 5 Hangul, UUIDs of 36 characters")


@ranking.query(returns=LevelRow, budget=_PAGE_OF_50)
def levels(date: Date) -> Span:
    """② All players of a day by level, the highest first, in pages with a cursor.

    Position in the list = page × page size + index + 1. The order of equal levels is undefined.
    """
    return by_level.partition(f"SNAP#{date}").newest_first()


@ranking.query(returns=PowerRow, budget=_PAGE_OF_50)
def powers(date: Date) -> Span:
    """② All players of a day by power, the highest first, in pages with a cursor."""
    return by_power.partition(f"SNAP#{date}").newest_first()


# ③ History of a player

_MONTH = Budget(reads=0.5, of="30 days")
_TWO_DAYS = {"first": date(2026, 1, 1), "last": date(2026, 2, 21)}


@ranking.query(returns=Snapshot, budget=_MONTH)
def history(user_id: UserId) -> Span:
    """③ Level, power and ranks of a player on all days, newest first."""
    return ranking.partition(f"USER#{user_id}").begins_with("SNAP#").newest_first()


@ranking.query(returns=Snapshot, example=_TWO_DAYS, budget=_MONTH)
def history_between(user_id: UserId, first: Date, last: Date) -> Span:
    """③ Level, power and ranks of a player between two days, both included, newest first."""
    span = ranking.partition(f"USER#{user_id}")
    return span.between(f"SNAP#{first}", f"SNAP#{last}").newest_first()


# ④ Ranges of a day


def _finite(number: Decimal) -> Decimal:
    if not number.is_finite():
        raise WrongType(f"{number} is not a level or power. Search by a finite number.")
    return number


@ranking.query(returns=LevelRow, budget=_PAGE_OF_50)
def levels_between(date: Date, low: Level, high: Level) -> Span:
    """④ Players of a day within a range of levels, both ends included, the highest first."""
    return by_level.partition(f"SNAP#{date}").between(_finite(low), _finite(high)).newest_first()


@ranking.query(returns=PowerRow, budget=_PAGE_OF_50)
def powers_between(date: Date, low: Power, high: Power) -> Span:
    """④ Players of a day within a range of powers, both ends included, the highest first."""
    return by_power.partition(f"SNAP#{date}").between(_finite(low), _finite(high)).newest_first()


@ranking.query(returns=LevelRow, budget=_PAGE_OF_50)
def levels_down_from(date: Date, level: Level) -> Span:
    """Players of a day at a level or below, the highest first: a jump into the ranking, or the next lower players."""
    return by_level.partition(f"SNAP#{date}").until(_finite(level)).newest_first()


@ranking.query(returns=PowerRow, budget=_PAGE_OF_50)
def powers_down_from(date: Date, power: Power) -> Span:
    """Players of a day at a power or below, the highest first."""
    return by_power.partition(f"SNAP#{date}").until(_finite(power)).newest_first()


@ranking.query(returns=LevelRow, budget=_PAGE_OF_50)
def levels_up_from(date: Date, level: Level) -> Span:
    """Players of a day above a level, the lowest first: the next higher players."""
    return by_level.partition(f"SNAP#{date}").after(_finite(level))


@ranking.query(returns=PowerRow, budget=_PAGE_OF_50)
def powers_up_from(date: Date, power: Power) -> Span:
    """Players of a day above a power, the lowest first."""
    return by_power.partition(f"SNAP#{date}").after(_finite(power))


# ⑤ Names

_WEAK_READ = Budget(reads=0.5)
_STRONG_READ = Budget(reads=1)


def _folded(name: str) -> str:
    folded = limits.fold_name(name)
    if any("\ud800" <= letter <= "\udfff" for letter in folded):
        raise WrongType("The name has half of a surrogate pair. Search by whole characters.")
    return folded


@ranking.query(returns=NamedPlayer, budget=Budget(reads=0.5, of="one name"))
def find_by_name(name: str) -> Span:
    """⑤ UUID and name of the player who holds this name now, regardless of case and width."""
    return by_name.partition(_folded(name)).equals("METADATA")


@ranking.item(strong=True, budget=_STRONG_READ)
def name_claim(name: str) -> Key[NameClaim]:
    """The current holder of a name, read before the name is taken."""
    return NameClaim.key(name_lower=_folded(name))


# Single items and days


@ranking.item(strong=True, budget=_STRONG_READ)
def profile(user_id: UserId) -> Key[Profile]:
    """The current state of a player. Rankings never show it: they show the newest snapshots."""
    return Profile.key(user_id=user_id)


@ranking.item(budget=_WEAK_READ)
def snapshot(user_id: UserId, date: Date) -> Key[Snapshot]:
    """A player's standing on a day; with `get_many` for comparisons and for the change since the day before."""
    return Snapshot.key(user_id=user_id, date=date)


@ranking.query(returns=Day, budget=Budget(reads=0.5, of="the first"))
def newest_day() -> Span:
    """Published days, the newest first."""
    return ranking.partition("DAYS").begins_with("DAY#").newest_first()


@ranking.query(returns=Day, budget=Budget(reads=0.5, of="the first"))
def days_before(date: Date) -> Span:
    """Published days before a day, the newest first."""
    return ranking.partition("DAYS").before(f"DAY#{date}").newest_first()


@ranking.query(returns=Day, example=_TWO_DAYS, budget=_MONTH)
def published_days(first: Date, last: Date) -> Span:
    """Published days between two days, both included, for a calendar."""
    return ranking.partition("DAYS").between(f"DAY#{first}", f"DAY#{last}")


@ranking.item(strong=True, budget=_STRONG_READ)
def published_day(date: Date) -> Key[Day]:
    """A published day with its number of players; absent until it is published."""
    return Day.key(date=date)


@ranking.item(budget=Budget(reads=10, of="1,000 buckets, as 1,000,000 players have"))
def histogram(date: Date, measure: Measure) -> Key[Histogram]:
    """The distribution of a day's values. It never changes after publication, so that it can be cached."""
    return Histogram.key(date=date, measure=measure)


@ranking.item(strong=True, budget=Budget(reads=21, of="1,000 players, names of 5 Hangul, UUIDs of 36 characters"))
def roster_part(date: Date, number: limits.PartNumber) -> Key[RosterPart]:
    """A part of a day's roster, up to 1,000 players, for the daily job; the first part has number 0."""
    return RosterPart.key(date=date, number=number)


TABLES = (ranking,)
__all__ = ["DEPARTURES", "TABLES", "TITLE", "ranking"]
check(ranking)
