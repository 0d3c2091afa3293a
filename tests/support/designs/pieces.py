"""Boxes of pieces: the small design of the state machine and its reference model."""

from typing import Annotated

from msgspec import Meta

from zataku.table import NEW_AND_OLD, Entity, Span, Table, number

pieces = Table("BoxesOfPieces", pk="PK", sk="SK", ttl="until", stream=NEW_AND_OLD, transactions=True)
by_colour = pieces.index("ColourIndex", pk="colourPK", sk="colourSK")
by_weight = pieces.local_index("WeightIndex", sk=number("weight"))


@pieces.entity(
    pk="BOX#{box}",
    sk="PIECE#{name}",
    index={"colourPK": "COLOUR#{colour}", "colourSK": "{rank:03d}#{box}#{name}"},
)
class Piece(Entity, frozen=True, kw_only=True, tag_field="kind", tag="PIECE"):
    """A piece without a version; in the index of colours when it has a colour and a rank."""

    box: str
    name: str
    colour: str | None = None
    rank: int | None = None
    weight: int | None = None
    count: int = 0
    stock: Annotated[int, Meta(ge=0, le=3)] = 0
    tags: Annotated[frozenset[str], Meta(max_length=2)] | None = None
    until: int | None = None


@pieces.entity(pk="BOX#{box}", sk="LID", version="version")
class Lid(Entity, frozen=True, kw_only=True, tag_field="kind", tag="LID"):
    """The lid of a box, which has a version."""

    box: str
    text: str = ""
    weight: int | None = None
    until: int | None = None
    version: int = 0


@pieces.query(returns=(Piece, Lid), strong=True)
def box_of(box: str) -> Span:
    """All items of a box."""
    return pieces.partition(f"BOX#{box}")


@pieces.query(returns=(Piece, Lid), strong=True)
def box_back(box: str) -> Span:
    """All items of a box, last first."""
    return pieces.partition(f"BOX#{box}").newest_first()


@pieces.query(returns=(Piece, Lid), strong=True)
def weighed(box: str) -> Span:
    """The items of a box that have a weight, lightest first."""
    return by_weight.partition(f"BOX#{box}")


@pieces.query(returns=(Piece, Lid), strong=True)
def weighed_back(box: str) -> Span:
    """The items of a box that have a weight, heaviest first."""
    return by_weight.partition(f"BOX#{box}").newest_first()


@pieces.query(returns=Piece)
def coloured(colour: str) -> Span:
    """The pieces of a colour, lowest rank first."""
    return by_colour.partition(f"COLOUR#{colour}")


@pieces.query(returns=Piece)
def coloured_back(colour: str) -> Span:
    """The pieces of a colour, highest rank first."""
    return by_colour.partition(f"COLOUR#{colour}").newest_first()
