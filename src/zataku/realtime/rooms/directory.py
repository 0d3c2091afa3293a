"""Which rooms run in which process, and how many people are in each."""

from zataku.realtime.rooms.bus_messages import Running, decode_running, encode
from zataku.realtime.rooms.context import RoomContext

CHANNEL = "rooms"
TOLD_EVERY = 2.0
FORGOTTEN_AFTER = 6.0


class RoomDirectory:
    """The running rooms of all processes. Each tells its own every two seconds, and whenever they change."""

    def __init__(self, context: RoomContext) -> None:
        self._context = context
        self._elsewhere: dict[str, tuple[float, dict[str, int]]] = {}
        self._here: dict[str, int] = {}
        self._told_at = 0.0

    async def start(self) -> None:
        """Begin to hear the others."""
        if not self._context.alone:
            await self._context.bus.hear(CHANNEL, self._hear)

    def update(self, running: dict[str, int]) -> None:
        """These rooms run here now."""
        now = self._context.clock.now()
        changed, self._here = running != self._here, running
        if self._context.alone or not (changed or now - self._told_at >= TOLD_EVERY):
            return
        self._told_at = now
        self._context.bus.send(CHANNEL, encode(Running(process=self._context.process, rooms=running)))

    def running(self) -> dict[str, int]:
        """All rooms that run in any process, by their topics."""
        now = self._context.clock.now()
        for process in [name for name, (told, _) in self._elsewhere.items() if now - told > FORGOTTEN_AFTER]:
            del self._elsewhere[process]
        found: dict[str, int] = {}
        for _, rooms in self._elsewhere.values():
            found |= rooms
        return found | self._here

    def _hear(self, message: bytes) -> None:
        told = decode_running(message)
        if told.process != self._context.process:
            self._elsewhere[told.process] = (self._context.clock.now(), told.rooms)
