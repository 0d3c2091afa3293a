"""The overview on the admin page: version, store, process, sockets, rooms and jobs."""

from collections.abc import Iterable

import msgspec

from zataku import __version__
from zataku.clock import Clock
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.server.admin.accounts import Connections
from zataku.server.admin.jobs import JobList
from zataku.server.admin.messages import Overview, RoomCount, StoreFacts
from zataku.table import Store, StoreUrl


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """This server process and its settings. `bus` is its URL without the password."""

    name: str
    env: str
    bus: str
    store_url: StoreUrl
    started: float


class OverviewReader:
    """Reads the current state of the server."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        process: Process,
        rooms: RoomRegistry,
        room_kinds: Iterable[str],
        connections: Connections,
        jobs: JobList,
    ) -> None:
        self._store = store
        self._clock = clock
        self._process = process
        self._rooms = rooms
        self._room_kinds = tuple(room_kinds)
        self._connections = connections
        self._jobs = jobs

    async def read(self) -> Overview:
        """The current overview."""
        process, backend, now = self._process, self._store.backend, self._clock.now()
        return Overview(
            version=__version__,
            env=process.env,
            store=StoreFacts(
                place=str(process.store_url),
                kind=process.store_url.kind,
                capabilities=sorted(backend.capabilities),
                facts=await backend.facts(),
            ),
            bus=process.bus,
            process=process.name,
            started_at=round(process.started * 1000),
            now=round(now * 1000),
            uptime_seconds=max(0.0, now - process.started),
            sockets=sum(1 for _ in self._connections()),
            rooms=[self._count_rooms(kind) for kind in self._room_kinds],
            jobs=await self._jobs.count(),
        )

    def _count_rooms(self, kind: str) -> RoomCount:
        running = self._rooms.running(kind)
        return RoomCount(kind=kind, rooms=len(running), people=sum(running.values()))
