"""The last day in figures, sampled every ten seconds."""

import asyncio

import pytest

from tests.server.admin.conftest import AdminApp
from zataku.clock import ManualClock
from zataku.server.admin.history import MAX_POINTS, MAX_SAMPLES, Gauges, History, resident_megabytes
from zataku.server.admin.request_counters import RequestCounters
from zataku.table import ConsumedCapacity, Meter


def a_history(clock: ManualClock, **given: float) -> tuple[History, Meter, RequestCounters]:
    meter, counters = Meter(), RequestCounters()
    told = {"sockets": 3.0, "rooms": 2.0, "loop_lag_ms": 1.0, "memory_mb": 80.0} | given
    gauges = Gauges(**{name: lambda value=value: value for name, value in told.items()})
    return History(clock, meter, counters, gauges), meter, counters


async def sampled(clock: ManualClock, history: History, times: int) -> None:
    for _ in range(times):
        await clock.advance(10)
        history.sample()


async def test_a_sample_tells_what_happened_in_ten_seconds(clock: ManualClock) -> None:
    history, meter, counters = a_history(clock)
    for ms in range(1, 101):
        counters.record(500 if ms > 95 else 200, float(ms))
    consumed = ConsumedCapacity()
    consumed.add("T", reads=20, writes=5)
    meter.record("T.things", consumed)
    await sampled(clock, history, 2)
    told = history.over(60)
    assert told.step_seconds == 10
    assert told.at == [round((clock.now() - 10) * 1000), round(clock.now() * 1000)]
    assert told.requests_per_second == [10, 0]
    assert told.errors_per_second == [0.5, 0]
    assert told.read_units_per_second == [2, 0]
    assert told.write_units_per_second == [0.5, 0]
    assert told.median_ms[0] == pytest.approx(50, rel=0.06)
    assert told.p95_ms[0] == pytest.approx(95, rel=0.06)
    assert told.median_ms[1] is told.p95_ms[1] is None
    assert (told.sockets, told.rooms, told.memory_mb, told.loop_lag_ms) == ([3, 3], [2, 2], [80, 80], [1, 1])


async def test_a_whole_day_fits_into_few_points_and_older_samples_go(clock: ManualClock) -> None:
    history, _, counters = a_history(clock)
    counters.record(200, 5)
    await sampled(clock, history, MAX_SAMPLES + 1000)
    counters.record(200, 5)
    await sampled(clock, history, 1)
    told = history.over(24 * 60)
    assert told.step_seconds == 220
    assert MAX_SAMPLES / 22 <= len(told.at) <= MAX_POINTS
    assert told.at == sorted(told.at)
    assert told.at[-1] == round(clock.now() * 1000)
    assert told.at[0] > round((clock.now() - 24 * 3600) * 1000)
    # The first request was longer ago than a day; the last one is spread over the samples of its point.
    assert [value for value in told.requests_per_second if value] == [told.requests_per_second[-1]]


async def test_of_several_samples_the_worst_lag_is_told(clock: ManualClock) -> None:
    lags = iter([1.0, 250.0, *[1.0] * 40])
    meter, counters = Meter(), RequestCounters()
    gauges = Gauges(sockets=lambda: 0.0, rooms=lambda: 0.0, loop_lag_ms=lambda: next(lags), memory_mb=lambda: 0.0)
    history = History(clock, meter, counters, gauges)
    await sampled(clock, history, 30)
    assert max(value or 0 for value in history.over(24 * 60).loop_lag_ms) == 250


async def test_the_task_samples_by_the_clock(clock: ManualClock) -> None:
    history, _, _ = a_history(clock)
    task = asyncio.create_task(history.run())
    await asyncio.sleep(0)
    await clock.advance(35)
    assert len(history.over(1).at) == 3
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_no_time_between_two_samples_is_no_sample(clock: ManualClock) -> None:
    history, _, _ = a_history(clock)
    history.sample()
    assert history.over(60).at == []


@pytest.mark.parametrize("ms", [0.0, 1e-9, 1e12])
def test_no_duration_is_too_short_or_too_long(ms: float) -> None:
    counters = RequestCounters()
    counters.record(200, ms)
    assert counters.durations.read_and_reset()[0] > 0


def test_a_process_has_some_memory() -> None:
    assert 10 < resident_megabytes() < 100_000


async def test_the_page_asks_for_minutes(admin_app: AdminApp) -> None:
    admin_app.counters.record(200, 12)
    await sampled(admin_app.clock, admin_app.history, 1)
    told = await admin_app.get("history", minutes=5)
    assert told["requestsPerSecond"] == [0.1]
    assert told["stepSeconds"] == 10
    for minutes in (0, -1, 1441, "soon", ""):
        assert (await admin_app.refusal("GET", f"history?minutes={minutes}"))[0] == 400
