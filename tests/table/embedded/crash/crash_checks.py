"""What must be true after a crash, said of plain values, so that it can be shown to fail when it should."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from tests.table.embedded.crash.ledger import OWNERS, SHELVES, Cell, Receipt, Tally
from zataku.table import Change, Entity

State = int | None
Place = tuple[str, ...]


class History(Struct):
    """What the writer said: the last acknowledged state of each key, and what it was trying when it died."""

    kept: dict[str, State] = field(default_factory=dict)
    trying: dict[str, State] = field(default_factory=dict)

    def hear(self, line: list[Any]) -> None:
        """Take in one line of the writer."""
        if line[0] == "try":
            self.trying[line[1]] = line[2]
        elif line[0] == "done":
            self.kept[line[1]] = self.trying.pop(line[1])

    def possible(self, key: str) -> set[State]:
        """The states a key may be in: every attempt is sequential for its key, so there are two at most."""
        states = {self.kept.get(key)}
        if key in self.trying:
            states.add(self.trying[key])
        return states

    def settle(self, found: "Content") -> None:
        """Go on from what was found: an attempt that was under way has happened or never will."""
        self.trying.clear()
        self.kept = {key: state for key, state in found.states().items() if state is not None}


class Content(Struct):
    """Everything that can be read of the ledger."""

    items: list[Entity]
    by_owner: dict[str, list[Cell]]
    by_value: dict[str, list[Cell]]
    changes: list[Change]

    def cells(self, shelf: str) -> dict[str, Cell]:
        """The cells of a shelf by their names."""
        return {item.cell: item for item in self.items if isinstance(item, Cell) and item.shelf == shelf}

    def receipts(self) -> list[str]:
        """The names of transactions that left a receipt."""
        return [item.attempt for item in self.items if isinstance(item, Receipt)]

    def states(self) -> dict[str, State]:
        """The state of each key as the writer names it."""
        states: dict[str, State] = {}
        for shelf, kind in (("put", "put"), ("save", "save"), ("left", "pair")):
            states |= {f"{kind}/{name}": cell.value for name, cell in self.cells(shelf).items()}
        return states | {f"token/{name}": 1 for name in self.receipts()}


def place_of(entity: Entity) -> Place:
    """The key of an entity of the ledger."""
    if isinstance(entity, Cell):
        return entity.shelf, entity.cell
    return ("receipt", entity.attempt) if isinstance(entity, Receipt) else ("tally",)


def lost_writes(history: History, content: Content) -> Iterable[str]:
    """Every key has its last acknowledged state, or the one that was being tried."""
    states = content.states()
    for key in sorted({*history.kept, *history.trying, *states}):
        possible = history.possible(key)
        if states.get(key) not in possible:
            yield f"{key} is {states.get(key)}, but was acknowledged as one of {possible}."


def half_transactions(content: Content) -> Iterable[str]:
    """Both cells of a pair have one value, and every receipt was counted once."""
    left, right = content.cells("left"), content.cells("right")
    for name in sorted({*left, *right}):
        values = [side[name].value if name in side else None for side in (left, right)]
        if values[0] != values[1]:
            yield f"The pair {name} is half written: {values[0]} and {values[1]}."
    counted = sum(item.count for item in content.items if isinstance(item, Tally))
    if counted != len(content.receipts()):
        yield f"{counted} transactions were counted, but {len(content.receipts())} left a receipt."


def index_differences(content: Content) -> Iterable[str]:
    """Every index holds exactly what the items say, in order."""
    cells = [item for item in content.items if isinstance(item, Cell)]
    for owner in OWNERS:
        expected = [cell for cell in cells if cell.owner == owner]
        expected.sort(key=lambda cell: (cell.value, cell.shelf, cell.cell))
        if content.by_owner[owner] != expected:
            yield f"The owner index of {owner} differs from its items."
    for shelf in SHELVES:
        expected = sorted((cell for cell in cells if cell.shelf == shelf), key=lambda cell: cell.value)
        if content.by_value[shelf] != expected:
            yield f"The value index of {shelf} differs from its items."


class Replay(Struct):
    """The table as replayed from its stream."""

    items: dict[Place, Entity] = field(default_factory=dict)
    positions: set[str] = field(default_factory=set)

    def follow(self, changes: list[Change]) -> Iterable[str]:
        """Go on with some changes; each must continue the one before it."""
        for change in changes:
            entity = change.new or change.old
            assert entity is not None
            place = place_of(entity)
            if change.position in self.positions:
                yield f"The change {change.position} of {place} was told twice."
            self.positions.add(change.position)
            if self.items.get(place) != change.old:
                yield f"The change {change.position} of {place} does not continue what was told before."
            if change.new is None:
                self.items.pop(place, None)
            else:
                self.items[place] = change.new

    def differences(self, content: Content) -> Iterable[str]:
        """The replayed items equal the stored ones."""
        stored = {place_of(item): item for item in content.items}
        for place in sorted({*stored, *self.items}):
            if stored.get(place) != self.items.get(place):
                yield f"The stream tells another story of {place} than the table."


def repeated_items(content: Content) -> Iterable[str]:
    """A scan shows every item once."""
    counted = Counter(map(place_of, content.items))
    yield from (f"{place} was found {times} times." for place, times in counted.items() if times > 1)


def problems(history: History, replay: Replay, content: Content) -> list[str]:
    """Everything that is wrong after a crash."""
    return [
        *lost_writes(history, content),
        *half_transactions(content),
        *repeated_items(content),
        *index_differences(content),
        *replay.follow(content.changes),
        *replay.differences(content),
    ]
