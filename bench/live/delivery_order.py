"""The one order of the comments of a room, and the position of each client in it."""

from time import perf_counter

from bench.live.frames import ParsedFrames, UnexpectedMessage


class DeliveryOrder:
    """The number of clients at each position of the order.

    No client may miss a comment, receive one twice, or receive them in another order than the others. When the lowest
    position has no client left, the comment after it has reached all of them.
    """

    def __init__(self, readers: int) -> None:
        self.order: list[int] = []
        """The numbers of the comments in the order of their first delivery."""
        self.reached: list[float] = []
        """When the last client received each comment, in that order."""
        self._numbers: set[int] = set()
        self._readers_at = [readers]

    def move(self, at: int, parsed: ParsedFrames) -> int:
        """Advance a client by the comments it received; returns its new position."""
        if parsed.start != at:
            self._append(at, parsed)
        readers_at, to = self._readers_at, at + len(parsed.numbers)
        readers_at[to] += 1
        readers_at[at] -= 1
        if not readers_at[at] and at == len(self.reached):
            now, lowest = perf_counter(), at
            while not readers_at[lowest]:
                self.reached.append(now)
                lowest += 1
        return to

    def _append(self, at: int, parsed: ParsedFrames) -> None:
        """Compare the comments of a client with those that others received there, and append new ones."""
        delivered = self.order[at : at + len(parsed.numbers)]
        if delivered != list(parsed.numbers[: len(delivered)]):
            raise UnexpectedMessage(
                f"A client received {parsed.numbers} at position {at}, where others received {delivered}."
            )
        new = parsed.numbers[len(delivered) :]
        if not self._numbers.isdisjoint(new):
            raise UnexpectedMessage(
                f"A client received {new} after {at + len(delivered)} comments, one of them for the second time."
            )
        self.order += new
        self._numbers.update(new)
        self._readers_at += [0] * len(new)
        parsed.start = at
