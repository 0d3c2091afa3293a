"""Daily jobs: one job each in the table, due once a day, for any number of processes."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from zataku.clock import Clock, now_ms
from zataku.jobs.definitions import DailyJob, DeadlineJob
from zataku.jobs.schedule import Schedule
from zataku.platform import writes
from zataku.platform.design import Job, job
from zataku.platform.limits import SECOND, Subject
from zataku.table import ConditionFailed, Millis, ResultUnknown, Store

DAILY_SUBJECT: Subject = "daily"
_ONE_DAY = timedelta(days=1)


class DailyJobs:
    """Keeps every daily job scheduled."""

    def __init__(self, store: Store, clock: Clock, schedule: Schedule) -> None:
        self._store = store
        self._clock = clock
        self._schedule = schedule

    def as_deadline_job(self, daily: DailyJob) -> DeadlineJob:
        """The daily job as a deadline job that is due again the next day.

        One run catches up with all missed days; the handler counts them from `scheduled_for`. A time that
        the handler returns counts when it is before the next day's.
        """

        async def handle(job: Job) -> Millis | None:
            sooner = await daily.handle(job)
            tomorrow = next_time(daily, now_ms(self._clock))
            return tomorrow if sooner is None else min(sooner, tomorrow)

        return DeadlineJob(system=daily.system, kind=daily.kind, handle=handle, lease_ms=daily.lease_ms)

    async def schedule(self, daily: DailyJob) -> None:
        """Schedule the job unless it is scheduled. A missed time stays due, so that the job runs at once."""
        now = now_ms(self._clock)
        upcoming = next_time(daily, now)
        try:
            await self._store.write(writes.schedule_job(daily.system, daily.kind, DAILY_SUBJECT, at=upcoming, now=now))
            return
        except ResultUnknown:
            stored = await self._store.get(job(daily.system, daily.kind, DAILY_SUBJECT))
        except ConditionFailed as refused:
            stored = refused.current if isinstance(refused.current, Job) else None
        if stored is None:
            await self._schedule.add(upcoming, daily.system, daily.kind, DAILY_SUBJECT)
        elif stored.state == "dead":
            await self._schedule.add(now, daily.system, daily.kind, DAILY_SUBJECT)
        elif _has_outdated_time(daily, stored, upcoming):
            await self._schedule.add(upcoming, daily.system, daily.kind, DAILY_SUBJECT)


def _has_outdated_time(daily: DailyJob, stored: Job, upcoming: Millis) -> bool:
    """True when the job waits for an earlier version's time of day, later than the upcoming one.

    A valid time is left alone even when it is tomorrow's: another process, whose clock is ahead, has run today's.
    """
    if stored.state != "waiting" or stored.due_at is None:
        return False
    return stored.due_at > upcoming and not is_daily_time(daily, stored.due_at)


def next_time(daily: DailyJob, after: Millis) -> Millis:
    """The first time after a moment at which the job is due.

    A time of day that daylight saving skips is due as much later as the clocks are put forward; one that occurs twice
    is due at its first occurrence.
    """
    zone = time_zone(daily)
    day = datetime.fromtimestamp(after / SECOND, zone).date()
    # A time that was put forward past midnight belongs to the day before.
    due = _due_on(day - _ONE_DAY, daily, zone)
    while due <= after:
        due, day = _due_on(day, daily, zone), day + _ONE_DAY
    return due


def is_daily_time(daily: DailyJob, moment: Millis) -> bool:
    """True when the job is due at exactly this moment of some day."""
    return next_time(daily, moment - 1) == moment


def time_zone(daily: DailyJob) -> ZoneInfo:
    """The job's time zone; a ValueError when this machine does not know it."""
    try:
        return ZoneInfo(daily.zone)
    except (ZoneInfoNotFoundError, ValueError) as unknown:
        raise ValueError(
            f"{daily.system} {daily.kind}: the time zone {daily.zone!r} is unknown. Check its name; on a machine "
            "without time zones, install the package tzdata."
        ) from unknown


def _due_on(day: date, daily: DailyJob, zone: ZoneInfo) -> Millis:
    return int(datetime.combine(day, time(daily.hour, daily.minute), zone).timestamp()) * SECOND
