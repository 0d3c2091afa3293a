"""Concurrent writes in a turn: words, guesses, pictures, ends of turns and rounds."""

from base64 import b64encode
from collections.abc import Awaitable, Callable
from random import Random

import pytest
from msgspec.structs import replace

from tests.drawing.games import (
    load_game,
    new_message,
    room,
    round_id_of,
    seeded_random,
    store_items,
    turn_id_of,
)
from tests.drawing.retried_writes import outcome_code, strong_query, write_with_retry
from tests.support.concurrency import race
from zataku.drawing import jobs, writes
from zataku.drawing.design import (
    Game,
    Strokes,
    latest_chat,
    oldest_chat,
    picture_of,
    round_of,
    strokes_of,
)
from zataku.drawing.limits import RoundId, TurnId
from zataku.drawing.samples import ANSWERS, a_message, a_picture, an_id, between_rounds, in_play, some_strokes
from zataku.table import Change, ConditionFailed, Plan, ResultUnknown, Store


async def test_a_turn_ends_once_with_one_picture(contested: Store):
    game = in_play(seeded_random(), room(), 1, 1)
    await store_items(contested, game)

    def picture(number: int) -> str:
        return a_picture(Random(number), game, 1, 1, game.players[0].id, game.updated_at + number, 400).data

    ends = [writes.finish_turn(game, 1, turn_id_of(game), picture(n), 30, game.updated_at + n) for n in range(6)]
    result = await race(*map(contested.write, ends))
    assert result.allows(1)
    game_after = await load_game(contested, game)
    stored = await contested.get(picture_of(game.game_id, 1, 1), strong=True)
    assert game_after.current_round.current_turn.status == "finished"
    assert len(game_after.current_round.turns) == len(game_after.score_histories) == 1
    assert (game_after.players[0].total or 0) == -30
    assert stored is not None
    assert stored.updated_at == game_after.updated_at


async def test_a_round_ends_once_and_keeps_all_its_points(contested: Store):
    game = in_play(seeded_random(), room(), 1, 3, "finished")
    await store_items(contested, game)
    ends = [writes.finish_round(game, 1, turn_id_of(game), game.updated_at + n) for n in range(5)]
    result = await race(*map(contested.write, ends))
    assert result.allows(1)
    game_after, played = await load_game(contested, game), await contested.get(round_of(game.game_id, 1), strong=True)
    assert game_after.score_histories == ()
    assert played.score_histories == game.score_histories
    assert played.ended_at == game_after.current_round.ended_at


async def test_of_simultaneous_correct_guesses_every_point_counts(contested: Store):
    game = in_play(seeded_random(), room(5, 5), 1, 1)
    await store_items(contested, game)
    now, turn = game.updated_at + 1000, turn_id_of(game)
    guesses = [new_message(player, at) for at, player in enumerate(game.players[1:], 1)]

    def attempt(at: int) -> Awaitable[str]:
        return outcome_code(
            write_with_retry(
                contested, game, lambda loaded: writes.record_correct_guess(loaded, 1, turn, guesses[at], 10 + at, now)
            )
        )

    await race(*(attempt(at) for at in range(4) for _ in range(2)))
    game_after = await load_game(contested, game)
    assert sorted(game_after.current_round.current_turn.correct_player_ids) == sorted(
        guess.player_id for guess in guesses
    )
    assert len(game_after.score_histories) == 5
    assert sum(player.total for player in game_after.players) == sum(
        entry.points for entry in game_after.score_histories
    )
    assert len([message async for message in contested.each(strong_query(latest_chat(game.game_id)))]) == 4


async def test_a_message_sent_many_times_is_stored_once(contested: Store):
    game = in_play(seeded_random(), room(), 1, 1)
    message = new_message(game.players[1])
    plans = [writes.post_chat(game, 1, replace(message, content=f"{n}"), game.updated_at) for n in range(6)]
    result = await race(*map(contested.write, plans))
    assert result.allows(1)
    assert len([stored async for stored in contested.each(strong_query(latest_chat(game.game_id)))]) == 1


async def test_one_word_is_chosen_by_the_drawer_or_by_the_timeout(contested: Store):
    game = in_play(seeded_random(), room(), 1, 1, "setting_answer")
    await store_items(contested, game)
    drawer, now = game.players[0].id, game.updated_at

    def choose(word: str) -> Callable[[Game], Plan[Game]]:
        return lambda loaded: writes.choose_answer(loaded, 1, turn_id_of(game), drawer, word, None, now)

    outcomes = await race(*(outcome_code(write_with_retry(contested, game, choose(word))) for word in ANSWERS[:4]))
    game_after = await load_game(contested, game)
    assert game_after.version == game.version + 1
    assert game_after.current_round.current_turn.answer in ANSWERS[:4]
    assert outcomes.won.count("done") <= 1


async def test_a_turn_begins_once_and_a_late_write_does_not_begin_another(contested: Store):
    game = in_play(seeded_random(), room(5, 5), 1, 1, "finished")
    await store_items(contested, game)

    def begin_turn_plan(at: int) -> Callable[[Game], Plan[Game]]:
        drawer, turn = game.players[at].id, TurnId(an_id(Random(at)))
        return lambda loaded: writes.begin_turn(loaded, 1, turn_id_of(game), turn, drawer, ANSWERS[:3], game.updated_at)

    outcomes = await race(*(outcome_code(write_with_retry(contested, game, begin_turn_plan(at))) for at in range(1, 5)))
    game_after = await load_game(contested, game)
    assert (game_after.version, game_after.current_round.current_turn.turn_number) == (game.version + 1, 2)
    assert outcomes.won.count("done") <= 1
    assert set(outcomes.won) <= {"done", "not_now"}


async def test_a_retried_deadline_does_not_end_the_next_turn(contested: Store):
    game = in_play(seeded_random(), room(), 1, 1)
    await store_items(contested, game)
    first, now, drawer = turn_id_of(game), game.updated_at, game.players[1].id

    async def play_next_turn() -> str:
        await outcome_code(write_with_retry(contested, game, end_turn))
        second = TurnId(an_id(Random(2)))
        begin = outcome_code(
            write_with_retry(
                contested, game, lambda loaded: writes.begin_turn(loaded, 1, first, second, drawer, ANSWERS[:3], now)
            )
        )
        await begin
        return await outcome_code(
            write_with_retry(
                contested, game, lambda loaded: writes.choose_answer(loaded, 1, second, drawer, "かさ", None, now)
            )
        )

    def end_turn(loaded: Game) -> Plan[Game]:
        return writes.finish_turn(loaded, 1, first, None, 30, now)

    await race(play_next_turn(), *(outcome_code(write_with_retry(contested, game, end_turn)) for _ in range(2)))
    late = await race(*(outcome_code(write_with_retry(contested, game, end_turn)) for _ in range(3)))
    assert late.won == ["not_now"] * 3
    game_after = await load_game(contested, game)
    assert (game_after.current_round.current_turn.turn_number, game_after.current_round.current_turn.status) == (
        2,
        "drawing",
    )
    assert [turn.id for turn in game_after.current_round.turns] == [first]
    assert game_after.players[0].total == -30


async def test_a_round_is_followed_by_one_more_or_by_the_end_of_the_game(contested: Store):
    game, _ = between_rounds(seeded_random(), room(), 1)
    await store_items(contested, game)
    last, now, drawer = round_id_of(game), game.updated_at, game.players[0].id

    def begin_round_plan(at: int) -> Plan[Game]:
        ids = RoundId(an_id(Random(at))), TurnId(an_id(Random(-at)))
        return writes.begin_round(game, 1, last, *ids, drawer, ANSWERS[:3], now)

    ends = [writes.finish_game(game, 1, last, now + n) for n in range(3)]
    result = await race(*map(contested.write, [*map(begin_round_plan, range(1, 4)), *ends]))
    assert result.allows(1)
    game_after = await load_game(contested, game)
    assert game_after.version == game.version + 1
    assert (game_after.status, game_after.current_round.round_number) in {("playing", 2), ("finished", 1)}


async def flush_parts(store: Store, game: Game, epoch: int, parts: list[str]) -> None:
    """Write the parts of one owner, each after the last it has read or written; a rejected one makes it read again.

    This owner never notices that it lost the room, which is the worst case.
    """
    last_number = 0
    for data in parts:
        while True:
            try:
                await store.write(
                    writes.flush_strokes(
                        replace(game, epoch=epoch), epoch, turn_id_of(game), last_number + 1, data, game.updated_at
                    )
                )
            except (ConditionFailed, ResultUnknown):
                stored = [part async for part in store.each(strokes_of(game.game_id, 1, 1))]
                last_number = len(stored)
                if any((part.epoch, part.data) == (epoch, data) for part in stored):
                    break
            else:
                last_number += 1
                break


async def test_owners_who_write_parts_at_once_lose_none_and_store_none_twice(contested: Store):
    game = in_play(seeded_random(), room(), 1, 1)
    await store_items(contested, game)
    parts = {epoch: [b64encode(f"{epoch} {n:03}".encode()).decode() for n in range(5)] for epoch in (1, 2, 3)}
    await race(*(flush_parts(contested, game, epoch, drawn) for epoch, drawn in parts.items()))
    stored = [part async for part in contested.each(strokes_of(game.game_id, 1, 1))]
    assert [part.number for part in stored] == list(range(1, 16))
    for epoch, drawn in parts.items():
        assert [part.data for part in stored if part.epoch == epoch] == drawn


async def test_a_rejected_part_reports_the_epoch_of_the_stored_one(store: Store):
    game = in_play(seeded_random(), room(), 1, 1)
    taken_over = replace(game, epoch=2)
    await store_items(store, some_strokes(seeded_random(), taken_over, 1, game.updated_at))
    with pytest.raises(ConditionFailed) as error:
        await store.write(writes.flush_strokes(game, 1, turn_id_of(game), 1, "QQ==", game.updated_at))
    assert isinstance(error.value.current, Strokes)
    assert error.value.current.epoch == 2


async def test_keeping_a_message_does_not_restore_it_after_the_cap_removed_it(
    contested: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jobs, "MAX_CHAT_MESSAGES", 5)
    game = room()
    chat_messages = [
        a_message(Random(n), game, game.players[0], n, "こんにちは", game.updated_at + n) for n in range(1, 13)
    ]
    await store_items(contested, *chat_messages)
    newest = [Change("INSERT", 0.0, None, message, False, str(message.number), {}) for message in chat_messages]
    await race(
        jobs.cap_chat(contested, newest), *(contested.write(writes.keep_message(message)) for message in chat_messages)
    )
    remaining = [message async for message in contested.each(oldest_chat(game.game_id))]
    assert [message.number for message in remaining] == [8, 9, 10, 11, 12]
    assert all(message.player_id == game.players[0].id for message in remaining)
