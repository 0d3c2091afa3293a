"""Writing the difference between two states of an item."""

import pytest
from msgspec.structs import replace

from tests.contract.conftest import OpenStore
from tests.support.designs.board import Candidate, Game, Move, Settings
from tests.support.designs.pieces import Lid, Piece, pieces
from tests.support.store_reads import contents, run_transaction
from zataku.table import BadInput, BadKey, ConditionFailed, Store, path
from zataku.table.backend.port import PutItem
from zataku.table.schema.entity import binding_of

KEY = Game.key(game_id="g1")
CANDIDATE = Candidate(game_id="g1", turn_number=1, candidate_id="c1", user_id="ann", created_at="t1", vote_count=1)
CANDIDATE_KEY = Candidate.key(game_id="g1", turn_number=1, candidate_id="c1")

note = path(Game, lambda it: it.note)


async def test_a_save_writes_the_changed_fields_and_increments_the_version(store: Store):
    was = await store.put(Game(game_id="g1", note="old", tags=frozenset({"a"})))
    now = await store.save(replace(was, note=None, current_turn=2, settings=Settings(hint="h")), was=was)
    assert now == replace(was, note=None, current_turn=2, settings=Settings(hint="h"), version=1)
    assert await store.get(KEY, strong=True) == now


async def test_each_save_can_start_from_the_state_of_the_last_one(store: Store):
    state = await store.put(Game(game_id="g1"))
    for turn in range(1, 6):
        state = await store.save(replace(state, current_turn=turn), was=state)
    assert state.version == 5
    assert await store.get(KEY, strong=True) == state


async def test_a_save_without_changes_writes_nothing(store: Store):
    was = await store.put(Game(game_id="g1"))
    assert await store.save(replace(was), was=was) == was
    assert await store.get(KEY, strong=True) == was


async def test_a_changed_version_alone_is_not_saved(store: Store):
    was = await store.put(Game(game_id="g1"))
    await store.save(replace(was, version=9), was=was)
    assert await store.get(KEY, strong=True) == was


async def test_a_save_from_an_outdated_version_is_refused(store: Store):
    was = await store.put(Game(game_id="g1"))
    first = await store.save(replace(was, note="first"), was=was)
    with pytest.raises(ConditionFailed) as refused:
        await store.save(replace(was, current_turn=9), was=was)
    assert refused.value.current == first
    assert await store.get(KEY, strong=True) == first


async def test_a_save_after_an_update_by_another_caller_is_refused(store: Store):
    was = await store.put(Game(game_id="g1"))
    between = await store.update(KEY, note.set("between"))
    with pytest.raises(ConditionFailed):
        await store.save(replace(was, current_turn=9), was=was)
    assert await store.get(KEY, strong=True) == between


async def test_without_a_version_a_save_of_a_field_changed_in_between_is_refused(store: Store):
    await store.put(CANDIDATE)
    first = await store.save(replace(CANDIDATE, vote_count=2), was=CANDIDATE)
    with pytest.raises(ConditionFailed) as refused:
        await store.save(replace(CANDIDATE, vote_count=3), was=CANDIDATE)
    assert refused.value.current == first


async def test_without_a_version_saves_of_different_fields_are_both_kept(store: Store):
    await store.put(CANDIDATE)
    await store.save(replace(CANDIDATE, vote_count=2), was=CANDIDATE)
    await store.save(replace(CANDIDATE, description="late"), was=CANDIDATE)
    assert await store.get(CANDIDATE_KEY, strong=True) == replace(CANDIDATE, vote_count=2, description="late")


async def test_without_a_version_a_save_of_a_field_set_in_between_is_refused(store: Store):
    bare = replace(CANDIDATE, picture=None)
    await store.put(bare)
    first = await store.save(replace(bare, picture=b"1"), was=bare)
    with pytest.raises(ConditionFailed):
        await store.save(replace(bare, picture=b"2"), was=bare)
    assert await store.get(CANDIDATE_KEY, strong=True) == first


async def test_a_save_of_a_deleted_item_is_refused_and_does_not_create_it(store: Store):
    was = await store.put(Game(game_id="g1"))
    await store.put(CANDIDATE)
    await store.delete(KEY)
    await store.delete(CANDIDATE_KEY)
    for now, before in (
        (replace(was, note="x"), was),
        (replace(CANDIDATE, description="x"), CANDIDATE),
        (replace(CANDIDATE, picture=b"x"), CANDIDATE),
    ):
        with pytest.raises(ConditionFailed) as refused:
            await store.save(now, was=before)
        assert refused.value.current is None
    assert not await contents(store)


async def test_a_save_cannot_change_the_key_of_an_item(store: Store):
    was = await store.put(Game(game_id="g1"))
    with pytest.raises(BadKey, match="transaction"):
        await store.save(replace(was, game_id="g2"), was=was)
    assert await contents(store) == {repr(was): 1}


async def test_a_save_of_two_different_entities_is_refused(store: Store):
    with pytest.raises(BadInput, match="Move"):
        await store.save(Game(game_id="g1"), was=Move(game_id="g1", turn_number=1))
    with pytest.raises(BadInput, match="Move"):
        await run_transaction(store, lambda tx: tx.save(Game(game_id="g1"), was=Move(game_id="g1", turn_number=1)))
    assert not await contents(store)


async def test_a_set_can_be_saved_as_none(store: Store):
    was = await store.put(Game(game_id="g1", tags=frozenset({"a"})))
    now = await store.save(replace(was, tags=None), was=was)
    assert (await store.get(KEY, strong=True)) == now


async def test_an_item_written_before_a_field_existed_is_saved(open_store: OpenStore):
    """Such an item lacks the attribute, which is read as the default of the field."""
    store = await open_store(pieces)
    piece, lid = Piece(box="b", name="p"), Lid(box="b")
    for was in (piece, lid):
        item = binding_of(type(was)).encode(was)
        write = PutItem(store.schema(pieces), {name: item[name] for name in item if name not in ("count", "version")})
        await store.calls("older", lambda consumed, write=write: store.backend.write(write, consumed))
    saved = await store.save(replace(piece, count=5), was=piece)
    assert await store.get(Piece.key(box="b", name="p"), strong=True) == saved
    assert (await store.save(replace(lid, text="new"), was=lid)).version == 1
    for now, stale in ((replace(piece, count=6), piece), (replace(lid, text="newer"), lid)):
        with pytest.raises(ConditionFailed):
            await store.save(now, was=stale)
