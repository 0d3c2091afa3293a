"""Othello by vote, plugged into the server."""

from zataku.othello.demo import demo_of
from zataku.othello.design import board_game
from zataku.othello.home import home_of
from zataku.othello.removal import removal
from zataku.system import AppContext, System


def plug(context: AppContext) -> System:
    """Everything that Othello by vote brings."""
    return System(
        name="othello",
        tables=(board_game,),
        home=home_of(context),
        remove=removal(context),
        demo=demo_of(context),
    )
