"""Reads by key: one item, many, a snapshot, and scans of tables and indexes."""

import asyncio

import pytest

from tests.support.designs.board import (
    Follow,
    Game,
    GameLine,
    Listed,
    Move,
    Settings,
    Vote,
    board,
    by_listing,
    by_status,
    game,
    game_now,
    games_with,
)
from tests.support.designs.connections import Connection, connections
from tests.support.designs.kifu import Analysis, Kifu, kifu
from tests.support.manual_clock import ManualClock
from tests.support.store_reads import contents, eventually
from zataku.table import BadInput, DesignError, Store, path

turn = path(Game, lambda it: it.current_turn)


async def test_a_strong_read_returns_the_last_write(store: Store):
    for number in range(20):
        written = await store.put(Game(game_id="g1", current_turn=number))
        assert await store.get(Game.key(game_id="g1"), strong=True) == written


async def test_an_eventual_read_returns_the_write_in_the_end(store: Store):
    written = await store.put(Game(game_id="g1", current_turn=1))
    await eventually(lambda: store.get(Game.key(game_id="g1")), written)


async def test_a_pattern_declared_strong_reads_strongly(store: Store):
    written = await store.put(Game(game_id="g1"))
    assert game_now("g1").strong
    assert await store.get(game_now("g1")) == written
    await eventually(lambda: store.get(game("g1")), written)


async def test_a_missing_item_is_read_as_none(store: Store):
    assert await store.get(Game.key(game_id="g1"), strong=True) is None
    assert await store.get(Game.key(game_id="g1")) is None


async def test_every_field_is_read_as_it_was_written(store: Store):
    written = Game(
        game_id="g1",
        public=True,
        settings=Settings(time_limit=300, hint="角", words=["a", "", "\0"]),
        tags=frozenset({"早指し", "a"}),
        moves=["D3", "C3"],
        scores={"黒": 2, "": -1},
        winner="AI",
        note="",
        version=7,
    )
    await store.put(written)
    assert await store.get(Game.key(game_id="g1"), strong=True) == written


async def test_fields_stored_only_in_keys_are_read_from_the_keys(open_store):
    store = await open_store(board, kifu)
    items = [
        Follow(user_id="ann", other_id="bob"),
        Kifu(username="h-akira", kifu_id="x1", share_code="lki", slug="社団戦/2025/鈴木"),
        Kifu(username="h-akira", kifu_id="x2"),
        Analysis(analysis_id="a1", username="h-akira"),
    ]
    await store.write_many(put=items)
    keys = [
        Follow.key(user_id="ann", other_id="bob"),
        Kifu.key(username="h-akira", kifu_id="x1"),
        Kifu.key(username="h-akira", kifu_id="x2"),
        Analysis.key(analysis_id="a1"),
    ]
    assert [await store.get(key, strong=True) for key in keys] == items


async def test_a_table_without_sort_key_is_read_by_its_partition_key(open_store):
    store = await open_store(connections)
    written = await store.put(Connection(connection_id="c1", room_id="r1"))
    assert await store.get(Connection.key(connection_id="c1"), strong=True) == written
    assert await store.get(Connection.key(connection_id="c2"), strong=True) is None


async def test_the_same_key_in_two_tables_names_two_items(open_store):
    store = await open_store(board, kifu, connections)
    await store.put(Connection(connection_id="GAME#g1"))
    assert await store.get(Game.key(game_id="g1"), strong=True) is None


async def test_many_items_are_returned_in_the_order_of_their_keys(store: Store):
    moves = [Move(game_id="g1", turn_number=number) for number in range(230)]
    await store.write_many(put=moves)
    wanted = [*reversed(moves), *moves[:5]]
    keys = [Move.key(game_id="g1", turn_number=move.turn_number) for move in wanted]
    assert await store.get_many(keys, strong=True) == wanted


async def test_get_many_returns_none_for_each_missing_item(store: Store):
    await store.put(Move(game_id="g1", turn_number=1))
    keys = [Move.key(game_id="g1", turn_number=number) for number in (0, 1, 2, 1, 0)]
    moves = await store.get_many(keys, strong=True)
    assert [move and move.turn_number for move in moves] == [None, 1, None, 1, None]
    assert await store.get_many([]) == []


async def test_one_read_may_cover_several_entities_and_tables(open_store):
    store = await open_store(board, connections)
    items = [Game(game_id="g1"), Move(game_id="g1", turn_number=1), Connection(connection_id="c1")]
    await store.write_many(put=items)
    keys = [Game.key(game_id="g1"), Move.key(game_id="g1", turn_number=1), Connection.key(connection_id="c1")]
    assert await store.get_many(keys, strong=True) == items
    assert await store.snapshot(*keys) == items


async def test_a_snapshot_never_shows_part_of_a_transaction(store: Store):
    names = [f"g{number}" for number in range(6)]
    await store.write_many(put=[Game(game_id=name) for name in names])
    done = asyncio.Event()

    async def update_all() -> None:
        for _ in range(30):
            async with store.transact() as tx:
                for name in names:
                    tx.update(Game.key(game_id=name), turn.add(1))
        done.set()

    async def take_snapshots() -> int:
        count = 0
        while not done.is_set():
            games = await store.snapshot(*(Game.key(game_id=name) for name in names))
            assert len({game.current_turn for game in games if game}) == 1
            count += 1
        return count

    _, *counts = await asyncio.gather(update_all(), take_snapshots(), take_snapshots())
    assert all(counts)


async def test_a_snapshot_may_name_an_item_twice(store: Store):
    stored = await store.put(Game(game_id="g1"))
    assert await store.snapshot(Game.key(game_id="g1"), Game.key(game_id="g2"), Game.key(game_id="g1")) == [
        stored,
        None,
        stored,
    ]


async def test_a_snapshot_reads_at_most_a_hundred_items(store: Store):
    await store.put(Move(game_id="g1", turn_number=7))
    keys = [Move.key(game_id="g1", turn_number=number) for number in range(101)]
    moves = await store.snapshot(*keys[:100])
    assert [move.turn_number for move in moves if move] == [7]
    with pytest.raises(BadInput, match="100"):
        await store.snapshot(*keys)


async def test_a_scan_returns_every_item_once(open_store):
    store = await open_store(board, connections)
    items = [Game(game_id=f"g{number}") for number in range(30)]
    items += [Vote(game_id="g1", turn_number=1, user_id=f"u{number}", candidate_id="c") for number in range(30)]
    await store.write_many(put=[*items, Connection(connection_id="c1")])
    scanned = [entity async for entity in store.scan(board)]
    assert sorted(map(repr, scanned)) == sorted(map(repr, items))


async def test_the_segments_of_a_scan_together_return_every_item_once(store: Store):
    items = [Game(game_id=f"g{number}") for number in range(60)]
    await store.write_many(put=items)
    segments = [[repr(entity) async for entity in store.scan(board, segment=at, segments=4)] for at in range(4)]
    assert sorted(name for segment in segments for name in segment) == sorted(map(repr, items))


async def test_an_index_scan_returns_every_item_of_the_index(store: Store):
    """Items that have no key in the index are not returned."""
    public = [Game(game_id=f"g{number}", public=True) for number in range(40)]
    await store.write_many(put=[*public, Game(game_id="private"), Move(game_id="g1", turn_number=1)])

    async def scan_names(segment: int = 0, segments: int = 1) -> list[str]:
        return [
            result.game_id async for result in store.scan_index(by_listing, Listed, segment=segment, segments=segments)
        ]

    async def scan_sorted_names() -> list[str]:
        return sorted(await scan_names())

    names = sorted(game.game_id for game in public)
    await eventually(scan_sorted_names, names)
    segments = [await scan_names(at, 4) for at in range(4)]
    assert sorted(name for segment in segments for name in segment) == names


@pytest.mark.parametrize("kind", [Game, GameLine])
async def test_an_index_scan_skips_expired_items(store: Store, clock: ManualClock, kind: type[Game | GameLine]):
    past = int(clock.now()) - 1
    await store.write_many(put=[Game(game_id="now"), Game(game_id="past", expires_at=past)])

    async def scan_names() -> list[str]:
        return [result.game_id async for result in store.scan_index(by_status, kind)]

    await eventually(scan_names, ["now"])


async def test_an_index_scan_skips_items_that_expire_during_the_scan(store: Store, clock: ManualClock):
    soon = int(clock.now()) + 10
    items = [Game(game_id=f"g{number}", expires_at=soon if number % 2 else None) for number in range(20)]
    await store.write_many(put=items)
    await eventually(lambda: store.count(games_with("ACTIVE")), 20)
    seen: list[Game] = []
    async for game_seen in store.scan_index(by_status, Game):
        seen.append(game_seen)
        if len(seen) == 1:
            await clock.advance(11)
    assert len([game for game in seen[1:] if game.expires_at is not None]) == 0


async def test_an_index_scan_refuses_an_entity_of_another_table(store: Store):
    with pytest.raises(DesignError, match="Connection is neither an entity nor a view of VoteBoardGame"):
        store.scan_index(by_status, Connection)


async def test_an_index_scan_reads_past_one_megabyte(store: Store):
    items = [Game(game_id=f"g{number}", note="x" * 100_000) for number in range(25)]
    await store.write_many(put=[*items, Move(game_id="g1", turn_number=1)])

    async def scan_names() -> list[str]:
        return sorted([repr(entity) async for entity in store.scan_index(by_status, Game)])

    await eventually(scan_names, sorted(map(repr, items)))


async def test_a_scan_reads_past_one_megabyte(store: Store):
    items = [Game(game_id=f"g{number}", note="x" * 100_000) for number in range(25)]
    await store.write_many(put=items)
    assert sum((await contents(store)).values()) == 25


async def test_the_error_names_the_table_that_was_not_opened(open_store):
    store = await open_store(connections)
    with pytest.raises(DesignError, match="VoteBoardGame was not opened"):
        await store.get(Game.key(game_id="g1"))
