"""Views of part of an entity, and strong reads of indexes."""

import pytest

from tests.support.designs.board import (
    Candidate,
    Game,
    GameLine,
    Vote,
    VoteLine,
    board,
    by_deadline,
    by_user,
    game_line,
    games_with_strongly,
    turn_of,
    votes_of,
)
from tests.support.designs.kifu import (
    Analysis,
    Kifu,
    KifuLine,
    KifuText,
    Tagging,
    by_creation,
    kifu,
    kifu_by_creation,
    kifu_of_id,
    tagged,
    texts_by_update,
)
from tests.support.designs.ranking import LevelLine, RankLine, Snapshot, history_of, levels, ranked, ranking
from tests.support.store_reads import assert_query_returns
from zataku.table import BadInput, InKey, Span, Store, StrongReadRefused, View


@board.view(Candidate)
class Deadline(View, frozen=True, kw_only=True, rename="camel"):
    """The attributes of a candidate that the index of deadlines projects beside its keys."""

    voting_deadline: str


@board.query(returns=Deadline, strong=True)
def deadlines_of(game_id: str, turn_number: int) -> Span:
    """The deadlines of a turn, earliest first."""
    return by_deadline.partition(f"GAME#{game_id}#TURN#{turn_number:03d}")


@board.view(Candidate)
class CandidateWithDeadline(View, frozen=True, kw_only=True, rename="camel"):
    """A candidate that has a deadline, read from its keys although the item also stores these fields."""

    turn_number: InKey[int]
    candidate_id: InKey[str]


@board.query(returns=CandidateWithDeadline, strong=True)
def due_in(game_id: str, turn_number: int) -> Span:
    """The candidates of a turn that have a deadline, earliest first."""
    return by_deadline.partition(f"GAME#{game_id}#TURN#{turn_number:03d}")


@board.query(returns=Vote)
def whole_votes_of(user_id: str) -> Span:
    """The whole votes of a user from an index that projects only some of their attributes."""
    return by_user.partition(f"USER#{user_id}").begins_with("VOTE#")


@kifu.query(returns=Kifu, strong=True)
def whole_kifu_by_creation(username: str) -> Span:
    """The whole records of a user from a local index that projects only some of their attributes."""
    return by_creation.partition(f"kifu#uname#{username}")


async def test_reading_a_whole_entity_from_a_global_index_that_lacks_attributes_is_refused(store: Store):
    await store.put(Vote(game_id="g1", turn_number=1, user_id="ann", candidate_id="c1", created_at="t1"))
    with pytest.raises(BadInput, match=r"does not hold .*turnNumber"):
        await store.page(whole_votes_of("ann"))


async def test_a_local_index_fetches_the_rest_of_a_whole_entity(open_store):
    store = await open_store(kifu)
    record = await store.put(Kifu(username="ann", kifu_id="k1", slug="a/b", kifu="手合割：平手"))
    await assert_query_returns(store, whole_kifu_by_creation("ann"), record)


async def test_a_view_reads_the_attributes_that_an_index_includes(store: Store):
    votes = [
        Vote(game_id="g1", turn_number=number, user_id="ann", candidate_id=f"c{number}", created_at=f"t{number}")
        for number in range(5)
    ]
    await store.write_many(put=votes)
    lines = [VoteLine(candidate_id=vote.candidate_id, created_at=vote.created_at) for vote in votes]
    await assert_query_returns(store, votes_of("ann"), *lines)


async def test_a_view_reads_the_keys_of_a_keys_only_index(store: Store):
    for name, deadline in (("a", "t2"), ("b", "t1"), ("c", None)):
        await store.put(Candidate(game_id="g1", turn_number=1, candidate_id=name, voting_deadline=deadline))
    await assert_query_returns(
        store, deadlines_of("g1", 1), Deadline(voting_deadline="t1"), Deadline(voting_deadline="t2")
    )


async def test_a_view_reads_fields_from_the_keys_when_the_index_lacks_them(store: Store):
    for name, deadline in (("a", "t2"), ("b", "t1"), ("c", None)):
        await store.put(Candidate(game_id="g1", turn_number=7, candidate_id=name, voting_deadline=deadline))
    await assert_query_returns(
        store, due_in("g1", 7), *(CandidateWithDeadline(turn_number=7, candidate_id=name) for name in "ba")
    )


async def test_a_view_can_be_read_from_the_table(store: Store):
    await store.put(Game(game_id="g1", status="FINISHED", note="long"))
    await assert_query_returns(store, game_line("g1"), GameLine(game_id="g1", status="FINISHED"))


async def test_an_index_may_use_the_sort_key_of_the_table_as_its_partition_key(open_store):
    store = await open_store(ranking)
    days = [
        Snapshot(user_id=f"u{rank}", date="2026-02-21", name=f"n{rank}", level=200 - rank, level_rank=rank)
        for rank in (1, 2, 10, 11, 100)
    ]
    unranked = Snapshot(user_id="late", date="2026-02-21", name="late", level=7)
    other_day = Snapshot(user_id="u1", date="2026-02-22", name="n1", level=500, level_rank=1)
    await store.write_many(put=[*days, unranked, other_day])
    await assert_query_returns(
        store,
        ranked("2026-02-21"),
        *(RankLine(name=day.name, level=day.level, level_rank=day.level_rank) for day in days),
    )
    await assert_query_returns(
        store,
        levels("2026-02-21", 7, 190),
        LevelLine(name="n10", level=190),
        LevelLine(name="n11", level=189),
        LevelLine(name="n100", level=100),
        LevelLine(name="late", level=7),
    )
    await assert_query_returns(store, history_of("u1"), other_day, days[0])


async def test_a_swapped_index_finds_items_by_their_sort_key(open_store):
    store = await open_store(kifu)
    taggings = [Tagging(kifu_id=f"k{number}", tag_id="t1") for number in range(3)]
    record = Kifu(username="u", kifu_id="k1", slug="s")
    await store.write_many(
        put=[*taggings, Tagging(kifu_id="k1", tag_id="t2"), record, Analysis(analysis_id="k1", username="u")]
    )
    await assert_query_returns(store, tagged("t1"), *taggings)
    await assert_query_returns(store, kifu_of_id("k1"), record)


async def test_a_strong_read_of_a_local_index_returns_the_last_write(open_store):
    store = await open_store(kifu)
    for number in range(12):
        await store.put(Kifu(username="u", kifu_id=f"k{number}", created=f"t{number:02d}", share=number % 2 == 0))
        lines = [line async for line in store.each(kifu_by_creation("u"))]
        assert lines == [KifuLine(username="u", kifu_id=f"k{at}", share=at % 2 == 0) for at in range(number + 1)]


async def test_a_local_index_fetches_attributes_that_it_does_not_project(open_store):
    store = await open_store(kifu)
    records = [Kifu(username="u", kifu_id=f"k{at}", kifu="▲７六歩", latest_update=f"t{9 - at}") for at in range(4)]
    await store.write_many(put=records)
    texts = [KifuText(kifu_id=record.kifu_id, kifu=record.kifu) for record in reversed(records)]
    await assert_query_returns(store, texts_by_update("u"), *texts)


async def test_a_strong_read_of_a_global_index_is_refused(store: Store):
    with pytest.raises(StrongReadRefused) as refused:
        await store.page(games_with_strongly("ACTIVE"))
    assert refused.value.code == "strong_read_refused"
    assert "base item" in refused.value.message


async def test_a_query_returns_each_item_as_its_own_entity(store: Store):
    candidates = [Candidate(game_id="g1", turn_number=12, candidate_id=name, picture=b"\x01") for name in "ab"]
    votes = [Vote(game_id="g1", turn_number=12, user_id=name, candidate_id="a") for name in "xyz"]
    await store.write_many(put=[*votes, *candidates, Vote(game_id="g1", turn_number=1, user_id="x", candidate_id="a")])
    await assert_query_returns(store, turn_of("g1", 12), *candidates, *votes)
