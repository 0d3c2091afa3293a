"""Acknowledged writes survive a reopen, and designs may gain tables and indexes."""

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
from tests.support.store_reads import assert_query_returns, contents, eventually
from zataku.table import (
    DesignError,
    Entity,
    IndexNotReady,
    Query,
    SchemaRefused,
    Span,
    Store,
    StoreClosed,
    Table,
    TableError,
    path,
)

KEY = Game.key(game_id="g1")


async def test_everything_is_there_when_the_store_is_opened_again(open_store):
    store = await open_store(board, connections)
    vote = Vote(game_id="g1", turn_number=1, user_id="ann", candidate_id="c", created_at="t")
    candidate = Candidate(game_id="g1", turn_number=1, candidate_id="c", vote_count=3)
    game = Game(game_id="g1", public=True)
    await store.write_many(put=[game, vote, candidate, Connection(connection_id="c1")])
    before = await contents(store)
    await store.close()
    again = await open_store(board, connections)
    assert await contents(again) == before
    await assert_query_returns(again, games_with("ACTIVE"), game)
    await assert_query_returns(again, listed_with("ACTIVE"), Listed(game_id="g1"))
    await assert_query_returns(again, votes_of("ann"), VoteLine(candidate_id="c", created_at="t"))
    await assert_query_returns(again, favourites("g1", 1), candidate)


async def test_a_store_is_closed_for_good(open_store):
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


async def test_writes_under_way_are_finished_by_closing(open_store):
    store = await open_store(board)
    writes = [asyncio.create_task(store.put(Game(game_id=f"g{at}"))) for at in range(20)]
    await asyncio.sleep(0)
    await store.close()
    done = await asyncio.gather(*writes, return_exceptions=True)
    assert all(isinstance(it, Game | StoreClosed) for it in done)
    again = await open_store(board)
    kept = await contents(again)
    assert all(kept[repr(it)] == 1 for it in done if isinstance(it, Game))


async def test_a_store_is_left_by_its_block(open_store):
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
    again = await open_store(board)
    assert await again.get(KEY, strong=True) == Game(game_id="g1")


async def test_two_tables_of_one_name_are_refused(open_store):
    with pytest.raises(DesignError, match="same name"):
        await open_store(board, Table("VoteBoardGame", pk="PK"))


def diary(generation: int, *, local: bool = False, pk: str = "pk") -> tuple[Table, type[Entity], object]:
    """The same table as it is declared over the years."""
    table = Table("DiaryOverYears", pk=pk, sk="sk")
    if generation > 1:
        by_mood = table.index("MoodIndex", pk="mood", sk="sk")
    if local:
        table.local_index("MoodLocally", sk="mood")

    class Entry(Entity, frozen=True, kw_only=True):
        """A day."""

        owner: str
        day: int
        mood: str | None = None

    table.entity(pk="{owner}", sk="{day:05d}")(Entry)

    def in_mood(mood: str) -> Span:
        """Days in a mood."""
        return by_mood.partition(mood)

    return table, Entry, table.query(returns=Entry)(in_mood) if generation > 1 else None


async def active(store: Store) -> None:
    await eventually(lambda: _statuses(store), {"active"})


async def _statuses(store: Store) -> set[str]:
    await asyncio.sleep(0.001)
    return {state.status for state in await store.index_states()}


async def test_a_new_global_index_is_filled_with_what_is_there(open_store):
    young, entry, _ = diary(1)
    store = await open_store(young)
    days = [entry(owner=f"o{day % 3}", day=day, mood="glad" if day % 2 else None) for day in range(200)]
    await store.write_many(put=days)
    await store.close()
    grown, entry, in_mood = diary(2)
    store = await open_store(grown)
    await store.put(entry(owner="o1", day=999, mood="glad"))
    await store.delete(entry.key(owner="o1", day=1))
    await active(store)
    expected = [entry(owner=day.owner, day=day.day, mood="glad") for day in days if day.mood and day.day != 1]
    await assert_query_returns(store, in_mood("glad"), *expected, entry(owner="o1", day=999, mood="glad"))


async def test_an_index_that_is_being_filled_is_not_read(open_store):
    """The query either raises that the index is not ready, or returns all items."""
    young, entry, _ = diary(1)
    store = await open_store(young)
    await store.write_many(put=[entry(owner="o", day=day, mood="glad") for day in range(300)])
    await store.close()
    grown, _, in_mood = diary(2)
    store = await open_store(grown)

    async def look(query: Query) -> int | None:
        try:
            return len([it async for it in store.each(query)])
        except IndexNotReady:
            return None

    assert await look(in_mood("glad")) in (None, 300)
    await active(store)
    await eventually(lambda: look(in_mood("glad")), 300)


@pytest.mark.needs("local-indexes")
async def test_a_local_index_cannot_be_added_later(open_store):
    young, entry, _ = diary(1)
    store = await open_store(young)
    await store.put(entry(owner="o", day=1))
    await store.close()
    late, _, _ = diary(1, local=True)
    with pytest.raises(SchemaRefused, match="MoodLocally") as refused:
        await open_store(late)
    assert refused.value.code == "schema_refused"
    again, entry, _ = diary(1)
    store = await open_store(again)
    assert await store.get(entry.key(owner="o", day=1), strong=True) == entry(owner="o", day=1)


async def test_the_keys_of_a_table_cannot_change(open_store):
    young, _, _ = diary(1)
    await (await open_store(young)).close()
    other, _, _ = diary(1, pk="partition")
    with pytest.raises(SchemaRefused):
        await open_store(other)


@pytest.mark.needs("backups")
async def test_a_backup_holds_one_moment_and_a_restore_brings_it_back(open_store, tmp_path: Path):
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
async def test_a_backup_never_holds_half_a_transaction(open_store, tmp_path: Path):
    store = await open_store(board)
    turn = path(Game, lambda it: it.current_turn)
    names = [f"g{at}" for at in range(8)]
    await store.write_many(put=[Game(game_id=name, note="x" * 20_000) for name in names])
    done = asyncio.Event()

    async def turn_all() -> None:
        while not done.is_set():
            async with store.transact() as tx:
                for name in names:
                    tx.update(Game.key(game_id=name), turn.add(1))

    turning = asyncio.create_task(turn_all())
    for at in range(3):
        await store.backup(tmp_path / f"backup{at}.db")
    done.set()
    await turning
    for at in range(3):
        await store.restore(tmp_path / f"backup{at}.db")
        found = await store.snapshot(*(Game.key(game_id=name) for name in names))
        assert len({it.current_turn for it in found if it}) == 1


@pytest.mark.needs("backups")
async def test_a_damaged_backup_changes_nothing(open_store, tmp_path: Path):
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
