"""Concurrent writes to one room: invariants that hold in any order."""

from random import Random

import pytest
from msgspec.structs import replace

from tests.drawing.games import (
    NOW,
    create_plan,
    join_plan,
    load_game,
    new_message,
    room,
    seeded_random,
    settings,
    store_items,
    turn_id_of,
)
from tests.drawing.retried_writes import (
    assert_seats_match,
    new_players,
    outcome_code,
    write_until_answered,
    write_with_retry,
)
from tests.support.concurrency import race
from zataku.drawing import writes
from zataku.drawing.design import Connection, Game, connection_of
from zataku.drawing.design import game as game_key
from zataku.drawing.errors import RoomTaken
from zataku.drawing.limits import RoundId, TurnId
from zataku.drawing.samples import ANSWERS, an_id, in_play, seats_in
from zataku.table import Store, TransactionCancelled

MUCH_LATER = NOW + 120_000


async def test_two_people_racing_for_the_last_seat(contested: Store):
    game = room(3, 4)
    await store_items(contested, game, *seats_in(game))
    guests = new_players(8)
    result = await race(*(contested.write(join_plan(game, guest)) for guest in guests))
    game_after = await assert_seats_match(contested, game)
    assert len(game_after.players) == 4
    assert result.allows(1)
    assert len(result.won) + len(result.refused) + len(result.unknown) == 8


async def test_many_players_who_retry_take_exactly_the_free_seats(contested: Store):
    game = room(2, 6)
    await store_items(contested, game, *seats_in(game))
    guests = new_players(9)
    outcomes = await race(
        *(
            outcome_code(write_with_retry(contested, game, lambda loaded, guest=guest: join_plan(loaded, guest)))
            for guest in guests
        )
    )
    game_after = await assert_seats_match(contested, game)
    assert len(game_after.players) == 6
    # After a lost reply, a player who is seated already gets no_seat on the retry.
    assert outcomes.won.count("done") <= 4
    assert set(outcomes.won) <= {"done", "no_seat"}
    assert game_after.players[:2] == game.players


async def test_a_game_starts_once(contested: Store):
    game = room()
    await store_items(contested, game)
    random = seeded_random()
    starts = [
        writes.start_game(
            game,
            1,
            game.host_id,
            RoundId(an_id(random)),
            TurnId(an_id(random)),
            ANSWERS[:3],
            None,
            MUCH_LATER + number,
        )
        for number in range(6)
    ]
    result = await race(*map(contested.write, starts))
    assert result.allows(1)
    game_after = await load_game(contested, game)
    assert (game_after.status, game_after.version) == ("playing", game.version + 1)
    if result.won:
        assert [game_after] == result.won


async def test_a_kick_and_a_join_at_once_keep_seats_and_players_consistent(contested: Store):
    game = room(4, 4)
    await store_items(contested, game, *seats_in(game))
    host, kicked, guest = game.players[0].id, game.players[3].id, new_players(1)[0]
    await race(
        outcome_code(
            write_with_retry(contested, game, lambda loaded: writes.kick(loaded, 1, host, kicked, MUCH_LATER))
        ),
        *(outcome_code(write_with_retry(contested, game, lambda loaded: join_plan(loaded, guest))) for _ in range(3)),
    )
    game_after = await assert_seats_match(contested, game)
    seated = {player.id for player in game_after.players}
    assert kicked not in seated
    assert len(seated) == (4 if guest.id in seated else 3)


async def test_an_owner_who_lost_the_room_cannot_write_even_after_reading_again(contested: Store):
    game = in_play(seeded_random(), room(), 1, 1)
    await store_items(contested, game)
    game_taken = await write_with_retry(contested, game, lambda loaded: writes.take_room(loaded.game_id))
    new = await load_game(contested, game)
    assert new.epoch >= 2
    assert game_taken.epoch == new.epoch
    guess, turn = new_message(game.players[1]), turn_id_of(game)
    with pytest.raises(TransactionCancelled) as cancelled:
        # With a token, the store repeats the request after a lost reply.
        await contested.write(writes.record_correct_guess(game, 1, turn, guess, 10, game.updated_at + 1), token="stale")
    # The stored epoch tells the old owner to stop instead of reading again.
    current = cancelled.value.reasons[0].current
    assert isinstance(current, Game)
    assert current.epoch != game.epoch
    with pytest.raises(RoomTaken):
        writes.record_correct_guess(new, 1, turn, guess, 10, game.updated_at + 1)
    assert await contested.get(game_key(game.game_id)) == new


async def test_servers_that_take_a_room_at_once_get_different_epochs(contested: Store):
    game = room()
    await store_items(contested, game)
    result = await race(*(contested.write(writes.take_room(game.game_id)) for _ in range(6)))
    game_after = await load_game(contested, game)
    epochs = [won.epoch for won in result.won]
    assert len(set(epochs)) == len(epochs)
    assert result.allows(game_after.epoch - game.epoch)
    owners = [won for won in result.won if won.epoch == game_after.epoch]
    for won in result.won:
        if won not in owners:
            with pytest.raises(RoomTaken):
                writes.set_ready(game_after, won.epoch, game.players[1].id, "not_ready", MUCH_LATER)


async def test_of_many_rooms_with_the_same_id_one_is_created(contested: Store):
    hosts = new_players(6)
    plans = [create_plan(room().game_id, host, settings(public=True)) for host in hosts]
    result = await race(*map(contested.write, plans))
    assert result.allows(1)
    game_after = await assert_seats_match(contested, room())
    (host,) = game_after.players
    assert game_after.host_id == host.id
    reached = [player.id for player in hosts if await contested.get(connection_of(player.id), strong=True)]
    assert reached == [host.id]


async def test_a_leaving_host_and_a_join_at_once_leave_a_seated_host(contested: Store):
    game = room(2, 5)
    await store_items(contested, game, *seats_in(game))
    host, guests = game.players[0].id, new_players(3)
    await race(
        outcome_code(write_with_retry(contested, game, lambda loaded: writes.leave_seat(loaded, 1, host, MUCH_LATER))),
        outcome_code(
            write_with_retry(
                contested, game, lambda loaded: writes.leave_seat(loaded, 1, game.players[1].id, MUCH_LATER)
            )
        ),
        *(
            outcome_code(write_with_retry(contested, game, lambda loaded, guest=guest: join_plan(loaded, guest)))
            for guest in guests
        ),
    )
    game_after = await assert_seats_match(contested, game)
    seated = {player.id for player in game_after.players}
    assert seated == {guest.id for guest in guests}
    assert game_after.host_id in seated


@pytest.mark.parametrize("players", [2, 3])
async def test_a_start_and_a_leave_at_once_do_not_keep_the_leaver_in_the_game(contested: Store, players: int):
    game = room(players)
    await store_items(contested, game, *seats_in(game))
    leaver, ids = game.players[1].id, (RoundId(an_id(Random(1))), TurnId(an_id(Random(2))))
    await race(
        outcome_code(
            write_with_retry(
                contested,
                game,
                lambda loaded: writes.start_game(loaded, 1, game.host_id, *ids, ANSWERS[:3], None, MUCH_LATER),
            )
        ),
        outcome_code(
            write_with_retry(contested, game, lambda loaded: writes.leave_seat(loaded, 1, leaver, MUCH_LATER + 1))
        ),
    )
    game_after = await assert_seats_match(contested, game)
    seated = [player.id for player in game_after.players if player.left_at is None]
    assert leaver not in seated
    assert len(seated) == players - 1
    assert game_after.status == "playing" or len(game_after.players) == 1


async def test_the_late_close_of_an_old_connection_does_not_mark_a_returned_player_away(contested: Store):
    game = in_play(seeded_random(), room(), 1, 1)
    await store_items(contested, game)
    player_id, old = game.players[1].id, game.players[1].connection_id
    await race(
        outcome_code(
            write_with_retry(contested, game, lambda loaded: writes.mark_away(loaded, 1, player_id, old, MUCH_LATER))
        ),
        outcome_code(
            write_with_retry(
                contested, game, lambda loaded: writes.mark_present(loaded, 1, player_id, "newer", MUCH_LATER)
            )
        ),
    )
    player = (await load_game(contested, game)).players[1]
    assert (player.connection_id, player.away_since) == ("newer", None)


async def test_writes_of_an_old_connection_do_not_change_the_new_one(contested: Store):
    old = next(item for item in seats_in(room()) if isinstance(item, Connection))
    new = replace(
        old, connection_id="newer", connected_at=MUCH_LATER, last_active_at=MUCH_LATER, ttl=MUCH_LATER // 1000 + 9
    )
    await store_items(contested, old)
    old_ids = (old.player_id, old.connection_id)
    await race(
        write_until_answered(contested, writes.connect(new)),
        *(contested.write(writes.touch_connection(*old_ids, MUCH_LATER + 50)) for _ in range(2)),
        *(contested.write(writes.disconnect(*old_ids)) for _ in range(2)),
        contested.write(writes.release_connection(old.game_id, old.player_id, MUCH_LATER)),
    )
    assert await contested.get(connection_of(old.player_id), strong=True) == new
