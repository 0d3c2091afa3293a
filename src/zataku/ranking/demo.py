"""Demo data: two weeks of rankings of a small sample game."""

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
    """The function that fills an empty ranking with days until yesterday.

    An interrupted run can be continued on the same day; a filled ranking is left as it is. Days are those of UTC.
    """

    async def demo() -> None:
        start = datetime.fromtimestamp(context.clock.now(), UTC).date() - timedelta(days=DAYS)
        players = list(characters(Random(_SEED), PLAYERS, DAYS))
        if await _needs_demo(context.store, start, players[0]):
            await asyncio.gather(*(_PlayerHistory(context.store, start, player).write() for player in players))
            for day in range(DAYS):
                await _publish(context.store, start, day, players)

    return demo


async def _needs_demo(store: Store, start: date, first: Character) -> bool:
    newest = await store.first(newest_day())
    if newest is None:
        return True
    if newest.date >= start + timedelta(days=DAYS - 1):
        return False
    first_profile = await store.get(profile(first.user_id))
    return first_profile is not None and first_profile.first_day == start + timedelta(days=first.joined)


async def _publish(store: Store, start: date, day: int, players: Sequence[Character]) -> None:
    date_of_day = start + timedelta(days=day)
    roster = RosterPart(date=date_of_day, number=0, rows=tuple(standings_of_day(iter(players), day)))
    await _write_once(store, add_to_roster(roster))
    end = _midnight(date_of_day + timedelta(days=1))
    await rank_day(store, date_of_day, as_of=end, now=end)


async def _write_once(store: Store, plan: Plan[E]) -> None:
    """Carry out a plan, repeating it when the reply is lost. A plan that an earlier run carried out is skipped."""
    try:
        await store.write(plan, token=str(uuid4()))
    except TransactionCancelled as error:
        if error.conflict:
            raise


class _PlayerHistory:
    """The writes of one sample player: entry, values, a rename for some, and retirement for some."""

    def __init__(self, store: Store, start: date, character: Character) -> None:
        self._store = store
        self._start = start
        self._character = character

    async def write(self) -> None:
        """Carry out all writes in order. Those of an earlier run are refused and skipped."""
        character = self._character
        await self._enter()
        left = character.left if character.left is not None and character.left < DAYS else None
        last_day = DAYS - 1 if left is None else max(left - 1, character.joined)
        standing, day = character.standing(last_day), self._day(last_day)
        player = await self._load_profile()
        if player.name_lower is not None and player.name != standing.name:
            await _write_once(self._store, rename(player, standing.name, day, _midnight(day)))
            player = await self._load_profile()
        noon = _noon(day)
        if last_day > character.joined and player.values_at != noon:
            await _write_once(self._store, import_values(player, standing.level, standing.power, noon, day, noon))
        player = await self._load_profile()
        if left is not None and player.name_lower is not None:
            await _write_once(self._store, retire_player(player, self._day(left)))

    async def _enter(self) -> None:
        character = self._character
        first, day = character.standing(character.joined), self._day(character.joined)
        newcomer = Profile(
            user_id=character.user_id,
            name=first.name,
            current_level=first.level,
            current_power=first.power,
            values_at=_noon(day),
        )
        await _write_once(self._store, enter_player(newcomer, day, _noon(day)))

    async def _load_profile(self) -> Profile:
        player = await self._store.get(profile(self._character.user_id))
        assert player is not None
        return player

    def _day(self, number: int) -> date:
        return self._start + timedelta(days=number)


def _midnight(day: date) -> str:
    return format_instant(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def _noon(day: date) -> str:
    return format_instant(datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp())
