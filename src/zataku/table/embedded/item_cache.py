"""Items that were read or written lately, in memory: reading one again takes no thread and no disk.

What lies here is always the last committed state. The writer takes an item out before the commit that changes it and
puts the new state in afterwards, before anyone is told. A read puts in what it found only when no commit began since
its snapshot was asked for.
"""

from collections.abc import Iterable
from threading import Lock
from typing import TypeAlias

Place: TypeAlias = tuple[str, bytes, bytes]
# An item's bytes, and its size by DynamoDB's rules.
Kept: TypeAlias = tuple[bytes, int]

MOST_BYTES = 64 * 1024 * 1024
# What an entry takes beside the item's own bytes, about.
_OVERHEAD = 256


class Recent:
    """Packed items by table name and key, the least recently used half dropped when there are too many.

    With room for nothing it stays empty, for a store that somebody else writes.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._half = most // 2
        self._gate = Lock()
        self._young: dict[Place, Kept] = {}
        self._old: dict[Place, Kept] = {}
        self._weight = 0
        self._committing = False
        self._commits = 0

    def get(self, place: Place) -> Kept | None:
        """The item, if it is here. Safe on any thread, and never waits for the disk."""
        found = self._young.get(place)
        if found is None:
            found = self._old.get(place)
            if found is not None:
                with self._gate:
                    # The writer may have taken it out meanwhile; then it must not come back.
                    if self._old.pop(place, None) is found:
                        self._keep(place, found)
        return found

    @property
    def moment(self) -> int | None:
        """To be asked before a snapshot is taken, and handed to `fill`; None when what it sees must not be kept."""
        return None if self._committing or not self._half else self._commits

    def fill(self, place: Place, found: Kept, moment: int | None) -> None:
        """Keep what a read found, unless a commit has begun since."""
        with self._gate:
            if moment is not None and moment == self._commits and not self._committing:
                self._keep(place, found)

    def changing(self, places: Iterable[Place]) -> None:
        """These items are about to change: take them out until the commit is done."""
        with self._gate:
            self._committing = True
            self._commits += 1
            for place in places:
                self._young.pop(place, None)
                self._old.pop(place, None)

    def changed(self, states: Iterable[tuple[Place, Kept | None]] = ()) -> None:
        """The commit is done, with these states; or it failed, and none are known."""
        with self._gate:
            self._committing = False
            for place, state in states:
                if state is not None:
                    self._keep(place, state)

    def clear(self) -> None:
        """Forget everything: another file takes the store's place."""
        with self._gate:
            self._commits += 1
            self._young, self._old, self._weight = {}, {}, 0

    def _keep(self, place: Place, state: Kept) -> None:
        if self._weight > self._half:
            self._old, self._young, self._weight = self._young, {}, 0
        self._young[place] = state
        self._weight += len(state[0]) + _OVERHEAD
