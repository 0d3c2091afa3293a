"""Tables whose definitions change from one start to the next."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.table.embedded.tables import (
    BY_NAME,
    BY_SCORE,
    BY_STATUS,
    GAMES,
    PLAIN,
    TableClient,
    game,
    items,
    open_store,
    wait_for_index,
)
from zataku.table.backend import errors
from zataku.table.backend import expression as ex
from zataku.table.backend.table_schema import ALL, KEYS_ONLY, IndexSchema, KeyAttribute, TableSchema
from zataku.table.embedded import EmbeddedBackend
from zataku.table.embedded.tables import backfill

INDEXED = replace(PLAIN, indexes=(BY_STATUS,))


async def test_items_and_the_secret_survive_a_restart(path: Path) -> None:
    store = await open_store(path)
    await TableClient(store).put(game("a", n=1))
    secret = await store.secret()
    await store.close()
    store = await open_store(path)
    assert await TableClient(store).get("a") == game("a", n=1)
    assert await store.secret() == secret
    assert len(secret) == 32
    await store.close()


async def assert_index_complete(client: TableClient) -> None:
    """Assert that the index holds exactly the items that have its keys."""
    expected = sorted(
        (item["status"], item["at"], item["PK"])
        for item in await client.scan_all()
        if type(item.get("at")) is int and "status" in item
    )
    entries = await client.scan_all(index=BY_STATUS)
    assert sorted((item["status"], item["at"], item["PK"]) for item in entries) == expected


async def test_a_new_global_index_is_filled_during_writes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await open_store(path, [PLAIN])
    client = TableClient(store)
    await asyncio.gather(*(client.put(game(f"{n}", status="OPEN", at=n)) for n in range(1500)))
    await client.put(game("wrong", status="OPEN", at="text"))
    rounds = portions = 0
    original = backfill.IndexBackfill.run_portion

    def run_portion_after_a_round(self, group):
        nonlocal portions
        # At most one portion for each round of writes, however late the writers get their turn.
        if portions == rounds:
            return False
        portions += 1
        return original(self, group)

    monkeypatch.setattr(backfill.IndexBackfill, "run_portion", run_portion_after_a_round)
    await store.start([INDEXED])
    with pytest.raises(errors.IndexNotReady):
        await TableClient(store, INDEXED).query("OPEN", index=BY_STATUS)
    (state,) = await store.index_states()
    assert (state.status, state.total) == ("creating", 1501)

    async def write_until_filled(start: int) -> None:
        nonlocal rounds
        n = start
        while any(state.status == "creating" for state in await store.index_states()):
            await client.update(f"{n % 1500}", "META", ex.Assign(("status",), ex.Literally("DONE")))
            await client.delete(f"{(n + 700) % 1500}")
            await client.put(game(f"new{n}", status="OPEN", at=n))
            n += 1
            rounds += 1

    await asyncio.gather(write_until_filled(0), write_until_filled(100), write_until_filled(1400))
    assert rounds >= portions > 15
    await assert_index_complete(TableClient(store, INDEXED))
    assert (await store.index_states())[0].status == "active"
    await store.close()


async def test_a_backfill_continues_after_a_restart(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await open_store(path, [PLAIN])
    await asyncio.gather(*(TableClient(store).put(game(f"{n}", status="OPEN", at=n)) for n in range(1000)))
    portions = 0
    loop, paused = asyncio.get_running_loop(), asyncio.Event()
    original = backfill.IndexBackfill.run_portion

    def run_three_portions(self, group):
        nonlocal portions
        portions += 1
        if portions > 3:
            # The backfill pauses, as in a process that is stopped here.
            loop.call_soon_threadsafe(paused.set)
            return False
        return original(self, group)

    monkeypatch.setattr(backfill.IndexBackfill, "run_portion", run_three_portions)
    await store.start([INDEXED])
    await asyncio.wait_for(paused.wait(), 20)
    await TableClient(store, INDEXED).delete("999")
    await store.close()
    monkeypatch.setattr(backfill.IndexBackfill, "run_portion", original)
    store = await open_store(path, [INDEXED])
    (state,) = await store.index_states()
    assert state.done >= 300
    await wait_for_index(store, "by_status")
    await assert_index_complete(TableClient(store, INDEXED))
    await store.close()


async def test_a_global_index_can_be_removed_and_added_with_other_keys(path: Path) -> None:
    store = await open_store(path, [INDEXED])
    client = TableClient(store, INDEXED)
    await client.put(game("a", status="OPEN", at=1))
    await store.start([PLAIN])
    with pytest.raises(errors.BadInput, match="no index"):
        await client.query("OPEN", index=BY_STATUS)
    await client.put(game("b", status="OPEN", at=2))
    other = replace(PLAIN, indexes=(IndexSchema("by_status", KeyAttribute("status")),))
    await store.start([other])
    await wait_for_index(store, "by_status")
    assert len(await client.query("OPEN", index=other.indexes[0])) == 2
    await store.start([INDEXED])
    await wait_for_index(store, "by_status")
    assert [item["PK"] for item in await client.query("OPEN", index=BY_STATUS, newest_first=True)] == ["b", "a"]
    await store.close()


async def test_changing_a_projection_needs_no_backfill(path: Path) -> None:
    store = await open_store(path, [INDEXED])
    client = TableClient(store, INDEXED)
    await client.put(game("a", status="OPEN", at=1, n=1))
    narrow = replace(BY_STATUS, projection=KEYS_ONLY)
    await store.start([replace(PLAIN, indexes=(narrow,))])
    assert (await store.index_states())[0].status == "active"
    assert await client.query("OPEN", index=narrow) == [game("a", status="OPEN", at=1)]
    await store.close()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (replace(GAMES, indexes=(BY_STATUS, BY_NAME)), "local index by_score of Games is gone"),
        (replace(GAMES, indexes=(*GAMES.indexes, replace(BY_SCORE, name="second"))), "second of Games is new"),
        (replace(GAMES, indexes=(BY_STATUS, replace(BY_SCORE, projection=ALL))), "has changed.*Export"),
        (replace(GAMES, sk=KeyAttribute("other"), indexes=()), "keys of Games have changed"),
        (replace(GAMES, pk=KeyAttribute("PK", "N"), indexes=()), "keys of Games have changed"),
    ],
)
async def test_a_change_that_a_stored_table_cannot_make_is_refused(
    store: EmbeddedBackend, games: TableClient, table: TableSchema, message: str
) -> None:
    await games.put(game("a", score=1))
    with pytest.raises(errors.SchemaRefused, match=message):
        await store.start([table])
    assert len(await games.query("a", index=BY_SCORE)) == 1


@pytest.mark.parametrize(
    "table",
    [
        replace(PLAIN, name="T", sk=None, indexes=(BY_SCORE,)),
        replace(PLAIN, name="T", indexes=(replace(BY_SCORE, pk=KeyAttribute("other")),)),
        replace(PLAIN, name="T", indexes=(BY_STATUS, BY_STATUS)),
        replace(PLAIN, name="T", indexes=(BY_STATUS, IndexSchema("x", KeyAttribute("status", "N")))),
        replace(PLAIN, name="T", indexes=tuple(replace(BY_STATUS, name=f"i{n}") for n in range(21))),
    ],
)
async def test_an_inconsistent_table_definition_is_refused(store: EmbeddedBackend, table: TableSchema) -> None:
    with pytest.raises(errors.SchemaRefused):
        await store.start([table])
    with pytest.raises(errors.BadInput):
        await TableClient(store, table).get("a")


async def test_a_stream_can_be_switched_on_and_off(path: Path) -> None:
    store = await open_store(path, [PLAIN])
    await TableClient(store).put(game("before"))
    streaming = replace(PLAIN, stream="NEW_IMAGE")
    await store.start([streaming])
    await TableClient(store).put(game("during"))
    assert [change.keys["PK"] for change in await TableClient(store, streaming).read_changes()] == ["during"]
    await store.start([PLAIN])
    await TableClient(store).put(game("after"))
    await store.start([streaming])
    assert [change.keys["PK"] for change in await TableClient(store, streaming).read_changes()] == ["during"]
    await store.close()


async def test_tables_with_unusual_names_are_kept_apart(path: Path) -> None:
    names = ["a-b.c_d", "select", "Ünï", 'quo"te']
    tables = [replace(PLAIN, name=name) for name in names]
    store = await open_store(path, tables)
    for table in tables:
        await TableClient(store, table).put(game(table.name))
    for table in tables:
        assert [item["PK"] for item in await TableClient(store, table).scan_all()] == [table.name]
    assert items(await TableClient(store, tables[0]).page("a-b.c_d")) == [game("a-b.c_d")]
    await store.close()
