"""Many at once at one table: what must hold whoever is faster."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

import pytest
from msgspec.structs import replace

from tests.drawing.table_games import NOW, chance, kept, loaded, newcomer, right_guess, room
from tests.racing import race
from zataku.drawing import writes
from zataku.drawing.design import Game, Picture, game, latest_chat, picture_of, round_of, seats_of
from zataku.drawing.errors import NoSeat, NotNow, NotYours, RoomTaken
from zataku.drawing.limits import RoundId, TurnId
from zataku.drawing.parts import Player
from zataku.drawing.samples import ANSWERS, a_picture, an_id, in_play, seats_in
from zataku.table import ConditionFailed, Entity, Plan, Query, ResultUnknown, Store, TransactionCancelled

T = TypeVar("T", bound=Entity)
LATER = NOW + 120_000


async def persistent(store: Store, of: Game, move: Callable[[Game], Plan[Game]]) -> Game:
    """Try a move on the newest state until it happens or the rules refuse it."""
    while True:
        try:
            return await store.write(move(await loaded(store, of)))
        except (ConditionFailed, TransactionCancelled, ResultUnknown):
            continue


async def outcome(attempt: Awaitable[Game]) -> str:
    try:
        await attempt
    except (NoSeat, NotNow, NotYours) as refused:
        return refused.code
    return "done"


def people(count: int) -> list[Player]:
    random = Random(count)
    return [newcomer(random, f"客{number}", 60_000 + number) for number in range(count)]


def strongly(query: Query[T]) -> Query[T]:
    """The query, seeing every write before it."""
    query.strong = True
    return query


async def seats_match(store: Store, of: Game) -> Game:
    """The list of players and the seat items tell the same."""
    table = await loaded(store, of)
    keys = [seat async for seat in store.each(strongly(seats_of(of.game_id)))]
    assert sorted(seat.player_id for seat in keys) == sorted(player.id for player in table.players)
    return table


async def test_two_people_racing_for_the_last_seat(contested: Store):
    table = room(3, 4)
    await kept(contested, table, *seats_in(table))
    guests = people(8)
    result = await race(*(contested.write(writes.take_seat(table, 1, guest)) for guest in guests))
    after = await seats_match(contested, table)
    assert len(after.players) == 4
    assert result.allows(1)
    assert len(result.won) + len(result.refused) + len(result.unknown) == 8


async def test_many_people_who_try_again_take_exactly_the_free_seats(contested: Store):
    table = room(2, 6)
    await kept(contested, table, *seats_in(table))
    guests = people(9)
    ended = await race(
        *(
            outcome(persistent(contested, table, lambda now, guest=guest: writes.take_seat(now, 1, guest)))
            for guest in guests
        )
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
            table, 1, table.host_id, RoundId(an_id(random)), TurnId(an_id(random)), ANSWERS[:3], LATER + number
        )
        for number in range(6)
    ]
    result = await race(*map(contested.write, starts))
    assert result.allows(1)
    after = await loaded(contested, table)
    assert (after.status, after.version) == ("playing", table.version + 1)
    if result.won:
        assert [after] == result.won


async def test_a_turn_ends_once_with_one_picture(contested: Store):
    table = in_play(chance(), room(), 1, 1)
    await kept(contested, table)

    def picture(number: int) -> Picture:
        return a_picture(Random(number), table, 1, 1, table.players[0].id, table.updated_at + number, 400)

    ends = [writes.finish_turn(table, 1, picture(n), 30, table.updated_at + n) for n in range(6)]
    result = await race(*map(contested.write, ends))
    assert result.allows(1)
    after = await loaded(contested, table)
    stored = await contested.get(picture_of(table.game_id, 1, 1), strong=True)
    assert after.current_round.current_turn.status == "finished"
    assert len(after.current_round.turns) == len(after.score_histories) == 1
    assert (after.players[0].total or 0) == -30
    assert stored is not None
    assert stored.updated_at == after.updated_at


async def test_a_round_ends_once_and_keeps_all_its_points(contested: Store):
    table = in_play(chance(), room(), 1, 3, "finished")
    await kept(contested, table)
    result = await race(*(contested.write(writes.finish_round(table, 1, table.updated_at + n)) for n in range(5)))
    assert result.allows(1)
    after, played = await loaded(contested, table), await contested.get(round_of(table.game_id, 1), strong=True)
    assert after.score_histories == ()
    assert played.score_histories == table.score_histories
    assert played.ended_at == after.current_round.ended_at


async def test_everybody_guesses_at_the_same_moment_and_every_point_counts(contested: Store):
    table = in_play(chance(), room(5, 5), 1, 1)
    await kept(contested, table)
    now = table.updated_at + 1000
    guesses = [right_guess(table, player, now, at) for at, player in enumerate(table.players[1:], 1)]

    def attempt(at: int) -> Awaitable[str]:
        return outcome(
            persistent(contested, table, lambda seen: writes.guess_right(seen, 1, guesses[at], 10 + at, now))
        )

    await race(*(attempt(at) for at in range(4) for _ in range(2)))
    after = await loaded(contested, table)
    assert sorted(after.current_round.current_turn.correct_player_ids) == sorted(guess.player_id for guess in guesses)
    assert len(after.score_histories) == 5
    assert sum(player.total for player in after.players) == sum(entry.points for entry in after.score_histories)
    assert len([said async for said in contested.each(strongly(latest_chat(table.game_id)))]) == 4


async def test_a_kick_and_a_join_at_once_leave_seats_and_players_alike(contested: Store):
    table = room(4, 4)
    await kept(contested, table, *seats_in(table))
    host, victim, guest = table.players[0].id, table.players[3].id, people(1)[0]
    await race(
        outcome(persistent(contested, table, lambda seen: writes.kick(seen, 1, host, victim, LATER))),
        *(outcome(persistent(contested, table, lambda seen: writes.take_seat(seen, 1, guest))) for _ in range(3)),
    )
    after = await seats_match(contested, table)
    seated = {player.id for player in after.players}
    assert victim not in seated
    assert len(seated) == (4 if guest.id in seated else 3)


async def test_an_owner_who_lost_the_room_cannot_write_even_after_reading_again(contested: Store):
    table = in_play(chance(), room(), 1, 1)
    await kept(contested, table)
    taken = await persistent(contested, table, lambda seen: writes.take_room(seen.game_id))
    new = await loaded(contested, table)
    assert new.epoch >= 2
    assert taken.epoch == new.epoch
    guess = right_guess(table, table.players[1], table.updated_at + 1)
    with pytest.raises(TransactionCancelled) as cancelled:
        # With a token, a lost reply is asked for again.
        await contested.write(writes.guess_right(table, 1, guess, 10, table.updated_at + 1), token="stale")
    # What lies there tells the old owner to stop, not to read and go on.
    current = cancelled.value.reasons[0].current
    assert isinstance(current, Game)
    assert current.epoch != table.epoch
    with pytest.raises(RoomTaken):
        writes.guess_right(new, 1, guess, 10, table.updated_at + 1)
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


async def test_one_message_sent_many_times_is_kept_once(contested: Store):
    table = in_play(chance(), room(), 1, 1)
    message = right_guess(table, table.players[1], NOW)
    result = await race(*(contested.write(writes.post_chat(replace(message, content=f"{n}"))) for n in range(6)))
    assert result.allows(1)
    assert len([said async for said in contested.each(strongly(latest_chat(table.game_id)))]) == 1
