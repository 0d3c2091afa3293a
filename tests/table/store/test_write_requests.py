"""Typed writes compiled into requests: every write sets the index keys that it affects."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.table.boardgame import Clock, Game, GameId, Kifu, Move, Side, board, library, path, status, winner
from zataku.table import BadKey, BadUpdate, StaleIndexKey, WrongType, some
from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import holds
from zataku.table.backend.update_evaluation import apply_update
from zataku.table.schema.entity import binding_of
from zataku.table.store import write_requests

SCHEMA = board.schema()
NOW = 1_000.0
GAME = Game(game_id=GameId("g1"), status="ACTIVE", created_at="2026-02-19T10:00:00Z")
MOVE = Move(game_id=GameId("g1"), turn_number=1, side=Side.BLACK, position="D3", vote_count=2)
MOVE_KEY = Move.key(game_id="g1", turn_number=1)

side = path(Move, lambda move: move.side)
position = path(Move, lambda move: move.position)


def apply_to(write: object, item: dict[str, object]) -> dict[str, object]:
    assert isinstance(write, write_requests.UpdateItem)
    return apply_update(write.actions, item)


def test_an_update_sets_every_index_key_of_the_fields_it_changes() -> None:
    write = write_requests.update(SCHEMA, MOVE_KEY, [side.set(Side.WHITE), position.set("E4")], None, NOW)
    updated = apply_to(write, binding_of(Move).encode(MOVE))
    assert updated == binding_of(Move).encode(replace(MOVE, side=Side.WHITE, position="E4"))


def test_an_update_sets_only_the_index_keys_it_affects() -> None:
    write = write_requests.update(SCHEMA, MOVE_KEY, [side.set(Side.WHITE)], None, NOW)
    assert {action.route for action in write.actions} == {("side",), ("GSI1PK",)}


def test_setting_a_field_to_none_removes_its_index_key() -> None:
    day = path(Game, lambda game: game.day)
    write = write_requests.update(SCHEMA, Game.key(game_id="g1"), [day.set(None)], None, NOW)
    updated = apply_to(write, binding_of(Game).encode(replace(GAME, day=date(2026, 2, 21))))
    assert updated == binding_of(Game).encode(replace(GAME, version=2))


def test_an_update_of_a_field_behind_a_derived_index_key_is_refused() -> None:
    with pytest.raises(StaleIndexKey, match=r"load the item and `save` it"):
        write_requests.update(SCHEMA, Game.key(game_id="g1"), [status.set("FINISHED")], None, NOW)


def test_an_update_whose_index_key_depends_on_the_stored_value_is_refused() -> None:
    with pytest.raises(StaleIndexKey):
        write_requests.update(SCHEMA, MOVE_KEY, [position.set_if_missing("D3")], None, NOW)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "status": st.sampled_from(["ACTIVE", "FINISHED"]),
            "private": st.booleans(),
            "created_at": st.text(min_size=1),
            "day": st.none() | st.dates(),
            "winner": st.none() | st.text(),
            "clock": st.none() | st.builds(Clock, st.integers(0, 9)),
            "players": st.lists(st.text(max_size=3)),
            "watchers": st.none() | st.frozensets(st.text(max_size=2), min_size=1),
        },
    )
)
def test_a_saved_item_equals_the_same_item_put(changes: dict[str, object]) -> None:
    new = replace(GAME, **changes)
    saved, write = write_requests.save(SCHEMA, new, GAME)
    before = binding_of(Game).encode(GAME)
    if write is None:
        assert new == GAME
        return
    assert saved == replace(new, version=2)
    assert write.condition is not None
    assert holds(write.condition, before)
    assert apply_to(write, before) == binding_of(Game).encode(saved)
    assert not holds(write.condition, {**before, "version": 2})


def test_without_a_version_a_save_requires_the_changed_fields_to_be_unchanged() -> None:
    _, write = write_requests.save(SCHEMA, replace(MOVE, vote_count=3), MOVE)
    assert write is not None
    assert write.condition is not None
    item = binding_of(Move).encode(MOVE)
    assert holds(write.condition, item)
    assert holds(write.condition, {**item, "position": "E4"})
    assert not holds(write.condition, {**item, "voteCount": 9})
    assert not holds(write.condition, {})


def test_a_save_that_sets_a_field_requires_it_to_be_missing_still() -> None:
    _, write = write_requests.save(SCHEMA, MOVE, replace(MOVE, vote_count=None))
    assert write is not None
    assert write.condition is not None
    item = binding_of(Move).encode(MOVE)
    assert not holds(write.condition, item)


def test_a_save_without_changes_writes_nothing() -> None:
    assert write_requests.save(SCHEMA, GAME, GAME) == (GAME, None)


def test_a_save_cannot_change_the_key_of_an_item() -> None:
    with pytest.raises(BadKey, match="in a transaction"):
        write_requests.save(SCHEMA, replace(MOVE, turn_number=2), MOVE)


def test_a_save_updates_the_index_keys_of_the_changed_fields() -> None:
    kifu = Kifu(username="a", kid="k", slug="one", kifu="")
    _, write = write_requests.save(library.schema(), replace(kifu, slug="two", share_code="S"), kifu)
    assert write is not None
    assert apply_to(write, binding_of(Kifu).encode(kifu)) == {
        "pk": "kifu#uname#a",
        "sk": "kid#k",
        "clsi_sk": "slug#two",
        "cgsi_pk": "kifu#scode#S",
        "kifu": "",
    }


def test_an_update_increments_the_version() -> None:
    write = write_requests.update(SCHEMA, Game.key(game_id="g1"), [winner.set("AI")], None, NOW)
    assert apply_to(write, binding_of(Game).encode(GAME))["version"] == 2


def test_an_update_requires_an_item_that_exists_and_has_not_expired() -> None:
    write = write_requests.update(
        SCHEMA, Game.key(game_id="g1"), [winner.set("AI")], winner.missing() | winner.equals(None), NOW
    )
    assert write.condition is not None
    item = binding_of(Game).encode(GAME)
    assert holds(write.condition, item)
    assert holds(write.condition, {**item, "expiresAt": 1001})
    assert not holds(write.condition, {**item, "expiresAt": 1000})
    assert not holds(write.condition, {**item, "winner": "AI"})
    assert not holds(write.condition, {})


def test_if_absent_replaces_an_expired_item() -> None:
    write = write_requests.put(SCHEMA, GAME, None, True, NOW)
    assert write.condition is not None
    assert holds(write.condition, {})
    assert holds(write.condition, {"PK": "x", "expiresAt": 999})
    assert not holds(write.condition, {"PK": "x", "expiresAt": 1001})
    assert not holds(write.condition, {"PK": "x"})


def test_a_key_field_cannot_be_edited() -> None:
    turn = path(Move, lambda move: move.turn_number)
    with pytest.raises(BadUpdate, match="part of the item's key"):
        write_requests.update(SCHEMA, MOVE_KEY, [turn.add(1)], None, NOW)


def test_an_update_without_edits_is_refused() -> None:
    with pytest.raises(BadUpdate, match="at least one edit"):
        write_requests.update(SCHEMA, MOVE_KEY, [], None, NOW)


def test_edits_and_conditions_of_another_entity_are_refused() -> None:
    with pytest.raises(WrongType, match="is about Game"):
        write_requests.update(SCHEMA, MOVE_KEY, [winner.set("AI")], None, NOW)  # type: ignore[list-item]
    with pytest.raises(WrongType, match="is about Game"):
        write_requests.delete(SCHEMA, MOVE_KEY, winner.exists())  # type: ignore[arg-type]


def test_a_nested_edit_changes_only_its_own_path() -> None:
    limit = path(Game, lambda game: some(game.clock).time_limit)
    write = write_requests.update(SCHEMA, Game.key(game_id="g1"), [limit.set(30)], None, NOW)
    assert write.actions[0] == ex.Assign(("clock", "timeLimit"), ex.Literally(30))
