"""The metrics of the event loop."""

import asyncio
import itertools
from types import SimpleNamespace

import pytest

from zataku.server import metrics as metrics_module
from zataku.server.metrics import Metrics


async def test_the_largest_lag_of_the_loop_is_kept_until_it_is_read(monkeypatch: pytest.MonkeyPatch):
    # Each wake is 1, 300 and 2 ms late in turn.
    times = itertools.accumulate(itertools.cycle((0, 0.001, 0, 0.3, 0, 0.002)))
    monkeypatch.setattr(metrics_module, "time", SimpleNamespace(perf_counter=lambda: next(times)))
    monkeypatch.setattr(metrics_module, "LOOP_LAG_INTERVAL", 0)
    metrics = Metrics()
    measuring = asyncio.create_task(metrics.measure_loop_lag())
    while (metrics.registry.get_sample_value("zataku_loop_lag_seconds_count") or 0) < 6:
        await asyncio.sleep(0)
    measuring.cancel()
    assert metrics.read_and_reset_loop_lag() == pytest.approx(0.3)
    assert metrics.read_and_reset_loop_lag() == 0
    late = metrics.registry.get_sample_value("zataku_loop_lag_seconds_bucket", {"le": "0.25"})
    assert metrics.registry.get_sample_value("zataku_loop_lag_seconds_count") == pytest.approx(1.5 * (late or 0))
