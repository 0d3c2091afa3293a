"""Reference model of a store: a dictionary of items and a list of changes, simple enough to be obviously right."""

from collections import defaultdict
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from tests.support.designs.pieces import Lid, Piece

Item = Piece | Lid
ModelKey = tuple[str, str]
Rule = Callable[[Item | None], bool]


def key_in_model(item: Item) -> ModelKey:
    """The key of an item in the model: its box, and its sort key in the box."""
    return (item.box, f"PIECE#{item.name}") if isinstance(item, Piece) else (item.box, "LID")


def fits(item: Item) -> bool:
    """True when every field is within its bounds."""
    try:
        msgspec.convert(msgspec.to_builtins(item), type(item))
    except msgspec.ValidationError:
        return False
    return True


class ModelChange(NamedTuple):
    """One change of one item."""

    kind: Literal["INSERT", "MODIFY", "REMOVE"]
    old: Item | None
    new: Item | None
    expired: bool = False


class ModelConditionFailed(Exception):
    """A condition did not hold, or a field would leave its bounds; `current` is the stored item."""

    def __init__(self, current: Item | None, code: str = "condition_failed") -> None:
        super().__init__(current)
        self.current = current
        self.code = code


class ModelWrite(NamedTuple):
    """A write whose condition holds: the item stored at the key afterwards, or None."""

    key: ModelKey
    after: Item | None


class Model:
    """The items, the time, and all changes of each item in order."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.items: dict[ModelKey, Item] = {}
        self.changes: defaultdict[ModelKey, list[ModelChange]] = defaultdict(list)

    # Reads

    def alive(self, key: ModelKey) -> Item | None:
        """The item at a key, unless it has expired."""
        item = self.items.get(key)
        return None if item is None or self.expired(item) else item

    def expired(self, item: Item) -> bool:
        """True when the item has expired."""
        return item.until is not None and item.until <= self.now

    def all_items(self) -> list[Item]:
        """The items that a scan returns, in any order."""
        return [item for key, item in self.items.items() if self.alive(key)]

    def box(self, box: str) -> list[Item]:
        """The items of a box in order, including expired items that are not swept yet."""
        return [self.items[key] for key in sorted(self.items) if key[0] == box]

    def weighed(self, box: str) -> list[Item]:
        """The items of a box that have a weight, lightest first."""
        return sorted((item for item in self.box(box) if item.weight is not None), key=lambda item: item.weight)

    def coloured(self, colour: str) -> list[Piece]:
        """The pieces of a colour that have a rank, by rank, box and name."""
        pieces = [
            item
            for item in self.items.values()
            if isinstance(item, Piece) and item.colour == colour and item.rank is not None
        ]
        return sorted(pieces, key=lambda item: f"{item.rank:03d}#{item.box}#{item.name}")

    # Planned writes

    def put(self, item: Item, if_absent: bool, rule: Rule | None) -> ModelWrite:
        """Write a whole item."""
        key = key_in_model(item)
        current = self.items.get(key)
        if (if_absent and self.alive(key) is not None) or (rule is not None and not rule(current)):
            raise ModelConditionFailed(current)
        return ModelWrite(key, item)

    def update(self, key: ModelKey, change: Callable[[Item], Item], rule: Rule | None) -> ModelWrite:
        """Change an existing item."""
        current = self.items.get(key)
        if self.alive(key) is None or (rule is not None and not rule(current)):
            raise ModelConditionFailed(current)
        assert current is not None
        after = change(current)
        if not fits(after):
            raise ModelConditionFailed(current, "out_of_bounds")
        if isinstance(after, Lid):
            after = replace(after, version=after.version + 1)
        return ModelWrite(key, after)

    def save(self, item: Item, was: Item) -> ModelWrite:
        """Write the changed fields, if the item is unchanged since it was read."""
        key = key_in_model(was)
        current = self.items.get(key)
        changed = [name for name in item.__struct_fields__ if getattr(item, name) != getattr(was, name)]
        if isinstance(item, Lid):
            changed = [name for name in changed if name != "version"]
        if not changed:
            return ModelWrite(key, current)
        if current is None:
            raise ModelConditionFailed(current)
        if isinstance(was, Lid):
            if current.version != was.version:
                raise ModelConditionFailed(current)
            after = replace(current, version=was.version + 1)
        else:
            if any(getattr(current, name) != getattr(was, name) for name in changed):
                raise ModelConditionFailed(current)
            after = current
        return ModelWrite(key, replace(after, **{name: getattr(item, name) for name in changed}))

    def delete(self, key: ModelKey, rule: Rule | None) -> ModelWrite:
        """Delete an item."""
        current = self.items.get(key)
        if rule is not None and not rule(current):
            raise ModelConditionFailed(current)
        return ModelWrite(key, None)

    def check(self, key: ModelKey, exists: bool, rule: Rule | None) -> ModelWrite:
        """Check that an item exists, or that it does not."""
        current = self.items.get(key)
        if (self.alive(key) is not None) != exists or (rule is not None and not rule(current)):
            raise ModelConditionFailed(current)
        return ModelWrite(key, current)

    # Applied writes

    def apply(self, *plans: ModelWrite, expired: bool = False) -> None:
        """Apply planned writes."""
        for key, after in plans:
            before = self.items.get(key)
            if before == after:
                continue
            kind = "INSERT" if before is None else "REMOVE" if after is None else "MODIFY"
            self.changes[key].append(ModelChange(kind, before, after, expired))
            if after is None:
                del self.items[key]
            else:
                self.items[key] = after

    def sweep(self) -> int:
        """Delete expired items; returns their number."""
        deletions = [ModelWrite(key, None) for key, item in self.items.items() if self.expired(item)]
        self.apply(*deletions, expired=True)
        return len(deletions)
