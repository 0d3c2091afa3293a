"""Random conditions and changes with every kind of expression."""

from collections.abc import Callable
from functools import cache

from hypothesis import strategies as st

from tests.table.differential.number_alignment import numbers, scalars, sets, values
from tests.table.differential.sample_table import COLOURS, long_texts, sort_number
from tests.table.strategies import texts
from zataku.table.backend import expression as ex
from zataku.table.backend.port import ItemKey

_PLAIN = (("text",), ("count",), ("flag",), ("list",), ("map",), ("tags",), ("any",), ("missing",))
_INNER = (("list", 0), ("list", 2), ("map", "x"), ("map", "deep"), ("map", "deep", "1"), ("any", "a"), ("any", 0))
_KEYED = (("colour",), ("n",), ("weight",))

inner_routes = st.sampled_from(_PLAIN + _INNER)
_TYPES = st.sampled_from(["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"])


def _operands(routes: st.SearchStrategy[ex.Route]) -> st.SearchStrategy[ex.Operand]:
    literals = st.one_of(scalars(), st.integers(0, 3), st.just("x")).map(ex.Literally)
    return st.one_of(routes.map(ex.Attribute), literals, routes.map(ex.SizeOf))


def _ordered() -> st.SearchStrategy[ex.Literally]:
    return st.one_of(st.integers(-3, 3), numbers(), texts(), st.binary(max_size=3)).map(ex.Literally)


def _simple(routes: st.SearchStrategy[ex.Route]) -> st.SearchStrategy[ex.Expression]:
    operands = _operands(routes)
    signs = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
    whole = st.one_of(values(), sets()).map(ex.Literally)
    return st.one_of(
        st.builds(ex.Compare, operands, signs, operands),
        st.builds(ex.Compare, routes.map(ex.Attribute), st.sampled_from(["=", "<>"]), whole),
        st.builds(ex.Between, routes.map(ex.Attribute), _ordered(), _ordered()),
        st.builds(ex.OneOf, operands, st.lists(operands, min_size=1, max_size=4).map(tuple)),
        st.builds(ex.Exists, routes),
        st.builds(ex.Missing, routes),
        st.builds(ex.HasType, routes, _TYPES),
        st.builds(ex.BeginsWith, routes, st.one_of(texts(), st.binary(max_size=2), st.integers()).map(ex.Literally)),
        st.builds(ex.Contains, routes, operands),
    )


def _joined(inner: st.SearchStrategy[ex.Expression]) -> st.SearchStrategy[ex.Expression]:
    parts = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(st.builds(ex.All, parts), st.builds(ex.Either, parts), st.builds(ex.Not, inner))


def _expressions(routes: st.SearchStrategy[ex.Route]) -> st.SearchStrategy[ex.Expression]:
    return st.recursive(_simple(routes), _joined, max_leaves=4)


conditions = st.one_of(
    st.none(), st.builds(ex.Exists, st.just(("PK",))), _expressions(st.sampled_from(_PLAIN + _INNER + _KEYED))
)
# A filter may not name a key of the table or index that it filters.
filters = st.one_of(st.none(), _expressions(inner_routes))


@cache
def changes(key: ItemKey) -> st.SearchStrategy[tuple[ex.Action, ...]]:
    """One to three actions of an update."""
    kinds = st.sampled_from([change(key) for change in _CHANGES])
    return st.lists(kinds.flatmap(lambda kind: kind), min_size=1, max_size=3).map(tuple)


def _assigned() -> st.SearchStrategy[ex.Attribute | ex.Literally | ex.IfMissing | ex.Sum | ex.Joined]:
    literals = st.one_of(values(), long_texts).map(ex.Literally)
    attributes = inner_routes.map(ex.Attribute)
    defaults = st.builds(
        ex.IfMissing, inner_routes, st.one_of(numbers(), st.lists(numbers(), max_size=2)).map(ex.Literally)
    )
    terms = st.one_of(numbers().map(ex.Literally), st.just(ex.Attribute(("count",))), defaults)
    lists = st.one_of(st.lists(numbers(), max_size=2).map(ex.Literally), st.just(ex.Attribute(("list",))), defaults)
    return st.one_of(
        literals, attributes, defaults, st.builds(ex.Sum, terms, terms), st.builds(ex.Joined, lists, lists)
    )


_CHANGES: tuple[Callable[[ItemKey], st.SearchStrategy[ex.Action]], ...] = (
    lambda _: st.builds(ex.Assign, inner_routes, _assigned()),
    lambda key: st.one_of(
        st.builds(ex.Assign, st.just(("colour",)), st.sampled_from(COLOURS).map(ex.Literally)),
        st.builds(ex.Assign, st.sampled_from([("n",), ("weight",)]), sort_number(key).map(ex.Literally)),
        st.builds(ex.Drop, st.sampled_from(_KEYED)),
    ),
    lambda _: st.builds(ex.Drop, inner_routes),
    lambda _: st.builds(ex.Increase, st.sampled_from([("count",), ("map", "x"), ("missing",)]), numbers()),
    lambda _: st.builds(ex.Include, st.sampled_from([("tags",), ("missing",)]), sets()),
    lambda _: st.builds(ex.Exclude, st.sampled_from([("tags",), ("missing",)]), sets()),
)
