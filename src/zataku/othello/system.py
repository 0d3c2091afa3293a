"""Othello by vote, plugged into the server."""

from zataku.othello.demo import demo_of
from zataku.othello.design import board_game
from zataku.othello.home import home_of
from zataku.othello.removal import removal
from zataku.system import House, System


def plug(house: House) -> System:
    """Everything that Othello by vote brings."""
    return System(
        name="othello",
        tables=(board_game,),
        home=home_of(house),
        remove=removal(house),
        demo=demo_of(house),
    )
