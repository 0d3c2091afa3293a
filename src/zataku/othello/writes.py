"""Every write that matters, in the order of a game: arrivals, ballots, turns."""

from zataku.othello.arrivals import change_profile, open_game, register_user
from zataku.othello.ballots import Proposal, cast_vote, change_vote, open_candidates, propose
from zataku.othello.turns import (
    add_commentary,
    advance,
    close_turn,
    elected,
    finish,
    play_turn,
    reopen_turn,
    stamp_expiry,
    stamp_game,
)

__all__ = [
    "Proposal",
    "add_commentary",
    "advance",
    "cast_vote",
    "change_profile",
    "change_vote",
    "close_turn",
    "elected",
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
