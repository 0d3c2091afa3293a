"""Stocks of a shop: fields with bounds of every kind."""

from typing import Annotated

from msgspec import Meta, Struct, field

from zataku.table import NEW_AND_OLD, Entity, Span, Table, View, include, path, some

stocks = Table("StocksOfAShop", pk="PK", sk="SK", stream=NEW_AND_OLD, transactions=True)
by_place = stocks.index("PlaceIndex", pk="place", sk="SK", projection=include("count"))

Label = Annotated[str, Meta(max_length=5)]


class Shelf(Struct, frozen=True, kw_only=True):
    """A nested struct with bounds of its own."""

    free: Annotated[int, Meta(ge=0, le=9)] = 9
    rows: Annotated[list[int], Meta(max_length=2)] = []


@stocks.entity(pk="SHOP#{shop}", sk="STOCK#{name}", version="version")
class Stock(Entity, frozen=True, kw_only=True, tag_field="kind", tag="STOCK"):
    """How much a shop has of something."""

    shop: str = "s"
    name: str = "rice"
    place: str | None = None
    count: Annotated[int, Meta(ge=0, le=10)] = 5
    above: Annotated[int, Meta(gt=0, lt=10)] = 5
    level: Annotated[float, Meta(ge=-1.5, le=1.5)] = 0.0
    dozen: Annotated[int, Meta(multiple_of=12)] = 0
    limit: Annotated[int, Meta(ge=10)] | None = None
    labels: Annotated[list[Label], Meta(max_length=3)] = []
    pair: Annotated[tuple[int, ...], Meta(min_length=2)] | None = None
    tags: Annotated[frozenset[Label], Meta(max_length=3)] | None = None
    wide: Annotated[frozenset[str], Meta(max_length=6)] | None = None
    crew: frozenset[str] = frozenset({"ann"})
    team: Annotated[frozenset[str], Meta(min_length=2, max_length=4)] | None = None
    prices: Annotated[dict[str, int], Meta(min_length=1, max_length=2)] = field(default_factory=lambda: {"a": 1})
    queue: Annotated[list[int], Meta(min_length=1, max_length=3)] = field(default_factory=lambda: [1])
    shelf: Shelf = Shelf()
    version: Annotated[int, Meta(le=1000)] = 0


class Duty(Struct, frozen=True):
    """People who are never none."""

    people: frozenset[str]


@stocks.entity(pk="SHOP#{shop}", sk="KEEPERS")
class Keepers(Entity, frozen=True, kw_only=True, tag_field="kind", tag="KEEPERS"):
    """The people of a shop."""

    shop: str
    duty: Duty


@stocks.view(Stock)
class Placed(View, frozen=True, kw_only=True):
    """What the index of places holds of a stock."""

    count: Annotated[int, Meta(ge=0, le=10)]


@stocks.query(returns=(Stock, Keepers), strong=True)
def shop_of(shop: str) -> Span:
    """Everything that a shop has."""
    return stocks.partition(f"SHOP#{shop}")


@stocks.query(returns=Stock, strong=True)
def stocks_of(shop: str) -> Span:
    """The stocks of a shop."""
    return stocks.partition(f"SHOP#{shop}").begins_with("STOCK#")


@stocks.query(returns=Placed)
def placed_at(place: str) -> Span:
    """The stocks at a place."""
    return by_place.partition(place)


count = path(Stock, lambda it: it.count)
above = path(Stock, lambda it: it.above)
level = path(Stock, lambda it: it.level)
dozen = path(Stock, lambda it: it.dozen)
limit = path(Stock, lambda it: some(it.limit))
labels = path(Stock, lambda it: it.labels)
pair = path(Stock, lambda it: some(it.pair))
tags = path(Stock, lambda it: some(it.tags))
wide = path(Stock, lambda it: some(it.wide))
crew = path(Stock, lambda it: it.crew)
team = path(Stock, lambda it: some(it.team))
price_a = path(Stock, lambda it: it.prices["a"])
price_b = path(Stock, lambda it: it.prices["b"])
price_c = path(Stock, lambda it: it.prices["c"])
first = path(Stock, lambda it: it.queue[0])
second = path(Stock, lambda it: it.queue[1])
third = path(Stock, lambda it: it.queue[2])
fourth = path(Stock, lambda it: it.queue[3])
free = path(Stock, lambda it: it.shelf.free)
rows = path(Stock, lambda it: it.shelf.rows)
people = path(Keepers, lambda it: it.duty.people)
