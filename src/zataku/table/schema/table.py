"""The declaration of a table: keys, indexes, entities and access patterns, reading like its design document."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, overload

from zataku.table.backend.errors import DesignError
from zataku.table.backend.limits import GLOBAL_INDEXES, LOCAL_INDEXES
from zataku.table.backend.table_schema import (
    ALL,
    Capacity,
    Encryption,
    IndexSchema,
    KeyAttribute,
    OnDemand,
    Projection,
    StreamView,
    TableSchema,
)
from zataku.table.backend.values import KeyType, KeyValue
from zataku.table.schema.access_pattern import (
    ItemPattern,
    QueryPattern,
    Span,
    partition_span,
    register_item,
    register_query,
)
from zataku.table.schema.alarm import Alarm, check_alarms
from zataku.table.schema.codec import field_markers, stored_fields
from zataku.table.schema.declaration_checks import check_ttl
from zataku.table.schema.design_notes import Budget, Waiver
from zataku.table.schema.entity import IN_KEY, Entity, Key, View, binding_of, bindings
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.plan import Plan, WritePattern, register_write
from zataku.table.schema.revised_bindings import RevisedBinding
from zataku.table.schema.revisions import Upgrade

E = TypeVar("E", bound=Entity)
V = TypeVar("V", bound=View)
R = TypeVar("R", bound=Entity | View)
R2 = TypeVar("R2", bound=Entity | View)
R3 = TypeVar("R3", bound=Entity | View)
R4 = TypeVar("R4", bound=Entity | View)
P = ParamSpec("P")

KeyDeclaration = str | KeyAttribute
Deletion = Literal["Retain", "Delete"]
NEW_AND_OLD: StreamView = "NEW_AND_OLD_IMAGES"
ON_DEMAND = OnDemand()
# The deletion policy of a table's stack by environment; any other environment deletes the items.
RETAINED_IN_PROD: Mapping[str, Deletion] = {"prod": "Retain"}


def number(name: str) -> KeyAttribute:
    """A key attribute that is a number and sorts as one."""
    return KeyAttribute(name, "N")


def binary(name: str) -> KeyAttribute:
    """A key attribute of bytes."""
    return KeyAttribute(name, "B")


def _key(declaration: KeyDeclaration) -> KeyAttribute:
    return KeyAttribute(declaration) if isinstance(declaration, str) else declaration


class Index:
    """A secondary index of a table."""

    def __init__(self, table: "Table", schema: IndexSchema) -> None:
        self.table = table
        self.schema = schema

    def __repr__(self) -> str:
        return f"{self.table.name}.{self.schema.name}"

    def partition(self, value: KeyValue) -> Span:
        """The items whose index partition key has this value."""
        return partition_span(self.table, self.schema, value)


class Table:
    """One table of a design."""

    def __init__(
        self,
        name: str,
        *,
        pk: KeyDeclaration = "PK",
        sk: KeyDeclaration | None = None,
        ttl: str | None = None,
        stream: StreamView | None = None,
        capacity: Capacity = ON_DEMAND,
        recovery: bool = False,
        encryption: Encryption = "owned",
        deletion: Mapping[str, Deletion] = RETAINED_IN_PROD,
        transactions: bool = False,
        waivers: Sequence[Waiver] = (),
        alarms: Sequence[Alarm] = (),
        revision: str = "_revision",
    ) -> None:
        self.name = name
        self.pk = _key(pk)
        self.sk = _key(sk) if sk is not None else None
        self.ttl = ttl
        self.stream: StreamView | None = stream
        self.capacity: Capacity = capacity
        self.recovery = recovery
        self.encryption: Encryption = encryption
        self.deletion = dict(deletion)
        self.transactions = transactions
        self.waivers = tuple(waivers)
        self.alarms = tuple(alarms)
        # The attribute that holds the revision in which an item was written, from the second on.
        self.revision = revision
        self.indexes: dict[str, Index] = {}
        self.bindings: list[Binding[Any]] = []
        self.views: dict[type[View], type[Entity]] = {}
        self.patterns: dict[str, QueryPattern[..., Any] | ItemPattern[..., Any]] = {}
        self.writes: dict[str, WritePattern[..., Any]] = {}
        self.key_types: dict[str, KeyType] = {key.name: key.type for key in self.keys}
        if self.sk is not None and self.pk.name == self.sk.name:
            raise DesignError(f"{name}: partition and sort key need different attributes.")
        check_alarms(name, self.alarms, capacity)

    def __repr__(self) -> str:
        return f"Table({self.name!r})"

    @property
    def keys(self) -> tuple[KeyAttribute, ...]:
        """The key attributes in order."""
        return (self.pk,) if self.sk is None else (self.pk, self.sk)

    @property
    def index_attributes(self) -> frozenset[str]:
        """All attributes that serve as a key of some index."""
        return frozenset(key.name for index in self.indexes.values() for key in index.schema.keys)

    @property
    def sort_attributes(self) -> frozenset[str]:
        """All attributes that the table or one of its indexes sorts by."""
        keys = (self.sk, *(index.schema.sk for index in self.indexes.values()))
        return frozenset(key.name for key in keys if key is not None)

    def index(
        self, name: str, *, pk: KeyDeclaration, sk: KeyDeclaration | None = None, projection: Projection = ALL
    ) -> Index:
        """A global index: its own partition and sort key, read with eventual consistency only."""
        return self._add(IndexSchema(name, _key(pk), _key(sk) if sk is not None else None, projection))

    def local_index(self, name: str, *, sk: KeyDeclaration, projection: Projection = ALL) -> Index:
        """A local index: the table's partition key with another sort key. It can be created only with its table."""
        if self.sk is None:
            raise DesignError(f"{self.name} has no sort key, so it cannot have the local index {name}.")
        return self._add(IndexSchema(name, self.pk, _key(sk), projection, local=True))

    def _add(self, schema: IndexSchema) -> Index:
        if self.bindings:
            raise DesignError(f"Declare the index {schema.name} before the entities of {self.name}.")
        if schema.name in self.indexes:
            raise DesignError(f"{self.name} has two indexes named {schema.name}.")
        same = [index for index in self.indexes.values() if index.schema.local == schema.local]
        if len(same) >= (LOCAL_INDEXES if schema.local else GLOBAL_INDEXES):
            raise DesignError(f"{self.name} has too many {'local' if schema.local else 'global'} indexes.")
        for key in schema.keys:
            if self.key_types.setdefault(key.name, key.type) != key.type:
                raise DesignError(f"{self.name}: {key.name} is used as a key with two types.")
        index = self.indexes[schema.name] = Index(self, schema)
        return index

    def entity(
        self,
        *,
        pk: str,
        sk: str | None = None,
        index: Mapping[str, str] | None = None,
        version: str | None = None,
        revision: int | None = None,
        upgrades: Mapping[int, Upgrade] | None = None,
    ) -> Callable[[type[E]], type[E]]:
        """Bind an entity: templates of its keys, index keys by attribute name, and the field that counts versions.

        `revision` numbers the shape of its items, and `upgrades` has the step from each earlier one to the next. Items
        of every revision are then read in the current shape, and upgraded in place before a condition or an edit is
        applied to them; items of a later revision are refused. Until `migrate` has run, an index holds old items
        under their old keys, and no view of them that needs other attributes than it holds.
        """
        if revision is None and upgrades:
            raise DesignError("Upgrades lead to a revision. Give its number: revision=...")

        def bind(entity: type[E]) -> type[E]:
            if entity in bindings:
                raise DesignError(f"{entity.__name__} already belongs to {bindings[entity].table.name}.")
            if revision is None:
                binding = Binding(self, entity, pk, sk, index or {}, version)
            else:
                binding = RevisedBinding(self, entity, pk, sk, index or {}, version, revision, upgrades)
            bindings[entity] = binding
            self.bindings.append(binding)
            self._find_key_conflicts()
            return entity

        return bind

    def _find_key_conflicts(self) -> None:
        for attribute in self.key_types:
            templates = [binding.templates[attribute] for binding in self.bindings if attribute in binding.templates]
            for template in templates:
                template.find_conflicts(templates)

    def view(self, of: type[Entity]) -> Callable[[type[V]], type[V]]:
        """Bind a partial view of an entity: the fields that a projected index or a narrow query returns."""

        def bind(view: type[V]) -> type[V]:
            fields = {field.name: field for field in stored_fields(of)}
            for field in stored_fields(view):
                source = fields.get(field.name)
                if source is None:
                    raise DesignError(f"{view.__name__}.{field.name} is not a field of {of.__name__}.")
                if IN_KEY in field_markers(field.annotation) and not binding_of(of).is_in_key(field.name):
                    raise DesignError(f"{view.__name__}.{field.name} is InKey, but no key of {of.__name__} has it.")
                if source.attribute != field.attribute:
                    raise DesignError(
                        f"{view.__name__}.{field.name} is called {field.attribute}, but {of.__name__} stores it as "
                        f"{source.attribute}. Give both structs the same `rename`."
                    )
            if binding_of(of).table is not self:
                raise DesignError(f"{of.__name__} belongs to {binding_of(of).table.name}, not to {self.name}.")
            self.views[view] = of
            return view

        return bind

    def item(
        self, *, strong: bool = False, example: dict[str, Any] | None = None, budget: Budget | None = None
    ) -> Callable[[Callable[P, Key[E]]], ItemPattern[P, E]]:
        """Declare an access pattern that reads one item by its key."""

        def declare(function: Callable[P, Key[E]]) -> ItemPattern[P, E]:
            return register_item(self, function, strong, example, budget)

        return declare

    @overload
    def query(
        self,
        *,
        returns: type[R],
        strong: bool = False,
        example: dict[str, Any] | None = None,
        budget: Budget | None = None,
    ) -> Callable[[Callable[P, Span]], QueryPattern[P, R]]: ...
    @overload
    def query(
        self,
        *,
        returns: tuple[type[R], type[R2]],
        strong: bool = False,
        example: dict[str, Any] | None = None,
        budget: Budget | None = None,
    ) -> Callable[[Callable[P, Span]], QueryPattern[P, R | R2]]: ...
    @overload
    def query(
        self,
        *,
        returns: tuple[type[R], type[R2], type[R3]],
        strong: bool = False,
        example: dict[str, Any] | None = None,
        budget: Budget | None = None,
    ) -> Callable[[Callable[P, Span]], QueryPattern[P, R | R2 | R3]]: ...
    @overload
    def query(
        self,
        *,
        returns: tuple[type[R], type[R2], type[R3], type[R4]],
        strong: bool = False,
        example: dict[str, Any] | None = None,
        budget: Budget | None = None,
    ) -> Callable[[Callable[P, Span]], QueryPattern[P, R | R2 | R3 | R4]]: ...
    def query(
        self,
        *,
        returns: type[Any] | tuple[type[Any], ...],
        strong: bool = False,
        example: dict[str, Any] | None = None,
        budget: Budget | None = None,
    ) -> Callable[[Callable[P, Span]], QueryPattern[P, Any]]:
        """Declare an access pattern that reads a range of a partition.

        The function's docstring says what it returns. `example` gives arguments for the lint where annotations do not
        suffice; `budget` is what one stated case costs.
        """
        kinds = returns if isinstance(returns, tuple) else (returns,)

        def declare(function: Callable[P, Span]) -> QueryPattern[P, Any]:
            return register_query(self, function, kinds, strong, example, budget)

        return declare

    def write(
        self, *, budget: Budget | None = None, example: dict[str, Any] | None = None
    ) -> Callable[[Callable[P, Plan[E]]], WritePattern[P, E]]:
        """Declare an access pattern that writes: a function that returns a `Plan` for `store.write`."""

        def declare(function: Callable[P, Plan[E]]) -> WritePattern[P, E]:
            return register_write(self, function, budget, example)

        return declare

    def require_new_name(self, name: str) -> None:
        """Refuse an access pattern under the name of another one, be it a read or a write."""
        if name in self.patterns or name in self.writes:
            raise DesignError(f"{self.name} has two access patterns named {name}. Rename one.")

    def partition(self, value: KeyValue) -> Span:
        """The items of one partition."""
        return partition_span(self, None, value)

    def schema(self, env: str = "prod") -> TableSchema:
        """The schema of the table for a store. Outside `prod` its name ends in the environment's."""
        name = self.name.replace("{env}", env)
        if "{env}" not in self.name and env != "prod":
            name = f"{name}-{env}"
        return TableSchema(
            name,
            self.pk,
            self.sk,
            tuple(index.schema for index in self.indexes.values()),
            self.ttl,
            self.stream,
            self.capacity,
            self.recovery,
            self.encryption,
            self.deletion_policy(env) == "Retain",
        )

    def deletion_policy(self, env: str) -> Deletion:
        """Whether the items are kept when the table's stack is deleted."""
        return self.deletion.get(env, "Delete")


RequiredCapability = Literal["transactions", "streams", "ttl", "local-indexes"]


def required_capabilities(table: Table) -> frozenset[RequiredCapability]:
    """The capabilities that a store needs to run this table; refuses a table that is not declared completely."""
    check_ttl(table)
    required: set[RequiredCapability] = set()
    if table.transactions:
        required.add("transactions")
    if table.stream:
        required.add("streams")
    if table.ttl:
        required.add("ttl")
    if any(index.schema.local for index in table.indexes.values()):
        required.add("local-indexes")
    return frozenset(required)
