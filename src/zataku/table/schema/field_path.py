"""Paths to fields as typed values, and the conditions and edits that they make.

    status = path(Game, lambda game: game.status)
    await store.update(key, status.set("FINISHED"), when=status.equals("ACTIVE"))

The lambda is for the type checker: a misspelt field or a value of another type is an error before the program runs.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar, cast, get_args, get_origin

from msgspec import Struct

from zataku.table.backend import expression as ex
from zataku.table.backend.errors import BadUpdate, UnknownAttribute, WrongType
from zataku.table.backend.numbers import canonical
from zataku.table.backend.values import Value, ValueType, normalize
from zataku.table.schema.codec import (
    NUMBERS,
    StoredField,
    field_markers,
    is_empty_set,
    is_numeric,
    member_annotation,
    stored_fields,
    to_value,
    unwrap_annotation,
    validated,
)
from zataku.table.schema.entity import KEPT_NULL, Entity, binding_of
from zataku.table.schema.field_bounds import FieldEdit, NumberLimits, SizeLimits, number_limits, size_limits

E = TypeVar("E", bound=Entity)
T = TypeVar("T")
V = TypeVar("V")
Numeric = int | float


class Condition(Generic[E]):
    """A condition on an item. Combine with `&`, `|` and `~`."""

    __slots__ = ("entity", "expression")

    def __init__(self, entity: type[E], expression: ex.Expression) -> None:
        self.entity = entity
        self.expression = expression

    def __and__(self, other: "Condition[E]") -> "Condition[E]":
        return Condition(self.entity, ex.All((self.expression, other.expression)))

    def __or__(self, other: "Condition[E]") -> "Condition[E]":
        return Condition(self.entity, ex.Either((self.expression, other.expression)))

    def __invert__(self) -> "Condition[E]":
        return Condition(self.entity, ex.Not(self.expression))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and (self.entity, self.expression) == (other.entity, other.expression)  # pyright: ignore[reportUnknownMemberType]

    def __hash__(self) -> int:
        # The expression may hold lists, which have no hash.
        return hash(self.entity)

    def __bool__(self) -> bool:
        # `a and b` would silently drop a condition.
        raise TypeError("Combine conditions with & and |, not with `and` and `or`.")


class Edit(Generic[E]):
    """One change to an item. `field` is the top-level field it touches, `bounded` has paths that may exceed limits."""

    __slots__ = ("action", "bounded", "entity", "field")

    def __init__(
        self, entity: type[E], field: str, action: ex.Action, bounded: tuple[tuple[str, FieldEdit], ...] = ()
    ) -> None:
        self.entity = entity
        self.field = field
        self.action = action
        self.bounded = bounded

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Edit) and (self.entity, self.action) == (other.entity, other.action)  # pyright: ignore[reportUnknownMemberType]

    def __hash__(self) -> int:
        return hash((self.entity, self.field))


class Size(Generic[E]):
    """The length of a string or bytes, or the number of members."""

    def __init__(self, entity: type[E], route: ex.Route) -> None:
        self._entity = entity
        self._size = ex.SizeOf(route)

    def _compare(self, sign: ex.Comparison, number: int) -> Condition[E]:
        return Condition(self._entity, ex.Compare(self._size, sign, ex.Literally(number)))

    def equals(self, number: int) -> Condition[E]:
        """The size is this number."""
        return self._compare("=", number)

    def below(self, number: int) -> Condition[E]:
        """The size is less than this number."""
        return self._compare("<", number)

    def above(self, number: int) -> Condition[E]:
        """The size is greater than this number."""
        return self._compare(">", number)


class Path(Generic[E, V]):
    """The path to a value of type V inside an entity E."""

    def __init__(
        self,
        entity: type[E],
        route: ex.Route,
        field: StoredField,
        annotation: Any,
        required: bool,
        container: Any,
        names: tuple[str, ...],
    ) -> None:
        self.entity = entity
        self.route = route
        self.field = field
        self.annotation = annotation
        # A required field cannot be removed; a member of a list or map can.
        self.required = required
        # The annotation of the list or map that the value is a member of.
        self.container = container
        # The path in the words of the entity, as errors show it: `shelf`, `.free`, or `prices`, `['a']`.
        self.names = names

    # Conditions

    def _compare(self, sign: ex.Comparison, value: V) -> Condition[E]:
        return Condition(self.entity, ex.Compare(ex.Attribute(self.route), sign, self._operand(value)))

    def equals(self, value: V) -> Condition[E]:
        """The value is this one."""
        return self._compare("=", value)

    def not_equals(self, value: V) -> Condition[E]:
        """The value is another one, or there is none."""
        return self._compare("<>", value)

    def below(self, value: V) -> Condition[E]:
        """The value is less."""
        return self._compare("<", value)

    def at_most(self, value: V) -> Condition[E]:
        """The value is less or equal."""
        return self._compare("<=", value)

    def above(self, value: V) -> Condition[E]:
        """The value is greater."""
        return self._compare(">", value)

    def at_least(self, value: V) -> Condition[E]:
        """The value is greater or equal."""
        return self._compare(">=", value)

    def between(self, low: V, high: V) -> Condition[E]:
        """The value is between the two, both included."""
        expression = ex.Between(ex.Attribute(self.route), self._operand(low), self._operand(high))
        return Condition(self.entity, expression)

    def is_in(self, *values: V) -> Condition[E]:
        """The value is one of these, at most 100."""
        if not 1 <= len(values) <= 100:
            raise WrongType("`is_in` takes 1 to 100 values. Split the condition.")
        return Condition(self.entity, ex.OneOf(ex.Attribute(self.route), tuple(map(self._operand, values))))

    def exists(self) -> Condition[E]:
        """Something is stored, an explicit null included."""
        return Condition(self.entity, ex.Exists(self.route))

    def missing(self) -> Condition[E]:
        """Nothing is stored."""
        return Condition(self.entity, ex.Missing(self.route))

    def has_type(self, kind: ValueType) -> Condition[E]:
        """The stored value has this DynamoDB type."""
        return Condition(self.entity, ex.HasType(self.route, kind))

    def begins_with(self, prefix: str) -> Condition[E]:
        """The string begins with this prefix."""
        return Condition(self.entity, ex.BeginsWith(self.route, self._operand(prefix)))

    def contains(self, part: object) -> Condition[E]:
        """The string has this part, the list or set this member."""
        return Condition(self.entity, ex.Contains(self.route, self._operand(part)))

    def size(self) -> Size[E]:
        """The length or number of members, to be compared."""
        return Size(self.entity, self.route)

    def _operand(self, value: object) -> ex.Literally:
        return ex.Literally(normalize(to_value(value)))

    # Edits

    def set(self, value: V) -> Edit[E]:
        """Store this value. None removes the attribute unless the field is `Nullable`."""
        if (value is None and KEPT_NULL not in field_markers(self.annotation)) or is_empty_set(value):
            return self.remove()
        return self._edit("set", ex.Assign(self.route, ex.Literally(self._fitting(value))))

    def set_if_missing(self, value: V) -> Edit[E]:
        """Store this value unless there is one. A field that is left out for None has nothing to store for it."""
        if value is None and self.container is None and KEPT_NULL not in field_markers(self.annotation):
            raise WrongType(f"{self._name} is left out when it is None, so there is nothing to store.")
        new = ex.IfMissing(self.route, ex.Literally(self._fitting(value)))
        return self._edit("set_if_missing", ex.Assign(self.route, new))

    def add(self, by: Numeric) -> Edit[E]:
        """Add to a number; a missing one counts as 0.

        As with `append`, `prepend`, `include` and `exclude`, the write raises `OutOfBounds` where the result would
        exceed the limits of the field.
        """
        if not is_numeric(self.annotation):
            raise WrongType(f"{self.field.name} is not a number, so nothing can be added to it.")
        if isinstance(by, bool) or not isinstance(cast("object", by), NUMBERS):
            raise WrongType(f"{by!r} is not a number, so it cannot be added to {self._name}.")
        number = canonical(by)
        bounded = self._number_limits.add(self.route, number, self._name)
        return self._edit("add", ex.Increase(self.route, number), bounded)

    def remove(self) -> Edit[E]:
        """Remove the attribute, or the member of its list or map."""
        if self.required:
            raise BadUpdate(f"{self._name} cannot be removed: the field is required.")
        return self._edit("remove", ex.Drop(self.route))

    def append(self: "Path[E, list[T]] | Path[E, tuple[T, ...]]", *values: T) -> Edit[E]:
        """Append values to a list; a missing one counts as empty."""
        new, bounded = self._appended("append", values)
        old = ex.IfMissing(self.route, ex.Literally([]))
        return self._edit("append", ex.Assign(self.route, ex.Joined(old, new)), bounded)

    def prepend(self: "Path[E, list[T]] | Path[E, tuple[T, ...]]", *values: T) -> Edit[E]:
        """Insert values at the beginning of a list; a missing one counts as empty."""
        new, bounded = self._appended("prepend", values)
        old = ex.IfMissing(self.route, ex.Literally([]))
        return self._edit("prepend", ex.Assign(self.route, ex.Joined(new, old)), bounded)

    def include(self: "Path[E, frozenset[T]] | Path[E, set[T]]", *members: T) -> Edit[E]:
        """Add members to a set. Those that it has already do not count against its limit: see `field_bounds`."""
        values = self._members(members)
        bounded = self._size_limits.include(self.route, values, self._name)
        return self._edit("include", ex.Include(self.route, values), bounded)

    def exclude(self: "Path[E, frozenset[T]] | Path[E, set[T]]", *members: T) -> Edit[E]:
        """Remove members from a set. An empty set is removed, which a required field refuses."""
        values = self._members(members)
        bounded = self._size_limits.exclude(self.route, values, self.required)
        return self._edit("exclude", ex.Exclude(self.route, values), bounded)

    def _appended(self, operation: str, values: tuple[object, ...]) -> tuple[ex.Literally, FieldEdit]:
        """The values as a list, and the growth of the stored one."""
        new = ex.Literally(self._fitting_members(list(values)))
        return new, self._size_limits.append(self.route, operation, len(values), self._name)

    def _members(self, members: tuple[object, ...]) -> frozenset[Value]:
        if not members:
            raise WrongType(f"Name at least one member for {self.field.name}.")
        try:
            distinct = frozenset(members)
        except TypeError:
            raise WrongType(f"{self._name}: a set holds strings, numbers or bytes, not lists or maps.") from None
        return cast("frozenset[Value]", self._fitting_members(distinct))

    def _fitting(self, value: object) -> Value:
        return validated(to_value(value), self.annotation, self._name)

    def _fitting_members(self, members: "list[object] | frozenset[object]") -> Value:
        """The members of a list or set, each of which fits. How many of them fit depends on the stored ones."""
        member = member_annotation(self.annotation)
        if member is None:
            return self._fitting(members)
        kind = get_origin(unwrap_annotation(self.annotation)) or unwrap_annotation(self.annotation)
        if (kind in (set, frozenset)) != isinstance(members, frozenset):
            raise WrongType(f"{self._name} is no {'set' if isinstance(members, frozenset) else 'list'}.")
        return validated(to_value(members), list[member], self._name)

    @property
    def _name(self) -> str:
        return f"{self.entity.__name__}.{''.join(self.names)}"

    # Computed once: most paths are constants of a module.

    @cached_property
    def _number_limits(self) -> NumberLimits:
        return number_limits(self.annotation)

    @cached_property
    def _size_limits(self) -> SizeLimits:
        return size_limits(self.annotation)

    @cached_property
    def _container_limits(self) -> SizeLimits | None:
        return None if self.container is None else size_limits(self.container)

    def _edit(self, operation: str, action: ex.Action, bounded: FieldEdit | None = None) -> Edit[E]:
        edits = () if bounded is None else (("".join(self.names), bounded),)
        if self._container_limits is not None:
            removes = isinstance(action, ex.Drop | ex.Exclude)
            of_container = self._container_limits.change_member(self.route, operation, removes)
            edits = (*edits, ("".join(self.names[:-1]), of_container))
        return Edit(self.entity, self.field.name, action, edits)


def path(entity: type[E], at: Callable[[E], V]) -> Path[E, V]:
    """The field that the lambda names: `path(Game, lambda game: game.settings.time_limit)`."""
    step = at(cast("E", _Placeholder(_NamedPath((), None, entity))))
    named = step._named if isinstance(step, _Placeholder) else None  # pyright: ignore[reportPrivateUsage]
    if named is None or named.field is None:
        raise UnknownAttribute(f"The lambda must name a field of {entity.__name__}, such as `lambda game: game.name`.")
    if named.field.name in binding_of(entity).in_key:
        raise UnknownAttribute(f"{entity.__name__}.{named.field.name} is stored inside a key only.")
    return Path(entity, named.route, named.field, named.annotation, named.required, named.container, named.names)


def some(value: T | None) -> T:
    """For the type checker: an optional value that is present, inside the lambda of `path`."""
    return cast("T", value)


class _NamedPath(Struct, frozen=True):
    """The path that a lambda has named so far.

    It has the route, the top-level field, the type, whether the field is required, for a member the type of its list
    or map, and the names of the fields.
    """

    route: ex.Route
    field: StoredField | None
    annotation: Any
    required: bool = False
    container: Any = None
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The route for error messages."""
        return ".".join(map(str, self.route))


class _Placeholder:
    """Placeholder for an entity in the lambda of `path`, which records the fields that are read."""

    # One private attribute, since any other name may be that of a field.
    __slots__ = ("_named",)

    def __init__(self, named: _NamedPath) -> None:
        self._named = named

    def __getattr__(self, name: str) -> "_Placeholder":
        here = self._named
        struct = unwrap_annotation(here.annotation)
        if not (isinstance(struct, type) and issubclass(struct, Struct)):
            raise UnknownAttribute(f"{here.text} has no fields, so no {name!r} either.")
        for field in stored_fields(struct):
            if field.name == name:
                route, names = (*here.route, field.attribute), (*here.names, f".{name}" if here.names else name)
                top = here.field or field
                return _Placeholder(_NamedPath(route, top, field.annotation, field.required, names=names))
        names = ", ".join(field.name for field in stored_fields(struct))
        raise UnknownAttribute(f"{struct.__name__} has no field {name!r}. It has: {names}.", field=name)

    def __getitem__(self, at: int | str) -> "_Placeholder":
        here = self._named
        container = unwrap_annotation(here.annotation)
        inner = get_args(container)
        containers = (dict,) if isinstance(at, str) else (list, tuple)
        if get_origin(container) not in containers:
            raise UnknownAttribute(f"{here.text} has no member {at!r}.")
        route, required = (*here.route, at), False
        if isinstance(at, str):
            validated(at, inner[0], f"The name {at!r} in {here.text}")
            annotation = inner[1]
        elif member_annotation(here.annotation) is None:
            # A tuple with a type for each position: all of them are required.
            if not 0 <= at < len(inner):
                raise UnknownAttribute(f"{here.text} has no position {at}. It has 0 to {len(inner) - 1}.")
            annotation, required = inner[at], True
        else:
            annotation = inner[0]
        names = (*here.names, f"[{at!r}]")
        return _Placeholder(_NamedPath(route, here.field, annotation, required, here.annotation, names))


__all__ = ["Condition", "Edit", "Path", "Size", "path", "some"]
