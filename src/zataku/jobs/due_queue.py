"""What is known to be due soon, so that a deadline is met to the moment and not at the next look."""

import heapq

from zataku.jobs.schedule import JobId
from zataku.table import Millis


class Agenda:
    """Jobs by the time at which they may be claimed. It may be wrong about any of them: the claim decides."""

    def __init__(self) -> None:
        self._times: dict[JobId, Millis] = {}
        # Entries that say something else than `_times` are out of date, and passed over when their time comes.
        self._order: list[tuple[Millis, JobId]] = []

    def note(self, id_: JobId, when: Millis) -> None:
        """A job is due at a time, whatever was noted of it before."""
        if self._times.get(id_) != when:
            self._times[id_] = when
            heapq.heappush(self._order, (when, id_))

    def take(self, now: Millis) -> tuple[JobId, Millis] | None:
        """The job that has been due longest, with its time. It is struck off."""
        first = self.next()
        if first is None or first > now:
            return None
        when, id_ = heapq.heappop(self._order)
        del self._times[id_]
        return id_, when

    def next(self) -> Millis | None:
        """When the next job is due."""
        while self._order and self._times.get(self._order[0][1]) != self._order[0][0]:
            heapq.heappop(self._order)
        return self._order[0][0] if self._order else None
