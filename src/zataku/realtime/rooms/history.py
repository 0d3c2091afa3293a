"""The latest updates of a room, for clients that resume or have just received a snapshot."""

from collections import deque

from msgspec.structs import replace

from zataku.realtime.messages import Position
from zataku.realtime.rooms.bus_messages import DurableEvents, EventUpdate, PresenceCount, TransientEvents

MAX_EVENTS = 1_000
MAX_BYTES = 1 << 20
MAX_TRANSIENT_UPDATES = 500
MAX_TRANSIENT_BYTES = 1 << 18


class UpdateHistory:
    """The latest durable events of a room, at most 1,000 and 1 MiB, and the latest transient ones.

    It starts where this process began to receive the room's updates without a gap.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.seq = 0
        self.number = 0
        self._durable: deque[DurableEvents] = deque()
        self._event_count = 0
        self._bytes = 0
        self._transient: deque[TransientEvents] = deque()
        self._transient_bytes = 0
        self._transient_after = 0
        self._changed_at = -1

    def restart(self, epoch: int, seq: int, number: int, *, is_reset: bool = False) -> None:
        """Forget everything and continue from here. `is_reset` says that no client was at this position before."""
        self.epoch, self.seq, self.number = epoch, seq, number
        self._durable.clear()
        self._transient.clear()
        self._event_count = self._bytes = self._transient_bytes = 0
        self._transient_after = number
        # A client that was at this position elsewhere may have missed a transient change that did not arrive here.
        self._changed_at = -1 if is_reset else seq

    def forget(self) -> None:
        """Forget everything."""
        self.restart(0, 0, 0)

    def is_next(self, update: EventUpdate | PresenceCount) -> bool:
        """True when no update is missing before this one."""
        return update.epoch == self.epoch and update.number == self.number + 1

    def includes(self, epoch: int, number: int) -> bool:
        """True when an update has arrived here, or is older than the latest that has."""
        return (epoch, number) <= (self.epoch, self.number)

    def append(self, update: EventUpdate | PresenceCount) -> None:
        """Add the next update."""
        self.number = update.number
        if isinstance(update, DurableEvents):
            self._append_durable(update)
        elif isinstance(update, TransientEvents):
            self._append_transient(update)

    def reaches(self, position: Position) -> bool:
        """True when all durable events after a position are here."""
        first = self._durable[0].after if self._durable else self.seq
        return position.epoch == self.epoch and first <= position.seq <= self.seq

    def can_resume(self, position: Position) -> bool:
        """True when a client at that position is up to date after the durable events that follow it."""
        return self.reaches(position) and position.seq > self._changed_at

    def after(self, position: Position, number: int) -> list[EventUpdate] | None:
        """All updates after a position and an update number, in order; None when some have been dropped."""
        if not self.reaches(position) or not self._transient_after <= number <= self.number:
            return None
        updates = [*self.durable_after(position), *(update for update in self._transient if update.number > number)]
        return sorted(updates, key=lambda update: update.number)

    def durable_after(self, position: Position) -> list[DurableEvents]:
        """The durable events after a position that `reaches` allows."""
        newest_first: list[DurableEvents] = []
        for update in reversed(self._durable):
            if update.seq <= position.seq:
                break
            newest_first.append(update if update.after >= position.seq else _cut(update, position.seq))
        return newest_first[::-1]

    def _append_durable(self, update: DurableEvents) -> None:
        self.seq = update.seq
        if any(event.erases for event in update.events):
            self._changed_at = update.seq - 1
        self._durable.append(update)
        self._event_count += len(update.events)
        self._bytes += _size(update)
        while self._event_count > MAX_EVENTS or self._bytes > MAX_BYTES:
            oldest = self._durable.popleft()
            self._event_count -= len(oldest.events)
            self._bytes -= _size(oldest)

    def _append_transient(self, update: TransientEvents) -> None:
        self._transient.append(update)
        self._transient_bytes += _size(update)
        if update.changes_state:
            self._changed_at = update.seq
        while len(self._transient) > MAX_TRANSIENT_UPDATES or self._transient_bytes > MAX_TRANSIENT_BYTES:
            oldest = self._transient.popleft()
            self._transient_bytes -= _size(oldest)
            self._transient_after = oldest.number


def _cut(update: DurableEvents, after: int) -> DurableEvents:
    return replace(update, events=update.events[after - update.after :])


def _size(update: EventUpdate) -> int:
    size = sum(len(event.body) for event in update.events)
    return size + sum(map(len, update.binary)) if isinstance(update, TransientEvents) else size
