"""Othello by vote as the server knows it."""

from pathlib import Path

from zataku.othello.demo import demo_of
from zataku.othello.design import board_game
from zataku.othello.home import OthelloHome, home_of
from zataku.othello.removal import removal
from zataku.system import AppContext, Page, Plugin, System


def plug(context: AppContext) -> Plugin:
    """Othello by vote, wired."""
    return Plugin(home=home_of(context), remove=removal(context), demo=demo_of(context))


SYSTEM = System(
    name="othello",
    about="Othello by vote against an AI",
    tables=(board_game,),
    texts=Path(__file__).with_name("texts.toml"),
    home_card=OthelloHome,
    pages=(Page(path="/othello", component="othello"),),
    plug=plug,
)
