"""Many at once at one table: what must hold whoever is faster."""

from random import Random

import pytest
from msgspec.structs import replace

from tests.drawing.attempts import answered, outcome, people, persistent, seats_match
from tests.drawing.games import NOW, chance, joined, kept, loaded, new_message, opened_by, room, settings, turn_of
from tests.support.concurrency import race
from zataku.drawing import writes
from zataku.drawing.design import (
    Connection,
    Game,
    connection_of,
    game,
)
from zataku.drawing.errors import RoomTaken
from zataku.drawing.limits import RoundId, TurnId
from zataku.drawing.samples import ANSWERS, an_id, in_play, seats_in
from zataku.table import Store, TransactionCancelled

LATER = NOW + 120_000


async def test_two_people_racing_for_the_last_seat(contested: Store):
    table = room(3, 4)
    await kept(contested, table, *seats_in(table))
    guests = people(8)
    result = await race(*(contested.write(joined(table, guest)) for guest in guests))
    after = await seats_match(contested, table)
    assert len(after.players) == 4
    assert result.allows(1)
    assert len(result.won) + len(result.refused) + len(result.unknown) == 8


async def test_many_people_who_try_again_take_exactly_the_free_seats(contested: Store):
    table = room(2, 6)
    await kept(contested, table, *seats_in(table))
    guests = people(9)
    ended = await race(
        *(outcome(persistent(contested, table, lambda now, guest=guest: joined(now, guest))) for guest in guests)
    )
    after = await seats_match(contested, table)
    assert len(after.players) == 6
    # Where a reply is lost, somebody who sits already is told so when trying again.
    assert ended.won.count("done") <= 4
    assert set(ended.won) <= {"done", "no_seat"}
    assert after.players[:2] == table.players


async def test_a_game_starts_once(contested: Store):
    table = room()
    await kept(contested, table)
    random = chance()
    starts = [
        writes.start_game(
            table, 1, table.host_id, RoundId(an_id(random)), TurnId(an_id(random)), ANSWERS[:3], None, LATER + number
        )
        for number in range(6)
    ]
    result = await race(*map(contested.write, starts))
    assert result.allows(1)
    after = await loaded(contested, table)
    assert (after.status, after.version) == ("playing", table.version + 1)
    if result.won:
        assert [after] == result.won


async def test_a_kick_and_a_join_at_once_leave_seats_and_players_alike(contested: Store):
    table = room(4, 4)
    await kept(contested, table, *seats_in(table))
    host, victim, guest = table.players[0].id, table.players[3].id, people(1)[0]
    await race(
        outcome(persistent(contested, table, lambda seen: writes.kick(seen, 1, host, victim, LATER))),
        *(outcome(persistent(contested, table, lambda seen: joined(seen, guest))) for _ in range(3)),
    )
    after = await seats_match(contested, table)
    require_seated = {player.id for player in after.players}
    assert victim not in require_seated
    assert len(require_seated) == (4 if guest.id in require_seated else 3)


async def test_an_owner_who_lost_the_room_cannot_write_even_after_reading_again(contested: Store):
    table = in_play(chance(), room(), 1, 1)
    await kept(contested, table)
    taken = await persistent(contested, table, lambda seen: writes.take_room(seen.game_id))
    new = await loaded(contested, table)
    assert new.epoch >= 2
    assert taken.epoch == new.epoch
    guess, turn = new_message(table.players[1]), turn_of(table)
    with pytest.raises(TransactionCancelled) as cancelled:
        # With a token, a lost reply is asked for again.
        await contested.write(
            writes.record_correct_guess(table, 1, turn, guess, 10, table.updated_at + 1), token="stale"
        )
    # What lies there tells the old owner to stop, not to read and go on.
    current = cancelled.value.reasons[0].current
    assert isinstance(current, Game)
    assert current.epoch != table.epoch
    with pytest.raises(RoomTaken):
        writes.record_correct_guess(new, 1, turn, guess, 10, table.updated_at + 1)
    assert await contested.get(game(table.game_id)) == new


async def test_servers_that_take_a_room_at_once_get_epochs_of_their_own(contested: Store):
    table = room()
    await kept(contested, table)
    result = await race(*(contested.write(writes.take_room(table.game_id)) for _ in range(6)))
    after = await loaded(contested, table)
    epochs = [won.epoch for won in result.won]
    assert len(set(epochs)) == len(epochs)
    assert result.allows(after.epoch - table.epoch)
    owners = [won for won in result.won if won.epoch == after.epoch]
    for won in result.won:
        if won not in owners:
            with pytest.raises(RoomTaken):
                writes.set_ready(after, won.epoch, table.players[1].id, "not_ready", LATER)


async def test_a_room_is_opened_once_however_many_want_its_id(contested: Store):
    hosts = people(6)
    plans = [opened_by(room().game_id, host, settings(public=True)) for host in hosts]
    result = await race(*map(contested.write, plans))
    assert result.allows(1)
    after = await seats_match(contested, room())
    (host,) = after.players
    assert after.host_id == host.id
    reached = [player.id for player in hosts if await contested.get(connection_of(player.id), strong=True)]
    assert reached == [host.id]


async def test_a_leaving_host_and_a_join_leave_a_host_who_sits_there(contested: Store):
    table = room(2, 5)
    await kept(contested, table, *seats_in(table))
    host, guests = table.players[0].id, people(3)
    await race(
        outcome(persistent(contested, table, lambda seen: writes.leave_seat(seen, 1, host, LATER))),
        outcome(persistent(contested, table, lambda seen: writes.leave_seat(seen, 1, table.players[1].id, LATER))),
        *(outcome(persistent(contested, table, lambda seen, guest=guest: joined(seen, guest))) for guest in guests),
    )
    after = await seats_match(contested, table)
    require_seated = {player.id for player in after.players}
    assert require_seated == {guest.id for guest in guests}
    assert after.host_id in require_seated


@pytest.mark.parametrize("players", [2, 3])
async def test_a_start_and_a_leave_at_once_leave_nobody_playing_who_is_gone(contested: Store, players: int):
    table = room(players)
    await kept(contested, table, *seats_in(table))
    leaver, ids = table.players[1].id, (RoundId(an_id(Random(1))), TurnId(an_id(Random(2))))
    await race(
        outcome(
            persistent(
                contested,
                table,
                lambda seen: writes.start_game(seen, 1, table.host_id, *ids, ANSWERS[:3], None, LATER),
            )
        ),
        outcome(persistent(contested, table, lambda seen: writes.leave_seat(seen, 1, leaver, LATER + 1))),
    )
    after = await seats_match(contested, table)
    sitting = [player.id for player in after.players if player.left_at is None]
    assert leaver not in sitting
    assert len(sitting) == players - 1
    assert after.status == "playing" or len(after.players) == 1


async def test_an_old_connection_that_closes_late_does_not_send_away_who_is_back(contested: Store):
    table = in_play(chance(), room(), 1, 1)
    await kept(contested, table)
    who, old = table.players[1].id, table.players[1].connection_id
    await race(
        outcome(persistent(contested, table, lambda seen: writes.mark_away(seen, 1, who, old, LATER))),
        outcome(persistent(contested, table, lambda seen: writes.mark_present(seen, 1, who, "newer", LATER))),
    )
    back = (await loaded(contested, table)).players[1]
    assert (back.connection_id, back.away_since) == ("newer", None)


async def test_what_an_old_connection_says_does_not_touch_the_new_one(contested: Store):
    old = next(each for each in seats_in(room()) if isinstance(each, Connection))
    new = replace(old, connection_id="newer", connected_at=LATER, last_active_at=LATER, ttl=LATER // 1000 + 9)
    await kept(contested, old)
    mine = (old.player_id, old.connection_id)
    await race(
        answered(contested, writes.connect(new)),
        *(contested.write(writes.touch_connection(*mine, LATER + 50)) for _ in range(2)),
        *(contested.write(writes.disconnect(*mine)) for _ in range(2)),
        contested.write(writes.release_connection(old.game_id, old.player_id, LATER)),
    )
    assert await contested.get(connection_of(old.player_id), strong=True) == new
