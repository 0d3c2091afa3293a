"""A removed account is anonymous in every game, and other players are unchanged."""

from random import Random

import pytest
from msgspec.structs import replace

from tests.support.app_context import FailingStore, StoreFailed, all_items, app_context, items_containing
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.drawing.design import ChatMessage, Game, Picture, Round, Strokes, esiritori, games_of_player
from zataku.drawing.design import game as game_key
from zataku.drawing.removal import ANONYMOUS_NAME, removal
from zataku.drawing.samples import (
    DRAWING_DATA,
    SampleSize,
    a_message,
    in_play,
    ongoing_game,
    played_game,
    ready_room,
    seats_in,
)
from zataku.drawing.writes import leave_seat, take_seat
from zataku.platform.limits import AccountId
from zataku.table import Entity, Store

NOW = int(START) * 1000


async def store_game(store: Store, items: list[Entity]) -> Game:
    await store.write_many(put=items)
    (game_item,) = [item for item in items if isinstance(item, Game)]
    return game_item


async def remove_account(store: Store, clock: ManualClock, player_id: str) -> None:
    await removal(app_context(store, clock))(AccountId(player_id))


async def reload_game(store: Store, game: Game) -> Game:
    stored = await store.get(game_key(game.game_id))
    assert stored is not None
    return stored


@pytest.mark.parametrize("seat", [0, 2])
async def test_a_game_in_play_continues_with_an_anonymous_player(strict: Store, clock: ManualClock, seat: int):
    original = await store_game(strict, list(ongoing_game(Random(1), NOW)))
    leaver = original.players[seat]
    await remove_account(strict, clock, leaver.id)
    assert await items_containing(strict, [esiritori], leaver.id, f'"{leaver.name}"') == []
    reloaded = await reload_game(strict, original)
    left = reloaded.players[seat]
    assert (left.name, left.left_at, left.total) == (ANONYMOUS_NAME, NOW, leaver.total)
    assert [other for other in reloaded.players if other != left] == [
        other for other in original.players if other != leaver
    ]
    assert reloaded.host_id == (original.host_id if seat else original.players[1].id)
    assert reloaded.current_round is not None
    assert original.current_round is not None
    if original.current_round.current_turn.drawer_id == leaver.id:
        assert reloaded.current_round.current_turn.drawer_id == left.id


async def test_a_finished_game_keeps_points_pictures_and_messages(strict: Store, clock: ManualClock):
    items = list(played_game(Random(2), NOW - 3_600_000, SampleSize(players=3, rounds=2, picture=400, messages=20)))
    original = await store_game(strict, items)
    leaver = original.players[1]
    await remove_account(strict, clock, leaver.id)
    assert await items_containing(strict, [esiritori], leaver.id, f'"{leaver.name}"') == []
    lines = await all_items(strict, [esiritori])
    for kind in (Round, Picture, ChatMessage):
        assert sum(line.startswith(f"{kind.__name__} ") for line in lines) == sum(type(item) is kind for item in items)
    reloaded = await reload_game(strict, original)
    assert [player.total for player in reloaded.players] == [player.total for player in original.players]


async def test_a_waiting_room_has_a_free_seat_again(strict: Store, clock: ManualClock):
    room = ready_room(Random(3), NOW, SampleSize(players=3))
    room = replace(room, settings=replace(room.settings, player_count=4))
    host = room.players[0]
    message = a_message(Random(3), room, host, 1, "こんにちは！", NOW)
    await strict.write_many(put=[room, *seats_in(room), message])
    await remove_account(strict, clock, host.id)
    reloaded = await reload_game(strict, room)
    assert [player.id for player in reloaded.players] == [player.id for player in room.players[1:]]
    assert reloaded.host_id == room.players[1].id
    assert await items_containing(strict, [esiritori], host.id, f'"{host.name}"') == []


async def test_the_parts_of_finished_pictures_are_anonymous_too(strict: Store, clock: ManualClock):
    size = SampleSize(players=3, rounds=2, picture=400, messages=5)
    original = await store_game(strict, list(played_game(Random(7), NOW - 3_600_000, size)))
    drawer = original.players[1]
    parts = [
        Strokes(
            game_id=original.game_id,
            round_number=round_number,
            turn_number=turn_number,
            number=number,
            drawer_id=drawer.id,
            data=DRAWING_DATA,
            updated_at=NOW,
            epoch=1,
        )
        # The last turn is in no round: its owner had lost the room when it stored the part.
        for round_number, turn_number in ((1, 2), (2, 2), (2, 9))
        for number in (1, 2)
    ]
    await strict.write_many(put=parts)
    await remove_account(strict, clock, drawer.id)
    assert await items_containing(strict, [esiritori], drawer.id) == []
    assert sum(line.startswith("Strokes ") for line in await all_items(strict, [esiritori])) == len(parts)


@pytest.mark.parametrize("comes_back", [False, True])
async def test_messages_of_a_player_who_left_before_the_game_are_anonymous(
    strict: Store, clock: ManualClock, comes_back: bool
):
    room = ready_room(Random(8), NOW, SampleSize(players=3))
    guest = room.players[2]
    await strict.write_many(put=[room, *seats_in(room), a_message(Random(8), room, guest, 1, "こんにちは！", NOW)])
    left = await strict.write(leave_seat(room, room.epoch, guest.id, NOW + 1))
    assert left is not None
    if comes_back:
        await strict.write(take_seat(left, left.epoch, guest.id, guest.name, None, NOW + 2))
    await remove_account(strict, clock, guest.id)
    assert await items_containing(strict, [esiritori], guest.id, f'"{guest.name}"') == []
    (message,) = [line for line in await all_items(strict, [esiritori]) if line.startswith("ChatMessage")]
    assert ANONYMOUS_NAME in message


async def test_an_interrupted_removal_continues_under_the_same_pseudonym(strict: Store, clock: ManualClock):
    original = await store_game(strict, list(ongoing_game(Random(4), NOW)))
    leaver = original.players[0]
    interrupted = FailingStore(strict, 6, ("save", "write"))
    with pytest.raises(StoreFailed):
        await remove_account(interrupted, clock, leaver.id)  # type: ignore[arg-type]  delegates to a store
    assert await items_containing(strict, [esiritori], leaver.id) != []
    await remove_account(strict, clock, leaver.id)
    assert await items_containing(strict, [esiritori], leaver.id, f'"{leaver.name}"') == []
    pseudonym = (await reload_game(strict, original)).players[0].id
    assert any(pseudonym in line for line in await all_items(strict, [esiritori]) if line.startswith("ChatMessage"))


async def test_a_second_removal_changes_nothing(strict: Store, clock: ManualClock):
    original = await store_game(strict, list(ongoing_game(Random(5), NOW)))
    await remove_account(strict, clock, original.players[0].id)
    items_after = await all_items(strict, [esiritori])
    await remove_account(strict, clock, original.players[0].id)
    assert await all_items(strict, [esiritori]) == items_after
    assert [seat async for seat in strict.each(games_of_player(original.players[0].id))] == []


async def test_a_removal_increments_the_version_that_the_rooms_owner_checks(strict: Store, clock: ManualClock):
    room = ready_room(Random(6), NOW, SampleSize(players=3))
    playing = in_play(Random(6), room, 1, 1)
    await strict.write_many(put=[playing, *seats_in(room)])
    await remove_account(strict, clock, room.players[1].id)
    assert (await reload_game(strict, playing)).version > playing.version
