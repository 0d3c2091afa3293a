"""The checks after a crash report every kind of damage."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.table.embedded.crash.crash_checks import Content, History, Replay, problems
from tests.table.embedded.crash.ledger import OWNERS, SHELVES, Cell, Receipt, Tally
from zataku.table import Change, Entity


def cell(shelf: str, value: int, owner: str | None = "ann", name: str = "c0") -> Cell:
    return Cell(shelf=shelf, cell=name, value=value, owner=owner)


ITEMS: list[Entity] = [
    cell("put", 5),
    cell("save", 7, "bob"),
    cell("left", 9, None),
    cell("right", 9),
    Receipt(attempt="t1"),
    Tally(count=1),
]


def content_of(items: list[Entity]) -> Content:
    """The content of a sound store with these items."""
    cells = sorted(
        (item for item in items if isinstance(item, Cell)), key=lambda entry: (entry.value, entry.shelf, entry.cell)
    )
    return Content(
        items=list(items),
        by_owner={owner: [entry for entry in cells if entry.owner == owner] for owner in OWNERS},
        by_value={shelf: [entry for entry in cells if entry.shelf == shelf] for shelf in SHELVES},
        changes=[Change("INSERT", 0.0, None, item, False, str(at), {}) for at, item in enumerate(items)],
    )


def sound_history() -> History:
    """The history of a writer that wrote ITEMS."""
    history = History()
    for key, state in (("put/c0", 5), ("save/c0", 7), ("pair/c0", 9), ("token/t1", 1)):
        history.record(["try", key, state])
        history.record(["done", key])
    return history


def with_items(change: Callable[[list[Entity]], list[Entity]]) -> Content:
    return content_of(change(list(ITEMS)))


def without(kind: type[Entity], shelf: str | None = None) -> Content:
    return content_of(
        [item for item in ITEMS if not (isinstance(item, kind) and shelf in (None, getattr(item, "shelf", None)))]
    )


def test_a_sound_store_has_no_problems():
    assert problems(sound_history(), Replay(), content_of(ITEMS)) == []


def test_a_pending_write_may_have_happened_or_not():
    history = sound_history()
    history.record(["try", "put/c0", 6])
    assert problems(history, Replay(), content_of(ITEMS)) == []
    happened = [cell("put", 6), *ITEMS[1:]]
    assert problems(history, Replay(), content_of(happened)) == []


def test_a_pending_deletion_may_have_happened():
    history = sound_history()
    history.record(["try", "put/c0", None])
    assert problems(history, Replay(), content_of(ITEMS[1:])) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(without(Cell, "put"), "put/c0 is None", id="an acknowledged write that is missing"),
        pytest.param(
            with_items(lambda items: [cell("put", 4), *items[1:]]), "put/c0 is 4", id="an older state than acknowledged"
        ),
        pytest.param(
            with_items(lambda items: [cell("put", 6), *items[1:]]), "put/c0 is 6", id="a state that was never tried"
        ),
        pytest.param(
            with_items(lambda items: [*items, cell("save", 3, name="c5")]),
            "save/c5 is 3",
            id="a cell that was never written",
        ),
        pytest.param(without(Cell, "right"), "partly written: 9 and None", id="part of a transaction"),
        pytest.param(
            with_items(lambda items: [cell("right", 8) if item == cell("right", 9) else item for item in items]),
            "partly written: 9 and 8",
            id="a transaction that changed one of two",
        ),
        pytest.param(
            with_items(lambda items: [*items[:-1], Tally(count=2)]), "2 transactions were counted", id="a token twice"
        ),
        pytest.param(without(Receipt), "token/t1 is None", id="a receipt that is missing"),
        pytest.param(with_items(lambda items: [*items, cell("put", 5)]), "was returned 2 times", id="an item twice"),
    ],
)
def test_damage_to_items_is_reported(content: Content, message: str):
    assert any(message in problem for problem in problems(sound_history(), Replay(), content))


def test_a_deleted_item_that_reappears_is_reported():
    history = sound_history()
    history.record(["try", "put/c0", None])
    history.record(["done", "put/c0"])
    assert any("put/c0 is 5" in problem for problem in problems(history, Replay(), content_of(ITEMS)))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        pytest.param(
            lambda content: content.by_owner["ann"].pop(), "owner index of ann", id="an entry that is missing"
        ),
        pytest.param(
            lambda content: content.by_owner["cyd"].append(cell("put", 5)),
            "owner index of cyd",
            id="an entry left behind",
        ),
        pytest.param(
            lambda content: content.by_owner["ann"].reverse(), "owner index of ann", id="a global index out of order"
        ),
        pytest.param(
            lambda content: content.by_owner.update(bob=[cell("save", 6, "bob")]),
            "owner index of bob",
            id="an outdated entry",
        ),
        pytest.param(
            lambda content: content.by_value["left"].clear(), "value index of left", id="an empty local index"
        ),
    ],
)
def test_an_index_that_differs_from_its_items_is_reported(damage: Callable[[Content], object], message: str):
    content = content_of(ITEMS)
    damage(content)
    assert any(message in problem for problem in problems(sound_history(), Replay(), content))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        pytest.param(lambda changes: changes.append(changes[0]), "delivered twice", id="a record twice"),
        pytest.param(
            lambda changes: changes.append(replace(changes[0], position="99")), "does not continue", id="a change twice"
        ),
        pytest.param(lambda changes: changes.pop(), "differ at ('tally',)", id="a record missing at the end"),
        pytest.param(lambda changes: changes.pop(0), "differ at ('put', 'c0')", id="a record missing at the start"),
        pytest.param(
            lambda changes: changes.append(Change("REMOVE", 0.0, cell("put", 5), None, False, "99", {})),
            "differ at ('put', 'c0')",
            id="a change that never happened",
        ),
        pytest.param(
            lambda changes: changes.__setitem__(0, replace(changes[0], old=cell("put", 4))),
            "does not continue",
            id="a gap",
        ),
    ],
)
def test_a_stream_that_differs_from_the_table_is_reported(damage: Callable[[list[Change]], object], message: str):
    content = content_of(ITEMS)
    damage(content.changes)
    assert any(message in problem for problem in problems(sound_history(), Replay(), content))


def test_a_replay_continues_in_the_next_round():
    replay, history = Replay(), sound_history()
    assert problems(history, replay, content_of(ITEMS)) == []
    later = content_of([cell("put", 6), *ITEMS[1:]])
    later.changes = [Change("MODIFY", 0.0, cell("put", 5), cell("put", 6), False, "100", {})]
    history.record(["try", "put/c0", 6])
    assert problems(history, replay, later) == []
    history.settle(later)
    assert history.acknowledged["put/c0"] == 6
    assert history.pending == {}
