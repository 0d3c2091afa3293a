"""Writes as values: what is to be written together, on which conditions, before any store is asked.

@rooms.write(budget=Budget(writes=4))
def take_seat(room: Room, seat: Seat) -> Plan[Room]:
    \"\"\"Somebody sits down while a seat is free.\"\"\"
    return Plan(update(room_key, free.add(-1), when=free.above(0)), put(seat, if_absent=True))

await store.write(take_seat(room, seat))
"""

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeAlias, TypeVar

from msgspec import Struct

from zataku.table.budget import Budget
from zataku.table.entity import Entity, Key, binding_of
from zataku.table.errors import BadInput, DesignError
from zataku.table.path import Condition, Edit

if TYPE_CHECKING:
    from zataku.table.design import Table

P = ParamSpec("P")
E = TypeVar("E", bound=Entity)
Verb: TypeAlias = Literal["put", "save", "update", "delete", "check", "check absent"]


class Step(Generic[E]):
    """One item of a plan: what happens to it, and what must hold for it."""

    __slots__ = ("edits", "entity", "if_absent", "key", "kind", "verb", "was", "when")

    def __init__(
        self,
        verb: Verb,
        kind: type[E],
        *,
        key: Key[E] | None = None,
        entity: E | None = None,
        was: E | None = None,
        edits: Sequence[Edit[E]] = (),
        when: Condition[E] | None = None,
        if_absent: bool = False,
    ) -> None:
        self.verb: Verb = verb
        self.kind = kind
        self.key = key
        self.entity = entity
        self.was = was
        self.edits = tuple(edits)
        self.when = when
        self.if_absent = if_absent

    def __repr__(self) -> str:
        return f"{self.verb} {self.kind.__name__}"


def put(entity: E, *, when: Condition[E] | None = None, if_absent: bool = False) -> Step[E]:
    """Write a whole item; `if_absent` refuses to replace one."""
    return Step("put", type(entity), entity=entity, when=when, if_absent=if_absent)


def save(entity: E, *, was: E) -> Step[E]:
    """Write what differs between two states of an item, if the old one still holds."""
    return Step("save", type(entity), entity=entity, was=was)


def update(key: Key[E], *edits: Edit[E], when: Condition[E] | None = None) -> Step[E]:
    """Change parts of an item that is there."""
    return Step("update", key.entity, key=key, edits=edits, when=when)


def delete(key: Key[E], *, when: Condition[E] | None = None) -> Step[E]:
    """Take an item away."""
    return Step("delete", key.entity, key=key, when=when)


def check(key: Key[E], when: Condition[E] | None = None) -> Step[E]:
    """Demand that an item is there, and a condition of it, without writing it."""
    return Step("check", key.entity, key=key, when=when)


def check_absent(key: Key[E]) -> Step[E]:
    """Demand that an item is not there."""
    return Step("check absent", key.entity, key=key)


class Plan(Generic[E]):
    """Steps that happen together or not at all. A single one is a plain conditional write, at half the price."""

    __slots__ = ("pattern", "steps")

    def __init__(self, first: Step[E], *others: Step[Any]) -> None:
        self.steps: tuple[Step[Any], ...] = (first, *others)
        self.pattern: str | None = None

    def __repr__(self) -> str:
        return f"Plan({', '.join(map(repr, self.steps))})"

    @property
    def label(self) -> str:
        """The name under which its units are summed."""
        table = binding_of(self.steps[0].kind).table.name
        return f"{table}.{self.pattern or ' + '.join(map(repr, self.steps))}"


class WriteFacts(Struct, frozen=True):
    """What the registry knows of a declared write without calling it."""

    name: str
    doc: str
    budget: Budget | None
    example: dict[str, Any] | None


class WritePattern(Generic[P, E]):
    """A declared write. Call it with its arguments to get a `Plan`."""

    def __init__(self, function: Callable[P, Plan[E]], facts: WriteFacts, table: "Table") -> None:
        self.function = function
        self.facts = facts
        self.table = table
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Plan[E]:
        plan = self.function(*args, **kwargs)
        plan.pattern = self.facts.name
        return plan


def declared_write(
    table: "Table", function: Callable[P, Plan[E]], budget: Budget | None, example: dict[str, Any] | None
) -> WritePattern[P, E]:
    """Register a write under its function's name."""
    name, doc = function.__name__, (function.__doc__ or "").strip()
    if not doc:
        raise DesignError(f"The write {name} has no docstring. Say in a sentence what it does.")
    if name in table.writes or name in table.patterns:
        raise DesignError(f"{table.name} has two access patterns named {name}.")
    made = WritePattern(function, WriteFacts(name, doc, budget, example), table)
    table.writes[name] = made
    return made


def lone_check(step: Step[Any]) -> BadInput:
    """What to say of a plan that only looks."""
    return BadInput(f"A plan that only does `{step!r}` writes nothing. Read the item instead.")
