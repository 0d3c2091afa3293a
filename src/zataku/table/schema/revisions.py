"""Revisions of an entity's shape, and the steps that upgrade an item from one to the next.

    def name_split(room: Attributes) -> None:
        room["first"], _, room["last"] = room.pop("name").partition(" ")

    @rooms.entity(pk="ROOM#{room_id}", sk="META", revision=2, upgrades={1: name_split})

A step changes the attributes of one item from its revision to the next and does nothing else: the same attributes
always give the same result. It gets the stored attributes, under their names on disk. Index keys are rendered from the
fields after the last step; only an `InKey` field is read from its key, so a step that changes one writes that key.
The key of the item and its tag do not change.
"""

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from copy import deepcopy
from typing import TypeAlias

from zataku.table.backend.errors import DesignError, ItemUnreadable, TableError
from zataku.table.backend.values import Item, Value, normalize


class Attributes(MutableMapping[str, Value]):
    """The attributes of one item by their names on disk, for a step to change.

    `missed` has the names that a step looked up and did not find, since the result depends on their absence. Where an
    index gives only the attributes `held`, the lookup of any other raises, since it may exist or not.
    """

    __slots__ = ("_held", "_item", "missed")

    def __init__(self, item: Item, held: frozenset[str] | None = None) -> None:
        self._item = item
        self._held = held
        self.missed: set[str] = set()

    def __getitem__(self, name: str) -> Value:
        if name not in self._item:
            if self._held is not None and name not in self._held:
                raise _NotHeldError(name)
            self.missed.add(name)
        return self._item[name]

    def __setitem__(self, name: str, value: Value) -> None:
        self._item[name] = value

    def __delitem__(self, name: str) -> None:
        del self._item[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._item)

    def __len__(self) -> int:
        return len(self._item)

    def __repr__(self) -> str:
        return f"Attributes({self._item!r})"


class _NotHeldError(Exception):
    """A step looked up what the index does not hold. Not a KeyError, which `get` would turn into a default."""


Upgrade: TypeAlias = Callable[[Attributes], None]


class Revisions:
    """The revisions of one entity, of which the last is the current one."""

    def __init__(
        self,
        entity: str,
        number: int,
        attribute: str,
        steps: Mapping[int, Upgrade] | None = None,
        keys: Sequence[str] = (),
    ) -> None:
        steps = steps or {}
        if isinstance(number, bool) or number < 1:
            raise DesignError(f"{entity}: revisions are counted from 1, not {number}.")
        if set(steps) != set(range(1, number)):
            expected = ", ".join(map(str, range(1, number))) or "no"
            raise DesignError(
                f"{entity} is at revision {number}, so it needs {expected} upgrades: one from each before."
            )
        self.entity = entity
        self.number = number
        self.attribute = attribute
        self._keys = tuple(keys)
        self._steps = tuple(steps[earlier] for earlier in range(1, number))

    def revision_of(self, item: Item) -> int:
        """The revision that an item was written in: the first, when it has no such attribute."""
        return self.checked(item.get(self.attribute, 1))

    def checked(self, revision: object) -> int:
        """The same revision, if this program can read it."""
        if type(revision) is not int or revision < 1:
            raise ItemUnreadable(
                f"{self.attribute} of a {self.entity} is {revision!r}, which is not a revision number."
            )
        if revision > self.number:
            raise ItemUnreadable(
                f"A {self.entity} was written in revision {revision}, but this program reads revisions up to "
                f"{self.number}. Update the program; it leaves the item as it is.",
                found=revision,
                known=self.number,
            )
        return revision

    def upgraded(self, item: Item, held: frozenset[str] | None = None) -> tuple[Item, frozenset[str]]:
        """The item in the current shape, and the names whose absence that depends on.

        `held` has the names that an index holds of it, None for a whole item.
        """
        first, missed = self.revision_of(item), frozenset[str]()
        # Steps may change members of lists and maps, and the caller still needs the item as it was.
        upgraded: Item = deepcopy(item)
        for revision in range(first, self.number):
            attributes = Attributes(upgraded, held)
            self._apply(revision, attributes, item)
            missed |= attributes.missed
        upgraded[self.attribute] = self.number
        return upgraded, missed.difference(item)

    def _apply(self, revision: int, attributes: Attributes, item: Item) -> None:
        upgrade = f"The upgrade of {self.entity} from revision {revision}"
        step = self._steps[revision - 1]
        try:
            result: object = step(attributes)
            # A step may set any Python value, and a table holds only some.
            for name, value in attributes.items():
                attributes[name] = normalize(value)
        except _NotHeldError as problem:
            raise ItemUnreadable(
                f"{upgrade} needs {problem}, which this index does not hold. "
                "Run `zataku store migrate`, then read again.",
                attribute=str(problem),
            ) from None
        except TableError as problem:
            raise ItemUnreadable(f"{upgrade} gives a value that no table can hold: {problem.message}") from problem
        except Exception as problem:
            raise ItemUnreadable(
                f"{upgrade} failed for the item ({self._key_text(item)}): {problem!r}. Correct the step or the item.",
                f"{upgrade} failed: {problem!r}.",
            ) from problem
        if result is not None:
            raise ItemUnreadable(
                f"{upgrade} returns something. Change the given attributes in place and return nothing."
            )

    def _key_text(self, item: Item) -> str:
        return ", ".join(repr(item.get(key)) for key in self._keys)
