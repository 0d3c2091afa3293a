"""A stretch of sort keys as two ends in bytes."""

from typing import NamedTuple

from zataku.table.backend.errors import BadInput
from zataku.table.backend.limits import SORT_KEY_BYTES
from zataku.table.backend.port import KeyRange
from zataku.table.backend.table_schema import KeyAttribute
from zataku.table.embedded import keys


class Bounds(NamedTuple):
    """The ends of a stretch; an end may be left out, and may itself belong to the stretch or not."""

    low: bytes | None = None
    low_included: bool = True
    high: bytes | None = None
    high_included: bool = True

    def after(self, key: bytes) -> "Bounds":
        """What is left of the stretch behind a key."""
        if self.low is not None and self.low > key:
            return self
        return self._replace(low=key, low_included=False)

    def before(self, key: bytes) -> "Bounds":
        """What is left of the stretch in front of a key."""
        if self.high is not None and self.high < key:
            return self
        return self._replace(high=key, high_included=False)


def bounds_of(sort_key: KeyAttribute | None, stretch: KeyRange | None) -> Bounds:
    """The ends that a range of sort keys stands for."""
    if stretch is None:
        return Bounds()
    if sort_key is None:
        raise BadInput("The table or index has no sort key, so it has no range of them. Leave the range out.")
    low = keys.encoded(sort_key, stretch.low, SORT_KEY_BYTES)
    if stretch.sign == "begins":
        if sort_key.type == "N":
            raise BadInput(f"{sort_key.name} is a number, which has no beginning. Use between.")
        return Bounds(low, True, following(low), False)
    if stretch.sign == "between":
        high = keys.encoded(sort_key, stretch.high, SORT_KEY_BYTES)
        if high < low:
            raise BadInput("The upper end of the range lies below its lower end. Swap them.")
        return Bounds(low, True, high, True)
    if stretch.sign == "=":
        return Bounds(low, True, low, True)
    if stretch.sign in ("<", "<="):
        return Bounds(None, True, low, stretch.sign == "<=")
    return Bounds(low, stretch.sign == ">=", None)


def following(prefix: bytes) -> bytes | None:
    """The first key after all that begin with the prefix; None when there is none."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None
