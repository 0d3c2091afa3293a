"""Changing parts of an item without reading it first."""

from decimal import Decimal

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.designs.board import Game, Move, Settings, Vote
from tests.support.designs.measures import Measure, measures
from tests.support.store_reads import contents
from zataku.table import (
    BadNumber,
    BadUpdate,
    ConditionFailed,
    Edit,
    Entity,
    Store,
    Table,
    UnknownAttribute,
    WrongType,
    path,
)

KEY = Game.key(game_id="g1")

turn = path(Game, lambda it: it.current_turn)
note = path(Game, lambda it: it.note)
winner = path(Game, lambda it: it.winner)
settings = path(Game, lambda it: it.settings)
limit = path(Game, lambda it: it.settings.time_limit)
hint = path(Game, lambda it: it.settings.hint)
words = path(Game, lambda it: it.settings.words)
tags = path(Game, lambda it: it.tags)
moves = path(Game, lambda it: it.moves)
scores = path(Game, lambda it: it.scores)
score_of_ann = path(Game, lambda it: it.scores["ann"])
second_move = path(Game, lambda it: it.moves[1])


async def changed(store: Store, start: Game, *edits: Edit[Game]) -> Game:
    await store.put(start)
    given = await store.update(KEY, *edits)
    assert await store.get(KEY, strong=True) == given
    return given


async def test_set_stores_a_value(store: Store):
    assert (await changed(store, Game(game_id="g1"), note.set("x"))).note == "x"


async def test_set_stores_a_whole_part(store: Store):
    part = Settings(time_limit=5, hint="h", words=["w"])
    assert (await changed(store, Game(game_id="g1"), settings.set(part))).settings == part


async def test_set_reaches_into_a_part(store: Store):
    found = await changed(store, Game(game_id="g1", settings=Settings(hint="h")), limit.set(7))
    assert found.settings == Settings(time_limit=7, hint="h")


async def test_set_reaches_a_member_of_a_list_and_of_a_map(store: Store):
    start = Game(game_id="g1", moves=["A1", "B2", "C3"], scores={"bob": 2})
    found = await changed(store, start, second_move.set("H8"), score_of_ann.set(4))
    assert found.moves == ["A1", "H8", "C3"]
    assert found.scores == {"bob": 2, "ann": 4}


async def test_set_past_the_end_of_a_list_appends(store: Store):
    at_nine = path(Game, lambda it: it.moves[9])
    assert (await changed(store, Game(game_id="g1", moves=["A1"]), at_nine.set("H8"))).moves == ["A1", "H8"]


async def test_set_none_takes_an_optional_value_away(store: Store):
    await changed(store, Game(game_id="g1", note="x"), note.set(None))
    assert await store.update(KEY, turn.set(1), when=note.missing())


async def test_set_none_keeps_an_explicit_null(store: Store):
    await changed(store, Game(game_id="g1", winner="AI"), winner.set(None))
    assert await store.update(KEY, turn.set(1), when=winner.has_type("NULL"))


async def test_set_if_missing_stores_only_where_nothing_is(store: Store):
    assert (await changed(store, Game(game_id="g1"), note.set_if_missing("first"))).note == "first"
    assert (await store.update(KEY, note.set_if_missing("second"))).note == "first"


async def test_add_counts_up_and_down(store: Store):
    assert (await changed(store, Game(game_id="g1", current_turn=5), turn.add(3))).current_turn == 8
    assert (await store.update(KEY, turn.add(-8))).current_turn == 0


async def test_add_begins_at_nothing(store: Store):
    assert (await changed(store, Game(game_id="g1"), score_of_ann.add(2))).scores == {"ann": 2}


async def test_add_is_exact_with_decimals(open_store):
    store = await open_store(measures)
    key, level = Measure.key(room=1, at=Decimal(1)), path(Measure, lambda it: it.level)
    await store.put(Measure(room=1, at=Decimal(1), level=Decimal("0.1")))
    assert (await store.update(key, level.add(Decimal("0.2")))).level == Decimal("0.3")
    large = Decimal("1E+37")
    assert (await store.update(key, level.set(large))).level == large
    assert (await store.update(key, level.add(1))).level == Decimal(10000000000000000000000000000000000001)


async def test_add_refuses_what_would_be_rounded(open_store):
    store = await open_store(measures)
    key, level = Measure.key(room=1, at=Decimal(1)), path(Measure, lambda it: it.level)
    before = await store.put(Measure(room=1, at=Decimal(1), level=Decimal("1E+37")))
    with pytest.raises(BadNumber):
        await store.update(key, level.add(Decimal("0.1")))
    assert await store.get(key, strong=True) == before


async def test_remove_takes_a_value_away(store: Store):
    found = await changed(
        store, Game(game_id="g1", note="x", settings=Settings(hint="h")), note.remove(), hint.remove()
    )
    assert found == Game(game_id="g1", version=1)


async def test_remove_takes_members_of_a_list_and_of_a_map_away(store: Store):
    first, third = path(Game, lambda it: it.moves[0]), path(Game, lambda it: it.moves[2])
    start = Game(game_id="g1", moves=["A1", "B2", "C3", "D4"], scores={"ann": 1, "bob": 2})
    found = await changed(store, start, first.remove(), third.remove(), score_of_ann.remove())
    assert found.moves == ["B2", "D4"]
    assert found.scores == {"bob": 2}


async def test_removing_a_member_that_is_not_there_changes_nothing(store: Store):
    start = Game(game_id="g1", moves=["A1"])
    assert await changed(store, start, second_move.remove(), score_of_ann.remove()) == replace(start, version=1)


async def test_append_and_prepend_grow_a_list(store: Store):
    found = await changed(store, Game(game_id="g1", moves=["C3"]), moves.append("D4", "E5"), words.prepend("x"))
    assert found.moves == ["C3", "D4", "E5"]
    assert found.settings.words == ["x"]
    assert (await store.update(KEY, moves.prepend("A1", "B2"))).moves == ["A1", "B2", "C3", "D4", "E5"]


async def test_include_and_exclude_change_a_set(store: Store):
    found = await changed(store, Game(game_id="g1"), tags.include("b", "a"))
    assert found.tags == {"a", "b"}
    assert (await store.update(KEY, tags.include("c", "a"))).tags == {"a", "b", "c"}
    assert (await store.update(KEY, tags.exclude("a", "nobody"))).tags == {"b", "c"}


async def test_a_set_without_members_goes_away(store: Store):
    await changed(store, Game(game_id="g1", tags=frozenset({"a"})), tags.exclude("a"))
    found = await store.update(KEY, turn.set(1), when=tags.missing())
    assert found.tags is None


async def test_edits_see_the_item_as_it_was(store: Store):
    found = await changed(
        store, Game(game_id="g1", current_turn=1, moves=["A1"]), turn.add(1), moves.append("B2"), note.set("n")
    )
    assert (found.current_turn, found.moves, found.note) == (2, ["A1", "B2"], "n")


async def test_every_update_counts_the_version_up(store: Store):
    assert (await changed(store, Game(game_id="g1", version=4), note.set("x"))).version == 5
    assert (await store.update(KEY, note.set("x"))).version == 6


async def test_an_update_of_nothing_is_refused_and_makes_nothing(store: Store):
    with pytest.raises(ConditionFailed) as refused:
        await store.update(KEY, note.set("x"))
    assert refused.value.current is None
    assert not await contents(store)


async def test_an_update_on_condition(store: Store):
    await store.put(Game(game_id="g1", current_turn=3))
    found = await store.update(KEY, turn.add(1), when=turn.equals(3) & note.missing())
    assert found.current_turn == 4
    with pytest.raises(ConditionFailed) as refused:
        await store.update(KEY, turn.add(1), when=turn.equals(3))
    assert refused.value.current == found
    assert await store.get(KEY, strong=True) == found


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param((), id="nothing at all"),
        pytest.param((note.set("a"), note.set("b")), id="one field twice"),
        pytest.param((settings.set(Settings()), limit.set(3)), id="a part and the whole of it"),
        pytest.param((moves.append("A1"), second_move.set("B2")), id="a list and its member"),
    ],
)
async def test_edits_that_overlap_are_refused(store: Store, edits: tuple[Edit[Game], ...]):
    before = await store.put(Game(game_id="g1", moves=["A1", "B1"]))
    with pytest.raises(BadUpdate):
        await store.update(KEY, *edits)
    assert await store.get(KEY, strong=True) == before


async def test_a_member_of_what_is_not_there_cannot_be_set(store: Store):
    before = await store.put(Game(game_id="g1"))
    deeper = path(Game, lambda it: it.settings.words[0])
    assert (await store.update(KEY, deeper.set("w"))).settings.words == ["w"]
    await store.put(before)
    from_move = path(Move, lambda it: it.position)
    with pytest.raises(WrongType, match="Move"):
        await store.update(KEY, from_move.set("A1"))
    assert await store.get(KEY, strong=True) == before


async def test_a_key_field_cannot_be_edited(store: Store):
    before = await store.put(Game(game_id="g1"))
    with pytest.raises(BadUpdate, match="key"):
        await store.update(KEY, path(Game, lambda it: it.game_id).set("g2"))
    assert await store.get(KEY, strong=True) == before


async def test_a_required_field_cannot_be_removed(store: Store):
    with pytest.raises(BadUpdate, match="required"):
        path(Vote, lambda it: it.candidate_id).remove()


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: turn.set("four"), id="another type"),
        pytest.param(lambda: turn.set(-1), id="below its limit"),
        pytest.param(lambda: limit.set(301), id="above its limit"),
        pytest.param(lambda: path(Move, lambda it: it.position).set("Z9"), id="against its pattern"),
        pytest.param(lambda: moves.append(3), id="a member of another type"),
        pytest.param(lambda: tags.include(3), id="a set member of another type"),
        pytest.param(lambda: tags.include(), id="no set member"),
        pytest.param(lambda: note.add(1), id="adding to a string"),
    ],
)
def test_an_edit_of_the_wrong_type_is_refused_at_once(make):
    with pytest.raises(WrongType) as refused:
        make()
    assert refused.value.code == "wrong_type"


def test_a_field_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(UnknownAttribute, match="It has: game_id"):
        path(Game, lambda it: it.colour)
    with pytest.raises(UnknownAttribute, match="time_limit"):
        path(Game, lambda it: it.settings.colour)
    with pytest.raises(UnknownAttribute):
        path(Game, lambda it: it.note.colour)
    with pytest.raises(UnknownAttribute):
        path(Game, lambda _: "note")


def test_a_field_may_have_any_name():
    roads = Table("RoadsAndFields", pk="route")

    @roads.entity(pk="{route}")
    class Oddly(Entity, frozen=True, kw_only=True):
        """Fields named as the words of this library."""

        route: str
        field: str | None = None
        entity: int = 0
        annotation: list[str] = msgspec.field(default_factory=list)

    assert path(Oddly, lambda it: it.field).route == ("field",)
    assert path(Oddly, lambda it: it.entity).route == ("entity",)
    assert path(Oddly, lambda it: it.annotation[0]).route == ("annotation", 0)
