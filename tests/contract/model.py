"""A store as everybody imagines it: a dictionary and a list of what happened. So simple that it is obviously right."""

from collections import defaultdict
from collections.abc import Callable
from typing import Literal, NamedTuple

from msgspec.structs import replace

from tests.support.designs.pieces import Lid, Piece

Item = Piece | Lid
Place = tuple[str, str]
Rule = Callable[[Item | None], bool]


def place_of(item: Item) -> Place:
    """Where an item lies: its box, and its place in the order of the box."""
    return (item.box, f"PIECE#{item.name}") if isinstance(item, Piece) else (item.box, "LID")


class Happened(NamedTuple):
    """One change of one item."""

    kind: Literal["INSERT", "MODIFY", "REMOVE"]
    old: Item | None
    new: Item | None
    expired: bool = False


class Rejected(Exception):
    """A condition did not hold; `lies` is what lies there."""

    def __init__(self, lies: Item | None) -> None:
        super().__init__(lies)
        self.lies = lies


class Planned(NamedTuple):
    """A write whose condition holds: what lies at the place afterwards."""

    place: Place
    after: Item | None


class Model:
    """The items, the time, and all changes of each item in order."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.items: dict[Place, Item] = {}
        self.happened: defaultdict[Place, list[Happened]] = defaultdict(list)

    # Reading

    def alive(self, place: Place) -> Item | None:
        """What a reader sees there."""
        item = self.items.get(place)
        return None if item is None or self.expired(item) else item

    def expired(self, item: Item) -> bool:
        """True when the item's time has passed."""
        return item.until is not None and item.until <= self.now

    def everything(self) -> list[Item]:
        """All that a scan sees."""
        return [item for place, item in self.items.items() if self.alive(place)]

    def box(self, box: str) -> list[Item]:
        """What a box holds, expired items that nobody has swept included, in order."""
        return [self.items[place] for place in sorted(self.items) if place[0] == box]

    def weighed(self, box: str) -> list[Item]:
        """What has a weight in a box, lightest first."""
        return sorted((item for item in self.box(box) if item.weight is not None), key=lambda item: item.weight)

    def coloured(self, colour: str) -> list[Piece]:
        """The pieces of a colour that have a rank, by rank, box and name."""
        found = [
            item
            for item in self.items.values()
            if isinstance(item, Piece) and item.colour == colour and item.rank is not None
        ]
        return sorted(found, key=lambda item: f"{item.rank:03d}#{item.box}#{item.name}")

    # Planning writes

    def put(self, item: Item, if_absent: bool, rule: Rule | None) -> Planned:
        """Write a whole item."""
        place = place_of(item)
        lies = self.items.get(place)
        if (if_absent and self.alive(place) is not None) or (rule is not None and not rule(lies)):
            raise Rejected(lies)
        return Planned(place, item)

    def update(self, place: Place, change: Callable[[Item], Item], rule: Rule | None) -> Planned:
        """Change an item that is there."""
        lies = self.items.get(place)
        if self.alive(place) is None or (rule is not None and not rule(lies)):
            raise Rejected(lies)
        assert lies is not None
        after = change(lies)
        if isinstance(after, Lid):
            after = replace(after, version=after.version + 1)
        return Planned(place, after)

    def save(self, item: Item, was: Item) -> Planned:
        """Write what differs, if nobody else did."""
        place = place_of(was)
        lies = self.items.get(place)
        changed = [name for name in item.__struct_fields__ if getattr(item, name) != getattr(was, name)]
        if isinstance(item, Lid):
            changed = [name for name in changed if name != "version"]
        if not changed:
            return Planned(place, lies)
        if lies is None:
            raise Rejected(lies)
        if isinstance(was, Lid):
            if lies.version != was.version:
                raise Rejected(lies)
            after = replace(lies, version=was.version + 1)
        else:
            if any(getattr(lies, name) != getattr(was, name) for name in changed):
                raise Rejected(lies)
            after = lies
        return Planned(place, replace(after, **{name: getattr(item, name) for name in changed}))

    def delete(self, place: Place, rule: Rule | None) -> Planned:
        """Take an item away."""
        lies = self.items.get(place)
        if rule is not None and not rule(lies):
            raise Rejected(lies)
        return Planned(place, None)

    def check(self, place: Place, there: bool, rule: Rule | None) -> Planned:
        """Demand that an item is there or not."""
        lies = self.items.get(place)
        if (self.alive(place) is not None) != there or (rule is not None and not rule(lies)):
            raise Rejected(lies)
        return Planned(place, lies)

    # Carrying out

    def apply(self, *plans: Planned, expired: bool = False) -> None:
        """Make planned writes happen."""
        for place, after in plans:
            before = self.items.get(place)
            if before == after:
                continue
            kind = "INSERT" if before is None else "REMOVE" if after is None else "MODIFY"
            self.happened[place].append(Happened(kind, before, after, expired))
            if after is None:
                del self.items[place]
            else:
                self.items[place] = after

    def sweep(self) -> int:
        """Delete what has expired."""
        gone = [Planned(place, None) for place, item in self.items.items() if self.expired(item)]
        self.apply(*gone, expired=True)
        return len(gone)
