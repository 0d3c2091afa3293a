"""Sample players for tests and the demo: their values on each day, reproducible from a seed.

Players are generated one by one, so that ten thousand need no more memory than one. Levels are multiples of a quarter
and powers of a hundred, so that ranks are shared; some players join later, some leave, some change their names.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from msgspec import Struct

from zataku.ranking.design import Day, NameClaim, Profile, RosterPart, Snapshot, Standing
from zataku.ranking.limits import UserId, fold_name
from zataku.ranking.rules.ranks import Buckets, SortedValues
from zataku.table import Entity, add_seconds

_FIRST = (
    *("하늘", "바람", "달빛", "별님", "구름", "한월", "푸른", "검은", "작은", "용감한"),
    *("さくら", "月影", "黒猫", "雪", "ほしぞら", "Shadow", "Lucky", "Silent", "Rapid", "Crimson"),
)
_SECOND = (
    *("여우", "호랑이", "기사", "마법사", "나그네", "토끼", "늑대", "상인"),
    *("侍", "うさぎ", "旅人", "Fox", "Knight", "Mage", "Wolf", "Rider"),
)


class Character(Struct, frozen=True):
    """One sample player: the days of joining and leaving, the initial values, and the growth per day."""

    user_id: UserId
    name: str
    later_name: str | None
    joined: int
    left: int | None
    quarters: int
    growth: float
    might: int

    def plays_on(self, day: int) -> bool:
        """Whether the player has a standing on a day of the sample."""
        return self.joined <= day and (self.left is None or day < self.left)

    def standing(self, day: int) -> Standing:
        """The player's standing on a day."""
        quarters = self.quarters + int(self.growth * (day - self.joined))
        level = Decimal(quarters) / 4
        power = Decimal(int(level**2) * self.might // 100 * 100) + (Decimal("0.5") if quarters > 380 else 0)
        renamed = self.later_name is not None and day >= 10
        return Standing(self.user_id, (self.later_name if renamed else None) or self.name, level, power)


def characters(random: Random, count: int, days: int = 30) -> Iterator[Character]:
    """Players in the order of their UUIDs, with distinct folded names."""
    # The random numbers are ascending, so that the UUIDs need no sorting.
    interval = (1 << 64) // max(count, 1)
    for number in range(count):
        high = number * interval + random.randrange(interval)
        digits = f"{high:016x}{random.getrandbits(64):016x}"
        user_id = f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
        chance = random.random()
        yield Character(
            UserId(user_id),
            f"{random.choice(_FIRST)}{random.choice(_SECOND)}{number}",
            f"{random.choice(_FIRST)}{random.choice(_SECOND)}の{number}" if chance < 0.02 else None,
            random.randrange(1, days) if 0.02 <= chance < 0.07 else 0,
            random.randrange(days // 2, days) if 0.07 <= chance < 0.09 else None,
            4 + int(random.betavariate(2, 5) * 392),
            random.expovariate(2.0),
            random.randrange(20, 60),
        )


def standings_of_day(players: Iterator[Character], day: int) -> Iterator[Standing]:
    """The standings of one day, in the order of the UUIDs."""
    return (player.standing(day) for player in players if player.plays_on(day))


def snapshots_of_day(seed: int, start: date, day: int, count: int) -> Iterator[Snapshot]:
    """All snapshots of one day with their official ranks, computed in two passes as in the daily job."""
    levels = SortedValues(row.level for row in standings_of_day(characters(Random(seed), count), day))
    powers = SortedValues(row.power for row in standings_of_day(characters(Random(seed), count), day))
    for row in standings_of_day(characters(Random(seed), count), day):
        yield Snapshot(
            user_id=row.user_id,
            date=start + timedelta(days=day),
            name=row.name,
            level=row.level,
            power=row.power,
            level_rank=levels.official_rank(row.level),
            power_rank=powers.official_rank(row.power),
        )


def profiles(seed: int, start: date, count: int) -> Iterator[Profile]:
    """The players of the first day as they enter the game."""
    for row in standings_of_day(characters(Random(seed), count), 0):
        yield Profile(
            user_id=row.user_id,
            name=row.name,
            name_lower=fold_name(row.name),
            current_level=row.level,
            current_power=row.power,
            first_day=start,
            current_day=start,
            values_at=f"{start}T03:00:00Z",
        )


def history_of(player: Character, start: date, days: int) -> Iterator[Snapshot]:
    """The snapshots of a player without official ranks, as most players have them."""
    for day in range(days):
        if player.plays_on(day):
            row = player.standing(day)
            yield Snapshot(
                user_id=row.user_id,
                date=start + timedelta(days=day),
                name=row.name,
                level=row.level,
                power=row.power,
            )


def examples() -> Iterator[Entity]:
    """Items of every entity, for a day with four players in Seoul, for the design document."""
    seed, start, count = 1, date(2026, 2, 21), 4
    standings = list(standings_of_day(characters(Random(seed), count), 0))
    for profile in profiles(seed, start, count):
        yield profile
        folded = fold_name(profile.name)
        yield NameClaim(name_lower=folded, holder=profile.user_id, claimed_at=f"{start}T03:00:00Z")
    yield from snapshots_of_day(seed, start, 0, count)
    yield RosterPart(date=start, number=0, rows=tuple(standings))
    buckets = Buckets(SortedValues(row.level for row in standings))
    for row in standings:
        buckets.add_player(row.user_id, row.level)
    yield buckets.histogram(start, "LEVEL")
    midnight_in_seoul = f"{start}T15:00:00Z"
    published_at = add_seconds(midnight_in_seoul, 252)
    yield Day(date=start, players=len(standings), as_of=midnight_in_seoul, published_at=published_at)
