"""Write plans: the writes of one transaction, or one conditional write, as values that a store executes.

@rooms.write(budget=Budget(writes=4))
def take_seat(room: Room, seat: Seat) -> Plan[Room]:
    \"\"\"Take a seat while one is free.\"\"\"
    return Plan(update(room_key, free.add(-1), when=free.above(0)), put(seat, if_absent=True))

await store.write(take_seat(room, seat))
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeAlias, TypeVar

from msgspec import Struct

from zataku.table.backend.errors import BadInput, DesignError
from zataku.table.schema.design_notes import Budget
from zataku.table.schema.entity import Entity, Key, binding_of
from zataku.table.schema.field_path import Condition, Edit

if TYPE_CHECKING:
    from zataku.table.schema.table import Table

P = ParamSpec("P")
E = TypeVar("E", bound=Entity)


class Put(Struct, Generic[E], frozen=True):
    """Write a whole item."""

    entity: E
    when: Condition[E] | None = None
    if_absent: bool = False

    @property
    def kind(self) -> type[E]:
        """The kind of item."""
        return type(self.entity)


class Save(Struct, Generic[E], frozen=True):
    """Write what differs between two states of an item, if the old one still holds."""

    entity: E
    was: E

    @property
    def kind(self) -> type[E]:
        """The kind of item."""
        return type(self.entity)


class _AtKey(Struct, Generic[E], frozen=True):
    """A step about the item of a key."""

    key: Key[E]

    @property
    def kind(self) -> type[E]:
        """The kind of item."""
        return self.key.entity


class Update(_AtKey[E], frozen=True):
    """Change fields of an existing item."""

    edits: tuple[Edit[E], ...]
    when: Condition[E] | None = None


class Upsert(Update[E], frozen=True):
    """Change fields of an item, or create it from the changes."""


class Delete(_AtKey[E], frozen=True):
    """Delete an item."""

    when: Condition[E] | None = None


class Check(_AtKey[E], frozen=True):
    """Require that an item exists and meets a condition."""

    when: Condition[E] | None = None


class CheckAbsent(_AtKey[E], frozen=True):
    """Require that no such item exists."""


Step: TypeAlias = Put[E] | Save[E] | Update[E] | Upsert[E] | Delete[E] | Check[E] | CheckAbsent[E]
"""One item of a plan: the write, and its condition."""


def put(entity: E, *, when: Condition[E] | None = None, if_absent: bool = False) -> Put[E]:
    """Write a whole item; `if_absent` refuses to replace one."""
    return Put(entity, when, if_absent)


def save(entity: E, *, was: E) -> Save[E]:
    """Write what differs between two states of an item, if the old one still holds."""
    return Save(entity, was)


def update(key: Key[E], *edits: Edit[E], when: Condition[E] | None = None) -> Update[E]:
    """Change fields of an existing item."""
    return Update(key, edits, when)


def upsert(key: Key[E], *edits: Edit[E], when: Condition[E] | None = None) -> Upsert[E]:
    """Change fields of an item, or create it from the changes; `when` is about an item that exists."""
    return Upsert(key, edits, when)


def delete(key: Key[E], *, when: Condition[E] | None = None) -> Delete[E]:
    """Delete an item."""
    return Delete(key, when)


def check(key: Key[E], when: Condition[E] | None = None) -> Check[E]:
    """Require that an item exists and meets a condition, without writing it."""
    return Check(key, when)


def check_absent(key: Key[E]) -> CheckAbsent[E]:
    """Require that no such item exists."""
    return CheckAbsent(key)


class Plan(Generic[E]):
    """Steps that are written together or not at all. A single one is a conditional write, at half the price."""

    __slots__ = ("label", "steps")

    def __init__(self, first: Step[E], *others: Step[Any]) -> None:
        steps: tuple[Step[Any], ...] = (first, *others)
        if all(isinstance(step, Check | CheckAbsent) for step in steps):
            raise BadInput("A plan of checks alone writes nothing. Read the items instead: `store.snapshot`.")
        self.steps = steps
        # The name under which its units are summed; a declared write has its own.
        names = dict.fromkeys(_step_name(step) for step in steps)
        self.label = f"{binding_of(first.kind).table.name}.{' + '.join(names)}"

    def __repr__(self) -> str:
        return f"Plan({', '.join(map(_step_name, self.steps))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.steps == other.steps  # pyright: ignore[reportUnknownMemberType]

    def __hash__(self) -> int:
        return hash(tuple(map(_step_name, self.steps)))

    def with_label(self, label: str) -> "Plan[E]":
        """The same plan under another label."""
        plan: Plan[E] = Plan(*self.steps)
        plan.label = label
        return plan


def _step_name(step: Step[Any]) -> str:
    verb = "check absent" if isinstance(step, CheckAbsent) else type(step).__name__.lower()
    return f"{verb} {step.kind.__name__}"


class WriteMetadata(Struct, frozen=True):
    """What a table records about a declared write: no call is needed to read it."""

    name: str
    doc: str
    budget: Budget | None
    example: dict[str, Any] | None


class WritePattern(Generic[P, E]):
    """A declared write. Call it with its arguments to get a `Plan`."""

    def __init__(self, function: Callable[P, Plan[E]], metadata: WriteMetadata, table: "Table") -> None:
        self.function = function
        self.metadata = metadata
        self.table = table
        self._label = f"{table.name}.{metadata.name}"
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Plan[E]:
        return self.function(*args, **kwargs).with_label(self._label)


def register_write(
    table: "Table", function: Callable[P, Plan[E]], budget: Budget | None, example: dict[str, Any] | None
) -> WritePattern[P, E]:
    """Register a write under its function's name."""
    name, doc = function.__name__, (function.__doc__ or "").strip()
    if not doc:
        raise DesignError(f"The write {name} has no docstring. Say in a sentence what it does.")
    table.require_new_name(name)
    pattern = WritePattern(function, WriteMetadata(name, doc, budget, example), table)
    table.writes[name] = pattern
    return pattern
