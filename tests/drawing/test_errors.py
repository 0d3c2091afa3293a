"""Writes that the rules of the drawing game reject before anything is written."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.drawing.games import (
    NOW,
    join_plan,
    new_message,
    new_player,
    room,
    round_id_of,
    seeded_random,
    settings,
    turn_id_of,
)
from tests.drawing.plans import (
    A_ROUND,
    A_TURN,
    BETWEEN_ROUNDS,
    CHOOSING,
    DATA,
    DRAWING,
    FINISHED,
    GUEST,
    HOST,
    MUCH_LATER,
    ROUND,
    SHIRITORI,
    SOON,
    THIRD,
    TURN,
    TURN_OVER,
    WAITING,
    begin_round_plan,
    begin_turn_plan,
    finish_turn_plan,
    game_after,
    guess_plan,
    start_plan,
    with_absent,
    with_unready_players,
)
from zataku.drawing import writes
from zataku.drawing.errors import NotAllowed, RoomTaken, RuleViolation, SeatUnavailable, WrongState
from zataku.drawing.samples import ANSWERS, in_play

REJECTED: dict[str, tuple[type[RuleViolation], Callable[[], object]]] = {
    "an owner who lost the room": (RoomTaken, lambda: writes.set_ready(WAITING, 0, GUEST, "ready", MUCH_LATER)),
    "a change to a game that has expired": (
        WrongState,
        lambda: writes.set_ready(WAITING, 1, GUEST, "ready", NOW + 24 * 60 * 60 * 1000),
    ),
    "a seat in a full room": (SeatUnavailable, lambda: join_plan(room(4, 4), new_player(seeded_random()))),
    "a second seat": (SeatUnavailable, lambda: join_plan(WAITING, WAITING.players[1])),
    "a seat in a game in play": (WrongState, lambda: join_plan(DRAWING, new_player(seeded_random()))),
    "leaving without a seat": (
        NotAllowed,
        lambda: writes.leave_seat(WAITING, 1, new_player(seeded_random()).id, MUCH_LATER),
    ),
    "leaving a finished game": (WrongState, lambda: writes.leave_seat(FINISHED, 1, GUEST, FINISHED.updated_at)),
    "a guest who kicks": (NotAllowed, lambda: writes.kick(WAITING, 1, GUEST, THIRD, MUCH_LATER)),
    "a host who kicks themselves": (WrongState, lambda: writes.kick(WAITING, 1, HOST, HOST, MUCH_LATER)),
    "ready in a game in play": (WrongState, lambda: writes.set_ready(DRAWING, 1, GUEST, "ready", SOON)),
    "settings by a guest": (NotAllowed, lambda: writes.change_settings(WAITING, 1, GUEST, settings(), MUCH_LATER)),
    "fewer seats than players": (
        SeatUnavailable,
        lambda: writes.change_settings(WAITING, 1, HOST, settings(player_count=2), MUCH_LATER),
    ),
    "settings of a game in play": (WrongState, lambda: writes.change_settings(DRAWING, 1, HOST, settings(), SOON)),
    "a start by a guest": (NotAllowed, lambda: start_plan(WAITING, GUEST)),
    "a start alone": (WrongState, lambda: start_plan(replace(WAITING, players=WAITING.players[:1]))),
    "a start before all are ready": (WrongState, lambda: start_plan(with_unready_players(WAITING))),
    "a second start": (WrongState, lambda: start_plan(DRAWING)),
    "shiritori without a kana": (WrongState, lambda: start_plan(SHIRITORI)),
    "a kana in a free game": (WrongState, lambda: start_plan(WAITING, kana="り")),
    "the end of a connection that was replaced": (
        WrongState,
        lambda: writes.mark_away(WAITING, 1, GUEST, "an-old-socket", MUCH_LATER),
    ),
    "the end of no connection where there is one": (
        WrongState,
        lambda: writes.mark_away(WAITING, 1, GUEST, None, MUCH_LATER),
    ),
    "a word by a guesser": (
        NotAllowed,
        lambda: writes.choose_answer(CHOOSING, 1, turn_id_of(CHOOSING), GUEST, "りんご", None, SOON),
    ),
    "a second word": (WrongState, lambda: writes.choose_answer(DRAWING, 1, TURN, HOST, "りんご", None, SOON)),
    "a hint beyond the word": (WrongState, lambda: writes.reveal_kana(DRAWING, 1, TURN, 50, SOON)),
    "a hint outside the drawing phase": (
        WrongState,
        lambda: writes.reveal_kana(CHOOSING, 1, turn_id_of(CHOOSING), 0, SOON),
    ),
    "a guess by the drawer": (NotAllowed, lambda: guess_plan(DRAWING, by=0)),
    "a guess after time is up": (WrongState, lambda: guess_plan(DRAWING, now=SOON + 60_000)),
    "a guess outside the drawing phase": (WrongState, lambda: guess_plan(CHOOSING)),
    "a guess for more than the seconds of the turn": (WrongState, lambda: guess_plan(DRAWING, points=61)),
    "a penalty above half the seconds of the turn": (WrongState, lambda: finish_turn_plan(DRAWING, penalty=31)),
    "a message by an owner who lost the room": (
        RoomTaken,
        lambda: writes.post_chat(DRAWING, 0, new_message(DRAWING.players[1]), SOON),
    ),
    "a message by a player without a seat": (
        NotAllowed,
        lambda: writes.post_chat(DRAWING, 1, new_message(new_player(seeded_random())), SOON),
    ),
    "a notice by an owner who lost the room": (
        RoomTaken,
        lambda: writes.post_notice(DRAWING, 0, new_message(DRAWING.players[1]), "たろう", SOON),
    ),
    "a wrong guess outside the drawing phase": (
        WrongState,
        lambda: writes.post_guess(CHOOSING, 1, turn_id_of(CHOOSING), new_message(CHOOSING.players[1]), SOON),
    ),
    "strokes by an owner who lost the room": (
        RoomTaken,
        lambda: writes.flush_strokes(DRAWING, 0, TURN, 1, DATA, SOON),
    ),
    "strokes outside the drawing phase": (
        WrongState,
        lambda: writes.flush_strokes(TURN_OVER, 1, turn_id_of(TURN_OVER), 1, DATA, SOON),
    ),
    "a second end of a turn": (WrongState, lambda: finish_turn_plan(TURN_OVER, DATA)),
    "a turn before the last is over": (WrongState, lambda: begin_turn_plan(DRAWING, GUEST)),
    "a second turn in a round": (NotAllowed, lambda: begin_turn_plan(TURN_OVER, HOST)),
    "a turn of a player without a seat": (
        NotAllowed,
        lambda: begin_turn_plan(TURN_OVER, new_player(seeded_random()).id),
    ),
    "passing over a drawer who is present and has time": (WrongState, lambda: begin_turn_plan(CHOOSING, GUEST)),
    "the end of a round during a turn": (WrongState, lambda: writes.finish_round(DRAWING, 1, TURN, SOON)),
    "the end of a round while a word is chosen": (
        WrongState,
        lambda: writes.finish_round(CHOOSING, 1, turn_id_of(CHOOSING), SOON),
    ),
    "a second end of a round": (
        WrongState,
        lambda: writes.finish_round(BETWEEN_ROUNDS, 1, turn_id_of(BETWEEN_ROUNDS), BETWEEN_ROUNDS.updated_at),
    ),
    "a round before the last is over": (WrongState, lambda: begin_round_plan(TURN_OVER, HOST, SOON)),
    "a round too many": (
        WrongState,
        lambda: begin_round_plan(
            replace(BETWEEN_ROUNDS, settings=replace(BETWEEN_ROUNDS.settings, round_count=1)),
            HOST,
            BETWEEN_ROUNDS.updated_at,
        ),
    ),
    "the end of a game during a round": (
        WrongState,
        lambda: writes.finish_game(TURN_OVER, 1, round_id_of(TURN_OVER), SOON),
    ),
    "the end of a waiting game": (WrongState, lambda: writes.finish_game(WAITING, 1, ROUND, MUCH_LATER)),
    "keeping a game in play": (WrongState, lambda: writes.keep_game(DRAWING, 1, HOST, SOON)),
    "keeping a game of other players": (
        NotAllowed,
        lambda: writes.keep_game(FINISHED, 1, new_player(seeded_random()).id, FINISHED.updated_at),
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_the_rules_reject_the_write(name: str):
    error_type, attempt = REJECTED[name]
    with pytest.raises(error_type) as error:
        attempt()
    assert error.value.message.endswith(".")


def test_a_player_guesses_the_word_once_and_a_guessed_word_has_no_penalty():
    guessed = game_after(guess_plan(DRAWING))
    with pytest.raises(WrongState, match="already"):
        guess_plan(guessed, points=40)
    with pytest.raises(WrongState, match="loses nothing"):
        finish_turn_plan(guessed, penalty=30)


LATE: dict[str, Callable[[], object]] = {
    "choose_answer": lambda: writes.choose_answer(CHOOSING, 1, A_TURN, HOST, "りんご", None, SOON),
    "reveal_kana": lambda: writes.reveal_kana(DRAWING, 1, A_TURN, 0, SOON),
    "record_correct_guess": lambda: writes.record_correct_guess(
        DRAWING, 1, A_TURN, new_message(DRAWING.players[1]), 50, SOON
    ),
    "post_guess": lambda: writes.post_guess(DRAWING, 1, A_TURN, new_message(DRAWING.players[1]), SOON),
    "flush_strokes": lambda: writes.flush_strokes(DRAWING, 1, A_TURN, 1, DATA, SOON),
    "finish_turn": lambda: writes.finish_turn(DRAWING, 1, A_TURN, None, None, SOON),
    "begin_turn": lambda: writes.begin_turn(TURN_OVER, 1, A_TURN, TURN, GUEST, ANSWERS[:3], SOON),
    "finish_round": lambda: writes.finish_round(TURN_OVER, 1, A_TURN, SOON),
    "begin_round": lambda: writes.begin_round(
        BETWEEN_ROUNDS, 1, A_ROUND, ROUND, A_TURN, HOST, (), BETWEEN_ROUNDS.updated_at
    ),
    "finish_game": lambda: writes.finish_game(BETWEEN_ROUNDS, 1, A_ROUND, BETWEEN_ROUNDS.updated_at),
}


@pytest.mark.parametrize("name", LATE)
def test_a_write_for_another_turn_or_round_is_rejected(name: str):
    with pytest.raises(WrongState, match="moved on"):
        LATE[name]()


def test_a_player_who_was_passed_over_does_not_draw_in_the_round_but_the_others_do():
    choosing = with_absent(CHOOSING, HOST)
    second = with_absent(game_after(begin_turn_plan(choosing, GUEST)), GUEST)
    with pytest.raises(NotAllowed):
        begin_turn_plan(second, HOST)
    third = game_after(begin_turn_plan(second, THIRD))
    assert third.current_round.passed == (HOST, GUEST)
    assert (third.current_round.current_turn.drawer_id, third.current_round.current_turn.turn_number) == (THIRD, 3)
    closed = game_after(writes.finish_round(with_absent(third, THIRD), 1, turn_id_of(third), SOON))
    assert closed.current_round.passed is None


def test_a_drawer_who_left_or_is_out_of_time_is_passed_over():
    without_host = game_after(writes.leave_seat(CHOOSING, 1, HOST, SOON))
    assert game_after(begin_turn_plan(without_host, GUEST)).current_round.passed == (HOST,)
    deadline = CHOOSING.current_round.current_turn.deadline
    assert game_after(begin_turn_plan(CHOOSING, GUEST, deadline)).current_round.passed == (HOST,)
    with pytest.raises(WrongState):
        begin_turn_plan(CHOOSING, GUEST, deadline - 1)


def test_a_round_ends_without_a_word_when_one_player_is_left():
    alone = with_absent(CHOOSING, GUEST, THIRD)
    ended_round = game_after(writes.finish_round(alone, 1, turn_id_of(alone), SOON))
    assert ended_round.current_round.ended_at == SOON


def test_shiritori_begins_with_its_kana():
    assert game_after(start_plan(SHIRITORI, kana="り")).next_kana == "り"


def test_the_largest_penalty_and_the_largest_guess_fit_a_round():
    slow = replace(WAITING, settings=replace(WAITING.settings, time_limit=300))
    game = in_play(seeded_random(), slow, 1, 1)
    assert game_after(guess_plan(game, points=300)).players[1].total == 300
    closed = writes.finish_round(game_after(finish_turn_plan(game, penalty=150)), 1, turn_id_of(game), SOON)
    assert closed.steps[1].entity.round_scores[0].points == -150
