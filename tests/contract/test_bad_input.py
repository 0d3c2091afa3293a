"""Invalid input is refused with a named error that says what to do, and writes nothing."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from tests.contract.writes.test_conditions import Thing, shelf
from tests.support.designs.board import Candidate, Game, Move, Settings, Vote, board
from tests.support.designs.connections import Connection, connections
from tests.support.designs.measures import Measure, Word, measures, words, words_in
from tests.support.store_reads import contents, run_transaction
from zataku.table import (
    BadCursor,
    BadInput,
    BadKey,
    BadNumber,
    BadUpdate,
    Entity,
    ItemTooLarge,
    MissingKeyField,
    SameItemTwice,
    StaleIndexKey,
    Store,
    Table,
    TooManyItems,
    TransactionTooLarge,
    UnknownAttribute,
    WrongType,
    number,
    path,
)

drawer = Table("DrawerOfOddThings", pk="pk")
by_level = drawer.index("ByLevel", pk="kind", sk=number("level"))


@drawer.entity(pk="DRAWER#{code}")
class Odd(Entity, frozen=True, kw_only=True):
    """An entity whose fields accept values that a table must refuse."""

    code: str | None = None
    anything: Any = None
    kind: str | None = None
    level: int | None = None


KB_400 = 400 * 1024
# DynamoDB counts the UTF-8 lengths of all names and values: language, en, word, w, note.
WORD_OVERHEAD = len("languageenwordwnote")
TABLES = (board, connections, measures, words, drawer, shelf)

note = path(Word, lambda it: it.note)
turn = path(Game, lambda it: it.current_turn)
moves = path(Game, lambda it: it.moves)
thing_tags = path(Thing, lambda it: it.tags)
count = path(Thing, lambda it: it.count)

Call = Callable[[Store], Awaitable[object]]

ADVICE = (
    "Change|Expected|Flatten|Give|Invalid|It has|It takes|Join|Name|Object missing|Put|Round|Scale|Set|Shorten|Split|"
    "Start|Swap|Use"
)


def nested(levels: int) -> Any:
    """A string nested in maps and lists, `levels` deep; the attribute is the first level."""
    value: Any = "leaf"
    for level in range(levels - 1):
        value = [value] if level % 2 else {"n": value}
    return value


def put(entity: Entity) -> Call:
    return lambda store: store.put(entity)


def update_game(*edits: Callable[[], Any]) -> Call:
    return lambda store: store.update(Game.key(game_id="g1"), *(edit() for edit in edits))


def large_word(at: int) -> Word:
    return Word(language="en", word=f"large{at:02d}", note="x" * (KB_400 - 100))


async def cursor_of_another_query(store: Store) -> None:
    page = await store.page(words_in("en"), limit=1)
    await store.page(words_in("de"), after=page.cursor)


async def update_past_the_size_limit(store: Store) -> None:
    await store.update(Word.key(language="en", word="w"), note.set("x" * (KB_400 - WORD_OVERHEAD + 1)))


async def oversized_transaction(store: Store) -> None:
    await run_transaction(store, *[lambda tx, at=at: tx.put(large_word(at)) for at in range(11)])


async def transaction_of_101_items(store: Store) -> None:
    await run_transaction(store, *[lambda tx, at=at: tx.put(Word(language="x", word=f"{at}")) for at in range(101)])


async def transaction_with_one_item_twice(store: Store) -> None:
    word = Word(language="en", word="w")
    await run_transaction(store, lambda tx: tx.put(word), lambda tx: tx.delete(Word.key(language="en", word="w")))


async def transaction_with_one_bad_item(store: Store) -> None:
    await run_transaction(
        store, lambda tx: tx.put(Word(language="x", word="fine")), lambda tx: tx.put(Odd(code="c", level="x", kind="k"))
    )


async def batch_with_one_bad_item(store: Store) -> None:
    fine = [Word(language="x", word=f"{at}") for at in range(5)]
    await store.write_many(put=[*fine, Word(language="x", word="y" * 1025)])


async def many_batches_with_one_bad_item(store: Store) -> None:
    fine = [Word(language="x", word=f"{at}") for at in range(60)]
    await store.write_many(put=[*fine, Word(language="x", word="y", note="n" * KB_400)])


CASES: dict[str, tuple[Call, type[BadInput], str]] = {
    "an item that is one byte too large": (
        put(Word(language="en", word="w", note="x" * (KB_400 - WORD_OVERHEAD + 1))),
        ItemTooLarge,
        "item_too_large",
    ),
    "an update that makes the item too large": (update_past_the_size_limit, ItemTooLarge, "item_too_large"),
    "a partition key of 2049 bytes": (put(Word(language="é" * 1024 + "a", word="w")), BadKey, "bad_key"),
    "a sort key of 1025 bytes": (put(Word(language="en", word="é" * 512 + "a")), BadKey, "bad_key"),
    "reading a key of 2049 bytes": (
        lambda store: store.get(Word.key(language="a" * 2049, word="w")),
        BadKey,
        "bad_key",
    ),
    "deleting a key of 1025 bytes": (
        lambda store: store.delete(Word.key(language="a", word="w" * 1025)),
        BadKey,
        "bad_key",
    ),
    "an index sort key of 1025 bytes": (put(Game(game_id="g1", created_at="t" * 1025)), BadKey, "bad_key"),
    "an index partition key of 2049 bytes": (
        put(Connection(connection_id="c", room_id="r" * 2049)),
        BadKey,
        "bad_key",
    ),
    "an id that imitates another kind's key": (put(Game(game_id="g1#TURN#001")), BadKey, "bad_key"),
    "an empty partition key": (put(Word(language="", word="w")), BadKey, "bad_key"),
    "an empty sort key": (put(Word(language="en", word="")), BadKey, "bad_key"),
    "an empty field in a key template": (put(Game(game_id="")), BadKey, "bad_key"),
    "an empty index key": (put(Connection(connection_id="c", room_id="")), BadKey, "bad_key"),
    "a transaction above four megabytes": (oversized_transaction, TransactionTooLarge, "transaction_too_large"),
    "a transaction of 101 items": (transaction_of_101_items, TooManyItems, "too_many_items"),
    "a transaction with one item twice": (transaction_with_one_item_twice, SameItemTwice, "same_item_twice"),
    "a transaction with one bad item": (transaction_with_one_bad_item, WrongType, "wrong_type"),
    "many batches with one bad item": (many_batches_with_one_bad_item, ItemTooLarge, "item_too_large"),
    "a batch with one bad item": (batch_with_one_bad_item, BadKey, "bad_key"),
    "a string in place of a number": (put(Game(game_id="g1", current_turn="one")), WrongType, "wrong_type"),
    "a number below its limit": (put(Game(game_id="g1", current_turn=-1)), WrongType, "wrong_type"),
    "a number above its limit in a nested struct": (
        put(Game(game_id="g1", settings=Settings(time_limit=301))),
        WrongType,
        "wrong_type",
    ),
    "a number above its limit by update": (
        update_game(lambda: path(Game, lambda it: it.settings.time_limit).set(301)),
        WrongType,
        "wrong_type",
    ),
    "a string that does not match its pattern": (
        put(Move(game_id="g1", turn_number=1, position="Z9")),
        WrongType,
        "wrong_type",
    ),
    "an unknown status": (put(Game(game_id="g1", status="LOST")), WrongType, "wrong_type"),
    "a required field without a value": (
        put(Vote(game_id="g1", turn_number=1, user_id="u", candidate_id=None)),
        WrongType,
        "wrong_type",
    ),
    "an object of an unsupported type": (put(Odd(code="c", anything=object())), WrongType, "wrong_type"),
    "a set of two types": (put(Odd(code="c", anything=frozenset({1, "a"}))), WrongType, "wrong_type"),
    "a map with a number as a name": (put(Odd(code="c", anything={1: "a"})), WrongType, "wrong_type"),
    "a lone surrogate": (put(Odd(code="c", anything="\ud834")), WrongType, "wrong_type"),
    "a lone surrogate in a key": (put(Odd(code="\ud834")), WrongType, "wrong_type"),
    "a lone surrogate in a condition": (
        lambda store: store.delete(Word.key(language="en", word="w"), when=note.equals("\ud834")),
        WrongType,
        "wrong_type",
    ),
    "a key of another type": (put(Word(language=7, word="w")), WrongType, "wrong_type"),
    "an index key of another type": (put(Odd(code="c", kind="k", level="high")), WrongType, "wrong_type"),
    "an index key that is not a scalar": (put(Odd(code="c", kind="k", level=[1])), WrongType, "wrong_type"),
    "a boolean as an index key": (put(Odd(code="c", kind="k", level=True)), WrongType, "wrong_type"),
    "an update to an index key of another type": (
        lambda store: store.update(Odd.key(code="there"), path(Odd, lambda it: it.level).set("high")),
        WrongType,
        "wrong_type",
    ),
    "an attribute that the entity does not have": (
        lambda store: store.get(Game.key(game_id="g1", colour="red")),
        UnknownAttribute,
        "unknown_attribute",
    ),
    "an attribute that is not part of the key": (
        lambda store: store.get(Game.key(game_id="g1", status="ACTIVE")),
        UnknownAttribute,
        "unknown_attribute",
    ),
    "an edit of an attribute that the entity does not have": (
        update_game(lambda: path(Game, lambda it: it.colour).set("red")),
        UnknownAttribute,
        "unknown_attribute",
    ),
    "a cursor of another query": (cursor_of_another_query, BadCursor, "bad_cursor"),
    "a template that needs a missing field": (put(Odd()), MissingKeyField, "missing_key_field"),
    "a key without one of its fields": (
        lambda store: store.get(Candidate.key(game_id="g1", turn_number=1)),
        MissingKeyField,
        "missing_key_field",
    ),
    "a value that contains the separator after it": (
        put(Candidate(game_id="g1#TURN#007", turn_number=1, candidate_id="c")),
        BadKey,
        "bad_key",
    ),
    "a number that outgrows its padding": (put(Move(game_id="g1", turn_number=1000)), BadKey, "bad_key"),
    "a negative number in a padded key": (put(Move(game_id="g1", turn_number=-1)), BadKey, "bad_key"),
    "a number of 39 digits": (put(Odd(code="c", anything=10**38 + 1)), BadNumber, "bad_number"),
    "a decimal of 39 digits": (put(Odd(code="c", anything=Decimal("0." + "1" * 39))), BadNumber, "bad_number"),
    "a number key of 39 digits": (put(Measure(room=10**38 + 1, at=Decimal(1))), BadNumber, "bad_number"),
    "not a number": (put(Odd(code="c", anything=float("nan"))), BadNumber, "bad_number"),
    "an infinite number": (put(Odd(code="c", anything=float("-inf"))), BadNumber, "bad_number"),
    "a decimal that is not a number": (put(Odd(code="c", anything=Decimal("NaN"))), BadNumber, "bad_number"),
    "a number that is too large": (put(Odd(code="c", anything=Decimal("1E+126"))), BadNumber, "bad_number"),
    "a number that is too small": (put(Odd(code="c", anything=Decimal("1E-131"))), BadNumber, "bad_number"),
    "a sum that is too large": (
        lambda store: store.update(
            Measure.key(room=1, at=Decimal(1)), path(Measure, lambda it: it.level).add(Decimal("9E+125"))
        ),
        BadNumber,
        "bad_number",
    ),
    "33 levels": (put(Odd(code="c", anything=nested(33))), BadInput, "bad_input"),
    "far too many levels": (put(Odd(code="c", anything=nested(5000))), BadInput, "bad_input"),
    "an update without edits": (update_game(), BadUpdate, "bad_update"),
    "two edits of one field": (update_game(lambda: turn.add(1), lambda: turn.set(3)), BadUpdate, "bad_update"),
    "an edit of a key": (update_game(lambda: path(Game, lambda it: it.game_id).set("g2")), BadUpdate, "bad_update"),
    "a member of a set of another type": (
        lambda store: store.update(Thing.key(shelf="s", name="t"), thing_tags.include(3)),
        WrongType,
        "wrong_type",
    ),
    "an index key that an update cannot compute": (
        update_game(lambda: path(Game, lambda it: it.status).set("FINISHED")),
        StaleIndexKey,
        "stale_index_key",
    ),
    "a condition of 101 values": (
        lambda store: store.delete(Thing.key(shelf="s", name="t"), when=count.is_in(*range(101))),
        WrongType,
        "wrong_type",
    ),
    "a between condition with its ends in the wrong order": (
        lambda store: store.delete(Thing.key(shelf="s", name="t"), when=count.between(9, 1)),
        BadInput,
        "bad_input",
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def filled(open_shared_store) -> Store:
    store = await open_shared_store(*TABLES)
    await store.write_many(
        put=[
            Game(game_id="g1", note="here before"),
            Word(language="en", word="w"),
            Word(language="en", word="x"),
            Measure(room=1, at=Decimal(1), level=Decimal("9E+125")),
            Thing(shelf="s", name="t"),
            Odd(code="there", kind="k", level=3),
        ]
    )
    return store


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def before(filled: Store) -> Counter[str]:
    return await contents(filled)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", CASES)
async def test_bad_input_is_refused_and_nothing_is_written(filled: Store, before: Counter[str], name: str):
    call, error, code = CASES[name]
    with pytest.raises(error) as refused:
        await call(filled)
    assert type(refused.value) is error
    assert refused.value.code == code
    assert gives_advice(refused.value.message)
    assert await contents(filled) == before
    changes = {change.position for change in await filled.stream(board, "watcher").read()}
    assert len(changes) == 1


def gives_advice(message: str) -> bool:
    """True when a sentence of the message says what to do or what is expected."""
    return bool(re.search(rf"(^|[.;:] )({ADVICE})\b.*\.$", message, re.DOTALL))


async def test_an_item_of_exactly_400_kilobytes_is_accepted(open_store):
    store = await open_store(words)
    largest = Word(language="en", word="w", note="x" * (KB_400 - WORD_OVERHEAD))
    await store.put(largest)
    assert await store.get(Word.key(language="en", word="w"), strong=True) == largest


async def test_keys_of_exactly_the_maximum_length_are_accepted(open_store):
    store = await open_store(words)
    longest = Word(language="é" * 1024, word="語" * 341 + "a")
    await store.put(longest)
    assert await store.get(Word.key(language="é" * 1024, word="語" * 341 + "a"), strong=True) == longest
    assert [word async for word in store.each(words_in("é" * 1024))] == [longest]


async def test_a_transaction_just_below_four_megabytes_is_accepted(open_store):
    store = await open_store(words)
    await run_transaction(store, *[lambda tx, at=at: tx.put(large_word(at)) for at in range(10)])
    assert await store.count(words_in("en")) == 10


async def test_values_nested_32_levels_deep_are_accepted(open_store):
    store = await open_store(drawer)
    await store.put(Odd(code="c", anything=nested(32)))
    stored = await store.get(Odd.key(code="c"), strong=True)
    assert stored is not None
    assert stored.anything == nested(32)


async def test_the_largest_and_smallest_numbers_are_accepted(open_store):
    store = await open_store(drawer)
    for value in (Decimal("9." + "9" * 37 + "E+125"), Decimal("1E-130"), 10**38, -(10**125)):
        assert await store.put(Odd(code="c", anything=value))
