"""Which figures are shown of the parts of the house, to Prometheus and to admins."""

from collections.abc import Sequence

from zataku.jobs.runner import JobRunner
from zataku.server.admin.history import Gauges, History, resident_megabytes
from zataku.server.admin.request_counters import RequestCounters
from zataku.server.metrics import Metrics
from zataku.server.sockets.connections import ConnectionHub
from zataku.system import AppContext, System
from zataku.table.store.metrics import StoreCollector

OF_SOCKETS = ("opened", "refused", "messages_in", "messages_out", "bytes_in", "bytes_out", "dropped", "slow", "stuck")
OF_JOBS = ("runs", "failures", "deaths", "lost", "unknown")


def build_metrics(
    house: AppContext, hub: ConnectionHub, runner: JobRunner, systems: Sequence[System]
) -> tuple[Metrics, History]:
    """The figures, and how they went over the last day."""
    figures, counters = Metrics(), RequestCounters()
    kinds = room_kinds(systems)

    def rooms() -> int:
        return sum(len(house.rooms.running(kind)) for kind in kinds)

    figures.listeners.append(lambda status, seconds: counters.record(status, seconds * 1000))
    figures.registry.register(StoreCollector(house.store))
    figures.measure("sockets", "Sockets.", lambda: {"open": hub.open_sockets})
    figures.measure("rooms", "Rooms.", lambda: {"running": rooms()})
    figures.measure("jobs", "Jobs.", lambda: {"running": runner.counters.running, "lag_seconds": runner.counters.lag})
    figures.count("sockets", "Sockets.", lambda: {name: getattr(hub.counts, name) for name in OF_SOCKETS})
    figures.count("jobs", "Jobs.", lambda: {name: getattr(runner.counters, name) for name in OF_JOBS})
    gauges = Gauges(
        sockets=lambda: hub.open_sockets,
        rooms=rooms,
        loop_lag_ms=lambda: figures.lag * 1000,
        memory_mb=resident_megabytes,
    )
    return figures, History(house.clock, house.store.meter, counters, gauges)


def room_kinds(systems: Sequence[System]) -> list[str]:
    """The systems that have rooms."""
    return [system.behaviour.kind for system in systems if system.behaviour is not None]
