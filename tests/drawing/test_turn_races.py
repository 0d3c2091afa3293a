"""Many at once in a turn: words, guesses, pictures, and what follows."""

from base64 import b64encode
from collections.abc import Awaitable, Callable
from random import Random

import pytest
from msgspec.structs import replace

from tests.drawing.attempts import outcome, persistent, strongly
from tests.drawing.games import (
    chance,
    kept,
    loaded,
    new_message,
    room,
    round_id_of,
    turn_of,
)
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
    table = in_play(chance(), room(), 1, 1)
    await kept(contested, table)

    def picture(number: int) -> str:
        return a_picture(Random(number), table, 1, 1, table.players[0].id, table.updated_at + number, 400).data

    ends = [writes.finish_turn(table, 1, turn_of(table), picture(n), 30, table.updated_at + n) for n in range(6)]
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
    ends = [writes.finish_round(table, 1, turn_of(table), table.updated_at + n) for n in range(5)]
    result = await race(*map(contested.write, ends))
    assert result.allows(1)
    after, played = await loaded(contested, table), await contested.get(round_of(table.game_id, 1), strong=True)
    assert after.score_histories == ()
    assert played.score_histories == table.score_histories
    assert played.ended_at == after.current_round.ended_at


async def test_everybody_guesses_at_the_same_moment_and_every_point_counts(contested: Store):
    table = in_play(chance(), room(5, 5), 1, 1)
    await kept(contested, table)
    now, turn = table.updated_at + 1000, turn_of(table)
    guesses = [new_message(player, at) for at, player in enumerate(table.players[1:], 1)]

    def attempt(at: int) -> Awaitable[str]:
        return outcome(
            persistent(
                contested, table, lambda seen: writes.record_correct_guess(seen, 1, turn, guesses[at], 10 + at, now)
            )
        )

    await race(*(attempt(at) for at in range(4) for _ in range(2)))
    after = await loaded(contested, table)
    assert sorted(after.current_round.current_turn.correct_player_ids) == sorted(guess.player_id for guess in guesses)
    assert len(after.score_histories) == 5
    assert sum(player.total for player in after.players) == sum(entry.points for entry in after.score_histories)
    assert len([said async for said in contested.each(strongly(latest_chat(table.game_id)))]) == 4


async def test_one_message_sent_many_times_is_kept_once(contested: Store):
    table = in_play(chance(), room(), 1, 1)
    said = new_message(table.players[1])
    plans = [writes.post_chat(table, 1, replace(said, content=f"{n}"), table.updated_at) for n in range(6)]
    result = await race(*map(contested.write, plans))
    assert result.allows(1)
    assert len([said async for said in contested.each(strongly(latest_chat(table.game_id)))]) == 1


async def test_one_word_is_chosen_by_the_drawer_or_by_time(contested: Store):
    table = in_play(chance(), room(), 1, 1, "setting_answer")
    await kept(contested, table)
    drawer, now = table.players[0].id, table.updated_at

    def chosen(word: str) -> Callable[[Game], Plan[Game]]:
        return lambda seen: writes.choose_answer(seen, 1, turn_of(table), drawer, word, None, now)

    ended = await race(*(outcome(persistent(contested, table, chosen(word))) for word in ANSWERS[:4]))
    after = await loaded(contested, table)
    assert after.version == table.version + 1
    assert after.current_round.current_turn.answer in ANSWERS[:4]
    assert ended.won.count("done") <= 1


async def test_a_turn_begins_once_and_one_that_comes_late_does_not_begin_another(contested: Store):
    table = in_play(chance(), room(5, 5), 1, 1, "finished")
    await kept(contested, table)

    def begun(at: int) -> Callable[[Game], Plan[Game]]:
        drawer, turn = table.players[at].id, TurnId(an_id(Random(at)))
        return lambda seen: writes.begin_turn(seen, 1, turn_of(table), turn, drawer, ANSWERS[:3], table.updated_at)

    ended = await race(*(outcome(persistent(contested, table, begun(at))) for at in range(1, 5)))
    after = await loaded(contested, table)
    assert (after.version, after.current_round.current_turn.turn_number) == (table.version + 1, 2)
    assert ended.won.count("done") <= 1
    assert set(ended.won) <= {"done", "not_now"}


async def test_a_deadline_that_is_tried_again_does_not_end_the_next_turn(contested: Store):
    table = in_play(chance(), room(), 1, 1)
    await kept(contested, table)
    first, now, drawer = turn_of(table), table.updated_at, table.players[1].id

    async def go_on() -> str:
        await outcome(persistent(contested, table, ended))
        second = TurnId(an_id(Random(2)))
        begin = outcome(
            persistent(
                contested, table, lambda seen: writes.begin_turn(seen, 1, first, second, drawer, ANSWERS[:3], now)
            )
        )
        await begin
        return await outcome(
            persistent(contested, table, lambda seen: writes.choose_answer(seen, 1, second, drawer, "かさ", None, now))
        )

    def ended(seen: Game) -> Plan[Game]:
        return writes.finish_turn(seen, 1, first, None, 30, now)

    await race(go_on(), *(outcome(persistent(contested, table, ended)) for _ in range(2)))
    late = await race(*(outcome(persistent(contested, table, ended)) for _ in range(3)))
    assert late.won == ["not_now"] * 3
    after = await loaded(contested, table)
    assert (after.current_round.current_turn.turn_number, after.current_round.current_turn.status) == (2, "drawing")
    assert [turn.id for turn in after.current_round.turns] == [first]
    assert after.players[0].total == -30


async def test_after_a_round_comes_one_more_or_the_end(contested: Store):
    table, _ = between_rounds(chance(), room(), 1)
    await kept(contested, table)
    last, now, drawer = round_id_of(table), table.updated_at, table.players[0].id

    def begun(at: int) -> Plan[Game]:
        ids = RoundId(an_id(Random(at))), TurnId(an_id(Random(-at)))
        return writes.begin_round(table, 1, last, *ids, drawer, ANSWERS[:3], now)

    ends = [writes.finish_game(table, 1, last, now + n) for n in range(3)]
    result = await race(*map(contested.write, [*map(begun, range(1, 4)), *ends]))
    assert result.allows(1)
    after = await loaded(contested, table)
    assert after.version == table.version + 1
    assert (after.status, after.current_round.round_number) in {("playing", 2), ("finished", 1)}


async def drawn_by(store: Store, of: Game, epoch: int, parts: list[str]) -> None:
    """An owner of the room keeps its parts, each after all that it knows; refused, it reads what lies there.

    It is one who does not learn that it lost the room, which is the worst that can happen.
    """
    known = 0
    for data in parts:
        while True:
            try:
                await store.write(
                    writes.flush_strokes(replace(of, epoch=epoch), epoch, turn_of(of), known + 1, data, of.updated_at)
                )
            except (ConditionFailed, ResultUnknown):
                log = [part async for part in store.each(strokes_of(of.game_id, 1, 1))]
                known = len(log)
                if any((part.epoch, part.data) == (epoch, data) for part in log):
                    break
            else:
                known += 1
                break


async def test_two_owners_who_draw_at_once_lose_no_part_and_keep_none_twice(contested: Store):
    table = in_play(chance(), room(), 1, 1)
    await kept(contested, table)
    parts = {epoch: [b64encode(f"{epoch} {n:03}".encode()).decode() for n in range(5)] for epoch in (1, 2, 3)}
    await race(*(drawn_by(contested, table, epoch, drawn) for epoch, drawn in parts.items()))
    log = [part async for part in contested.each(strokes_of(table.game_id, 1, 1))]
    assert [part.number for part in log] == list(range(1, 16))
    for epoch, drawn in parts.items():
        assert [part.data for part in log if part.epoch == epoch] == drawn


async def test_a_part_that_is_refused_says_who_wrote_the_other(store: Store):
    table = in_play(chance(), room(), 1, 1)
    taken = replace(table, epoch=2)
    await kept(store, some_strokes(chance(), taken, 1, table.updated_at))
    with pytest.raises(ConditionFailed) as refused:
        await store.write(writes.flush_strokes(table, 1, turn_of(table), 1, "QQ==", table.updated_at))
    assert isinstance(refused.value.current, Strokes)
    assert refused.value.current.epoch == 2


async def test_what_the_cap_removes_does_not_come_back_by_being_kept(contested: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jobs, "MAX_CHAT_MESSAGES", 5)
    table = room()
    said = [a_message(Random(n), table, table.players[0], n, "こんにちは", table.updated_at + n) for n in range(1, 13)]
    await kept(contested, *said)
    newest = [Change("INSERT", 0.0, None, message, False, str(message.number), {}) for message in said]
    await race(jobs.cap_chat(contested, newest), *(contested.write(writes.keep_message(one)) for one in said))
    left = [message async for message in contested.each(oldest_chat(table.game_id))]
    assert [message.number for message in left] == [8, 9, 10, 11, 12]
    assert all(message.player_id == table.players[0].id for message in left)
