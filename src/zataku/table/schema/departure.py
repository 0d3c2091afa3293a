"""Where a design goes its own way."""

from msgspec import Struct


class Departure(Struct, frozen=True):
    """Where the design differs from the document it follows: what is different, why, and the figure behind it."""

    what: str
    reason: str
    figure: str = ""
