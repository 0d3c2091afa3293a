"""Writing and deleting whole items, with and without conditions."""

import pytest

from tests.support.designs.board import Candidate, Game, Move, Vote
from tests.support.designs.connections import Connection, connections
from tests.support.store_reads import contents
from zataku.table import ConditionFailed, SameItemTwice, Store, WrongType, path

status = path(Game, lambda it: it.status)
turn = path(Game, lambda it: it.current_turn)
KEY = Game.key(game_id="g1")


async def test_a_put_returns_the_written_item(store: Store):
    game = Game(game_id="g1", note="hello")
    assert await store.put(game) == game


async def test_a_put_replaces_the_whole_item(store: Store):
    await store.put(Game(game_id="g1", note="before", tags=frozenset({"a"})))
    await store.put(Game(game_id="g1", current_turn=3))
    assert await store.get(KEY, strong=True) == Game(game_id="g1", current_turn=3)


async def test_if_absent_writes_when_there_is_no_item(store: Store):
    await store.put(Game(game_id="g1"), if_absent=True)
    assert await store.get(KEY, strong=True) == Game(game_id="g1")


async def test_if_absent_refuses_to_replace_an_item_and_shows_it(store: Store):
    first = await store.put(Game(game_id="g1", note="first"))
    with pytest.raises(ConditionFailed) as refused:
        await store.put(Game(game_id="g1", note="second"), if_absent=True)
    assert refused.value.current == first
    assert refused.value.code == "condition_failed"
    assert await store.get(KEY, strong=True) == first


async def test_if_absent_holds_on_a_table_without_sort_key(open_store):
    store = await open_store(connections)
    first = await store.put(Connection(connection_id="c1"), if_absent=True)
    with pytest.raises(ConditionFailed) as refused:
        await store.put(Connection(connection_id="c1", room_id="r1"), if_absent=True)
    assert refused.value.current == first


async def test_a_put_whose_condition_holds_is_written(store: Store):
    await store.put(Game(game_id="g1"))
    await store.put(Game(game_id="g1", status="FINISHED"), when=status.equals("ACTIVE"))
    stored = await store.get(KEY, strong=True)
    assert stored is not None
    assert stored.status == "FINISHED"


async def test_a_put_whose_condition_fails_changes_nothing(store: Store):
    first = await store.put(Game(game_id="g1", status="FINISHED"))
    before = await contents(store)
    with pytest.raises(ConditionFailed) as refused:
        await store.put(Game(game_id="g1", note="late"), when=status.equals("ACTIVE"))
    assert refused.value.current == first
    assert await contents(store) == before


async def test_a_condition_on_a_missing_item_fails_without_a_current_item(store: Store):
    with pytest.raises(ConditionFailed) as refused:
        await store.put(Game(game_id="g1"), when=status.equals("ACTIVE"))
    assert refused.value.current is None
    assert await store.get(KEY, strong=True) is None


async def test_if_absent_and_a_condition_must_both_hold(store: Store):
    await store.put(Game(game_id="g1"), if_absent=True, when=turn.missing())
    with pytest.raises(ConditionFailed):
        await store.put(Game(game_id="g1"), if_absent=True, when=turn.exists())
    with pytest.raises(ConditionFailed):
        await store.put(Game(game_id="g2"), if_absent=True, when=turn.exists())


async def test_a_condition_on_another_entity_is_refused(store: Store):
    with pytest.raises(WrongType, match="Move"):
        await store.put(Move(game_id="g1", turn_number=1), when=status.equals("ACTIVE"))


async def test_a_failed_condition_on_a_table_without_sort_key_shows_the_current_item(open_store):
    store = await open_store(connections)
    current = await store.put(Connection(connection_id="c1", room_id="r"))
    with pytest.raises(ConditionFailed) as refused:
        await store.put(
            Connection(connection_id="c1"), when=path(Connection, lambda it: it.room_id).begins_with("other")
        )
    assert refused.value.current == current


async def test_a_delete_returns_the_deleted_item(store: Store):
    written = await store.put(Game(game_id="g1", note="farewell"))
    assert await store.delete(KEY) == written
    assert await store.get(KEY, strong=True) is None


async def test_deleting_a_missing_item_is_not_an_error(store: Store):
    assert await store.delete(KEY) is None


async def test_a_delete_happens_only_when_its_condition_holds(store: Store):
    written = await store.put(Game(game_id="g1"))
    with pytest.raises(ConditionFailed) as refused:
        await store.delete(KEY, when=status.equals("FINISHED"))
    assert refused.value.current == written
    assert await store.delete(KEY, when=status.equals("ACTIVE")) == written


async def test_a_conditional_delete_of_a_missing_item_fails(store: Store):
    with pytest.raises(ConditionFailed) as refused:
        await store.delete(KEY, when=status.equals("ACTIVE"))
    assert refused.value.current is None


async def test_a_batch_puts_and_deletes_any_number_of_items(store: Store):
    old = [Move(game_id="g1", turn_number=number) for number in range(40)]
    new = [Vote(game_id="g1", turn_number=1, user_id=f"u{number}", candidate_id="c") for number in range(61)]
    await store.write_many(put=old)
    await store.write_many(put=new, delete=[Move.key(game_id="g1", turn_number=number) for number in range(35)])
    assert await contents(store) == {repr(entity): 1 for entity in [*old[35:], *new]}


async def test_an_empty_batch_does_nothing(store: Store):
    await store.write_many()
    assert not await contents(store)


async def test_a_batch_replaces_items_and_ignores_missing_ones_without_conditions(store: Store):
    await store.put(Game(game_id="g1", note="old"))
    await store.write_many(put=[Game(game_id="g1", note="new")], delete=[Game.key(game_id="absent")])
    assert await store.get(KEY, strong=True) == Game(game_id="g1", note="new")


async def test_a_batch_that_names_an_item_twice_writes_nothing(store: Store):
    with pytest.raises(SameItemTwice):
        await store.write_many(put=[Game(game_id="g2"), Game(game_id="g1")], delete=[KEY])
    with pytest.raises(SameItemTwice):
        await store.write_many(put=[Game(game_id="g1"), Game(game_id="g1", note="again")])
    assert not await contents(store)


async def test_a_batch_of_large_items_is_written_completely(store: Store):
    large = [
        Candidate(game_id="g1", turn_number=1, candidate_id=f"c{number}", picture=bytes([number]) * 300_000)
        for number in range(12)
    ]
    await store.write_many(put=large)
    keys = [Candidate.key(game_id="g1", turn_number=1, candidate_id=f"c{number}") for number in range(12)]
    assert await store.get_many(keys, strong=True) == large
