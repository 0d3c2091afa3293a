"""The one order of the comments of a room, and the position of each client in it."""

from time import perf_counter

from bench.live.frames import ParsedFrames, UnexpectedMessage


class DeliveryOrder:
    """Counts the clients at each position of the order.

    No client may miss a comment, get one twice, or get them in another order than the others. When the lowest position
    has no client left, the comment after it has reached all of them.
    """

    def __init__(self, readers: int) -> None:
        self.order: list[int] = []
        """The numbers of the comments as the first reader got them."""
        self.reached: list[float] = []
        """When each comment had come to the last reader, in that order."""
        self._numbers: set[int] = set()
        self._readers_at = [readers]

    def move(self, at: int, parsed: ParsedFrames) -> int:
        """Move a client on by the comments it got; returns its new position."""
        if parsed.start != at:
            self._place(at, parsed)
        readers_at, to = self._readers_at, at + len(parsed.numbers)
        readers_at[to] += 1
        readers_at[at] -= 1
        if not readers_at[at] and at == len(self.reached):
            now, lowest = perf_counter(), at
            while not readers_at[lowest]:
                self.reached.append(now)
                lowest += 1
        return to

    def _place(self, at: int, parsed: ParsedFrames) -> None:
        """Compare what a client got with what others got before, and append what is new."""
        known = self.order[at : at + len(parsed.numbers)]
        if known != list(parsed.numbers[: len(known)]):
            raise UnexpectedMessage(f"A reader got {parsed.numbers} at place {at}, where others got {known}.")
        new = parsed.numbers[len(known) :]
        if not self._numbers.isdisjoint(new):
            raise UnexpectedMessage(
                f"A reader got {new} after {at + len(known)} comments, and one of them for the second time."
            )
        self.order += new
        self._numbers.update(new)
        self._readers_at += [0] * len(new)
        parsed.start = at
