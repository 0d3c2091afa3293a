"""Writing and deleting whole items, with and without conditions."""

import pytest

from tests.support.designs.board import Candidate, Game, Move, Vote
from tests.support.designs.connections import Connection, connections
from tests.support.store_reads import contents
from zataku.table import ConditionFailed, SameItemTwice, Store, WrongType, path

status = path(Game, lambda it: it.status)
turn = path(Game, lambda it: it.current_turn)
KEY = Game.key(game_id="g1")


async def test_a_put_gives_back_what_it_wrote(store: Store):
    given = Game(game_id="g1", note="hello")
    assert await store.put(given) == given


async def test_a_put_replaces_the_whole_item(store: Store):
    await store.put(Game(game_id="g1", note="before", tags=frozenset({"a"})))
    await store.put(Game(game_id="g1", current_turn=3))
    assert await store.get(KEY, strong=True) == Game(game_id="g1", current_turn=3)


async def test_if_absent_writes_where_nothing_lies(store: Store):
    await store.put(Game(game_id="g1"), if_absent=True)
    assert await store.get(KEY, strong=True) == Game(game_id="g1")


async def test_if_absent_refuses_to_replace_and_shows_what_lies_there(store: Store):
    first = await store.put(Game(game_id="g1", note="first"))
    with pytest.raises(ConditionFailed) as refused:
        await store.put(Game(game_id="g1", note="second"), if_absent=True)
    assert refused.value.current == first
    assert refused.value.code == "condition_failed"
    assert await store.get(KEY, strong=True) == first


async def test_if_absent_on_a_table_without_sort_key(open_store):
    store = await open_store(connections)
    first = await store.put(Connection(connection_id="c1"), if_absent=True)
    with pytest.raises(ConditionFailed) as refused:
        await store.put(Connection(connection_id="c1", room_id="r1"), if_absent=True)
    assert refused.value.current == first


async def test_a_condition_that_holds_lets_the_put_through(store: Store):
    await store.put(Game(game_id="g1"))
    await store.put(Game(game_id="g1", status="FINISHED"), when=status.equals("ACTIVE"))
    found = await store.get(KEY, strong=True)
    assert found is not None
    assert found.status == "FINISHED"


async def test_a_condition_that_fails_leaves_everything_as_it_was(store: Store):
    first = await store.put(Game(game_id="g1", status="FINISHED"))
    before = await contents(store)
    with pytest.raises(ConditionFailed) as refused:
        await store.put(Game(game_id="g1", note="late"), when=status.equals("ACTIVE"))
    assert refused.value.current == first
    assert await contents(store) == before


async def test_a_condition_on_nothing_fails_with_nothing_to_show(store: Store):
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


async def test_a_condition_about_another_kind_is_refused(store: Store):
    with pytest.raises(WrongType, match="Move"):
        await store.put(Move(game_id="g1", turn_number=1), when=status.equals("ACTIVE"))


async def test_what_stands_in_the_way_may_be_of_another_kind(open_store):
    """Two kinds can share a key; the one in the way is shown as what it is."""
    store = await open_store(connections)
    lying = await store.put(Connection(connection_id="c1", room_id="r"))
    with pytest.raises(ConditionFailed) as refused:
        await store.put(
            Connection(connection_id="c1"), when=path(Connection, lambda it: it.room_id).begins_with("other")
        )
    assert refused.value.current == lying


async def test_a_delete_gives_back_what_it_took(store: Store):
    written = await store.put(Game(game_id="g1", note="farewell"))
    assert await store.delete(KEY) == written
    assert await store.get(KEY, strong=True) is None


async def test_deleting_nothing_is_no_error(store: Store):
    assert await store.delete(KEY) is None


async def test_a_delete_on_condition(store: Store):
    written = await store.put(Game(game_id="g1"))
    with pytest.raises(ConditionFailed) as refused:
        await store.delete(KEY, when=status.equals("FINISHED"))
    assert refused.value.current == written
    assert await store.delete(KEY, when=status.equals("ACTIVE")) == written


async def test_a_delete_on_condition_of_nothing_fails(store: Store):
    with pytest.raises(ConditionFailed) as refused:
        await store.delete(KEY, when=status.equals("ACTIVE"))
    assert refused.value.current is None


async def test_a_batch_writes_and_deletes_any_number(store: Store):
    old = [Move(game_id="g1", turn_number=number) for number in range(40)]
    new = [Vote(game_id="g1", turn_number=1, user_id=f"u{number}", candidate_id="c") for number in range(61)]
    await store.write_many(put=old)
    await store.write_many(put=new, delete=[Move.key(game_id="g1", turn_number=number) for number in range(35)])
    assert await contents(store) == {repr(it): 1 for it in [*old[35:], *new]}


async def test_a_batch_of_nothing_does_nothing(store: Store):
    await store.write_many()
    assert not await contents(store)


async def test_a_batch_replaces_and_deletes_without_asking(store: Store):
    await store.put(Game(game_id="g1", note="old"))
    await store.write_many(put=[Game(game_id="g1", note="new")], delete=[Game.key(game_id="nobody")])
    assert await store.get(KEY, strong=True) == Game(game_id="g1", note="new")


async def test_a_batch_that_names_an_item_twice_is_refused_whole(store: Store):
    with pytest.raises(SameItemTwice):
        await store.write_many(put=[Game(game_id="g2"), Game(game_id="g1")], delete=[KEY])
    with pytest.raises(SameItemTwice):
        await store.write_many(put=[Game(game_id="g1"), Game(game_id="g1", note="again")])
    assert not await contents(store)


async def test_batches_of_large_items_are_written_whole(store: Store):
    large = [
        Candidate(game_id="g1", turn_number=1, candidate_id=f"c{number}", picture=bytes([number]) * 300_000)
        for number in range(12)
    ]
    await store.write_many(put=large)
    keys = [Candidate.key(game_id="g1", turn_number=1, candidate_id=f"c{number}") for number in range(12)]
    assert await store.get_many(keys, strong=True) == large
