"""Permission matrix: the actions that each function may perform on each table.

    matrix = PermissionMatrix({
        "PostCommentFunction": [Grant(comments, READ_WRITE), Grant(connections, READ | DELETE), Grant(rooms, CHECK)],
        "GetRoomCommentsFunction": [Grant(comments, READ)],
    })
    store = unrestricted.restricted(matrix["PostCommentFunction"])

The same matrix makes IAM policies (`zataku.table.export.cloudformation.policies`) and store handles that refuse
what is not granted.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from zataku.table.backend.errors import DesignError
from zataku.table.backend.table_schema import IndexSchema
from zataku.table.schema.table import Index, Table

Action: TypeAlias = Literal[
    "GetItem",
    "BatchGetItem",
    "Query",
    "Scan",
    "ConditionCheckItem",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "BatchWriteItem",
    "DescribeStream",
    "GetRecords",
    "GetShardIterator",
]
ACTIONS: tuple[Action, ...] = get_args(Action)
Actions: TypeAlias = frozenset[Action]

# The condition check of a transaction counts as reading the item, as in AWS's own grants.
READ: Actions = frozenset({"GetItem", "BatchGetItem", "Query", "Scan", "ConditionCheckItem"})
WRITE: Actions = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"})
READ_WRITE: Actions = READ | WRITE
CHECK: Actions = frozenset({"ConditionCheckItem"})
DELETE: Actions = frozenset({"DeleteItem"})
STREAM: Actions = frozenset({"DescribeStream", "GetRecords", "GetShardIterator"})

# Actions on an index as well as on its table.
INDEX_ACTIONS: Actions = frozenset({"Query", "Scan"})

# Descriptions of sets of actions, largest first, so that a grant is described in the fewest words.
_DESCRIPTIONS: tuple[tuple[str, Actions], ...] = (
    ("read and write", READ_WRITE),
    ("read", READ),
    ("write", WRITE),
    ("read the stream", STREAM),
    ("condition check", CHECK),
    ("delete", DELETE),
)


class Grant:
    """The actions that a function may perform on one table, and the indexes that it may read."""

    __slots__ = ("actions", "indexes", "table")

    def __init__(self, table: Table, actions: Actions, indexes: tuple[Index, ...] | Literal["all"] = "all") -> None:
        unknown = sorted(set(actions) - set(ACTIONS))
        if unknown or not actions:
            raise DesignError(
                f"A grant on {table.name} names {', '.join(unknown) or 'no action'}. It takes: {', '.join(ACTIONS)}."
            )
        if actions & STREAM and table.stream is None:
            raise DesignError(f"{table.name} has no stream to read. Declare it with `stream=`, or omit the action.")
        named = tuple(table.indexes.values()) if indexes == "all" else indexes
        foreign = [index for index in named if index.table is not table]
        if foreign:
            raise DesignError(f"A grant on {table.name} names {foreign[0]!r}, an index of another table.")
        self.table = table
        self.actions = frozenset(actions)
        self.indexes = tuple(index.schema for index in dict.fromkeys(named))

    def __repr__(self) -> str:
        return f"Grant({self.table.name}, {self.description})"

    def allows(self, action: Action, index: IndexSchema | None = None) -> bool:
        """True when the action is granted, on the table or on one of its indexes."""
        if action not in self.actions:
            return False
        return index is None or (
            action in INDEX_ACTIONS and any(index.name == granted.name for granted in self.indexes)
        )

    @property
    def description(self) -> str:
        """The actions in words, such as `read and write` or `read, delete`."""
        remaining, parts = self.actions, list[str]()
        for description, actions in _DESCRIPTIONS:
            if actions <= remaining:
                parts.append(description)
                remaining = remaining - actions
        return ", ".join([*parts, *(action for action in ACTIONS if action in remaining)])


class Permissions(Struct, frozen=True):
    """One row of the matrix: a function and its grants."""

    function: str
    grants: tuple[Grant, ...]

    def on(self, table: Table) -> Grant | None:
        """The grant on a table, if there is one."""
        return next((grant for grant in self.grants if grant.table is table), None)


class PermissionMatrix:
    """The permissions of all functions of a system, by function name."""

    def __init__(self, functions: Mapping[str, Sequence[Grant]]) -> None:
        if not functions:
            raise DesignError("The permission matrix has no functions and grants nothing. Leave it out.")
        for name, grants in functions.items():
            _check(name, grants)
        self._permissions = {name: Permissions(name, tuple(grants)) for name, grants in functions.items()}

    def __getitem__(self, function: str) -> Permissions:
        try:
            return self._permissions[function]
        except KeyError:
            functions = ", ".join(self._permissions)
            raise DesignError(f"The permission matrix has no function {function!r}. It has: {functions}.") from None

    def __iter__(self) -> Iterator[Permissions]:
        return iter(self._permissions.values())

    def __len__(self) -> int:
        return len(self._permissions)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every table that some function has a grant on, once."""
        return tuple(dict.fromkeys(grant.table for permissions in self for grant in permissions.grants))


def _check(name: str, grants: Sequence[Grant]) -> None:
    if not name or not all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in name):
        raise DesignError(f"A function is named with letters, digits, hyphens and underscores, not {name!r}.")
    if not grants:
        raise DesignError(f"{name} has no grants. Give it some, or leave it out of the permission matrix.")
    tables = [grant.table for grant in grants]
    twice = next((table for table in tables if tables.count(table) > 1), None)
    if twice is not None:
        raise DesignError(f"{name} has two grants on {twice.name}. Combine their actions in one.")
