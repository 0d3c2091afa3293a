"""Usage by access pattern as Prometheus counters."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from zataku.table.store.store import Store

_LABELS = ("pattern",)


class StoreCollector(Collector):
    """Collects the meter of a store: `registry.register(StoreCollector(store))`."""

    def __init__(self, store: Store) -> None:
        self._meter = store.meter

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Calls and units by access pattern, since the store was opened."""
        calls = CounterMetricFamily("zataku_table_calls", "Calls of an access pattern.", labels=_LABELS)
        reads = CounterMetricFamily("zataku_table_read_units", "Read units used by an access pattern.", labels=_LABELS)
        writes = CounterMetricFamily(
            "zataku_table_write_units", "Write units used by an access pattern.", labels=_LABELS
        )
        # A copy, since other threads may be metering calls at the same time.
        for usage in list(self._meter.totals.values()):
            calls.add_metric((usage.pattern,), usage.calls)
            reads.add_metric((usage.pattern,), usage.reads)
            writes.add_metric((usage.pattern,), usage.writes)
        yield from (calls, reads, writes)
