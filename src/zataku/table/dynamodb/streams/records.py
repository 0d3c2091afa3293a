"""Stream records as changes, and the positions that name them."""

import re
from typing import Any

from msgspec import Struct

from zataku.table.backend.errors import BadInput
from zataku.table.backend.port import RawChange
from zataku.table.backend.wire import WireItem, item_of, wire_item

_POSITION = re.compile(r"([^/]+)/([^/]+)/(\d\d)\.(\d+)", re.ASCII)
_SEQUENCE_DIGITS = 40
# The identity under which the service deletes expired items.
_EXPIRY = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}


class StreamPosition(Struct, frozen=True):
    """A record of a shard. `label` distinguishes the stream from earlier and later ones of the same table."""

    label: str
    shard: str
    sequence: str

    def __str__(self) -> str:
        # The number of digits comes first, so that the positions of one item sort as text.
        return f"{self.label}/{self.shard}/{len(self.sequence):02}.{self.sequence}"


def parse_position(position: str) -> StreamPosition:
    """The record that a position names."""
    match = _POSITION.fullmatch(position)
    if match is None or len(match[4]) != int(match[3]):
        raise BadInput(f"{position!r} is not a position of a stream. Pass one that came with a change.")
    return StreamPosition(match[1], match[2], match[4])


def stream_label(arn: str) -> str:
    """The part of a stream's ARN that distinguishes it from other streams of its table: its creation time."""
    return arn.rpartition("/")[2]


def sortable_sequence(sequence: str) -> str:
    """A sequence number as text that sorts like the number; it may have more digits than DynamoDB's numbers."""
    return sequence.zfill(_SEQUENCE_DIGITS)


def parse_record(record: dict[str, Any], label: str, shard: str) -> RawChange:
    """The change of a stream record."""
    content = record["dynamodb"]
    return RawChange(
        position=str(StreamPosition(label, shard, content["SequenceNumber"])),
        kind=record["eventName"],
        at=content["ApproximateCreationDateTime"].timestamp(),
        keys=item_of(content["Keys"]),
        old=_image(content.get("OldImage")),
        new=_image(content.get("NewImage")),
        expired=record.get("userIdentity") == _EXPIRY,
    )


def is_unchanged(record: dict[str, Any]) -> bool:
    """True for the record of a write that left the item as it was.

    AWS writes no such records. Other implementations do; leaving them out makes all behave alike. Without both images
    in the stream they cannot be recognised.
    """
    old, new = record["dynamodb"].get("OldImage"), record["dynamodb"].get("NewImage")
    if record["eventName"] != "MODIFY" or not old or not new:
        return False
    # Compared in canonical form: the spelling of a number and the order of a set do not count, types do.
    return wire_item(item_of(old)) == wire_item(item_of(new))


def _image(wire: WireItem | None) -> dict[str, Any] | None:
    return item_of(wire) if wire else None
