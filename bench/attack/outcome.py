"""What came of an attack: how much was sent, how the server answered, and the bytes behind every fault."""

from collections import Counter
from collections.abc import Iterable

import msgspec

MAX_KEPT_BYTES = 4096
MAX_KEPT_EXCHANGES = 20
CLOSED = "closed"
"""The answer of a server that closes a connection without a word."""


class Exchange(msgspec.Struct, frozen=True):
    """Bytes that were sent on a connection and what was received, shortened, each byte as one character."""

    sent: str
    received: str

    @classmethod
    def of(cls, sent: bytes, received: bytes = b"") -> "Exchange":
        """An exchange of bytes."""
        return cls(_shortened(sent), _shortened(received))


class Outcome(msgspec.Struct):
    """The counts of an attack. A fault is a 5xx, or a reply on a socket that names an internal failure."""

    messages: int = 0
    connections: int = 0
    unconnected: int = 0
    """Connections that the server refused or did not accept in time."""
    answers: dict[str, int] = {}
    """Answers by status, by the kind of a message, or `closed`."""
    fault_count: int = 0
    unanswered_count: int = 0
    faults: list[Exchange] = []
    unanswered: list[Exchange] = []

    def answer(self, kind: str, times: int = 1) -> None:
        """Count an answer."""
        self.answers[kind] = self.answers.get(kind, 0) + times

    def fault(self, sent: bytes, received: bytes) -> None:
        """Count a fault of the server, and keep the first ones."""
        self.fault_count += 1
        if len(self.faults) < MAX_KEPT_EXCHANGES:
            self.faults.append(Exchange.of(sent, received))

    def hang(self, sent: bytes, received: bytes = b"") -> None:
        """Count a request or connection that was neither answered nor closed in time, and keep the first ones."""
        self.unanswered_count += 1
        if len(self.unanswered) < MAX_KEPT_EXCHANGES:
            self.unanswered.append(Exchange.of(sent, received))

    @property
    def answer_count(self) -> int:
        """The number of answers, without those that a connection never got."""
        return sum(self.answers.values())


def combined(outcomes: Iterable[Outcome]) -> Outcome:
    """The sum of several outcomes."""
    total = Outcome()
    answers: Counter[str] = Counter()
    for outcome in outcomes:
        total.messages += outcome.messages
        total.connections += outcome.connections
        total.unconnected += outcome.unconnected
        total.fault_count += outcome.fault_count
        total.unanswered_count += outcome.unanswered_count
        total.faults += outcome.faults
        total.unanswered += outcome.unanswered
        answers.update(outcome.answers)
    total.answers = dict(answers)
    return total


def _shortened(sent: bytes) -> str:
    text = sent[:MAX_KEPT_BYTES].decode("latin-1")
    return text if len(sent) <= MAX_KEPT_BYTES else f"{text}… ({len(sent)} bytes)"
