"""Places in a stream: which stream, which shard, which record."""

import re

from msgspec import Struct

from zataku.table.backend.errors import BadInput

_WRITTEN = re.compile(r"([^/]+)/([^/]+)/(\d\d)\.(\d+)", re.ASCII)
_DIGITS = 40


class Place(Struct, frozen=True):
    """A record of a shard. `label` tells the stream from earlier and later ones of the same table."""

    label: str
    shard: str
    sequence: str

    def __str__(self) -> str:
        # The number of digits comes first, so that the places of one item sort as text.
        return f"{self.label}/{self.shard}/{len(self.sequence):02}.{self.sequence}"


def place_of(position: str) -> Place:
    """The place that a position names."""
    written = _WRITTEN.fullmatch(position)
    if written is None or len(written[4]) != int(written[3]):
        raise BadInput(f"{position!r} is not a position of a stream. Pass one that came with a change.")
    return Place(written[1], written[2], written[4])


def label_of(arn: str) -> str:
    """The part of a stream's name that tells it from the other streams of its table: when it was made."""
    return arn.rpartition("/")[2]


def ordinal(sequence: str) -> str:
    """A sequence number as text that sorts like the number; it may have more digits than a number of the table."""
    return sequence.zfill(_DIGITS)
