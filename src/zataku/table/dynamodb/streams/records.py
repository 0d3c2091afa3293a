"""Stream records as changes."""

from typing import Any

from zataku.table.backend.port import RawChange
from zataku.table.dynamodb.streams.positions import Place
from zataku.table.dynamodb.wire import WireItem, item_of, wire_item

# Who deletes an item whose time has passed, in the words of the service.
_EXPIRY = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}


def change_of(record: dict[str, Any], label: str, shard: str) -> RawChange:
    """The change that a record tells."""
    told = record["dynamodb"]
    return RawChange(
        position=str(Place(label, shard, told["SequenceNumber"])),
        kind=record["eventName"],
        at=told["ApproximateCreationDateTime"].timestamp(),
        keys=item_of(told["Keys"]),
        old=_image(told.get("OldImage")),
        new=_image(told.get("NewImage")),
        expired=record.get("userIdentity") == _EXPIRY,
    )


def changes_nothing(record: dict[str, Any]) -> bool:
    """True for a record of a write that left the item as it was.

    AWS writes no record then. Other implementations do, and are made to behave alike by leaving such records out; where
    the stream does not hold both images it cannot be told.
    """
    old, new = record["dynamodb"].get("OldImage"), record["dynamodb"].get("NewImage")
    if record["eventName"] != "MODIFY" or not old or not new:
        return False
    # Written out again, so that neither the spelling of a number nor the order of a set counts, but every type does.
    return wire_item(item_of(old)) == wire_item(item_of(new))


def _image(wire: WireItem | None) -> dict[str, Any] | None:
    return item_of(wire) if wire else None
