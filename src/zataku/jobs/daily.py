"""Daily tasks as jobs: one job each, due once a day, whatever number of processes there is."""

from zataku.clock import Clock
from zataku.jobs.definitions import DailyJob, DeadlineJob
from zataku.jobs.schedule import Schedule
from zataku.jobs.time_of_day import is_a_time, next_time
from zataku.platform import writes
from zataku.platform.design import Job, job
from zataku.platform.limits import SECOND, Subject
from zataku.table import ConditionFailed, Millis, ResultUnknown, Store

SUBJECT: Subject = "daily"


class Days:
    """Keeps every daily task scheduled."""

    def __init__(self, store: Store, clock: Clock, schedule: Schedule) -> None:
        self._store = store
        self._clock = clock
        self._schedule = schedule

    def task(self, daily: DailyJob) -> DeadlineJob:
        """How the job of a daily task is done: its work, and then the next day.

        Days on which nobody ran it are caught up with in one run, which sees by `scheduled_for` how many there were. A
        time that the work gives back counts when it is before the next day's.
        """

        async def work(job: Job) -> Millis | None:
            sooner = await daily.handle(job)
            tomorrow = next_time(daily, self._now())
            return tomorrow if sooner is None else min(sooner, tomorrow)

        return DeadlineJob(system=daily.system, kind=daily.kind, handle=work, lease_ms=daily.lease_ms)

    async def begin(self, daily: DailyJob) -> None:
        """See to it that the task is scheduled. A time that was missed stays, and so is caught up with at once."""
        now = self._now()
        upcoming = next_time(daily, now)
        try:
            await self._store.write(writes.schedule_job(daily.system, daily.kind, SUBJECT, at=upcoming, now=now))
            return
        except ResultUnknown:
            found = await self._store.get(job(daily.system, daily.kind, SUBJECT))
        except ConditionFailed as refused:
            found = refused.current if isinstance(refused.current, Job) else None
        if found is None:
            await self._schedule.at(upcoming, daily.system, daily.kind, SUBJECT)
        elif found.state == "dead":
            await self._schedule.at(now, daily.system, daily.kind, SUBJECT)
        elif _set_otherwise(daily, found, upcoming):
            await self._schedule.at(upcoming, daily.system, daily.kind, SUBJECT)

    def _now(self) -> Millis:
        return int(self._clock.now() * SECOND)


def _set_otherwise(daily: DailyJob, found: Job, upcoming: Millis) -> bool:
    """True when the job waits for a time of day that the task had once, later than the one that it has now.

    A right time is left alone even when it is tomorrow's: another process, whose clock is ahead, has done today's.
    """
    if found.state != "waiting" or found.due_at is None:
        return False
    return found.due_at > upcoming and not is_a_time(daily, found.due_at)
