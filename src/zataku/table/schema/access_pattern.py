"""Access patterns: the named, documented and typed reads of a design."""

from collections.abc import Callable
from decimal import Decimal
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import msgspec
from msgspec import Struct

from zataku.table.backend.errors import DesignError, StrongReadRefused, WrongType
from zataku.table.backend.expression import Expression, both
from zataku.table.backend.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from zataku.table.backend.port import KeyRange
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute
from zataku.table.backend.validation import checked_key
from zataku.table.backend.values import KeyValue
from zataku.table.schema.design_notes import Budget
from zataku.table.schema.entity import Entity, Key, View
from zataku.table.schema.field_path import Condition

if TYPE_CHECKING:
    from zataku.table.schema.table import Table

P = ParamSpec("P")
E = TypeVar("E", bound=Entity)
R = TypeVar("R", bound=Entity | View)


class Span:
    """A range of sort keys in one partition of a table or index. Methods return narrower spans."""

    __slots__ = ("backwards", "filter", "index", "pk", "range", "table")

    def __init__(
        self,
        table: "Table",
        index: IndexSchema | None,
        pk: KeyValue,
        keys: KeyRange | None = None,
        backwards: bool = False,
        condition: Expression | None = None,
    ) -> None:
        self.table = table
        self.index = index
        self.pk = pk
        self.range = keys
        self.backwards = backwards
        self.filter = condition

    def begins_with(self, prefix: str | bytes) -> "Span":
        """Sort keys that begin with this prefix."""
        if self._sort_key().type == "N":
            raise WrongType(f"{self._sort_key().name} is a number, which has no beginning. Use `between`.")
        return self._ranged(KeyRange("begins", self._checked(prefix)))

    def between(self, low: KeyValue | float, high: KeyValue | float) -> "Span":
        """Sort keys from low to high, both included."""
        return self._ranged(KeyRange("between", self._checked(low), self._checked(high)))

    def equals(self, key: KeyValue | float) -> "Span":
        """The one sort key."""
        return self._ranged(KeyRange("=", self._checked(key)))

    def after(self, key: KeyValue | float) -> "Span":
        """Sort keys greater than this."""
        return self._ranged(KeyRange(">", self._checked(key)))

    def since(self, key: KeyValue | float) -> "Span":
        """Sort keys greater than or equal to this."""
        return self._ranged(KeyRange(">=", self._checked(key)))

    def before(self, key: KeyValue | float) -> "Span":
        """Sort keys less than this."""
        return self._ranged(KeyRange("<", self._checked(key)))

    def until(self, key: KeyValue | float) -> "Span":
        """Sort keys less than or equal to this."""
        return self._ranged(KeyRange("<=", self._checked(key)))

    def newest_first(self) -> "Span":
        """The same range in descending order of its sort key."""
        return Span(self.table, self.index, self.pk, self.range, True, self.filter)

    def where(self, condition: Condition[Any]) -> "Span":
        """Only items for which the condition holds. The others are read and billed, too."""
        joined = both(self.filter, condition.expression)
        return Span(self.table, self.index, self.pk, self.range, self.backwards, joined)

    def _sort_key(self) -> KeyAttribute:
        key = self.table.sk if self.index is None else self.index.sk
        if key is None:
            raise DesignError(f"{self.index.name if self.index else self.table.name} has no sort key to narrow.")
        return key

    def _checked(self, value: KeyValue | float) -> KeyValue:
        return checked_key(self._sort_key(), value, SORT_KEY_BYTES)

    def _ranged(self, keys: KeyRange) -> "Span":
        if self.range is not None:
            raise DesignError("A span takes one range of sort keys. Use `between` for two ends.")
        return Span(self.table, self.index, self.pk, keys, self.backwards, self.filter)


def partition_span(table: "Table", index: IndexSchema | None, pk: KeyValue) -> Span:
    """All of one partition."""
    key = table.pk if index is None else index.pk
    return Span(table, index, checked_key(key, pk, PARTITION_KEY_BYTES))


class Query(Generic[R]):
    """An access pattern with its arguments, for a store to page through."""

    __slots__ = ("name", "returns", "span", "strong")

    def __init__(self, name: str, span: Span, returns: tuple[type[R], ...], strong: bool) -> None:
        self.name = name
        self.span = span
        self.returns = returns
        self.strong = strong

    @property
    def label(self) -> str:
        """The name under which its units are summed."""
        return f"{self.span.table.name}.{self.name}"

    def fingerprint(self) -> bytes:
        """Bytes that differ between any two queries, the same in every process."""
        span = self.span
        key_range = None if span.range is None else (span.range.sign, span.range.low, span.range.high)
        identity = (self.name, span.table.name, span.index and span.index.name, span.pk, key_range, span.backwards)
        # Only a filter can hold sets, whose own order differs between processes.
        condition = span.filter and msgspec.to_builtins(span.filter, builtin_types=(bytes, Decimal), order="sorted")
        return repr((identity, condition)).encode("utf-8", "surrogatepass")


class PatternMetadata(Struct, frozen=True):
    """What a table records about an access pattern: no call is needed to read it."""

    name: str
    doc: str
    strong: bool
    returns: tuple[type[Any], ...]
    example: dict[str, Any] | None
    budget: Budget | None = None


def _metadata(
    function: Callable[..., object],
    strong: bool,
    returns: tuple[type[Any], ...],
    example: dict[str, Any] | None,
    budget: Budget | None,
) -> PatternMetadata:
    doc = (function.__doc__ or "").strip()
    if not doc:
        raise DesignError(
            f"The access pattern {function.__name__} has no docstring. Say in a sentence what it returns."
        )
    return PatternMetadata(function.__name__, doc, strong, returns, example, budget)


class QueryPattern(Generic[P, R]):
    """A declared query. Call it with its arguments to get a `Query`."""

    def __init__(self, function: Callable[P, Span], metadata: PatternMetadata, table: "Table") -> None:
        self.function = function
        self.metadata = metadata
        self.table = table
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Query[R]:
        span = self.function(*args, **kwargs)
        if span.table is not self.table:
            raise DesignError(f"{self.metadata.name} is declared on {self.table.name} but reads {span.table.name}.")
        if self.metadata.strong and span.index is not None and not span.index.local:
            raise StrongReadRefused(
                f"{self.metadata.name} reads the global index {span.index.name}, which is never strongly consistent. "
                "Read the base item strongly instead."
            )
        return Query(self.metadata.name, span, self.metadata.returns, self.metadata.strong)


class ItemPattern(Generic[P, E]):
    """A declared read of one item. Call it with its arguments to get a `Key`."""

    def __init__(self, function: Callable[P, Key[E]], metadata: PatternMetadata, table: "Table") -> None:
        self.function = function
        self.metadata = metadata
        self.table = table
        self._label = f"{table.name}.{metadata.name}"
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Key[E]:
        return self.function(*args, **kwargs).for_pattern(self._label, self.metadata.strong)


def register_query(
    table: "Table",
    function: Callable[P, Span],
    returns: tuple[type[R], ...],
    strong: bool,
    example: dict[str, Any] | None,
    budget: Budget | None = None,
) -> QueryPattern[P, R]:
    """Register a query under its function's name."""
    pattern: QueryPattern[P, R] = QueryPattern(function, _metadata(function, strong, returns, example, budget), table)
    table.require_new_name(pattern.metadata.name)
    table.patterns[pattern.metadata.name] = pattern
    return pattern


def register_item(
    table: "Table",
    function: Callable[P, Key[E]],
    strong: bool,
    example: dict[str, Any] | None,
    budget: Budget | None = None,
) -> ItemPattern[P, E]:
    """Register a read of one item under its function's name."""
    pattern: ItemPattern[P, E] = ItemPattern(function, _metadata(function, strong, (), example, budget), table)
    table.require_new_name(pattern.metadata.name)
    table.patterns[pattern.metadata.name] = pattern
    return pattern
