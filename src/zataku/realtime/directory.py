"""Which rooms run in which process, and how many people are in each."""

from zataku.realtime.premises import Premises
from zataku.realtime.words import Running, decode_running, encode

CHANNEL = "rooms"
TOLD_EVERY = 2.0
FORGOTTEN_AFTER = 6.0


class Directory:
    """The running rooms of all processes. Each tells its own every two seconds, and whenever they change."""

    def __init__(self, premises: Premises) -> None:
        self._premises = premises
        self._elsewhere: dict[str, tuple[float, dict[str, int]]] = {}
        self._here: dict[str, int] = {}
        self._told_at = 0.0

    async def start(self) -> None:
        """Begin to hear the others."""
        if not self._premises.alone:
            await self._premises.exchange.hear(CHANNEL, self._hear)

    def update(self, running: dict[str, int]) -> None:
        """These rooms run here now."""
        now = self._premises.clock.now()
        changed, self._here = running != self._here, running
        if self._premises.alone or not (changed or now - self._told_at >= TOLD_EVERY):
            return
        self._told_at = now
        self._premises.exchange.send(CHANNEL, encode(Running(process=self._premises.process, rooms=running)))

    def running(self) -> dict[str, int]:
        """All rooms that run in any process, by their topics."""
        now = self._premises.clock.now()
        for process in [name for name, (told, _) in self._elsewhere.items() if now - told > FORGOTTEN_AFTER]:
            del self._elsewhere[process]
        found: dict[str, int] = {}
        for _, rooms in self._elsewhere.values():
            found |= rooms
        return found | self._here

    def _hear(self, message: bytes) -> None:
        told = decode_running(message)
        if told.process != self._premises.process:
            self._elsewhere[told.process] = (self._premises.clock.now(), told.rooms)
