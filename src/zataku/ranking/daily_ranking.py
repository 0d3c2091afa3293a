"""The daily ranking job, from the current profiles to the published day.

    await rank_day(store, date, as_of=..., now=...)

Everything that a run writes is a function of the day's roster, which is fixed once. A run that is killed and restarted,
or that overlaps with another one, writes the same items, and a late snapshot, even after the day was published, is
replaced by an equal one. Snapshots therefore need no condition of their own: in transactions that require an
unpublished day, each of them would cost one unit more.

Memory for one million players: the list of their UUIDs while the roster is fixed, then 16 MB of values; everything else
is streamed.
"""

from array import array
from collections.abc import Awaitable, Callable
from datetime import date

from zataku.ranking.design import Day, Histogram, Snapshot, Standing, published_day
from zataku.ranking.errors import DayNotOver, StandingsMissing
from zataku.ranking.limits import Instant, UserId, moment
from zataku.ranking.roster import create_roster, read_roster
from zataku.ranking.rules.ranks import Buckets, SortedValues, to_steps
from zataku.ranking.writes import publish_day
from zataku.table import ResultUnknown, Store, TransactionCancelled

# Written in four calls of 25.
BATCH = 100

OnBatch = Callable[[UserId], Awaitable[None]]


async def _ignore_batch(_: UserId) -> None:
    """The default of `on_batch`: progress is not reported."""


async def rank_day(
    store: Store, day: date, *, as_of: Instant, now: Instant, max_missing: int = 0, on_batch: OnBatch = _ignore_batch
) -> Day:
    """Create the roster of a day, write every snapshot once with its ranks, then publish the day with its histograms.

    `as_of` is the end of the day. `on_batch` is called with the last UUID of each batch; it may show progress,
    throttle the writes, or stop the run by raising. A day that is already published, also by another run, is returned
    unchanged. A day of which more than `max_missing` standings are unknown is not published.
    """
    if moment(now) < moment(as_of):
        raise DayNotOver(f"{day} ends at {as_of}; it cannot be ranked at {now}.")
    published = await store.get(published_day(day))
    if published is not None:
        return published
    await create_roster(store, day)
    levels, powers, missing = await _sorted_values(store, day)
    if missing > max_missing:
        raise StandingsMissing(
            f"The standings of {missing} players on {day} are unknown; those of {len(levels)} are known. "
            f"Allow {missing} missing standings to publish the day without them."
        )
    level_buckets, power_buckets = Buckets(levels), Buckets(powers)
    async for part in read_roster(store, day):
        for row in part.rows:
            level_buckets.add_player(row.user_id, row.level)
            power_buckets.add_player(row.user_id, row.power)
        for start in range(0, len(part.rows), BATCH):
            # Only saves the remaining writes: what is written after another run has published equals what is stored.
            published = await store.get(published_day(day))
            if published is not None:
                return published
            batch = part.rows[start : start + BATCH]
            await store.write_many(put=[_snapshot(day, row, levels, powers) for row in batch])
            await on_batch(batch[-1].user_id)
    new_day = Day(date=day, players=len(levels), missing=missing, as_of=as_of, published_at=now)
    return await _publish(store, new_day, level_buckets.histogram(day, "LEVEL"), power_buckets.histogram(day, "POWER"))


async def _sorted_values(store: Store, day: date) -> tuple[SortedValues, SortedValues, int]:
    levels, powers, missing = array("Q"), array("Q"), 0
    async for part in read_roster(store, day):
        levels.extend(to_steps(row.level) for row in part.rows)
        powers.extend(to_steps(row.power) for row in part.rows)
        missing += part.missing
    return SortedValues.from_steps(levels), SortedValues.from_steps(powers), missing


def _snapshot(day: date, row: Standing, levels: SortedValues, powers: SortedValues) -> Snapshot:
    return Snapshot(
        user_id=row.user_id,
        date=day,
        name=row.name,
        level=row.level,
        power=row.power,
        level_rank=levels.official_rank(row.level),
        power_rank=powers.official_rank(row.power),
    )


async def _publish(store: Store, day: Day, levels: Histogram, powers: Histogram) -> Day:
    while True:
        try:
            await store.write(publish_day(day, levels, powers))
        except (TransactionCancelled, ResultUnknown) as error:
            # Another run was faster, or the reply was lost: the stored day is the result.
            published = await store.get(published_day(day.date))
            if published is not None:
                return published
            if isinstance(error, TransactionCancelled):
                raise
        else:
            return day
