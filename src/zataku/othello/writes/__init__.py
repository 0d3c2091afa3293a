"""Every write of Othello by vote, in the order of a game."""

# The design document lists writes in the order of their declaration.
from zataku.othello.writes.registration import change_profile, open_game, register_user

# isort: split
from zataku.othello.writes.votes import Proposal, cast_vote, change_vote, open_candidates, propose, votable_squares

# isort: split
from zataku.othello.writes.turns import add_commentary, advance, close_turn, play_turn, reopen_turn, winning_candidate

# isort: split
from zataku.othello.writes.game_end import expiry_of, finish, set_game_expiry, set_item_expiry

__all__ = [
    "Proposal",
    "add_commentary",
    "advance",
    "cast_vote",
    "change_profile",
    "change_vote",
    "close_turn",
    "expiry_of",
    "finish",
    "open_candidates",
    "open_game",
    "play_turn",
    "propose",
    "register_user",
    "reopen_turn",
    "set_game_expiry",
    "set_item_expiry",
    "votable_squares",
    "winning_candidate",
]
