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
stock = path(Piece, lambda it: it.stock)
tags = path(Piece, lambda it: it.tags)
text = path(Lid, lambda it: it.text)
version = path(Lid, lambda it: it.version)
lid_weight = path(Lid, lambda it: it.weight)


class ModelledCondition(NamedTuple):
    """A condition for the store, and the same condition for the model."""

    when: Condition[Any]
    holds: Rule


class ModelledChange(NamedTuple):
    """Edits for the store, and the same change for the model."""

    edits: tuple[Edit[Any], ...]
    apply: Callable[[Any], Item]


def _existing(rule: Callable[[Any], bool]) -> Rule:
    return lambda item: item is not None and rule(item)


PIECE_CONDITIONS = (
    ModelledCondition(count.equals(0), _existing(lambda piece: piece.count == 0)),
    ModelledCondition(count.below(3), _existing(lambda piece: piece.count < 3)),
    ModelledCondition(count.between(1, 4), _existing(lambda piece: 1 <= piece.count <= 4)),
    ModelledCondition(colour.is_in("red", "green"), _existing(lambda piece: piece.colour in ("red", "green"))),
    ModelledCondition(colour.exists(), _existing(lambda piece: piece.colour is not None)),
    ModelledCondition(colour.missing(), lambda piece: piece is None or piece.colour is None),
    ModelledCondition(weight.not_equals(2), lambda piece: piece is None or piece.weight != 2),
    ModelledCondition(tags.contains("x"), _existing(lambda piece: piece.tags is not None and "x" in piece.tags)),
    ModelledCondition(
        count.at_least(1) & (colour.begins_with("b") | weight.above(1)),
        _existing(
            lambda piece: (
                piece.count >= 1
                and ((piece.colour or "").startswith("b") or (piece.weight is not None and piece.weight > 1))
            )
        ),
    ),
    ModelledCondition(~tags.exists(), lambda piece: piece is None or piece.tags is None),
)

LID_CONDITIONS = (
    ModelledCondition(text.equals(""), _existing(lambda lid: lid.text == "")),
    ModelledCondition(version.at_most(2), _existing(lambda lid: lid.version <= 2)),
    ModelledCondition(text.size().above(1), _existing(lambda lid: len(lid.text) > 1)),
)


def _without(tag: str) -> Callable[[Piece], Piece]:
    return lambda piece: replace(piece, tags=((piece.tags or frozenset()) - {tag}) or None)


PIECE_CHANGES = (
    ModelledChange((count.add(1),), lambda piece: replace(piece, count=piece.count + 1)),
    ModelledChange((count.add(-2), weight.set(2)), lambda piece: replace(piece, count=piece.count - 2, weight=2)),
    ModelledChange((weight.add(3),), lambda piece: replace(piece, weight=(piece.weight or 0) + 3)),
    ModelledChange((weight.remove(),), lambda piece: replace(piece, weight=None)),
    ModelledChange((colour.set("red"),), lambda piece: replace(piece, colour="red")),
    ModelledChange((colour.set("blue"), rank.set(7)), lambda piece: replace(piece, colour="blue", rank=7)),
    ModelledChange((colour.set(None),), lambda piece: replace(piece, colour=None)),
    ModelledChange((rank.remove(),), lambda piece: replace(piece, rank=None)),
    ModelledChange(
        (tags.include("x", "y"),), lambda piece: replace(piece, tags=(piece.tags or frozenset()) | {"x", "y"})
    ),
    ModelledChange((tags.include("z"),), lambda piece: replace(piece, tags=(piece.tags or frozenset()) | {"z"})),
    ModelledChange((tags.exclude("x"),), _without("x")),
    ModelledChange((stock.add(2),), lambda piece: replace(piece, stock=piece.stock + 2)),
    ModelledChange(
        (stock.add(-1), count.add(1)), lambda piece: replace(piece, stock=piece.stock - 1, count=piece.count + 1)
    ),
    ModelledChange((tags.exclude("y"), count.set(5)), lambda piece: replace(_without("y")(piece), count=5)),
    ModelledChange(
        (weight.set_if_missing(9),), lambda piece: replace(piece, weight=9 if piece.weight is None else piece.weight)
    ),
)

LID_CHANGES = (
    ModelledChange((text.set("closed"),), lambda lid: replace(lid, text="closed")),
    ModelledChange((text.set(""), lid_weight.add(1)), lambda lid: replace(lid, text="", weight=(lid.weight or 0) + 1)),
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
    stock=st.integers(0, 3),
    tags=st.none() | st.sampled_from([frozenset({"x"}), frozenset({"x", "y"})]),
)
items = loose_pieces | loose_pieces | lids
# Seconds until an item expires; None for an item that does not.
lifetimes = st.none() | st.integers(1, 6)


def key_of(item: Item) -> Key[Any]:
    """The key of an item."""
    return Piece.key(box=item.box, name=item.name) if isinstance(item, Piece) else Lid.key(box=item.box)


def conditions_for(item: Item) -> st.SearchStrategy[ModelledCondition | None]:
    """A condition on the fields of the item's entity, or None."""
    return st.none() | st.sampled_from(PIECE_CONDITIONS if isinstance(item, Piece) else LID_CONDITIONS)


def changes_for(item: Item) -> st.SearchStrategy[ModelledChange]:
    """Edits of the fields of the item's entity."""
    return st.sampled_from(PIECE_CHANGES if isinstance(item, Piece) else LID_CHANGES)
