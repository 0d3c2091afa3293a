"""Two weeks of a small game, so that there is a ranking to look at before the first import."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import TypeVar
from uuid import uuid4

from zataku.ranking.daily_ranking import rank_day
from zataku.ranking.design import Profile, RosterPart, newest_day, profile
from zataku.ranking.samples import Character, characters, standings_of_day
from zataku.ranking.writes import add_to_roster, enter_player, import_values, rename, retire_player
from zataku.system import AppContext, Demo
from zataku.table import Entity, Plan, Store, TransactionCancelled, format_instant

E = TypeVar("E", bound=Entity)

PLAYERS = 40
DAYS = 14
_SEED = 20260221


def demo_of(context: AppContext) -> Demo:
    """Fills an empty ranking with days that end yesterday. Broken off, it goes on the same day; else it does nothing.

    Days are those of UTC, as long as nobody has configured a zone.
    """

    async def demo() -> None:
        start = datetime.fromtimestamp(context.clock.now(), UTC).date() - timedelta(days=DAYS)
        everybody = list(characters(Random(_SEED), PLAYERS, DAYS))
        if await _belongs_here(context.store, start, everybody[0]):
            await asyncio.gather(*(_Life(context.store, start, each).live() for each in everybody))
            for day in range(DAYS):
                await _publish(context.store, start, day, everybody)

    return demo


async def _belongs_here(store: Store, start: date, first: Character) -> bool:
    newest = await store.first(newest_day())
    if newest is None:
        return True
    if newest.date >= start + timedelta(days=DAYS - 1):
        return False
    known = await store.get(profile(first.user_id))
    return known is not None and known.first_day == start + timedelta(days=first.joined)


async def _publish(store: Store, start: date, day: int, everybody: Sequence[Character]) -> None:
    at = start + timedelta(days=day)
    roster = RosterPart(date=at, number=0, rows=tuple(standings_of_day(iter(everybody), day)))
    await _once(store, add_to_roster(roster))
    over = _midnight(at + timedelta(days=1))
    await rank_day(store, at, as_of=over, now=over)


async def _once(store: Store, plan: Plan[E]) -> None:
    """Carry it out, lost replies or not. What an earlier run did is refused, and passed over."""
    try:
        await store.write(plan, token=str(uuid4()))
    except TransactionCancelled as refused:
        if refused.conflict:
            raise


class _Life:
    """What happens to one player of the sample: they enter, grow, may change their name, and may leave."""

    def __init__(self, store: Store, start: date, who: Character) -> None:
        self._store = store
        self._start = start
        self._who = who

    async def live(self) -> None:
        """All of it, in order. What happened in an earlier run is refused and passed over."""
        who, last = self._who, DAYS - 1
        await self._enter()
        left = who.left if who.left is not None and who.left < DAYS else None
        grown = last if left is None else max(left - 1, who.joined)
        now = who.standing(grown)
        player = await self._now()
        if player.name_lower is not None and player.name != now.name:
            await _once(self._store, rename(player, now.name, self._day(grown), _midnight(self._day(grown))))
            player = await self._now()
        noon = _noon(self._day(grown))
        if grown > who.joined and player.values_at != noon:
            await _once(self._store, import_values(player, now.level, now.power, noon, self._day(grown), noon))
        player = await self._now()
        if left is not None and player.name_lower is not None:
            await _once(self._store, retire_player(player, self._day(left)))

    async def _enter(self) -> None:
        who = self._who
        first, at = who.standing(who.joined), self._day(who.joined)
        newcomer = Profile(
            user_id=who.user_id,
            name=first.name,
            current_level=first.level,
            current_power=first.power,
            values_at=_noon(at),
        )
        await _once(self._store, enter_player(newcomer, at, _noon(at)))

    async def _now(self) -> Profile:
        found = await self._store.get(profile(self._who.user_id))
        assert found is not None
        return found

    def _day(self, number: int) -> date:
        return self._start + timedelta(days=number)


def _midnight(day: date) -> str:
    return format_instant(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def _noon(day: date) -> str:
    return format_instant(datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp())
