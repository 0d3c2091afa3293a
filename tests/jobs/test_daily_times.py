"""Due times of daily jobs in zones with daylight saving time."""

from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zataku.jobs.daily import is_daily_time, next_time, time_zone
from zataku.jobs.definitions import DailyJob
from zataku.platform.limits import DAY, HOUR


async def do_nothing(_job: object) -> None: ...


def daily(hour: int, minute: int = 0, zone: str = "UTC") -> DailyJob:
    return DailyJob(system="ranking", kind="write_day", hour=hour, minute=minute, zone=zone, handle=do_nothing)


def local_time(text: str, zone: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()) * 1000


@pytest.mark.parametrize(
    ("zone", "hour", "after", "expected"),
    [
        ("UTC", 4, "2026-05-01T03:59:59", "2026-05-01T04:00:00"),
        ("UTC", 4, "2026-05-01T04:00:00", "2026-05-02T04:00:00"),
        ("Asia/Seoul", 0, "2026-05-01T23:59:59", "2026-05-02T00:00:00"),
        ("Asia/Tokyo", 23, "2026-12-31T23:30:00", "2027-01-01T23:00:00"),
        # Clocks go forward at 2:00: 2:30 does not exist, and the job is due an hour later.
        ("Europe/Berlin", 2, "2026-03-29T00:00:00", "2026-03-29T03:30:00"),
        ("Europe/Berlin", 2, "2026-03-29T03:30:00", "2026-03-30T02:30:00"),
        # Clocks go back at 3:00: 2:30 occurs twice, and the job is due at the first one.
        ("Europe/Berlin", 2, "2026-10-25T00:00:00", "2026-10-25T02:30:00"),
        ("Europe/Berlin", 2, "2026-10-25T02:30:00", "2026-10-26T02:30:00"),
        # Clocks in Santiago skip midnight.
        ("America/Santiago", 0, "2026-09-05T12:00:00", "2026-09-06T01:30:00"),
    ],
)
def test_a_daily_job_is_due_at_its_next_local_time(zone: str, hour: int, after: str, expected: str):
    minute = 30 if zone in ("Europe/Berlin", "America/Santiago") else 0
    assert next_time(daily(hour, minute, zone), local_time(after, zone)) == local_time(expected, zone)


@settings(max_examples=30)
@given(
    st.integers(1_700_000_000_000, 1_900_000_000_000),
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(
        ["UTC", "Asia/Seoul", "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "Asia/Kathmandu"]
    ),
)
def test_due_times_come_once_a_day_and_are_recognized_as_daily_times(start: int, hour: int, minute: int, zone: str):
    job = daily(hour, minute, zone)
    times = [next_time(job, start)]
    for _ in range(3):
        times.append(next_time(job, times[-1]))
    assert times[0] > start
    assert times[0] - start <= DAY + HOUR
    assert all(DAY - 2 * HOUR <= later - sooner <= DAY + 2 * HOUR for sooner, later in pairwise(times))
    days = [datetime.fromtimestamp(due_at / 1000, ZoneInfo(zone)).date() for due_at in times]
    assert len(set(days)) == len(days)
    assert all(is_daily_time(job, due_at) and not is_daily_time(job, due_at + 1) for due_at in times)


@pytest.mark.parametrize("zone", ["Asia/Atlantis", "../etc/passwd", ""])
def test_an_unknown_time_zone_is_refused(zone: str):
    with pytest.raises(ValueError, match="time zone .* is unknown"):
        time_zone(daily(4, zone=zone))
