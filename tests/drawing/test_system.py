"""The drawing game on the home page, and its demonstration."""

from random import Random

import msgspec
import pytest

from tests.support.app_context import all_items, app_context, user_identity
from tests.support.stores import START
from zataku.clock import ManualClock
from zataku.drawing.design import Game, Seat, esiritori
from zataku.drawing.samples import Measure, in_play, settled_room
from zataku.drawing.system import plug
from zataku.table import Store

NOW = int(START) * 1000


async def test_only_rooms_that_can_be_found_and_joined_are_counted(embedded: Store, clock: ManualClock):
    rooms = [settled_room(Random(number), NOW, Measure(players=2)) for number in range(4)]
    hidden = msgspec.structs.replace(rooms[1], settings=msgspec.structs.replace(rooms[1].settings, public=False))
    await embedded.write_many(put=[rooms[0], hidden, in_play(Random(2), rooms[2], 1, 1), rooms[3]])
    home = await plug(app_context(embedded, clock)).home(user_identity())
    assert msgspec.to_builtins(home) == {"openRooms": 2}


async def test_the_home_page_costs_a_read_unit(embedded: Store, clock: ManualClock):
    await embedded.write_many(put=[settled_room(Random(n), NOW, Measure(players=2)) for n in range(50)])
    with embedded.measured("home") as consumed:
        await plug(app_context(embedded, clock)).home(user_identity())
    assert consumed.reads <= 1.5


async def test_the_demonstration_opens_two_rooms_once(strict: Store, clock: ManualClock):
    system = plug(app_context(strict, clock))
    assert system.demo is not None
    await system.demo()
    shown = await all_items(strict, [esiritori])
    await system.demo()
    assert await all_items(strict, [esiritori]) == shown
    count_kinds = [line.split(" ", 1)[0] for line in shown]
    assert (count_kinds.count(Game.__name__), count_kinds.count(Seat.__name__)) == (2, 2)


async def test_a_server_that_starts_again_days_later_does_not_open_them_anew(embedded: Store, clock: ManualClock):
    system = plug(app_context(embedded, clock))
    assert system.demo is not None
    await system.demo()
    for days in (2, 20):
        await clock.advance(days * 86_400)
        await embedded.sweep()
        await system.demo()
        assert msgspec.to_builtins(await system.home(user_identity())) == {"openRooms": 0}


async def test_nothing_is_demonstrated_where_people_play(embedded: Store, clock: ManualClock):
    await embedded.write_many(put=[settled_room(Random(1), NOW, Measure(players=2))])
    system = plug(app_context(embedded, clock))
    assert system.demo is not None
    await system.demo()
    assert msgspec.to_builtins(await system.home(user_identity())) == {"openRooms": 1}


async def test_a_demonstration_that_was_broken_off_is_gone_on_with(strict: Store, clock: ManualClock):
    class Broken(Exception):
        pass

    class Breaking:
        """A store that gives up after the first room."""

        calls = 0

        def __getattr__(self, name: str):
            self.calls += name == "write"
            if self.calls > 1:
                raise Broken
            return getattr(strict, name)

    demo = plug(app_context(Breaking(), clock)).demo  # type: ignore[arg-type]  a store to its last letter
    assert demo is not None
    with pytest.raises(Broken):
        await demo()
    reload_game = plug(app_context(strict, clock)).demo
    assert reload_game is not None
    await reload_game()
    count_kinds = [line.split(" ", 1)[0] for line in await all_items(strict, [esiritori])]
    assert count_kinds.count(Game.__name__) == 2
