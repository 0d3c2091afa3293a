"""What was told of a room lately, for whoever comes back or has just got a snapshot."""

from collections import deque

from msgspec.structs import replace

from zataku.realtime.messages import Place
from zataku.realtime.rooms.bus_messages import Counted, Happened, PassedBy

MOST_EVENTS = 1_000
MOST_BYTES = 1 << 20
MOST_PASSING = 500
MOST_PASSING_BYTES = 1 << 18


class History:
    """The last kept events of a room, at most 1,000 and 1 MiB, and what passed by while a snapshot may be made.

    It begins where the process began to hear the room without a gap.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.seq = 0
        self.number = 0
        self._happened: deque[Happened] = deque()
        self._events = 0
        self._bytes = 0
        self._passed: deque[PassedBy] = deque()
        self._passed_bytes = 0
        self._passed_after = 0
        self._changed_at = -1

    def begin(self, epoch: int, seq: int, number: int, *, renewed: bool = False) -> None:
        """Forget everything and go on from here. `renewed` says that nobody was at this place before."""
        self.epoch, self.seq, self.number = epoch, seq, number
        self._happened.clear()
        self._passed.clear()
        self._events = self._bytes = self._passed_bytes = 0
        self._passed_after = number
        # Whoever came to this place elsewhere may have left it before something passed that was not heard here.
        self._changed_at = -1 if renewed else seq

    def forget(self) -> None:
        """Know nothing of the room any more."""
        self.begin(0, 0, 0)

    def follows(self, word: Happened | PassedBy | Counted) -> bool:
        """True when nothing is missing between what was heard and this word."""
        return word.epoch == self.epoch and word.number == self.number + 1

    def knows(self, epoch: int, number: int) -> bool:
        """True when a word was heard, or is older than what was."""
        return (epoch, number) <= (self.epoch, self.number)

    def add(self, word: Happened | PassedBy | Counted) -> None:
        """Remember a word that follows."""
        self.number = word.number
        if isinstance(word, Happened):
            self.seq = word.seq
            if any(event.erases for event in word.events):
                self._changed_at = word.seq - 1
            self._happened.append(word)
            self._events += len(word.events)
            self._bytes += _size(word)
            while self._events > MOST_EVENTS or self._bytes > MOST_BYTES:
                gone = self._happened.popleft()
                self._events -= len(gone.events)
                self._bytes -= _size(gone)
        elif isinstance(word, PassedBy):
            self._passed.append(word)
            self._passed_bytes += _size(word)
            if word.matters:
                self._changed_at = word.seq
            while len(self._passed) > MOST_PASSING or self._passed_bytes > MOST_PASSING_BYTES:
                gone = self._passed.popleft()
                self._passed_bytes -= _size(gone)
                self._passed_after = gone.number

    def reaches(self, place: Place) -> bool:
        """True when all events after a place are known here."""
        first = self._happened[0].after if self._happened else self.seq
        return place.epoch == self.epoch and first <= place.seq <= self.seq

    def resumes(self, place: Place) -> bool:
        """True when somebody who was at a place needs no more than the kept events after it to be up to date."""
        return self.reaches(place) and place.seq > self._changed_at

    def after(self, place: Place, number: int) -> list[Happened | PassedBy] | None:
        """All that was told after a place and a word, in order; None when some of it is not known here any more."""
        if not self.reaches(place) or not self._passed_after <= number <= self.number:
            return None
        told = [*self.happened_after(place), *(word for word in self._passed if word.number > number)]
        return sorted(told, key=lambda word: word.number)

    def happened_after(self, place: Place) -> list[Happened]:
        """The kept events after a place that `reaches` says can be reached."""
        found: list[Happened] = []
        for word in reversed(self._happened):
            if word.seq <= place.seq:
                break
            found.append(word if word.after >= place.seq else _rest(word, place.seq))
        return found[::-1]


def _rest(word: Happened, after: int) -> Happened:
    return replace(word, events=word.events[after - word.after :])


def _size(word: Happened | PassedBy) -> int:
    size = sum(len(event.body) for event in word.events)
    return size + sum(map(len, word.binary)) if isinstance(word, PassedBy) else size
