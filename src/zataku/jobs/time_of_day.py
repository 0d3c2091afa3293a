"""When a daily task is due: once a day at a time of day, in a time zone, also on the two odd days of the year."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from zataku.jobs.definitions import DailyJob
from zataku.platform.limits import SECOND
from zataku.table import Millis

_A_DAY = timedelta(days=1)


def next_time(daily: DailyJob, after: Millis) -> Millis:
    """The first time after a moment.

    A time of day that the clocks pass over in spring counts as much later as they are put forward; one that comes twice
    in autumn counts when it comes first.
    """
    zone = zone_of(daily)
    day = datetime.fromtimestamp(after / SECOND, zone).date()
    # The day before may not be over for a time that was put forward past midnight.
    due = _on(day - _A_DAY, daily, zone)
    while due <= after:
        due, day = _on(day, daily, zone), day + _A_DAY
    return due


def is_a_time(daily: DailyJob, moment: Millis) -> bool:
    """True when the task is due at just this moment of some day."""
    return next_time(daily, moment - 1) == moment


def zone_of(daily: DailyJob) -> ZoneInfo:
    """The task's time zone."""
    try:
        return ZoneInfo(daily.zone)
    except (ZoneInfoNotFoundError, ValueError) as unknown:
        raise ValueError(
            f"{daily.system} {daily.kind}: no time zone {daily.zone!r} is known here. Check its name; where the system "
            "has no time zones, install the package tzdata."
        ) from unknown


def _on(day: date, daily: DailyJob, zone: ZoneInfo) -> Millis:
    return int(datetime.combine(day, time(daily.hour, daily.minute), zone).timestamp()) * SECOND
