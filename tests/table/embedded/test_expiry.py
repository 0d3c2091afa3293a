"""Sweeps of expired items."""

import asyncio
from decimal import Decimal

from msgspec.structs import replace

from tests.support.manual_clock import ManualClock
from tests.table.embedded.tables import BY_STATUS, GAMES, PLAIN, TableClient, game
from zataku.table.backend import expression as ex
from zataku.table.embedded import EmbeddedBackend

YEAR = 365 * 24 * 60 * 60


async def test_a_sweep_deletes_expired_items_and_marks_the_changes(
    store: EmbeddedBackend, games: TableClient, clock: ManualClock
) -> None:
    now = int(clock.now())
    await games.put(game("past", expires=now - 1, status="OPEN", at=1))
    await games.put(game("part", expires=Decimal(now) + Decimal("0.5")))
    await games.put(game("future", expires=now + 10))
    await games.put(game("never"))
    await games.put(game("text", expires="soon"))
    await games.put(game("ancient", expires=now - 6 * YEAR))
    await games.put(game("huge", expires=10**30))
    assert await store.sweep(GAMES, clock.now(), 100) == 1
    assert await games.query("OPEN", index=BY_STATUS) == []
    removed = [change for change in await games.read_changes() if change.kind == "REMOVE"]
    assert [(change.keys["PK"], change.expired) for change in removed] == [("past", True)]
    await clock.advance(10)
    assert await store.sweep(GAMES, clock.now(), 100) == 2
    assert await store.sweep(PLAIN, clock.now(), 100) == 0


async def test_a_sweep_stops_at_its_limit(store: EmbeddedBackend, games: TableClient, clock: ManualClock) -> None:
    for n in range(250):
        await games.put(game(f"{n}", expires=int(clock.now()) - 1))
    assert await store.sweep(GAMES, clock.now(), 120) == 120
    assert await store.sweep(GAMES, clock.now(), 1000) == 130


async def test_an_item_whose_expiry_is_postponed_is_not_swept(
    store: EmbeddedBackend, games: TableClient, clock: ManualClock
) -> None:
    now = int(clock.now())
    await games.put(game("a", expires=now - 1))
    await games.put(game("b", expires=now - 1))
    refresh = games.update("a", "META", ex.Assign(("expires",), ex.Literally(now + 100)))
    make_permanent = games.update("b", "META", ex.Drop(("expires",)))
    _, _, swept = await asyncio.gather(refresh, make_permanent, store.sweep(GAMES, clock.now(), 10))
    assert swept == 0
    assert await games.get("a") is not None


async def test_the_ttl_attribute_can_change_while_the_store_is_open(
    store: EmbeddedBackend, games: TableClient, clock: ManualClock
) -> None:
    now = int(clock.now())
    for n in range(150):
        await games.put(game(f"{n}", expires=now - 1, until=now - 1 if n < 30 else now + 100))
    await store.start([replace(GAMES, ttl="until")])
    # From the start, before the new attribute is indexed: no item expires by the old one.
    assert await store.sweep(GAMES, clock.now(), 1000) <= 30
    while len(await games.scan_all()) > 120:
        await store.sweep(GAMES, clock.now(), 1000)
    await store.start([replace(GAMES, ttl=None)])
    assert await store.sweep(GAMES, clock.now() + 1000, 1000) == 0
