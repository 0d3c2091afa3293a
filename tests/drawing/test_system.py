"""The drawing game's card on the home page, and its demo data."""

from random import Random

import msgspec
import pytest

from tests.support.app_context import FailingStore, StoreFailed, all_items, app_context, user_identity
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.drawing.design import Game, Seat, esiritori
from zataku.drawing.samples import SampleSize, in_play, ready_room
from zataku.drawing.system import plug
from zataku.table import Store

NOW = int(START) * 1000


async def test_only_public_waiting_rooms_are_counted(embedded: Store, clock: ManualClock):
    rooms = [ready_room(Random(number), NOW, SampleSize(players=2)) for number in range(4)]
    hidden = msgspec.structs.replace(rooms[1], settings=msgspec.structs.replace(rooms[1].settings, public=False))
    await embedded.write_many(put=[rooms[0], hidden, in_play(Random(2), rooms[2], 1, 1), rooms[3]])
    home = await plug(app_context(embedded, clock)).home(user_identity())
    assert msgspec.to_builtins(home) == {"openRooms": 2}


async def test_the_home_page_costs_a_read_unit(embedded: Store, clock: ManualClock):
    await embedded.write_many(put=[ready_room(Random(n), NOW, SampleSize(players=2)) for n in range(50)])
    with embedded.measured("home") as consumed:
        await plug(app_context(embedded, clock)).home(user_identity())
    assert consumed.reads <= 1.5


async def test_the_demo_opens_two_rooms_once(strict: Store, clock: ManualClock):
    plugin = plug(app_context(strict, clock))
    assert plugin.demo is not None
    await plugin.demo()
    before = await all_items(strict, [esiritori])
    await plugin.demo()
    assert await all_items(strict, [esiritori]) == before
    kinds = [line.split(" ", 1)[0] for line in before]
    assert (kinds.count(Game.__name__), kinds.count(Seat.__name__)) == (2, 2)


async def test_a_server_restarted_days_later_does_not_open_the_demo_rooms_again(embedded: Store, clock: ManualClock):
    plugin = plug(app_context(embedded, clock))
    assert plugin.demo is not None
    await plugin.demo()
    for days in (2, 20):
        await clock.advance(days * 86_400)
        await embedded.sweep()
        await plugin.demo()
        assert msgspec.to_builtins(await plugin.home(user_identity())) == {"openRooms": 0}


async def test_the_demo_opens_no_rooms_in_a_store_with_games(embedded: Store, clock: ManualClock):
    await embedded.write_many(put=[ready_room(Random(1), NOW, SampleSize(players=2))])
    plugin = plug(app_context(embedded, clock))
    assert plugin.demo is not None
    await plugin.demo()
    assert msgspec.to_builtins(await plugin.home(user_identity())) == {"openRooms": 1}


async def test_an_interrupted_demo_is_resumed(strict: Store, clock: ManualClock):
    # The first write opens the first room.
    demo = plug(app_context(FailingStore(strict, 1), clock)).demo  # type: ignore[arg-type]  delegates to a store
    assert demo is not None
    with pytest.raises(StoreFailed):
        await demo()
    second_run = plug(app_context(strict, clock)).demo
    assert second_run is not None
    await second_run()
    kinds = [line.split(" ", 1)[0] for line in await all_items(strict, [esiritori])]
    assert kinds.count(Game.__name__) == 2
