"""Every write of the drawing game.

A game is changed from a loaded state, on condition of its version and by the owner of its room alone (`game_update`).
"""

# The design document lists writes in the order of their declaration.
from zataku.drawing.writes.seats import (
    change_settings,
    create_game,
    kick,
    leave_seat,
    mark_away,
    mark_present,
    set_ready,
    start_game,
    take_seat,
)

# isort: split
from zataku.drawing.writes.turns import (
    begin_round,
    begin_turn,
    choose_answer,
    finish_game,
    finish_round,
    finish_turn,
    flush_strokes,
    record_correct_guess,
    reveal_kana,
)

# isort: split
from zataku.drawing.writes.game_update import take_room

# isort: split
from zataku.drawing.writes.chat import post_chat, post_guess, post_notice

# isort: split
from zataku.drawing.writes.connections import connect, disconnect, release_connection, touch_connection

# isort: split
from zataku.drawing.writes.retention import keep_game, keep_message, keep_picture, keep_round, keep_seat

__all__ = [
    "begin_round",
    "begin_turn",
    "change_settings",
    "choose_answer",
    "connect",
    "create_game",
    "disconnect",
    "finish_game",
    "finish_round",
    "finish_turn",
    "flush_strokes",
    "keep_game",
    "keep_message",
    "keep_picture",
    "keep_round",
    "keep_seat",
    "kick",
    "leave_seat",
    "mark_away",
    "mark_present",
    "post_chat",
    "post_guess",
    "post_notice",
    "record_correct_guess",
    "release_connection",
    "reveal_kana",
    "set_ready",
    "start_game",
    "take_room",
    "take_seat",
    "touch_connection",
]
