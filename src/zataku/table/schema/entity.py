"""Entities: the kinds of items of a table, as msgspec structs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from msgspec import Struct

from zataku.table.backend.errors import DesignError

if TYPE_CHECKING:
    from typing import Self

    from zataku.table.backend.values import KeyValue
    from zataku.table.schema.entity_bindings import Binding

T = TypeVar("T")
E = TypeVar("E", bound="Entity")
V = TypeVar("V", bound="View")


class FieldMarker(Struct, frozen=True):
    """How a field is stored, as a note in its annotation."""

    name: str


IN_KEY = FieldMarker("in_key")
KEPT_NULL = FieldMarker("kept_null")

InKey = Annotated[T, IN_KEY]
"""A field that is stored only inside a key and read back from there, such as the user in `kifu#uname#{username}`.

In a view: a field that is read from the key even where the entity stores it as an attribute too, since some indexes
hold keys only.
"""

Nullable = Annotated[T | None, KEPT_NULL]
"""A field whose None is stored as an explicit null; a plain `T | None` is left out instead."""

bindings: dict[type[Any], "Binding[Any]"] = {}


class Entity(Struct, frozen=True, kw_only=True):
    """One kind of item. Declare fields as in any msgspec struct and bind it with `@table.entity(...)`."""

    @classmethod
    def key(cls, **fields: object) -> "Key[Self]":
        """The key of one item, from the fields its templates name."""
        return binding_of(cls).key(fields)

    @classmethod
    def partition(cls, **fields: object) -> "KeyValue":
        """The partition key that items with these fields have."""
        return binding_of(cls).partition(fields)


class View(Struct, frozen=True, kw_only=True):
    """Part of an entity, as an index with a partial projection returns it. Bind it with `@table.view(Entity)`."""


class Key(Generic[E]):
    """The key of one item, with the kind of entity that it holds."""

    __slots__ = ("entity", "fields", "pattern", "pk", "sk", "strong")

    def __init__(
        self,
        entity: type[E],
        pk: "KeyValue",
        sk: "KeyValue | None",
        fields: dict[str, object],
        strong: bool = False,
        pattern: str | None = None,
    ) -> None:
        self.entity = entity
        self.pk = pk
        self.sk = sk
        self.fields = fields
        self.strong = strong
        self.pattern = pattern

    def __repr__(self) -> str:
        key_text = repr(self.pk) if self.sk is None else f"{self.pk!r}, {self.sk!r}"
        return f"{self.entity.__name__} key ({key_text})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Key):
            return NotImplemented
        return (self.entity, self.pk, self.sk) == (other.entity, other.pk, other.sk)  # pyright: ignore[reportUnknownMemberType]

    def __hash__(self) -> int:
        return hash((self.entity, self.pk, self.sk))

    def for_pattern(self, pattern: str, strong: bool) -> "Key[E]":
        """The same key under the label and consistency of an access pattern."""
        return Key(self.entity, self.pk, self.sk, self.fields, strong or self.strong, pattern)


class Derived(property):
    """A property that index keys may use; `sources` are the fields that it is computed from."""

    sources: tuple[str, ...] = ()


def derived(*sources: str) -> Callable[[Callable[[Any], object]], Derived]:
    """Let an index key depend on a computed value, such as a status that only public rooms show."""

    def wrap(getter: Callable[[Any], object]) -> Derived:
        derived = Derived(getter)
        derived.sources = sources
        return derived

    return wrap


def binding_of(entity: type[E]) -> "Binding[E]":
    """The binding of an entity to its table."""
    try:
        return bindings[entity]
    except KeyError:
        raise DesignError(f"{entity.__name__} belongs to no table. Declare it with @table.entity(...).") from None
