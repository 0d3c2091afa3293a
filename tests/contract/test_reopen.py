"""Acknowledged writes survive closing and opening; a design may gain tables and indexes."""

import asyncio
from pathlib import Path

import pytest

from tests.support.designs.board import (
    Candidate,
    Game,
    Listed,
    Vote,
    VoteLine,
    board,
    favourites,
    games_with,
    listed_with,
    votes_of,
)
from tests.support.designs.connections import Connection, connections
from tests.support.store_reads import assert_query_returns, contents, eventually, wait_for_indexes
from zataku.table import (
    DesignError,
    Entity,
    IndexNotReady,
    Query,
    SchemaRefused,
    Span,
    StoreClosed,
    Table,
    TableError,
    path,
)

KEY = Game.key(game_id="g1")


async def test_items_and_indexes_survive_closing_and_opening(open_store):
    store = await open_store(board, connections)
    vote = Vote(game_id="g1", turn_number=1, user_id="ann", candidate_id="c", created_at="t")
    candidate = Candidate(game_id="g1", turn_number=1, candidate_id="c", vote_count=3)
    game = Game(game_id="g1", public=True)
    await store.write_many(put=[game, vote, candidate, Connection(connection_id="c1")])
    before = await contents(store)
    await store.close()
    reopened = await open_store(board, connections)
    assert await contents(reopened) == before
    await assert_query_returns(reopened, games_with("ACTIVE"), game)
    await assert_query_returns(reopened, listed_with("ACTIVE"), Listed(game_id="g1"))
    await assert_query_returns(reopened, votes_of("ann"), VoteLine(candidate_id="c", created_at="t"))
    await assert_query_returns(reopened, favourites("g1", 1), candidate)


async def test_a_closed_store_refuses_every_call(open_store):
    store = await open_store(board)
    await store.put(Game(game_id="g1"))
    await store.close()
    await store.close()
    for call in (
        lambda: store.get(KEY),
        lambda: store.put(Game(game_id="g2")),
        lambda: store.page(games_with("ACTIVE")),
        lambda: store.sweep(),
        lambda: store.stream(board, "watcher").read(),
    ):
        with pytest.raises(StoreClosed) as refused:
            await call()
        assert refused.value.code == "store_closed"


async def test_closing_finishes_pending_writes_or_refuses_them(open_store):
    store = await open_store(board)
    writes = [asyncio.create_task(store.put(Game(game_id=f"g{at}"))) for at in range(20)]
    await asyncio.sleep(0)
    await store.close()
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert all(isinstance(result, Game | StoreClosed) for result in results)
    reopened = await open_store(board)
    stored = await contents(reopened)
    assert all(stored[repr(result)] == 1 for result in results if isinstance(result, Game))


async def test_a_store_is_closed_at_the_end_of_its_block(open_store):
    async with await open_store(board) as store:
        await store.put(Game(game_id="g1"))
    with pytest.raises(StoreClosed):
        await store.get(KEY)


async def test_a_table_can_be_added_later(open_store):
    store = await open_store(board)
    await store.put(Game(game_id="g1"))
    await store.close()
    both = await open_store(board, connections)
    await both.put(Connection(connection_id="c1"))
    assert await both.get(KEY, strong=True) == Game(game_id="g1")


async def test_a_table_that_is_not_opened_keeps_its_items(open_store):
    store = await open_store(board, connections)
    await store.put(Game(game_id="g1"))
    await store.close()
    other = await open_store(connections)
    await other.close()
    reopened = await open_store(board)
    assert await reopened.get(KEY, strong=True) == Game(game_id="g1")


async def test_two_tables_of_one_name_are_refused(open_store):
    with pytest.raises(DesignError, match="same name"):
        await open_store(board, Table("VoteBoardGame", pk="PK"))


def diary(generation: int, *, local: bool = False, pk: str = "pk") -> tuple[Table, type[Entity], object]:
    """One table as declared by two generations of a program: the second adds an index."""
    table = Table("DiaryOverYears", pk=pk, sk="sk")
    if generation > 1:
        by_mood = table.index("MoodIndex", pk="mood", sk="sk")
    if local:
        table.local_index("MoodLocally", sk="mood")

    class Entry(Entity, frozen=True, kw_only=True):
        """The entry of one day."""

        owner: str
        day: int
        mood: str | None = None

    table.entity(pk="{owner}", sk="{day:05d}")(Entry)

    def in_mood(mood: str) -> Span:
        """Days in a mood."""
        return by_mood.partition(mood)

    return table, Entry, table.query(returns=Entry)(in_mood) if generation > 1 else None


async def test_a_new_global_index_is_filled_with_the_existing_items(open_store):
    first, entry, _ = diary(1)
    store = await open_store(first)
    days = [entry(owner=f"o{day % 3}", day=day, mood="glad" if day % 2 else None) for day in range(200)]
    await store.write_many(put=days)
    await store.close()
    second, entry, in_mood = diary(2)
    store = await open_store(second)
    await store.put(entry(owner="o1", day=999, mood="glad"))
    await store.delete(entry.key(owner="o1", day=1))
    await wait_for_indexes(store)
    expected = [entry(owner=day.owner, day=day.day, mood="glad") for day in days if day.mood and day.day != 1]
    await assert_query_returns(store, in_mood("glad"), *expected, entry(owner="o1", day=999, mood="glad"))


async def test_an_index_that_is_being_filled_never_returns_part_of_its_items(open_store):
    """The query raises IndexNotReady or returns all items."""
    first, entry, _ = diary(1)
    store = await open_store(first)
    await store.write_many(put=[entry(owner="o", day=day, mood="glad") for day in range(300)])
    await store.close()
    second, _, in_mood = diary(2)
    store = await open_store(second)

    async def count_results(query: Query) -> int | None:
        try:
            return len([entry async for entry in store.each(query)])
        except IndexNotReady:
            return None

    assert await count_results(in_mood("glad")) in (None, 300)
    await wait_for_indexes(store)
    await eventually(lambda: count_results(in_mood("glad")), 300)


@pytest.mark.needs("local-indexes")
async def test_a_local_index_cannot_be_added_later(open_store):
    first, entry, _ = diary(1)
    store = await open_store(first)
    await store.put(entry(owner="o", day=1))
    await store.close()
    with_local_index, _, _ = diary(1, local=True)
    with pytest.raises(SchemaRefused, match="MoodLocally") as refused:
        await open_store(with_local_index)
    assert refused.value.code == "schema_refused"
    unchanged, entry, _ = diary(1)
    store = await open_store(unchanged)
    assert await store.get(entry.key(owner="o", day=1), strong=True) == entry(owner="o", day=1)


async def test_the_keys_of_a_table_cannot_change(open_store):
    first, _, _ = diary(1)
    await (await open_store(first)).close()
    other, _, _ = diary(1, pk="partition")
    with pytest.raises(SchemaRefused):
        await open_store(other)


@pytest.mark.needs("backups")
async def test_a_restore_returns_the_store_to_the_moment_of_the_backup(open_store, tmp_path: Path):
    store = await open_store(board, connections)
    turn = path(Game, lambda it: it.current_turn)
    games = [Game(game_id=f"g{at}", public=True, created_at=f"t{at:02d}") for at in range(20)]
    await store.write_many(put=[*games, Connection(connection_id="c1")])
    before = await contents(store)
    await store.backup(tmp_path / "backup.db")
    await store.update(Game.key(game_id="g0"), turn.add(5))
    await store.delete(Game.key(game_id="g1"))
    await store.put(Game(game_id="late"))
    assert await contents(store) != before
    await store.restore(tmp_path / "backup.db")
    assert await contents(store) == before
    await assert_query_returns(store, games_with("ACTIVE"), *games)
    await store.put(Game(game_id="after"))
    assert await store.get(Game.key(game_id="after"), strong=True) == Game(game_id="after")


@pytest.mark.needs("backups")
async def test_a_backup_never_contains_part_of_a_transaction(open_store, tmp_path: Path):
    store = await open_store(board)
    turn = path(Game, lambda it: it.current_turn)
    names = [f"g{at}" for at in range(8)]
    await store.write_many(put=[Game(game_id=name, note="x" * 20_000) for name in names])
    done = asyncio.Event()

    async def update_all() -> None:
        while not done.is_set():
            async with store.transact() as tx:
                for name in names:
                    tx.update(Game.key(game_id=name), turn.add(1))

    updates = asyncio.create_task(update_all())
    for at in range(3):
        await store.backup(tmp_path / f"backup{at}.db")
    done.set()
    await updates
    for at in range(3):
        await store.restore(tmp_path / f"backup{at}.db")
        games = await store.snapshot(*(Game.key(game_id=name) for name in names))
        assert len({game.current_turn for game in games if game}) == 1


@pytest.mark.needs("backups")
async def test_restoring_a_damaged_or_missing_backup_changes_nothing(open_store, tmp_path: Path):
    store = await open_store(board)
    await store.put(Game(game_id="g1"))
    before = await contents(store)
    backup = tmp_path / "backup.db"
    await store.backup(backup)
    content = backup.read_bytes()
    backup.write_bytes(content[: len(content) // 2])
    for source in (backup, tmp_path / "nowhere.db"):
        with pytest.raises(TableError) as refused:
            await store.restore(source)
        assert str(source) in refused.value.message
    assert await contents(store) == before
    await store.put(Game(game_id="g2"))
