"""The ranking of a day, from the players as they are now to the published day.

    players = await named_players(store)
    await write_day(store, date, lambda: standings(store, players, date), as_of=..., now=...)

What a player had on a day is a pure function of the profile (`standing_on`), so that a run that begins late, is killed
and started again, or meets another run, writes the same. Begin some moments after midnight: a write that was on its way
before then still counts for the day that ended.

One million players keep 16 MB of values and, as a sorted list of UUIDs, about 93 MB; profiles and snapshots stream.
"""

from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import date

from zataku.ranking.design import Day, Histogram, NamedPlayer, Profile, Snapshot, by_name, profile, published_day
from zataku.ranking.limits import Instant, UserId
from zataku.ranking.ranks import Buckets, Order, Standing, in_steps
from zataku.ranking.writes import publish_day
from zataku.table import ConditionFailed, ResultUnknown, Store

# As many as one call of DynamoDB reads; written in four calls of 25.
BATCH = 100

Standings = Callable[[], AsyncIterator[Standing]]
Wrote = Callable[[UserId], Awaitable[None]]


def standing_on(player: Profile, day: date) -> Standing | None:
    """What a player had at the end of a day; None when that is not known any more, or the player was not there yet."""
    if player.current_day is None or day >= player.current_day:
        return Standing(player.user_id, player.name, player.current_level, player.current_power)
    name, level, power = player.closing_name, player.closing_level, player.closing_power
    if player.closing_day is None or day < player.closing_day or name is None or level is None or power is None:
        return None
    return Standing(player.user_id, name, level, power)


async def named_players(store: Store) -> list[UserId]:
    """Everybody with a name, in the order of their UUIDs, by a walk through the index of names alone."""
    return sorted({found.user_id async for found in store.walk(by_name, NamedPlayer)})


async def standings(store: Store, players: Sequence[UserId], day: date) -> AsyncIterator[Standing]:
    """What these players had on a day, in their order, read as they are now."""
    for at in range(0, len(players), BATCH):
        for found in await store.get_many([profile(user_id) for user_id in players[at : at + BATCH]]):
            standing = None if found is None else standing_on(found, day)
            if standing is not None:
                yield standing


async def _unwatched(_: UserId) -> None:
    """Nobody wants to know how far it is."""


async def write_day(
    store: Store, day: date, rows: Standings, *, as_of: Instant, now: Instant, wrote: Wrote = _unwatched
) -> Day:
    """Rank a day, write everybody's snapshot once with the ranks in it, then the histograms, then publish it.

    `rows` gives the day's players in the order of their UUIDs, twice the same, and the same again in a further run.
    After each batch `wrote` is told the last UUID; it shows progress, keeps to the table's write rate, and stops the
    run by raising. A day that is published already, also meanwhile by another run, is left as it is and given back.
    """
    found = await store.get(published_day(day))
    if found is not None:
        return found
    levels, powers = await _orders(rows)
    level_buckets, power_buckets = Buckets(levels), Buckets(powers)
    async for batch in _batches(rows):
        for row in batch:
            level_buckets.pass_by(row.user_id, row.level)
            power_buckets.pass_by(row.user_id, row.power)
        found = await store.get(published_day(day))
        if found is not None:
            return found
        await store.write_many(put=[_snapshot(day, row, levels, powers) for row in batch])
        await wrote(batch[-1].user_id)
    histograms: list[Histogram] = [level_buckets.histogram(day, "LEVEL"), power_buckets.histogram(day, "POWER")]
    await store.write_many(put=histograms)
    return await _published(store, Day(date=day, players=len(levels), as_of=as_of, published_at=now))


async def _orders(rows: Standings) -> tuple[Order, Order]:
    levels, powers = array("Q"), array("Q")
    async for row in rows():
        levels.append(in_steps(row.level))
        powers.append(in_steps(row.power))
    return Order.of_steps(levels), Order.of_steps(powers)


async def _batches(rows: Standings) -> AsyncIterator[list[Standing]]:
    batch: list[Standing] = []
    async for row in rows():
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _snapshot(day: date, row: Standing, levels: Order, powers: Order) -> Snapshot:
    return Snapshot(
        user_id=row.user_id,
        date=day,
        name=row.name,
        level=row.level,
        power=row.power,
        level_rank=levels.official(row.level),
        power_rank=powers.official(row.power),
    )


async def _published(store: Store, day: Day) -> Day:
    try:
        await store.write(publish_day(day))
    except (ConditionFailed, ResultUnknown):
        # Another run was faster, or the reply was lost: what lies there now is the answer.
        found = await store.get(published_day(day.date))
        return await _published(store, day) if found is None else found
    return day
