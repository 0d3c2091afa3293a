"""The examination after a crash sees what it is there to see."""

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
    """What a store that holds these items says."""
    cells = sorted((item for item in items if isinstance(item, Cell)), key=lambda it: (it.value, it.shelf, it.cell))
    return Content(
        items=list(items),
        by_owner={owner: [it for it in cells if it.owner == owner] for owner in OWNERS},
        by_value={shelf: [it for it in cells if it.shelf == shelf] for shelf in SHELVES},
        changes=[Change("INSERT", 0.0, None, item, False, str(at), {}) for at, item in enumerate(items)],
    )


def history_of() -> History:
    """What a writer said that left these items."""
    history = History()
    for key, state in (("put/c0", 5), ("save/c0", 7), ("pair/c0", 9), ("token/t1", 1)):
        history.hear(["try", key, state])
        history.hear(["done", key])
    return history


def with_items(change: Callable[[list[Entity]], list[Entity]]) -> Content:
    return content_of(change(list(ITEMS)))


def without(kind: type[Entity], shelf: str | None = None) -> Content:
    return content_of(
        [it for it in ITEMS if not (isinstance(it, kind) and shelf in (None, getattr(it, "shelf", None)))]
    )


def test_a_sound_store_has_no_problems():
    assert problems(history_of(), Replay(), content_of(ITEMS)) == []


def test_what_was_being_tried_may_have_happened_or_not():
    history = history_of()
    history.hear(["try", "put/c0", 6])
    assert problems(history, Replay(), content_of(ITEMS)) == []
    happened = [cell("put", 6), *ITEMS[1:]]
    assert problems(history, Replay(), content_of(happened)) == []


def test_a_deletion_that_was_being_tried_may_have_happened():
    history = history_of()
    history.hear(["try", "put/c0", None])
    assert problems(history, Replay(), content_of(ITEMS[1:])) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(without(Cell, "put"), "put/c0 is None", id="an acknowledged write that is missing"),
        pytest.param(
            with_items(lambda items: [cell("put", 4), *items[1:]]), "put/c0 is 4", id="an older state than acknowledged"
        ),
        pytest.param(
            with_items(lambda items: [cell("put", 6), *items[1:]]), "put/c0 is 6", id="a state that was never tried"
        ),
        pytest.param(
            with_items(lambda items: [*items, cell("save", 3, name="c5")]), "save/c5 is 3", id="a cell from nowhere"
        ),
        pytest.param(without(Cell, "right"), "half written: 9 and None", id="half a transaction"),
        pytest.param(
            with_items(lambda items: [it if it != cell("right", 9) else cell("right", 8) for it in items]),
            "half written: 9 and 8",
            id="a transaction that changed one of two",
        ),
        pytest.param(
            with_items(lambda items: [*items[:-1], Tally(count=2)]), "2 transactions were counted", id="a token twice"
        ),
        pytest.param(without(Receipt), "token/t1 is None", id="a receipt that is missing"),
        pytest.param(with_items(lambda items: [*items, cell("put", 5)]), "was found 2 times", id="an item twice"),
    ],
)
def test_damage_to_items_is_seen(content: Content, said: str):
    assert any(said in problem for problem in problems(history_of(), Replay(), content))


def test_a_deleted_item_that_came_back_is_seen():
    history = history_of()
    history.hear(["try", "put/c0", None])
    history.hear(["done", "put/c0"])
    assert any("put/c0 is 5" in problem for problem in problems(history, Replay(), content_of(ITEMS)))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        pytest.param(lambda it: it.by_owner["ann"].pop(), "owner index of ann", id="an entry that is missing"),
        pytest.param(
            lambda it: it.by_owner["cyd"].append(cell("put", 5)), "owner index of cyd", id="an entry left behind"
        ),
        pytest.param(lambda it: it.by_owner["ann"].reverse(), "owner index of ann", id="a global index out of order"),
        pytest.param(
            lambda it: it.by_owner.update(bob=[cell("save", 6, "bob")]), "owner index of bob", id="an outdated entry"
        ),
        pytest.param(lambda it: it.by_value["left"].clear(), "value index of left", id="an empty local index"),
    ],
)
def test_an_index_that_differs_is_seen(damage: Callable[[Content], object], said: str):
    content = content_of(ITEMS)
    damage(content)
    assert any(said in problem for problem in problems(history_of(), Replay(), content))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        pytest.param(lambda told: told.append(told[0]), "told twice", id="a record twice"),
        pytest.param(
            lambda told: told.append(replace(told[0], position="99")), "does not continue", id="a change twice"
        ),
        pytest.param(lambda told: told.pop(), "another story of ('tally',)", id="a record missing at the end"),
        pytest.param(lambda told: told.pop(0), "another story of ('put', 'c0')", id="a record missing at the start"),
        pytest.param(
            lambda told: told.append(Change("REMOVE", 0.0, cell("put", 5), None, False, "99", {})),
            "another story of ('put', 'c0')",
            id="a change that never happened",
        ),
        pytest.param(
            lambda told: told.__setitem__(0, replace(told[0], old=cell("put", 4))), "does not continue", id="a gap"
        ),
    ],
)
def test_a_stream_that_tells_another_story_is_seen(damage: Callable[[list[Change]], object], said: str):
    content = content_of(ITEMS)
    damage(content.changes)
    assert any(said in problem for problem in problems(history_of(), Replay(), content))


def test_a_replay_goes_on_from_round_to_round():
    replay, history = Replay(), history_of()
    assert problems(history, replay, content_of(ITEMS)) == []
    later = content_of([cell("put", 6), *ITEMS[1:]])
    later.changes = [Change("MODIFY", 0.0, cell("put", 5), cell("put", 6), False, "100", {})]
    history.hear(["try", "put/c0", 6])
    assert problems(history, replay, later) == []
    history.settle(later)
    assert history.kept["put/c0"] == 6
    assert history.trying == {}
