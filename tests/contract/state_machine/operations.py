"""Operations of the state machine: each condition and edit in two forms, for the store and for the model."""

from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st
from msgspec.structs import replace

from tests.contract.state_machine.model import Item, Rule
from tests.support.designs.pieces import Lid, Piece
from zataku.table import Condition, Edit, Key, path

BOXES = ("a", "b")
NAMES = ("p", "é", "𝄞")
COLOURS = ("red", "blue")

count = path(Piece, lambda it: it.count)
colour = path(Piece, lambda it: it.colour)
rank = path(Piece, lambda it: it.rank)
weight = path(Piece, lambda it: it.weight)
tags = path(Piece, lambda it: it.tags)
text = path(Lid, lambda it: it.text)
version = path(Lid, lambda it: it.version)
lid_weight = path(Lid, lambda it: it.weight)


class Demand(NamedTuple):
    """A condition for the store, and the same rule for the model."""

    condition: Condition[Any]
    rule: Rule


class Change(NamedTuple):
    """Edits for the store, and the same change for the model."""

    edits: tuple[Edit[Any], ...]
    change: Callable[[Any], Item]


def _of(rule: Callable[[Any], bool]) -> Rule:
    return lambda item: item is not None and rule(item)


PIECE_DEMANDS = (
    Demand(count.equals(0), _of(lambda it: it.count == 0)),
    Demand(count.below(3), _of(lambda it: it.count < 3)),
    Demand(count.between(1, 4), _of(lambda it: 1 <= it.count <= 4)),
    Demand(colour.is_in("red", "green"), _of(lambda it: it.colour in ("red", "green"))),
    Demand(colour.exists(), _of(lambda it: it.colour is not None)),
    Demand(colour.missing(), lambda it: it is None or it.colour is None),
    Demand(weight.not_equals(2), lambda it: it is None or it.weight != 2),
    Demand(tags.contains("x"), _of(lambda it: it.tags is not None and "x" in it.tags)),
    Demand(
        count.at_least(1) & (colour.begins_with("b") | weight.above(1)),
        _of(
            lambda it: (
                it.count >= 1 and ((it.colour or "").startswith("b") or (it.weight is not None and it.weight > 1))
            )
        ),
    ),
    Demand(~tags.exists(), lambda it: it is None or it.tags is None),
)

LID_DEMANDS = (
    Demand(text.equals(""), _of(lambda it: it.text == "")),
    Demand(version.at_most(2), _of(lambda it: it.version <= 2)),
    Demand(text.size().above(1), _of(lambda it: len(it.text) > 1)),
)


def _without(tag: str) -> Callable[[Piece], Piece]:
    return lambda it: replace(it, tags=((it.tags or frozenset()) - {tag}) or None)


PIECE_CHANGES = (
    Change((count.add(1),), lambda it: replace(it, count=it.count + 1)),
    Change((count.add(-2), weight.set(2)), lambda it: replace(it, count=it.count - 2, weight=2)),
    Change((weight.add(3),), lambda it: replace(it, weight=(it.weight or 0) + 3)),
    Change((weight.remove(),), lambda it: replace(it, weight=None)),
    Change((colour.set("red"),), lambda it: replace(it, colour="red")),
    Change((colour.set("blue"), rank.set(7)), lambda it: replace(it, colour="blue", rank=7)),
    Change((colour.set(None),), lambda it: replace(it, colour=None)),
    Change((rank.remove(),), lambda it: replace(it, rank=None)),
    Change((tags.include("x", "y"),), lambda it: replace(it, tags=(it.tags or frozenset()) | {"x", "y"})),
    Change((tags.exclude("x"),), _without("x")),
    Change((tags.exclude("y"), count.set(5)), lambda it: replace(_without("y")(it), count=5)),
    Change((weight.set_if_missing(9),), lambda it: replace(it, weight=9 if it.weight is None else it.weight)),
)

LID_CHANGES = (
    Change((text.set("closed"),), lambda it: replace(it, text="closed")),
    Change((text.set(""), lid_weight.add(1)), lambda it: replace(it, text="", weight=(it.weight or 0) + 1)),
)

boxes = st.sampled_from(BOXES)
lids = st.builds(Lid, box=boxes, text=st.sampled_from(["", "open", "ajar"]), weight=st.none() | st.integers(0, 3))
loose_pieces = st.builds(
    Piece,
    box=boxes,
    name=st.sampled_from(NAMES),
    colour=st.none() | st.sampled_from(COLOURS),
    rank=st.none() | st.integers(0, 12),
    weight=st.none() | st.integers(-1, 3),
    count=st.integers(0, 4),
    tags=st.none() | st.sampled_from([frozenset({"x"}), frozenset({"x", "y"})]),
)
items = loose_pieces | loose_pieces | lids
# Seconds until an item expires, if it does.
lives = st.none() | st.integers(1, 6)


def key_of(item: Item) -> Key[Any]:
    """The key of an item."""
    return Piece.key(box=item.box, name=item.name) if isinstance(item, Piece) else Lid.key(box=item.box)


def demands_for(item: Item) -> st.SearchStrategy[Demand | None]:
    """A condition that fits the kind of item, or none."""
    return st.none() | st.sampled_from(PIECE_DEMANDS if isinstance(item, Piece) else LID_DEMANDS)


def changes_for(item: Item) -> st.SearchStrategy[Change]:
    """Edits that fit the kind of item."""
    return st.sampled_from(PIECE_CHANGES if isinstance(item, Piece) else LID_CHANGES)
