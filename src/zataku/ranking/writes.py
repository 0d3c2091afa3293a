"""Writes of players, names, rosters and days.

A claim `NAME#<lower>` names a player exactly as long as that player's profile has this `Name_Lower`: every write here
that touches the one touches the other. Times and days are arguments; days are those of the configured zone.
"""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from zataku.ranking.design import Day, Histogram, NameClaim, Profile, RosterPart, Snapshot, Standing, ranking
from zataku.ranking.errors import FutureValues, NotANewPlayer, NothingChanges, OlderValues, WrongHolder
from zataku.ranking.limits import Date, Instant, Level, Name, Power, UserId, fold_name, moment
from zataku.table import Budget, Condition, Path, Plan, Step, delete, path, put, update

_name = path(Profile, lambda profile: profile.name)
_name_lower = path(Profile, lambda profile: profile.name_lower)
_level = path(Profile, lambda profile: profile.current_level)
_power = path(Profile, lambda profile: profile.current_power)
_day = path(Profile, lambda profile: profile.current_day)
_values_at = path(Profile, lambda profile: profile.values_at)
_closing_day = path(Profile, lambda profile: profile.closing_day)
_closing_name = path(Profile, lambda profile: profile.closing_name)
_closing_level = path(Profile, lambda profile: profile.closing_level)
_closing_power = path(Profile, lambda profile: profile.closing_power)
_holder = path(NameClaim, lambda claim: claim.holder)

_PROFILE_PATHS: tuple[Path[Profile, Any], ...] = (
    _name,
    _name_lower,
    _level,
    _power,
    _day,
    _values_at,
    _closing_day,
    _closing_name,
    _closing_level,
    _closing_power,
)


# The time by which the clock of a game may be ahead of this one.
MAX_CLOCK_SKEW = timedelta(minutes=5)


def roll_over_day(profile: Profile, today: date) -> Profile:
    """The profile on a new day: the current state, with the name if it is held, becomes the closing state.

    With a day that is not later than `current_day` it is unchanged: late values belong to the current day.
    """
    if profile.current_day is None:
        return replace(profile, current_day=today)
    if today <= profile.current_day:
        return profile
    return replace(
        profile,
        current_day=today,
        closing_day=profile.current_day,
        closing_name=None if profile.name_lower is None else profile.name,
        closing_level=profile.current_level,
        closing_power=profile.current_power,
    )


def _unchanged(part: Path[Profile, Any], value: object) -> Condition[Profile]:
    return part.missing() if value is None else part.equals(value)


def _change(new: Profile, was: Profile) -> Step[Profile]:
    """The update of all changed fields, on condition that name, day and values are as they were read."""
    edits = [
        part.set(getattr(new, part.field.name))
        for part in _PROFILE_PATHS
        if getattr(new, part.field.name) != getattr(was, part.field.name)
    ]
    if not edits:
        raise NothingChanges(f"{was.name} already has this name and these values.")
    as_read = (
        _unchanged(_name, was.name)
        & _unchanged(_name_lower, was.name_lower)
        & _unchanged(_day, was.current_day)
        & _unchanged(_values_at, was.values_at)
    )
    return update(Profile.key(user_id=was.user_id), *edits, when=as_read)


def _clear_name(profile: Profile, today: date) -> Step[Profile]:
    """The update that takes a player's name away from today on."""
    return _change(replace(roll_over_day(profile, today), name_lower=None), profile)


def _claim_name(name: str, taker: Profile, today: date, now: Instant, holder: Profile | None) -> list[Step[Any]]:
    """The steps that claim a free name, or take it over from its holder."""
    folded = fold_name(name)
    claim = NameClaim(name_lower=folded, holder=taker.user_id, claimed_at=now)
    if holder is None:
        return [put(claim, if_absent=True)]
    if holder.user_id == taker.user_id or holder.name_lower != folded:
        raise WrongHolder(f"{holder.name} does not hold {name}. Read the claim of the name and try again.")
    return [put(claim, when=_holder.equals(holder.user_id)), _clear_name(holder, today)]


def _release(profile: Profile) -> list[Step[Any]]:
    if profile.name_lower is None:
        return []
    return [delete(NameClaim.key(name_lower=profile.name_lower), when=_holder.equals(profile.user_id))]


def _require_past(values_at: Instant, now: Instant) -> None:
    """Raise FutureValues for a time in the future, since such values would block all others until then."""
    if moment(values_at) > moment(now) + MAX_CLOCK_SKEW:
        raise FutureValues(f"Values of {values_at} cannot be known at {now}. Check the clock of the game's server.")


_PLAYER = Profile(
    user_id=UserId("A101"), name="Hello", name_lower="hello", current_level=Decimal(57), current_power=Decimal(12_000)
)
_HOLDER = Profile(
    user_id=UserId("B202"), name="World", name_lower="world", current_level=Decimal(60), current_power=Decimal(15_000)
)


@ranking.write(budget=Budget(writes=5, of="a free name"), example={"player": _PLAYER})
def enter_player(player: Profile, today: Date, now: Instant, holder: Profile | None = None) -> Plan[Profile]:
    """Add a new player with a name.

    Refused when the player exists or the name is held; a held name is taken over from `holder`. The folded name and the
    days are set here; a closing state is refused, since a new player has no earlier day.
    """
    if player.closing_day is not None:
        raise NotANewPlayer(
            f"{player.name} enters on {today} and cannot have closed {player.closing_day}. Leave the closing state out."
        )
    if player.values_at is not None:
        _require_past(player.values_at, now)
    entered = replace(player, name_lower=fold_name(player.name), first_day=today, current_day=today)
    return Plan(put(entered, if_absent=True), *_claim_name(entered.name, entered, today, now, holder))


@ranking.write(budget=Budget(writes=8, of="a free name"), example={"player": _PLAYER, "name": "World"})
def rename(player: Profile, name: Name, today: Date, now: Instant) -> Plan[Profile]:
    """Give a player a free name and release the old one.

    Snapshots keep the name of their day. Another spelling of the same name ("hello", "Hello") changes no claim.
    """
    renamed = replace(roll_over_day(player, today), name=name, name_lower=fold_name(name))
    if renamed.name_lower == player.name_lower:
        return Plan(_change(renamed, player))
    return Plan(_change(renamed, player), *_release(player), *_claim_name(name, player, today, now, None))


@ranking.write(budget=Budget(writes=11), example={"player": _PLAYER, "name": "World", "holder": _HOLDER})
def take_over_name(player: Profile, name: Name, today: Date, now: Instant, holder: Profile) -> Plan[Profile]:
    """Give a player a name that another player holds, when the game reports so.

    The old holder keeps level, power and history, but is not found by name and not ranked until a new name is known.
    """
    renamed = replace(roll_over_day(player, today), name=name, name_lower=fold_name(name))
    return Plan(_change(renamed, player), *_release(player), *_claim_name(name, player, today, now, holder))


@ranking.write(budget=Budget(writes=5), example={"player": _PLAYER})
def retire_player(player: Profile, today: Date) -> Plan[Profile]:
    """Retire a player who left the game. The name becomes free, the history stays, and no later day ranks the player.

    Today is the first day without the player. The day before still has the player, whenever it is ranked.
    """
    if player.name_lower is None:
        raise NothingChanges(f"{player.name} has already left or lost the name.")
    return Plan(_clear_name(player, today), *_release(player))


_MOMENT = "2026-02-21T10:30:00Z"


@ranking.write(budget=Budget(writes=1), example={"player": _PLAYER, "values_at": _MOMENT, "now": _MOMENT})
def import_values(
    player: Profile, level: Level, power: Power, values_at: Instant, today: Date, now: Instant
) -> Plan[Profile]:
    """Set a player's level and power to those that the game reports. Older values never replace newer ones.

    Values with a time more than 5 minutes after `now` are refused: they would block all others until then.

    `today` is the day of the import. On a new day the previous state becomes the closing state, so that the ranking of
    the previous day is the same whether it is computed before or after the import.
    """
    _require_past(values_at, now)
    if player.values_at is not None and values_at <= player.values_at:
        raise OlderValues(
            f"{player.name} already has values of {player.values_at}; those of {values_at} are not newer."
        )
    imported = replace(roll_over_day(player, today), current_level=level, current_power=power, values_at=values_at)
    return Plan(_change(imported, player))


_DAY = date(2026, 2, 21)
_PART = RosterPart(date=_DAY, number=0, rows=(Standing(_PLAYER.user_id, _PLAYER.name, Decimal(57), Decimal(12_000)),))


@ranking.write(
    budget=Budget(writes=83, of="1,000 players, names of 5 Hangul, UUIDs of 36 characters"), example={"part": _PART}
)
def add_to_roster(part: RosterPart) -> Plan[RosterPart]:
    """Add the next part to the roster of a day, for all runs of the daily job.

    Refused when the part exists; then the stored part counts, and the roster continues after it.
    """
    return Plan(put(part, if_absent=True))


@ranking.write(budget=Budget(writes=5, of="a player who is among the first hundred by level and by power"))
def write_snapshot(standing: Snapshot) -> Plan[Snapshot]:
    """Write a player's snapshot of a day from the roster. Writing it again, even after publication, changes nothing.

    The daily job writes snapshots in batches at this cost, 3 units without official ranks. Nothing else writes any.
    """
    return Plan(put(standing))


_PUBLISHED = {
    "day": Day(date=_DAY, players=0, as_of="2026-02-21T15:00:00Z", published_at="2026-02-21T15:20:00Z"),
    "levels": Histogram(date=_DAY, measure="LEVEL", players=0, size=50, starts=()),
    "powers": Histogram(date=_DAY, measure="POWER", players=0, size=50, starts=()),
}


@ranking.write(budget=Budget(writes=314, of="1,000,000 players"), example=_PUBLISHED)
def publish_day(day: Day, levels: Histogram, powers: Histogram) -> Plan[Day]:
    """Publish a day with its histograms, once. A published day is never changed."""
    return Plan(put(day, if_absent=True), put(levels), put(powers))
