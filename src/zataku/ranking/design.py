"""Players as they are now and as they were on each day, in one table, made so that reading costs as little as possible.

A player's partition holds the current profile and one snapshot for every day. The rankings of a day are indexes whose
partition key is the table's own sort key, `SNAP#<date>`: sparse ones for the first hundred, whole ones for all others
and for ranges. Names are found by an index on the folded name. Who is ranked on a day, and with what, is fixed in its
roster before anything of the day is written; the day counts from the moment its `DAY#<date>` item is there. Readers
show the newest such day, never the profiles.
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
    """A player as of now. A rename changes this item and the claims of both names; snapshots keep the old name.

    The closing state is the one with which the last day before `CurrentDay` ended, so that the day that ended can be
    told at any time of the next one, whatever comes in meanwhile. Whoever has left, or has lost the name to somebody
    else, has no `Name_Lower`, is not found by name and not ranked until a new name is known; a day that ended so has no
    `ClosingName`.
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
        raise ValueError("a closing state has a day, a level and a power")
    if profile.current_day is None or profile.closing_day > profile.current_day:
        raise ValueError("a closing state is not of a later day than the current one")
    if name is not None:
        limits.check_name(name)
    limits.check_level(level)
    limits.check_power(power)


@ranking.entity(pk="USER#{user_id}", sk="SNAP#{date}")
class Snapshot(Entity, frozen=True, kw_only=True, rename=attribute):
    """A player's standing on a day, with the name of that day so that no ranking needs the profile."""

    user_id: InKey[Uuid]
    date: InKey[Date]
    name: Annotated[Name, Meta(description="the name at the time of the record")]
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
    """Who holds a name. It exists exactly as long as that player's profile has this `Name_Lower`."""

    name_lower: InKey[FoldedName]
    holder: Annotated[Uuid, Meta(description="the player who has the name now")]
    claimed_at: Annotated[Instant, Meta(description="since when")]


@ranking.entity(pk="ROSTER#{date}#{number:06d}", sk="ROSTER")
class RosterPart(Entity, frozen=True, kw_only=True, rename=attribute):
    """Up to 1,000 players of a day in the order of their UUIDs, with what they had. It is never changed.

    Parts are a chain: each goes on behind the `Through` of the one before, and the one without ends the roster.
    """

    date: InKey[Date]
    number: InKey[limits.PartNumber]
    rows: Annotated[tuple[Standing, ...], Meta(max_length=limits.MAX_PART_ROWS)]
    missing: Annotated[
        limits.Count, Meta(description="players who were there, but nobody knows any more with what")
    ] = 0
    through: Annotated[Uuid, Meta(description="the last UUID that this part speaks of")] | None = None


@ranking.entity(pk="DAYS", sk="DAY#{date}")
class Day(Entity, frozen=True, kw_only=True, rename=attribute):
    """A day whose snapshots and histograms are all there. It is never changed."""

    date: InKey[Date]
    players: Annotated[limits.Count, Meta(description="how many players have a snapshot of the day")]
    missing: Annotated[limits.Count, Meta(description="how many more were there, nobody knows with what")] = 0
    as_of: Annotated[Instant, Meta(description="the end of the day")]
    published_at: Annotated[Instant, Meta(description="when the day was published")]


@ranking.entity(pk="DAY#{date}", sk="HISTOGRAM#{measure}")
class Histogram(Entity, frozen=True, kw_only=True, rename=attribute):
    """Where everybody stands on a day: buckets of equal count, at most 1,000.

    Bucket n begins after `Size` × n players. A rank is read off at a bucket's start, or counted inside one bucket.
    """

    date: InKey[Date]
    measure: InKey[Measure]
    players: limits.Count
    size: Annotated[int, Meta(ge=1, le=10**6, description="players in a bucket; the last has what is left")]
    starts: Annotated[tuple[BucketStart, ...], Meta(max_length=limits.MAX_BUCKETS)]


# What the indexes hold of an item


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
    """Who has a name, and how it is written."""

    user_id: UserId
    name: str


# 4. Access patterns: ① the official top 100

_HUNDRED = Budget(reads=1.5, of="100 ranks, names of 5 Hangul, UUIDs of 36 characters")


@ranking.query(returns=LevelRank, budget=_HUNDRED)
def official_levels(date: Date) -> Span:
    """① Official top 100 by level, the first at the top. One query, since only they are in the index."""
    return by_level_rank.partition(f"SNAP#{date}")


@ranking.query(returns=PowerRank, budget=_HUNDRED)
def official_powers(date: Date) -> Span:
    """① Official top 100 by power, the first at the top."""
    return by_power_rank.partition(f"SNAP#{date}")


# ② Below rank 100

_FIFTY = Budget(reads=1, of="a page of 50 players, names of 5 Hangul, UUIDs of 36 characters")


@ranking.query(returns=LevelRow, budget=_FIFTY)
def levels(date: Date) -> Span:
    """② Everybody of a day by level, the highest first, page by page with a cursor.

    Position in the list = page × page size + index + 1. Equal levels come in any order.
    """
    return by_level.partition(f"SNAP#{date}").newest_first()


@ranking.query(returns=PowerRow, budget=_FIFTY)
def powers(date: Date) -> Span:
    """② Everybody of a day by power, the highest first, page by page with a cursor."""
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
    """③ The same between two days, both included, newest first."""
    span = ranking.partition(f"USER#{user_id}")
    return span.between(f"SNAP#{first}", f"SNAP#{last}").newest_first()


# ④ Ranges of a day


def _finite(number: Decimal) -> Decimal:
    if not number.is_finite():
        raise WrongType(f"{number} is no level or power to search by. Give a number.")
    return number


@ranking.query(returns=LevelRow, budget=_FIFTY)
def levels_between(date: Date, low: Level, high: Level) -> Span:
    """④ Players of a day within a range of levels, both ends included, the highest first."""
    return by_level.partition(f"SNAP#{date}").between(_finite(low), _finite(high)).newest_first()


@ranking.query(returns=PowerRow, budget=_FIFTY)
def powers_between(date: Date, low: Power, high: Power) -> Span:
    """④ Players of a day within a range of powers, both ends included, the highest first."""
    return by_power.partition(f"SNAP#{date}").between(_finite(low), _finite(high)).newest_first()


@ranking.query(returns=LevelRow, budget=_FIFTY)
def levels_down_from(date: Date, level: Level) -> Span:
    """Players of a day at a level or lower, the nearest first: a jump into the ranking, and those behind a player."""
    return by_level.partition(f"SNAP#{date}").until(_finite(level)).newest_first()


@ranking.query(returns=PowerRow, budget=_FIFTY)
def powers_down_from(date: Date, power: Power) -> Span:
    """Players of a day with a power or less, the nearest first."""
    return by_power.partition(f"SNAP#{date}").until(_finite(power)).newest_first()


@ranking.query(returns=LevelRow, budget=_FIFTY)
def levels_up_from(date: Date, level: Level) -> Span:
    """Players of a day above a level, the nearest first: those ahead of a player."""
    return by_level.partition(f"SNAP#{date}").after(_finite(level))


@ranking.query(returns=PowerRow, budget=_FIFTY)
def powers_up_from(date: Date, power: Power) -> Span:
    """Players of a day above a power, the nearest first."""
    return by_power.partition(f"SNAP#{date}").after(_finite(power))


# ⑤ Names

_SMALL = Budget(reads=0.5)
_NOW = Budget(reads=1)


def _lowered(name: str) -> str:
    lower = limits.fold_name(name)
    if any("\ud800" <= letter <= "\udfff" for letter in lower):
        raise WrongType("A name is searched by whole characters, but was given half of one.")
    return lower


@ranking.query(returns=NamedPlayer, budget=Budget(reads=0.5, of="one name"))
def find_by_name(name: str) -> Span:
    """⑤ UUID and name of whoever has this name now, whatever its capitals and widths."""
    return by_name.partition(_lowered(name)).equals("METADATA")


@ranking.item(strong=True, budget=_NOW)
def name_claim(name: str) -> Key[NameClaim]:
    """Who holds a name right now, for whoever wants to take it."""
    return NameClaim.key(name_lower=_lowered(name))


# Single items and days


@ranking.item(strong=True, budget=_NOW)
def profile(user_id: UserId) -> Key[Profile]:
    """A player as of now. Rankings never show it: "today" is the newest snapshot."""
    return Profile.key(user_id=user_id)


@ranking.item(budget=_SMALL)
def snapshot(user_id: UserId, date: Date) -> Key[Snapshot]:
    """A player on a day; many at once with `get_many`, for comparisons and for the change since the day before."""
    return Snapshot.key(user_id=user_id, date=date)


@ranking.query(returns=Day, budget=Budget(reads=0.5, of="the first"))
def newest_day() -> Span:
    """The newest published day is the first of these."""
    return ranking.partition("DAYS").begins_with("DAY#").newest_first()


@ranking.query(returns=Day, budget=Budget(reads=0.5, of="the first"))
def days_before(date: Date) -> Span:
    """The last published day before a day is the first of these."""
    return ranking.partition("DAYS").before(f"DAY#{date}").newest_first()


@ranking.query(returns=Day, example=_TWO_DAYS, budget=_MONTH)
def published_days(first: Date, last: Date) -> Span:
    """The published days between two days, for a calendar to choose from."""
    return ranking.partition("DAYS").between(f"DAY#{first}", f"DAY#{last}")


@ranking.item(strong=True, budget=_NOW)
def published_day(date: Date) -> Key[Day]:
    """Whether a day is published, and with how many players."""
    return Day.key(date=date)


@ranking.item(budget=Budget(reads=10, of="1,000 buckets, as 1,000,000 players have"))
def histogram(date: Date, measure: Measure) -> Key[Histogram]:
    """Where everybody stands on a day. A published one never changes, so a process reads it once."""
    return Histogram.key(date=date, measure=measure)


@ranking.item(strong=True, budget=Budget(reads=21, of="1,000 players, names of 5 Hangul, UUIDs of 36 characters"))
def roster_part(date: Date, number: limits.PartNumber) -> Key[RosterPart]:
    """The players of a day, a thousand at a time, for every run of the daily job; number 0 is the first part."""
    return RosterPart.key(date=date, number=number)


TABLES = (ranking,)
__all__ = ["DEPARTURES", "TABLES", "TITLE", "ranking"]
check(ranking)
