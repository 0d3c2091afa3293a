"""Updates: edits of an item without reading it first."""

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


async def put_and_update(store: Store, start: Game, *edits: Edit[Game]) -> Game:
    """The state after the edits, as the update returns it and as it is stored."""
    await store.put(start)
    updated = await store.update(KEY, *edits)
    assert await store.get(KEY, strong=True) == updated
    return updated


async def test_set_stores_a_value(store: Store):
    assert (await put_and_update(store, Game(game_id="g1"), note.set("x"))).note == "x"


async def test_set_replaces_a_nested_struct(store: Store):
    new_settings = Settings(time_limit=5, hint="h", words=["w"])
    assert (await put_and_update(store, Game(game_id="g1"), settings.set(new_settings))).settings == new_settings


async def test_set_changes_a_field_of_a_nested_struct(store: Store):
    updated = await put_and_update(store, Game(game_id="g1", settings=Settings(hint="h")), limit.set(7))
    assert updated.settings == Settings(time_limit=7, hint="h")


async def test_set_changes_a_member_of_a_list_and_of_a_map(store: Store):
    start = Game(game_id="g1", moves=["A1", "B2", "C3"], scores={"bob": 2})
    updated = await put_and_update(store, start, second_move.set("H8"), score_of_ann.set(4))
    assert updated.moves == ["A1", "H8", "C3"]
    assert updated.scores == {"bob": 2, "ann": 4}


async def test_set_past_the_end_of_a_list_appends(store: Store):
    at_nine = path(Game, lambda it: it.moves[9])
    assert (await put_and_update(store, Game(game_id="g1", moves=["A1"]), at_nine.set("H8"))).moves == ["A1", "H8"]


async def test_set_none_removes_an_optional_field(store: Store):
    await put_and_update(store, Game(game_id="g1", note="x"), note.set(None))
    assert await store.update(KEY, turn.set(1), when=note.missing())


async def test_set_none_stores_null_in_a_nullable_field(store: Store):
    await put_and_update(store, Game(game_id="g1", winner="AI"), winner.set(None))
    assert await store.update(KEY, turn.set(1), when=winner.has_type("NULL"))


async def test_set_if_missing_keeps_an_existing_value(store: Store):
    assert (await put_and_update(store, Game(game_id="g1"), note.set_if_missing("first"))).note == "first"
    assert (await store.update(KEY, note.set_if_missing("second"))).note == "first"


async def test_add_increments_and_decrements(store: Store):
    assert (await put_and_update(store, Game(game_id="g1", current_turn=5), turn.add(3))).current_turn == 8
    assert (await store.update(KEY, turn.add(-8))).current_turn == 0


async def test_add_starts_at_zero(store: Store):
    assert (await put_and_update(store, Game(game_id="g1"), score_of_ann.add(2))).scores == {"ann": 2}


async def test_add_is_exact_with_decimals(open_store):
    store = await open_store(measures)
    key, level = Measure.key(room=1, at=Decimal(1)), path(Measure, lambda it: it.level)
    await store.put(Measure(room=1, at=Decimal(1), level=Decimal("0.1")))
    assert (await store.update(key, level.add(Decimal("0.2")))).level == Decimal("0.3")
    large = Decimal("1E+37")
    assert (await store.update(key, level.set(large))).level == large
    assert (await store.update(key, level.add(1))).level == Decimal(10000000000000000000000000000000000001)


async def test_add_refuses_a_sum_that_would_be_rounded(open_store):
    store = await open_store(measures)
    key, level = Measure.key(room=1, at=Decimal(1)), path(Measure, lambda it: it.level)
    before = await store.put(Measure(room=1, at=Decimal(1), level=Decimal("1E+37")))
    with pytest.raises(BadNumber):
        await store.update(key, level.add(Decimal("0.1")))
    assert await store.get(key, strong=True) == before


async def test_remove_deletes_a_field(store: Store):
    updated = await put_and_update(
        store, Game(game_id="g1", note="x", settings=Settings(hint="h")), note.remove(), hint.remove()
    )
    assert updated == Game(game_id="g1", version=1)


async def test_remove_deletes_members_of_a_list_and_of_a_map(store: Store):
    first, third = path(Game, lambda it: it.moves[0]), path(Game, lambda it: it.moves[2])
    start = Game(game_id="g1", moves=["A1", "B2", "C3", "D4"], scores={"ann": 1, "bob": 2})
    updated = await put_and_update(store, start, first.remove(), third.remove(), score_of_ann.remove())
    assert updated.moves == ["B2", "D4"]
    assert updated.scores == {"bob": 2}


async def test_removing_a_missing_member_changes_nothing(store: Store):
    start = Game(game_id="g1", moves=["A1"])
    assert await put_and_update(store, start, second_move.remove(), score_of_ann.remove()) == replace(start, version=1)


async def test_append_and_prepend_extend_a_list(store: Store):
    updated = await put_and_update(
        store, Game(game_id="g1", moves=["C3"]), moves.append("D4", "E5"), words.prepend("x")
    )
    assert updated.moves == ["C3", "D4", "E5"]
    assert updated.settings.words == ["x"]
    assert (await store.update(KEY, moves.prepend("A1", "B2"))).moves == ["A1", "B2", "C3", "D4", "E5"]


async def test_include_and_exclude_add_and_remove_members_of_a_set(store: Store):
    updated = await put_and_update(store, Game(game_id="g1"), tags.include("b", "a"))
    assert updated.tags == {"a", "b"}
    assert (await store.update(KEY, tags.include("c", "a"))).tags == {"a", "b", "c"}
    assert (await store.update(KEY, tags.exclude("a", "absent"))).tags == {"b", "c"}


async def test_excluding_the_last_member_removes_the_set(store: Store):
    await put_and_update(store, Game(game_id="g1", tags=frozenset({"a"})), tags.exclude("a"))
    updated = await store.update(KEY, turn.set(1), when=tags.missing())
    assert updated.tags is None


async def test_one_update_may_contain_several_edits(store: Store):
    updated = await put_and_update(
        store, Game(game_id="g1", current_turn=1, moves=["A1"]), turn.add(1), moves.append("B2"), note.set("n")
    )
    assert (updated.current_turn, updated.moves, updated.note) == (2, ["A1", "B2"], "n")


async def test_every_update_increments_the_version(store: Store):
    assert (await put_and_update(store, Game(game_id="g1", version=4), note.set("x"))).version == 5
    assert (await store.update(KEY, note.set("x"))).version == 6


async def test_an_update_of_a_missing_item_is_refused_and_creates_nothing(store: Store):
    with pytest.raises(ConditionFailed) as refused:
        await store.update(KEY, note.set("x"))
    assert refused.value.current is None
    assert not await contents(store)


async def test_an_update_happens_only_when_its_condition_holds(store: Store):
    await store.put(Game(game_id="g1", current_turn=3))
    updated = await store.update(KEY, turn.add(1), when=turn.equals(3) & note.missing())
    assert updated.current_turn == 4
    with pytest.raises(ConditionFailed) as refused:
        await store.update(KEY, turn.add(1), when=turn.equals(3))
    assert refused.value.current == updated
    assert await store.get(KEY, strong=True) == updated


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param((), id="no edit"),
        pytest.param((note.set("a"), note.set("b")), id="one field twice"),
        pytest.param((settings.set(Settings()), limit.set(3)), id="a struct and its field"),
        pytest.param((moves.append("A1"), second_move.set("B2")), id="a list and its member"),
    ],
)
async def test_an_update_without_edits_or_with_overlapping_edits_is_refused(
    store: Store, edits: tuple[Edit[Game], ...]
):
    before = await store.put(Game(game_id="g1", moves=["A1", "B1"]))
    with pytest.raises(BadUpdate):
        await store.update(KEY, *edits)
    assert await store.get(KEY, strong=True) == before


async def test_a_member_of_an_empty_list_can_be_set_but_not_a_field_of_another_entity(store: Store):
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
    "create_edit",
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
def test_an_edit_of_the_wrong_type_is_refused_at_once(create_edit):
    with pytest.raises(WrongType) as refused:
        create_edit()
    assert refused.value.code == "wrong_type"


def test_the_error_for_an_unknown_field_lists_the_known_ones():
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
        """Fields with the names that this library uses."""

        route: str
        field: str | None = None
        entity: int = 0
        annotation: list[str] = msgspec.field(default_factory=list)

    assert path(Oddly, lambda it: it.field).route == ("field",)
    assert path(Oddly, lambda it: it.entity).route == ("entity",)
    assert path(Oddly, lambda it: it.annotation[0]).route == ("annotation", 0)
