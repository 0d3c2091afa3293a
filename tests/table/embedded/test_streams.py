"""Change records, consumers, checkpoints and trimming."""

import asyncio

import pytest

from tests.support.manual_clock import ManualClock
from tests.table.embedded.tables import GAMES, PLAIN, TableClient, game, open_store, unpacked
from zataku.table.backend import errors
from zataku.table.backend import expression as ex
from zataku.table.backend.port import PutItem
from zataku.table.backend.table_schema import KeyAttribute, StreamView, TableSchema
from zataku.table.embedded import EmbeddedBackend

DAY = 24 * 60 * 60


async def test_every_change_is_recorded_once_and_in_order(games: TableClient, clock: ManualClock) -> None:
    await games.put(game("a", n=1))
    await games.update("a", "META", ex.Increase(("n",), 1))
    await games.delete("a")
    changes = await games.read_changes()
    assert [change.kind for change in changes] == ["INSERT", "MODIFY", "REMOVE"]
    assert [(unpacked(change.old), unpacked(change.new)) for change in changes] == [
        (None, game("a", n=1)),
        (game("a", n=1), game("a", n=2)),
        (game("a", n=2), None),
    ]
    assert all(change.keys == game("a") and change.at == clock.now() and not change.expired for change in changes)
    assert sorted({change.position for change in changes}) == [change.position for change in changes]


async def test_a_write_that_changes_nothing_leaves_no_record(store: EmbeddedBackend, games: TableClient) -> None:
    await games.put({"PK": "a", "SK": "META", "one": 1, "two": [1, {"x": None}]})
    await games.put({"two": [1, {"x": None}], "one": 1, "SK": "META", "PK": "a"})
    await games.update("a", "META", ex.Assign(("one",), ex.Literally(1)))
    await games.delete("absent")
    with pytest.raises(errors.ConditionFailed):
        await games.put(game("a"), ex.Missing(("PK",)))
    with pytest.raises(errors.TransactionCancelled):
        await store.transact([PutItem(GAMES, game("b")), PutItem(GAMES, game("a"), ex.Missing(("PK",)))])
    assert len(await games.read_changes()) == 1


@pytest.mark.parametrize(
    ("view", "old", "new"),
    [
        ("KEYS_ONLY", False, False),
        ("NEW_IMAGE", False, True),
        ("OLD_IMAGE", True, False),
        ("NEW_AND_OLD_IMAGES", True, True),
    ],
)
async def test_a_record_holds_the_images_of_its_stream_view(tmp_path, view: StreamView, old: bool, new: bool) -> None:
    table = TableSchema("Viewed", KeyAttribute("PK"), stream=view)
    store = await open_store(tmp_path / "viewed.db", [table])
    await store.write(PutItem(table, {"PK": "a", "n": 1}))
    await store.write(PutItem(table, {"PK": "a", "n": 2}))
    await TableClient(store, table).delete("a", None)
    insert, modify, remove = await TableClient(store, table).read_changes()
    assert (modify.old is not None, modify.new is not None) == (old, new)
    assert insert.old is None
    assert remove.new is None
    assert insert.keys == modify.keys == remove.keys == {"PK": "a"}
    await store.close()


async def test_each_consumer_has_its_own_position_which_never_moves_back(
    store: EmbeddedBackend, games: TableClient
) -> None:
    for n in range(5):
        await games.put(game(f"{n}"))
    first = await games.read_changes("slow", limit=3)
    await store.acknowledge(GAMES, "slow", first[-1].position)
    await store.acknowledge(GAMES, "slow", first[0].position)
    assert [change.keys["PK"] for change in await games.read_changes("slow")] == ["3", "4"]
    assert len(await games.read_changes("fresh")) == 5
    assert [change.keys["PK"] for change in await games.read_changes("slow")] == ["3", "4"]


async def test_checkpoints_survive_a_restart(store: EmbeddedBackend, games: TableClient) -> None:
    await games.put(game("1"))
    await games.put(game("2"))
    await store.acknowledge(GAMES, "c", (await games.read_changes())[0].position)
    await store.close()
    await store.start([GAMES, PLAIN])
    await games.put(game("3"))
    assert [change.keys["PK"] for change in await games.read_changes()] == ["2", "3"]


async def test_a_write_wakes_a_waiting_consumer(store: EmbeddedBackend, games: TableClient) -> None:
    waiting = asyncio.create_task(store.changes(GAMES, "c", 10, wait=3600))
    await games.read_changes("other")
    assert not waiting.done()
    await games.put(game("a"))
    assert [change.keys["PK"] for change in await waiting] == ["a"]


async def test_a_wait_for_changes_times_out(store: EmbeddedBackend, clock: ManualClock) -> None:
    waiting = asyncio.create_task(store.changes(GAMES, "c", 10, wait=30))
    await clock.wait_for_sleepers()
    await clock.advance(30)
    assert await waiting == []


async def test_closing_the_store_ends_a_wait_for_changes(store: EmbeddedBackend, clock: ManualClock) -> None:
    waiting = asyncio.create_task(store.changes(GAMES, "c", 10, wait=30))
    await clock.wait_for_sleepers()
    await store.close()
    with pytest.raises(errors.StoreClosed):
        await waiting


async def test_old_records_are_trimmed_when_every_consumer_has_acknowledged_them(
    store: EmbeddedBackend, games: TableClient, clock: ManualClock
) -> None:
    for n in range(3):
        await games.put(game(f"{n}"))
    records = await games.read_changes("first")
    await games.read_changes("second")
    await store.acknowledge(GAMES, "first", records[2].position)
    await store.acknowledge(GAMES, "second", records[0].position)
    await store.sweep(GAMES, clock.now(), 10)
    assert len(await games.read_changes("reads all")) == 3
    await clock.advance(DAY + 1)
    await games.put(game("young"))
    await store.forget(GAMES, "reads all")
    await store.sweep(GAMES, clock.now(), 10)
    assert [change.keys["PK"] for change in await games.read_changes("second")] == ["1", "2", "young"]
    await store.forget(GAMES, "second")
    await store.sweep(GAMES, clock.now(), 10)
    assert [change.keys["PK"] for change in await games.read_changes("late")] == ["young"]


async def test_writes_trim_old_records(store: EmbeddedBackend, games: TableClient, clock: ManualClock) -> None:
    for n in range(20):
        await games.put(game(f"{n}"))
    await clock.advance(DAY + 61)
    for _ in range(3):
        await games.put(game("x", at=1))
    assert [change.keys["PK"] for change in await games.read_changes("late")] == ["x"]


async def test_positions_keep_growing_after_all_records_are_trimmed(
    store: EmbeddedBackend, games: TableClient, clock: ManualClock
) -> None:
    await games.put(game("a"))
    (first,) = await games.read_changes()
    await store.acknowledge(GAMES, "c", first.position)
    await clock.advance(DAY + 1)
    await store.sweep(GAMES, clock.now(), 10)
    await store.close()
    await store.start([GAMES])
    await games.put(game("b"))
    (second,) = await games.read_changes()
    assert second.position > first.position


async def test_a_table_without_stream_and_an_invalid_position_are_refused(store: EmbeddedBackend) -> None:
    with pytest.raises(errors.BadInput, match="no stream"):
        await store.changes(PLAIN, "c", 1)
    for position in ("", "1", "x" * 20, "9" * 20):
        with pytest.raises(errors.BadInput):
            await store.acknowledge(GAMES, "c", position)
