"""Who is in a room, over all processes."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from zataku.platform.limits import AccountId

FORGOTTEN_AFTER = 6.0
"""A process that was not heard of for so many seconds has nobody in the room any more."""


class Change(msgspec.Struct, frozen=True):
    """Who came into view and who went out of it."""

    came: frozenset[AccountId]
    left: frozenset[AccountId]


class Presence:
    """The people of a room by the process that they are connected to. Somebody with two sockets counts once."""

    def __init__(self) -> None:
        self._by_process: dict[str, set[AccountId]] = {}
        self._heard: dict[str, float] = {}
        self._present: Counter[AccountId] = Counter()
        self._seen: frozenset[AccountId] = frozenset()

    @property
    def here(self) -> int:
        """How many people there are now."""
        return len(self._present)

    @property
    def processes(self) -> list[str]:
        """The processes that were heard of."""
        return list(self._by_process)

    def came(self, process: str, people: Iterable[AccountId], now: float) -> None:
        """People are connected to a process."""
        known = self._by_process.setdefault(process, set())
        self._heard[process] = now
        for person in people:
            if person not in known:
                known.add(person)
                self._present[person] += 1

    def left(self, process: str, people: Iterable[AccountId]) -> None:
        """People are not connected to a process any more."""
        known = self._by_process.get(process, set())
        for person in people:
            if person in known:
                known.discard(person)
                self._present[person] -= 1
                if not self._present[person]:
                    del self._present[person]

    def only(self, process: str, people: Iterable[AccountId], now: float) -> None:
        """These are all who are connected to a process."""
        told = set(people)
        self.left(process, self._by_process.get(process, set()) - told)
        self.came(process, told, now)

    def at(self, process: str) -> int:
        """How many people are connected to a process."""
        return len(self._by_process.get(process, ()))

    def forget_silent(self, now: float, but: str) -> None:
        """Processes that were not heard of for long are gone, with everybody in them; `but` is our own."""
        for process in [name for name, heard in self._heard.items() if name != but and now - heard > FORGOTTEN_AFTER]:
            self.left(process, list(self._by_process[process]))
            del self._by_process[process], self._heard[process]

    def change(self) -> Change | None:
        """What changed since this was asked for the last time."""
        present = frozenset(self._present)
        change = Change(present - self._seen, self._seen - present)
        self._seen = present
        return change if change.came or change.left else None
