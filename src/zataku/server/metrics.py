"""The metrics of one process, which Prometheus reads at /metrics, and their history for the admin page."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from zataku.jobs.run import JobCounters
from zataku.jobs.runner import JobRunner
from zataku.server.admin.history import Gauges, History, resident_megabytes
from zataku.server.admin.request_counters import RequestCounters
from zataku.server.sockets.connections import ConnectionHub
from zataku.system import AppContext, Plugin
from zataku.table.store.metrics import StoreCollector

BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
LOOP_LAG_INTERVAL = 0.05

ReadValues: TypeAlias = Callable[[], Mapping[str, float]]
"""Returns the current values by the ends of their metrics' names."""


class Metrics:
    """The registry of metrics, with those of HTTP requests and of the event loop."""

    def __init__(self) -> None:
        # The time at which each series was created would double the number of series.
        disable_created_metrics()
        self.registry = CollectorRegistry(auto_describe=False)
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        self._requests = Counter(
            "zataku_requests", "Requests by route and status.", ("method", "route", "status"), registry=self.registry
        )
        self._durations = Histogram(
            "zataku_request_seconds",
            "Time until a request was answered completely.",
            ("method", "route"),
            registry=self.registry,
            buckets=BUCKETS,
        )
        self._loop_lag = Histogram(
            "zataku_loop_lag_seconds",
            "How late the event loop wakes a sleeping task.",
            registry=self.registry,
            buckets=BUCKETS,
        )
        self._largest_loop_lag = 0.0
        self.request_listeners: list[Callable[[int, float], None]] = []
        """Called with the status and the seconds of every request."""

    def record_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        # A caller may send any method; a series for each would be unbounded.
        method = method if method in METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._durations.labels(method, route).observe(seconds)
        for listener in self.request_listeners:
            listener(status, seconds)

    async def measure_loop_lag(self) -> None:
        """Measure without end how late the event loop wakes a sleeping task, by the machine's own time."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(LOOP_LAG_INTERVAL)
            lag = max(0.0, time.perf_counter() - before - LOOP_LAG_INTERVAL)
            self._loop_lag.observe(lag)
            self._largest_loop_lag = max(self._largest_loop_lag, lag)

    def read_and_reset_loop_lag(self) -> float:
        """The largest lag since the last call, in seconds."""
        largest, self._largest_loop_lag = self._largest_loop_lag, 0.0
        return largest

    def add_counters(self, prefix: str, description: str, read: ReadValues) -> None:
        """Export values that only grow."""
        self.registry.register(_ValuesCollector(prefix, description, read, CounterMetricFamily))

    def add_gauges(self, prefix: str, description: str, read: ReadValues) -> None:
        """Export values that go up and down."""
        self.registry.register(_ValuesCollector(prefix, description, read, GaugeMetricFamily))


class _ValuesCollector(Collector):
    """Exports values that are kept elsewhere, read at each scrape."""

    def __init__(
        self,
        prefix: str,
        description: str,
        read: ReadValues,
        family: type[CounterMetricFamily | GaugeMetricFamily],
    ) -> None:
        self._prefix, self._description, self._read, self._family = prefix, description, read, family

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """The current values."""
        for name, value in self._read().items():
            yield self._family(f"zataku_{self._prefix}_{name}", self._description, value=value)


def build_metrics(
    context: AppContext, hub: ConnectionHub, runner: JobRunner, plugins: Mapping[str, Plugin]
) -> tuple[Metrics, History]:
    """The metrics of requests, store, sockets, rooms and jobs, and their history over the last day."""
    metrics, counters = Metrics(), RequestCounters()
    kinds = room_kinds(plugins)

    def running_rooms() -> int:
        return sum(len(context.rooms.running(kind)) for kind in kinds)

    metrics.request_listeners.append(lambda status, seconds: counters.record(status, seconds * 1000))
    metrics.registry.register(StoreCollector(context.store))
    metrics.add_gauges("sockets", "Sockets.", lambda: {"open": hub.socket_count})
    metrics.add_gauges("rooms", "Rooms.", lambda: {"running": running_rooms()})
    metrics.add_gauges(
        "jobs", "Jobs.", lambda: {"running": runner.counters.running, "lag_seconds": runner.counters.lag}
    )
    metrics.add_counters("sockets", "Sockets.", lambda: vars(hub.counters))
    metrics.add_counters("jobs", "Jobs.", lambda: _job_counters(runner.counters))
    gauges = Gauges(
        sockets=lambda: hub.socket_count,
        rooms=running_rooms,
        loop_lag_ms=lambda: metrics.read_and_reset_loop_lag() * 1000,
        memory_mb=resident_megabytes,
    )
    return metrics, History(context.clock, context.store.meter, counters, gauges)


def _job_counters(counters: JobCounters) -> dict[str, float]:
    return {
        "runs": counters.runs,
        "failures": counters.failures,
        "deaths": counters.deaths,
        "lost": counters.lost,
        "unknown": counters.unknown,
    }


def room_kinds(plugins: Mapping[str, Plugin]) -> list[str]:
    """The kinds of rooms that the systems have."""
    return [plugin.room.kind for plugin in plugins.values() if plugin.room is not None]
