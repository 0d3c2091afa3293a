"""Checks of a store after a crash, on plain values, so that tests can show that each check fails when it should."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from tests.table.embedded.crash.ledger import OWNERS, SHELVES, Cell, Receipt, Tally
from zataku.table import Change, Entity

State = int | None
LedgerKey = tuple[str, ...]


class History(Struct):
    """The writer's reports: the last acknowledged state of each key, and the attempts without acknowledgement."""

    acknowledged: dict[str, State] = field(default_factory=dict)
    pending: dict[str, State] = field(default_factory=dict)

    def record(self, report: list[Any]) -> None:
        """Record one report of the writer."""
        if report[0] == "try":
            self.pending[report[1]] = report[2]
        elif report[0] == "done":
            self.acknowledged[report[1]] = self.pending.pop(report[1])

    def possible_states(self, key: str) -> set[State]:
        """The states a key may have: two at most, because the attempts on one key are sequential."""
        states = {self.acknowledged.get(key)}
        if key in self.pending:
            states.add(self.pending[key])
        return states

    def settle(self, content: "Content") -> None:
        """Continue from the content of the store: a pending attempt has happened or never will."""
        self.pending.clear()
        self.acknowledged = {key: state for key, state in content.states().items() if state is not None}


class Content(Struct):
    """The content of the ledger: items, index entries, and changes."""

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
        """The state of each key, under the name that the writer reports."""
        states: dict[str, State] = {}
        for shelf, kind in (("put", "put"), ("save", "save"), ("left", "pair")):
            states |= {f"{kind}/{name}": cell.value for name, cell in self.cells(shelf).items()}
        return states | {f"token/{name}": 1 for name in self.receipts()}


def ledger_key(entity: Entity) -> LedgerKey:
    """The key of an entity of the ledger."""
    if isinstance(entity, Cell):
        return entity.shelf, entity.cell
    return ("receipt", entity.attempt) if isinstance(entity, Receipt) else ("tally",)


def lost_writes(history: History, content: Content) -> Iterable[str]:
    """Keys that have neither their last acknowledged state nor the pending one."""
    states = content.states()
    for key in sorted({*history.acknowledged, *history.pending, *states}):
        possible = history.possible_states(key)
        if states.get(key) not in possible:
            yield f"{key} is {states.get(key)}, but may only be one of {possible}."


def partial_transactions(content: Content) -> Iterable[str]:
    """Pairs whose cells differ, and receipts that were not counted exactly once."""
    left, right = content.cells("left"), content.cells("right")
    for name in sorted({*left, *right}):
        values = [side[name].value if name in side else None for side in (left, right)]
        if values[0] != values[1]:
            yield f"The pair {name} is partly written: {values[0]} and {values[1]}."
    counted = sum(item.count for item in content.items if isinstance(item, Tally))
    if counted != len(content.receipts()):
        yield f"{counted} transactions were counted, but {len(content.receipts())} left a receipt."


def index_differences(content: Content) -> Iterable[str]:
    """Indexes that do not hold exactly the items with their keys, in order."""
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

    items: dict[LedgerKey, Entity] = field(default_factory=dict)
    positions: set[str] = field(default_factory=set)

    def apply(self, changes: list[Change]) -> Iterable[str]:
        """Apply changes; yields those that are repeated or do not continue the change before them."""
        for change in changes:
            entity = change.new or change.old
            assert entity is not None
            key = ledger_key(entity)
            if change.position in self.positions:
                yield f"The change {change.position} of {key} was delivered twice."
            self.positions.add(change.position)
            if self.items.get(key) != change.old:
                yield f"The change {change.position} of {key} does not continue the change before it."
            if change.new is None:
                self.items.pop(key, None)
            else:
                self.items[key] = change.new

    def differences(self, content: Content) -> Iterable[str]:
        """Items whose replayed state differs from the stored one."""
        stored = {ledger_key(item): item for item in content.items}
        for key in sorted({*stored, *self.items}):
            if stored.get(key) != self.items.get(key):
                yield f"The replayed stream and the table differ at {key}."


def repeated_items(content: Content) -> Iterable[str]:
    """Items that a scan returned more than once."""
    counted = Counter(map(ledger_key, content.items))
    yield from (f"{key} was returned {times} times." for key, times in counted.items() if times > 1)


def problems(history: History, replay: Replay, content: Content) -> list[str]:
    """All problems of a store after a crash."""
    return [
        *lost_writes(history, content),
        *partial_transactions(content),
        *repeated_items(content),
        *index_differences(content),
        *replay.apply(content.changes),
        *replay.differences(content),
    ]
