"""The history of the last day, sampled every ten seconds."""

import asyncio

import pytest

from tests.server.admin.conftest import AdminApp
from tests.support.manual_clock import ManualClock
from zataku.server.admin.history import MAX_POINTS, MAX_SAMPLES, Gauges, History, resident_megabytes
from zataku.server.admin.request_counters import RequestCounters
from zataku.table import ConsumedCapacity, Meter


def new_history(clock: ManualClock) -> tuple[History, Meter, RequestCounters]:
    meter, counters = Meter(), RequestCounters()
    gauges = Gauges(sockets=lambda: 3.0, rooms=lambda: 2.0, loop_lag_ms=lambda: 1.0, memory_mb=lambda: 80.0)
    return History(clock, meter, counters, gauges), meter, counters


async def take_samples(clock: ManualClock, history: History, times: int) -> None:
    for _ in range(times):
        await clock.advance(10)
        history.sample()


async def test_a_sample_covers_ten_seconds(clock: ManualClock) -> None:
    history, meter, counters = new_history(clock)
    for ms in range(1, 101):
        counters.record(500 if ms > 95 else 200, float(ms))
    consumed = ConsumedCapacity()
    consumed.add("T", reads=20, writes=5)
    meter.record("T.things", consumed)
    await take_samples(clock, history, 2)
    points = history.over(60)
    assert points.step_seconds == 10
    assert points.at == [round((clock.now() - 10) * 1000), round(clock.now() * 1000)]
    assert points.requests_per_second == [10, 0]
    assert points.errors_per_second == [0.5, 0]
    assert points.read_units_per_second == [2, 0]
    assert points.write_units_per_second == [0.5, 0]
    assert points.median_ms[0] == pytest.approx(50, rel=0.06)
    assert points.p95_ms[0] == pytest.approx(95, rel=0.06)
    assert points.median_ms[1] is points.p95_ms[1] is None
    assert (points.sockets, points.rooms, points.memory_mb, points.loop_lag_ms) == ([3, 3], [2, 2], [80, 80], [1, 1])


async def test_samples_continue_when_the_clock_is_set_back(clock: ManualClock) -> None:
    history, _, counters = new_history(clock)
    await take_samples(clock, history, 2)
    clock.set_back(7200)
    history.sample()
    counters.record(200, 5.0)
    await take_samples(clock, history, 1)
    points = history.over(1)
    assert points.at[-1] == round(clock.now() * 1000)
    assert points.requests_per_second[-1] == 0.1


async def test_a_day_is_reduced_to_few_points_and_older_samples_are_dropped(clock: ManualClock) -> None:
    history, _, counters = new_history(clock)
    counters.record(200, 5)
    await take_samples(clock, history, MAX_SAMPLES + 1000)
    counters.record(200, 5)
    await take_samples(clock, history, 1)
    points = history.over(24 * 60)
    assert points.step_seconds == 220
    assert MAX_SAMPLES / 22 <= len(points.at) <= MAX_POINTS
    assert points.at == sorted(points.at)
    assert points.at[-1] == round(clock.now() * 1000)
    assert points.at[0] > round((clock.now() - 24 * 3600) * 1000)
    # The first request was longer ago than a day; the last one is spread over the samples of its point.
    assert [value for value in points.requests_per_second if value] == [points.requests_per_second[-1]]


async def test_a_point_has_the_highest_lag_of_its_samples(clock: ManualClock) -> None:
    lags = iter([1.0, 250.0, *[1.0] * 40])
    meter, counters = Meter(), RequestCounters()
    gauges = Gauges(sockets=lambda: 0.0, rooms=lambda: 0.0, loop_lag_ms=lambda: next(lags), memory_mb=lambda: 0.0)
    history = History(clock, meter, counters, gauges)
    await take_samples(clock, history, 30)
    assert max(value or 0 for value in history.over(24 * 60).loop_lag_ms) == 250


async def test_the_task_samples_every_ten_seconds(clock: ManualClock) -> None:
    history, _, _ = new_history(clock)
    task = asyncio.create_task(history.run())
    await asyncio.sleep(0)
    await clock.advance(35)
    assert len(history.over(1).at) == 3
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_sample_without_elapsed_time_is_skipped(clock: ManualClock) -> None:
    history, _, _ = new_history(clock)
    history.sample()
    assert history.over(60).at == []


@pytest.mark.parametrize("ms", [0.0, 1e-9, 1e12])
def test_the_shortest_and_the_longest_duration_are_counted(ms: float) -> None:
    counters = RequestCounters()
    counters.record(200, ms)
    assert counters.durations.read_and_reset()[0] > 0


def test_the_memory_of_this_process_is_plausible() -> None:
    assert 10 < resident_megabytes() < 100_000


async def test_the_history_covers_the_requested_minutes(admin_app: AdminApp) -> None:
    admin_app.counters.record(200, 12)
    await take_samples(admin_app.clock, admin_app.history, 1)
    points = await admin_app.get("history", minutes=5)
    assert points["requestsPerSecond"] == [0.1]
    assert points["stepSeconds"] == 10
    for minutes in (0, -1, 1441, "soon", ""):
        assert (await admin_app.refusal("GET", f"history?minutes={minutes}"))[0] == 400
