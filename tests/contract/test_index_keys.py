"""Index keys follow every write of their items."""

import pytest
from msgspec.structs import replace

from tests.support.designs.board import (
    Candidate,
    Follow,
    Follower,
    Game,
    Listed,
    Vote,
    VoteLine,
    board,
    by_user,
    favourites,
    followers_of,
    games_with,
    listed_with,
    votes_of,
)
from tests.support.designs.connections import Connection, connections, connections_in
from tests.support.designs.kifu import Kifu, KifuLine, Slug, kifu, kifu_by_creation, kifu_shared_as, slugs
from tests.support.designs.ranking import (
    FoundName,
    LevelLine,
    Profile,
    RankLine,
    Snapshot,
    levels,
    named,
    ranked,
    ranking,
)
from tests.support.store_reads import assert_query_returns, run_transaction
from zataku.table import Span, StaleIndexKey, Store, View, path

KEY = Game.key(game_id="g1")
status = path(Game, lambda it: it.status)
created = path(Game, lambda it: it.created_at)
public = path(Game, lambda it: it.public)
turn = path(Game, lambda it: it.current_turn)
rank = path(Snapshot, lambda it: it.level_rank)


@board.view(Candidate)
class CandidateTime(View, frozen=True, kw_only=True, rename="camel"):
    """The time at which a candidate was proposed."""

    created_at: str


@board.query(returns=CandidateTime)
def candidates_of(user_id: str) -> Span:
    """The candidates that a user proposed."""
    return by_user.partition(f"USER#{user_id}").begins_with("CANDIDATE#")


async def test_a_put_moves_the_item_in_the_index(store: Store):
    active = await store.put(Game(game_id="g1"))
    await assert_query_returns(store, games_with("ACTIVE"), active)
    finished = await store.put(replace(active, status="FINISHED"))
    await assert_query_returns(store, games_with("ACTIVE"))
    await assert_query_returns(store, games_with("FINISHED"), finished)


async def test_a_save_moves_the_item_in_the_index(store: Store):
    was = await store.put(Game(game_id="g1"))
    now = await store.save(replace(was, status="FINISHED"), was=was)
    await assert_query_returns(store, games_with("ACTIVE"))
    await assert_query_returns(store, games_with("FINISHED"), now)


async def test_an_update_moves_the_item_in_the_index(store: Store):
    vote = Vote(game_id="g1", turn_number=1, user_id="ann", candidate_id="c1", created_at="t1")
    await store.put(vote)
    await assert_query_returns(store, votes_of("ann"), VoteLine(candidate_id="c1", created_at="t1"))
    moved = path(Vote, lambda it: it.created_at).set("t0")
    await store.update(Vote.key(game_id="g1", turn_number=1, user_id="ann"), moved)
    other = replace(vote, turn_number=2, candidate_id="c2", created_at="t0a")
    await store.put(other)
    await assert_query_returns(
        store,
        votes_of("ann"),
        VoteLine(candidate_id="c1", created_at="t0"),
        VoteLine(candidate_id="c2", created_at="t0a"),
    )


async def test_an_update_of_other_fields_keeps_the_item_in_its_index(store: Store):
    await store.put(Game(game_id="g1"))
    now = await store.update(KEY, turn.add(1))
    await assert_query_returns(store, games_with("ACTIVE"), now)


async def test_a_delete_removes_the_item_from_every_index(store: Store):
    await store.put(Game(game_id="g1", public=True))
    await assert_query_returns(store, listed_with("ACTIVE"), Listed(game_id="g1"))
    await store.delete(KEY)
    await assert_query_returns(store, games_with("ACTIVE"))
    await assert_query_returns(store, listed_with("ACTIVE"))


async def test_a_transaction_moves_items_in_indexes(store: Store):
    was = await store.put(Game(game_id="g1"))
    await store.put(Game(game_id="g2", status="FINISHED"))
    async with store.transact() as tx:
        now = tx.save(replace(was, status="FINISHED"), was=was)
        tx.delete(Game.key(game_id="g2"))
        tx.put(Game(game_id="g3", created_at="2025-03-01"))
    await assert_query_returns(store, games_with("ACTIVE"), Game(game_id="g3", created_at="2025-03-01"))
    await assert_query_returns(store, games_with("FINISHED"), now)


async def test_a_batch_moves_items_in_indexes(store: Store):
    games = [Game(game_id=f"g{number}", created_at=f"t{number}") for number in range(3)]
    await store.write_many(put=games)
    await assert_query_returns(store, games_with("ACTIVE"), *games)
    await store.write_many(put=[replace(games[0], status="FINISHED")], delete=[Game.key(game_id="g2")])
    await assert_query_returns(store, games_with("ACTIVE"), games[1])


async def test_a_derived_key_follows_the_fields_it_is_derived_from(store: Store):
    was = await store.put(Game(game_id="g1"))
    await assert_query_returns(store, listed_with("ACTIVE"))
    now = await store.save(replace(was, public=True), was=was)
    await assert_query_returns(store, listed_with("ACTIVE"), Listed(game_id="g1"))
    now = await store.save(replace(now, status="FINISHED"), was=now)
    await assert_query_returns(store, listed_with("ACTIVE"))
    await assert_query_returns(store, listed_with("FINISHED"), Listed(game_id="g1"))
    await store.save(replace(now, public=False), was=now)
    await assert_query_returns(store, listed_with("FINISHED"))


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(status.set("FINISHED"), id="one source of a derived key"),
        pytest.param(public.set(True), id="the other source of a derived key"),
        pytest.param(created.set_if_missing("2026"), id="a value that depends on the stored item"),
    ],
)
async def test_an_update_that_cannot_compute_an_index_key_is_refused(store: Store, edit):
    before = await store.put(Game(game_id="g1"))
    with pytest.raises(StaleIndexKey, match="save") as refused:
        await store.update(KEY, edit)
    assert refused.value.code == "stale_index_key"
    with pytest.raises(StaleIndexKey):
        await run_transaction(store, lambda tx: tx.update(KEY, edit))
    assert await store.get(KEY, strong=True) == before


async def test_an_update_adds_and_removes_a_sparse_index_key(open_store):
    store = await open_store(ranking)
    key = Snapshot.key(user_id="a", date="d")
    await store.put(Snapshot(user_id="a", date="d", level=50))
    await assert_query_returns(store, ranked("d"))
    await store.update(key, rank.set(7))
    await assert_query_returns(store, ranked("d"), RankLine(name="Hello", level=50, level_rank=7))
    await store.update(key, rank.add(-2))
    await assert_query_returns(store, ranked("d"), RankLine(name="Hello", level=50, level_rank=5))
    await store.update(key, rank.remove())
    await assert_query_returns(store, ranked("d"))


async def test_an_index_key_of_two_fields_needs_both(store: Store):
    candidate = Candidate(game_id="g1", turn_number=1, candidate_id="c1")
    key = Candidate.key(game_id="g1", turn_number=1, candidate_id="c1")
    user, at = path(Candidate, lambda it: it.user_id), path(Candidate, lambda it: it.created_at)
    await store.put(candidate)
    await store.update(key, user.set("ann"))
    await assert_query_returns(store, candidates_of("ann"))
    await store.update(key, at.set("t1"))
    await assert_query_returns(store, candidates_of("ann"), CandidateTime(created_at="t1"))
    await store.update(key, user.remove())
    await assert_query_returns(store, candidates_of("ann"))


async def test_a_plain_attribute_can_be_an_index_key(open_store):
    store = await open_store(connections)
    room = path(Connection, lambda it: it.room_id)
    key = Connection.key(connection_id="c1")
    await store.put(Connection(connection_id="c1"))
    await assert_query_returns(store, connections_in("r1"))
    now = await store.update(key, room.set("r1"))
    await assert_query_returns(store, connections_in("r1"), now)
    now = await store.update(key, room.set("r2"))
    await assert_query_returns(store, connections_in("r1"))
    await assert_query_returns(store, connections_in("r2"), now)
    await store.update(key, room.set(None))
    await assert_query_returns(store, connections_in("r2"))


async def test_an_index_without_sort_key_holds_many_items(open_store):
    store = await open_store(connections)
    connected = {Connection(connection_id=f"c{number}", room_id="r1") for number in range(30)}
    await store.write_many(put=connected)
    for _ in range(50):
        listed = {connection async for connection in store.each(connections_in("r1"))}
        if listed == connected:
            break
    assert listed == connected


async def test_a_local_index_follows_the_updates_of_its_key(store: Store):
    votes = path(Candidate, lambda it: it.vote_count)
    candidates = [
        Candidate(game_id="g1", turn_number=1, candidate_id=name, vote_count=count)
        for name, count in (("a", 3), ("b", 11), ("c", None))
    ]
    await store.write_many(put=candidates)
    await assert_query_returns(store, favourites("g1", 1), candidates[1], candidates[0])
    third = await store.update(Candidate.key(game_id="g1", turn_number=1, candidate_id="c"), votes.add(5))
    await assert_query_returns(store, favourites("g1", 1), candidates[1], third, candidates[0])
    await store.update(Candidate.key(game_id="g1", turn_number=1, candidate_id="b"), votes.remove())
    await assert_query_returns(store, favourites("g1", 1), third, candidates[0])


async def test_fields_stored_only_in_index_keys_follow_a_save(open_store):
    store = await open_store(kifu)
    was = await store.put(Kifu(username="u", kifu_id="k", share_code="s1", slug="a/b"))
    await assert_query_returns(store, slugs("u", "a/"), Slug(kifu_id="k", slug="a/b", share_code="s1"))
    now = await store.save(replace(was, share_code=None, slug="c"), was=was)
    await assert_query_returns(store, slugs("u", "a/"))
    await assert_query_returns(store, slugs("u", ""), Slug(kifu_id="k", slug="c"))
    await assert_query_returns(store, kifu_shared_as("s1"))
    await assert_query_returns(store, kifu_by_creation("u"), KifuLine(username="u", kifu_id="k", slug="c", share=False))
    shared = await store.save(replace(now, share_code="s2"), was=now)
    await assert_query_returns(store, kifu_shared_as("s2"), shared)


async def test_a_projected_attribute_follows_its_item(open_store):
    store = await open_store(ranking)
    await store.put(Snapshot(user_id="a", date="d", level=50, level_rank=1))
    await store.update(Snapshot.key(user_id="a", date="d"), path(Snapshot, lambda it: it.name).set("Bye"))
    await assert_query_returns(store, ranked("d"), RankLine(name="Bye", level=50, level_rank=1))
    await assert_query_returns(store, levels("d", 1, 99), LevelLine(name="Bye", level=50))


async def test_a_profile_is_found_by_its_derived_name(open_store):
    store = await open_store(ranking)
    await store.put(Profile(user_id="a", name="Hello"))
    await assert_query_returns(store, named("hELLO"), FoundName(user_id="a"))
    was = await store.update(Profile.key(user_id="a"), path(Profile, lambda it: it.name).set("Ciao"))
    await assert_query_returns(store, named("hello"))
    await assert_query_returns(store, named("ciao"), FoundName(user_id="a"))
    await store.save(replace(was, name="BYE"), was=was)
    await assert_query_returns(store, named("ciao"))
    await assert_query_returns(store, named("bye"), FoundName(user_id="a"))


async def test_a_keys_only_view_reads_its_fields_from_the_keys(store: Store):
    await store.put(Follow(user_id="ann", other_id="bob", since="2025"))
    await assert_query_returns(store, followers_of("bob"), Follower(user_id="ann", other_id="bob"))
    await store.delete(Follow.key(user_id="ann", other_id="bob"))
    await assert_query_returns(store, followers_of("bob"))
