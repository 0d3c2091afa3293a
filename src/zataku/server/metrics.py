"""How the server is doing, in figures: what Prometheus reads at /metrics."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
LAG_EVERY = 0.5

Reading: TypeAlias = Callable[[], Mapping[str, float]]
"""Gives names and values as they are now."""


class Metrics:
    """The figures of one process. Others add their own with `count` and `measure`."""

    def __init__(self) -> None:
        # When each series was made is a second figure for every figure, and nobody asks for it.
        disable_created_metrics()
        self.registry = CollectorRegistry(auto_describe=False)
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        self._requests = Counter(
            "zataku_requests", "Requests by route and status.", ("method", "route", "status"), registry=self.registry
        )
        self._durations = Histogram(
            "zataku_request_seconds",
            "Time until a request was answered to its end.",
            ("method", "route"),
            registry=self.registry,
            buckets=BUCKETS,
        )
        self._lag = Gauge("zataku_loop_lag_seconds", "How late the event loop came last.", registry=self.registry)
        self.lag = 0.0
        self.listeners: list[Callable[[int, float], None]] = []
        """Told the status and seconds of every request."""

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request has been answered."""
        # Anybody can invent a method; a figure for each would never end.
        method = method if method in METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._durations.labels(method, route).observe(seconds)
        for listener in self.listeners:
            listener(status, seconds)

    async def watch_the_loop(self) -> None:
        """Measure for ever how late the event loop wakes whoever waits. By the machine's own time, not the clock."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(LAG_EVERY)
            self.lag = max(0.0, time.perf_counter() - before - LAG_EVERY)
            self._lag.set(self.lag)

    def count(self, prefix: str, about: str, reading: Reading) -> None:
        """Show values that only grow."""
        self.registry.register(_Read(prefix, about, reading, CounterMetricFamily))

    def measure(self, prefix: str, about: str, reading: Reading) -> None:
        """Show values that go up and down."""
        self.registry.register(_Read(prefix, about, reading, GaugeMetricFamily))


class _Read(Collector):
    """Values of something that counts by itself, read when somebody asks."""

    def __init__(
        self,
        prefix: str,
        about: str,
        reading: Reading,
        family: type[CounterMetricFamily | GaugeMetricFamily],
    ) -> None:
        self._prefix, self._about, self._reading, self._family = prefix, about, reading, family

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """The values as they are now."""
        for name, value in self._reading().items():
            yield self._family(f"zataku_{self._prefix}_{name}", self._about, value=value)
