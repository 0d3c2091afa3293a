"""Having something done at a time."""

from zataku.clock import Clock
from zataku.platform.limits import JobKind, Payload, Subject, System
from zataku.table import Store
from zataku.table.forms import Millis


class Schedule:
    """Deadlines of all systems, kept in the platform table. Any process may run them."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def at(self, when: Millis, system: System, kind: JobKind, subject: Subject, what: Payload = "") -> None:
        """Have it done at that time, whatever became of an earlier job of this id: waiting, running or dead."""
        raise NotImplementedError

    async def never(self, system: System, kind: JobKind, subject: Subject) -> None:
        """It is not needed any more. A run that goes on is not disturbed."""
        raise NotImplementedError
