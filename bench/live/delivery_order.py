"""The one order in which everybody in the room hears everything, and how far each of them has come."""

from time import perf_counter

from bench.live.frames import Heard, Unfit


class Ladder:
    """Each reader stands on the rung of the last comment that it got.

    Nobody may leave one out, get one twice, or get them in another order than the others. Whenever the lowest rung
    becomes empty, the comment above it has reached everybody.
    """

    def __init__(self, readers: int) -> None:
        self.order: list[int] = []
        """The numbers of the comments as the first reader got them."""
        self.reached: list[float] = []
        """When each comment had come to the last reader, in that order."""
        self._numbers: set[int] = set()
        self._standing = [readers]

    def move(self, at: int, heard: Heard) -> int:
        """A reader got comments. Gives the rung where it stands then."""
        if heard.start != at:
            self._place(at, heard)
        standing, to = self._standing, at + len(heard.numbers)
        standing[to] += 1
        standing[at] -= 1
        if not standing[at] and at == len(self.reached):
            now, lowest = perf_counter(), at
            while not standing[lowest]:
                self.reached.append(now)
                lowest += 1
        return to

    def _place(self, at: int, heard: Heard) -> None:
        """Hold what a reader got against what others got before, and note what is new."""
        known = self.order[at : at + len(heard.numbers)]
        if known != list(heard.numbers[: len(known)]):
            raise Unfit(f"A reader got {heard.numbers} at place {at}, where others got {known}.")
        new = heard.numbers[len(known) :]
        if not self._numbers.isdisjoint(new):
            raise Unfit(f"A reader got {new} after {at + len(known)} comments, and one of them for the second time.")
        self.order += new
        self._numbers.update(new)
        self._standing += [0] * len(new)
        heard.start = at
