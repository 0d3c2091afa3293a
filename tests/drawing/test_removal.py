"""Somebody who deletes their account is nobody in every game, and the others keep theirs."""

from random import Random

import pytest
from msgspec.structs import replace

from tests.support.app_context import all_items, app_context, items_containing
from tests.support.stores import START
from zataku.clock import ManualClock
from zataku.drawing.design import ChatMessage, Game, Picture, Round, esiritori, game, games_of_player
from zataku.drawing.removal import ANONYMOUS_NAME, removal
from zataku.drawing.samples import Measure, a_message, in_play, ongoing_game, played_game, seats_in, settled_room
from zataku.platform.limits import AccountId
from zataku.table import Entity, Store

NOW = int(START) * 1000


async def stored(store: Store, items: list[Entity]) -> Game:
    await store.write_many(put=items)
    (found,) = [item for item in items if isinstance(item, Game)]
    return found


async def remove_account(store: Store, clock: ManualClock, player_id: str) -> None:
    await removal(app_context(store, clock))(AccountId(player_id))


async def reload_game(store: Store, made: Game) -> Game:
    found = await store.get(game(made.game_id))
    assert found is not None
    return found


@pytest.mark.parametrize("at", [0, 2])
async def test_a_game_under_way_goes_on_without_the_name(strict: Store, clock: ManualClock, at: int):
    made = await stored(strict, list(ongoing_game(Random(1), NOW)))
    leaver = made.players[at]
    await remove_account(strict, clock, leaver.id)
    assert await items_containing(strict, [esiritori], leaver.id, f'"{leaver.name}"') == []
    found = await reload_game(strict, made)
    left = found.players[at]
    assert (left.name, left.left_at, left.total) == (ANONYMOUS_NAME, NOW, leaver.total)
    assert [other for other in found.players if other != left] == [it for it in made.players if it != leaver]
    assert found.host_id == (made.host_id if at else made.players[1].id)
    assert found.current_round is not None
    assert made.current_round is not None
    if made.current_round.current_turn.drawer_id == leaver.id:
        assert found.current_round.current_turn.drawer_id == left.id


async def test_a_finished_game_keeps_points_pictures_and_what_was_said(strict: Store, clock: ManualClock):
    items = list(played_game(Random(2), NOW - 3_600_000, Measure(players=3, rounds=2, picture=400, messages=20)))
    made = await stored(strict, items)
    leaver = made.players[1]
    await remove_account(strict, clock, leaver.id)
    assert await items_containing(strict, [esiritori], leaver.id, f'"{leaver.name}"') == []
    store_items = await all_items(strict, [esiritori])
    for kind in (Round, Picture, ChatMessage):
        assert sum(line.startswith(f"{kind.__name__} ") for line in store_items) == sum(
            type(it) is kind for it in items
        )
    assert [it.total for it in (await reload_game(strict, made)).players] == [it.total for it in made.players]


async def test_a_room_that_waits_has_a_free_seat_again(strict: Store, clock: ManualClock):
    room = settled_room(Random(3), NOW, Measure(players=3))
    room = replace(room, settings=replace(room.settings, player_count=4))
    host = room.players[0]
    message = a_message(Random(3), room, host, 1, "こんにちは！", NOW)
    await strict.write_many(put=[room, *seats_in(room), message])
    await remove_account(strict, clock, host.id)
    found = await reload_game(strict, room)
    assert ([it.id for it in found.players], found.host_id) == ([it.id for it in room.players[1:]], room.players[1].id)
    assert await items_containing(strict, [esiritori], host.id, f'"{host.name}"') == []


async def test_a_removal_that_was_broken_off_goes_on_under_the_same_mask(strict: Store, clock: ManualClock):
    made = await stored(strict, list(ongoing_game(Random(4), NOW)))
    leaver = made.players[0]
    calls = 0

    class Broken(Exception):
        pass

    class Breaking:
        """A store that gives up in the middle."""

        def __getattr__(self, name: str):
            nonlocal calls
            calls += name in ("save", "write")
            if calls > 6:
                raise Broken
            return getattr(strict, name)

    with pytest.raises(Broken):
        await remove_account(Breaking(), clock, leaver.id)  # type: ignore[arg-type]  a store to its last letter
    assert await items_containing(strict, [esiritori], leaver.id) != []
    await remove_account(strict, clock, leaver.id)
    assert await items_containing(strict, [esiritori], leaver.id, f'"{leaver.name}"') == []
    masked = (await reload_game(strict, made)).players[0].id
    assert any(masked in line for line in await all_items(strict, [esiritori]) if line.startswith("ChatMessage"))


async def test_a_second_removal_changes_nothing(strict: Store, clock: ManualClock):
    made = await stored(strict, list(ongoing_game(Random(5), NOW)))
    await remove_account(strict, clock, made.players[0].id)
    game_after = await all_items(strict, [esiritori])
    await remove_account(strict, clock, made.players[0].id)
    assert await all_items(strict, [esiritori]) == game_after
    assert [each async for each in strict.each(games_of_player(made.players[0].id))] == []


async def test_the_owner_of_a_room_that_did_not_know_is_refused(strict: Store, clock: ManualClock):
    room = settled_room(Random(6), NOW, Measure(players=3))
    load_game = in_play(Random(6), room, 1, 1)
    await strict.write_many(put=[load_game, *seats_in(room)])
    await remove_account(strict, clock, room.players[1].id)
    assert (await reload_game(strict, load_game)).version > load_game.version
