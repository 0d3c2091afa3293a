"""Every write that matters, in the order of a game: arrivals, ballots, turns, endings."""

from zataku.othello.writes.registration import change_profile, open_game, register_user
from zataku.othello.writes.turns import add_commentary, advance, close_turn, elected, play_turn, reopen_turn
from zataku.othello.writes.votes import Proposal, cast_vote, change_vote, choices, open_candidates, propose

# isort: split
# Writes are told in the order in which they are declared, and the end comes last.
from zataku.othello.writes.game_end import expiry_of, finish, stamp_expiry, stamp_game

__all__ = [
    "Proposal",
    "add_commentary",
    "advance",
    "cast_vote",
    "change_profile",
    "change_vote",
    "choices",
    "close_turn",
    "elected",
    "expiry_of",
    "finish",
    "open_candidates",
    "open_game",
    "play_turn",
    "propose",
    "register_user",
    "reopen_turn",
    "stamp_expiry",
    "stamp_game",
]
