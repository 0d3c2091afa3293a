"""The table of the two compared stores, and random items for it."""

from functools import cache

from hypothesis import strategies as st

from tests.table.differential.number_alignment import numbers, sets, values
from tests.table.strategies import texts
from zataku.table.backend.numbers import Number
from zataku.table.backend.port import ItemKey
from zataku.table.backend.table_schema import KEYS_ONLY, IndexSchema, KeyAttribute, TableSchema, include
from zataku.table.backend.values import Item, Value

PK, SK = KeyAttribute("PK"), KeyAttribute("SK")
BY_COLOUR = IndexSchema("ByColour", KeyAttribute("colour"), KeyAttribute("n", "N"))
BY_SHADE = IndexSchema("ByShade", KeyAttribute("colour"), KeyAttribute("n", "N"), include("text"))
BY_WEIGHT = IndexSchema("ByWeight", PK, KeyAttribute("weight", "N"), KEYS_ONLY, local=True)
INDEXES = (BY_COLOUR, BY_SHADE, BY_WEIGHT)

KEYS: tuple[ItemKey, ...] = tuple((pk, sk) for pk in ("p", "q#1") for sk in ("a", "ab", "b", "が"))
COLOURS = ("red", "blue")
# Around the sizes at which one more unit is charged.
_LENGTHS = (0, 1, 700, 950, 1000, 1024, 2000, 3900, 4050, 4096, 8200)

keys = st.sampled_from(KEYS)


def comparison_table(name: str) -> TableSchema:
    """The table under the given name."""
    return TableSchema(name, PK, SK, INDEXES, stream="NEW_AND_OLD_IMAGES")


def sort_number(key: ItemKey) -> st.SearchStrategy[Number]:
    """A number that no other item has: the order of items with equal index keys is unspecified."""
    return st.integers(-3, 3).map(lambda step: step * len(KEYS) + KEYS.index(key))


long_texts = st.sampled_from(_LENGTHS).map(lambda length: "x" * length)


@cache
def items(key: ItemKey) -> st.SearchStrategy[Item]:
    """An item under a key: in none, some or all of the indexes, small or around the size of a unit."""
    optional: dict[str, st.SearchStrategy[Value]] = {
        "colour": st.sampled_from(COLOURS),
        "n": sort_number(key),
        "weight": sort_number(key),
        "text": st.one_of(texts(), long_texts),
        "count": numbers(),
        "flag": st.one_of(st.booleans(), st.none()),
        "list": st.lists(st.one_of(numbers(), texts()), max_size=4),
        "map": st.fixed_dictionaries({"x": st.integers(0, 3)}, optional={"deep": st.dictionaries(texts(), numbers())}),
        "tags": sets(),
        "any": values(),
    }
    return st.fixed_dictionaries({"PK": st.just(key[0]), "SK": st.just(key[1])}, optional=optional)


@st.composite
def bad_items(draw: st.DrawFn, key: ItemKey) -> Item:
    """An invalid item: a key that is missing, empty or of another type, an invalid index key, or too many bytes."""
    item = draw(items(key))
    defect = draw(st.sampled_from(["no key", "empty key", "number key", "index key", "empty index key", "large"]))
    if defect == "no key":
        del item["SK"]
    elif defect == "large":
        item["text"] = "x" * (400 * 1024)
    else:
        name, value = {
            "empty key": ("SK", ""),
            "number key": ("PK", 7),
            "index key": ("n", "seven"),
            "empty index key": ("colour", ""),
        }[defect]
        item[name] = value
    return item
